"""Cartan development along a shortest-path tree, towards its root and away from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.curving import curve
from ptunfold.kernels.inputs import ConnectionArrays
from ptunfold.kernels.trees import Tree, grow_tree, new_tree

_ROUNDING = 1e-12  # of a step


class Unfolding(NamedTuple):
    """All paths of a tree, unfolded from both ends.

    ``inward[u]`` (n, d) is the root as seen from ``u``, ``outward[u]`` is ``u`` as seen from the
    root, ``turns[u]`` (n, d, d) the product of the rotations on the way, from the frame of ``u`` to
    that of the root. ``lost`` (n, 2) are the lengths that were not carried on, of either. With
    curvature ``inward`` has the lengths of geodesics, and ``kappa`` (n,) what it is on the way.
    """

    tree: Tree
    inward: Any
    outward: Any
    turns: Any
    lost: Any
    kappa: Any


@compiled()
def mark_matches(connection, unfolding, most_apart, most_turned, start, stop, is_match):
    """Mark edges that end where they lead, laid where the unfolding of a tree has their tails.

    ``is_match`` (E,) tells, for edges from ``start`` to ``stop`` that lead to a later node, and for
    the same edges the other way, whether the head lies within the square root of ``most_apart`` of
    where it is seen, and whether its frame is turned against what is carried there by at most the
    square root of ``most_turned``, in radians where that is little.
    """
    (_, indices, _), tails, reverse, rotations, steps, _, _, _ = connection
    outward, turns = unfolding.outward, unfolding.turns
    dim = steps.shape[1]
    for edge in range(start, stop):
        tail, head = tails[edge], indices[edge]
        if head < tail:
            continue
        apart = 0.0
        for row in range(dim):
            gap = outward[tail, row] - outward[head, row]
            for column in range(dim):
                gap += turns[tail, row, column] * steps[edge, column]
            apart += gap * gap
        turned = np.inf
        if apart <= most_apart:
            turned = np.float64(dim)  # less the trace of the turn
            for row in range(dim):
                for column in range(dim):
                    carried = 0.0
                    for inner in range(dim):
                        carried += turns[tail, row, inner] * rotations[edge, inner, column]
                    turned -= carried * turns[head, row, column]
        is_match[edge] = is_match[reverse[edge]] = turned <= most_turned


@compiled()
def look_across(connection, unfolding, edges, seen, around):
    """Look over ``edges`` (m,) from where the unfolding of a tree has their tails.

    ``seen`` (m, d) becomes where their heads are as seen from there, ``around`` (m, d, d) the turn
    of who goes out from the root, over the edge and back.
    """
    (_, indices, _), tails, _, rotations, steps, _, _, _ = connection
    outward, turns = unfolding.outward, unfolding.turns
    dim = steps.shape[1]
    carried = np.empty(dim)
    for place in range(len(edges)):
        edge = edges[place]
        tail, head = tails[edge], indices[edge]
        for row in range(dim):
            seen[place, row] = outward[tail, row]
            for column in range(dim):
                seen[place, row] += turns[tail, row, column] * steps[edge, column]
                carried[column] = 0.0
                for inner in range(dim):
                    carried[column] += turns[tail, row, inner] * rotations[edge, inner, column]
            for column in range(dim):
                around[place, row, column] = 0.0
                for inner in range(dim):
                    around[place, row, column] += carried[inner] * turns[head, column, inner]


@compiled()
def add_turns(connection, turns, sums):
    """Fill ``sums`` (n, d, d) with the turns of nodes, added up as all their neighbours see them.

    ``turns`` (n, d, d) lead from the frame of each node to one for all.
    """
    (indptr, indices, _), _, _, rotations, _, _, _, _ = connection
    dim = turns.shape[1]
    sums[:] = 0.0
    for node in range(len(turns)):
        for edge in range(indptr[node], indptr[node + 1]):
            head = indices[edge]
            for row in range(dim):
                for column in range(dim):
                    seen = 0.0
                    for inner in range(dim):
                        seen += turns[head, row, inner] * rotations[edge, column, inner]
                    sums[node, row, column] += seen


def new_unfolding(connection: ConnectionArrays) -> Unfolding:
    """Return one that is to be filled; what no path leads to stays zero."""
    n_points, dim = len(connection.graph.indptr) - 1, connection.steps.shape[1]
    inward, outward = np.zeros((2, n_points, dim))
    turns, lost = np.zeros((n_points, dim, dim)), np.zeros((n_points, 2))
    return Unfolding(new_tree(connection.graph), inward, outward, turns, lost, np.zeros(n_points))


class Sight(NamedTuple):
    """All paths of a tree, unfolded towards its root: `Unfolding` where both ways agree.

    ``vectors`` (n, d) are ``inward``, ``lost`` (n,) what was not carried on. ``axes`` are the
    numbers of the axes: loops over a tuple, whose length is known when they are compiled, are five
    times as fast as others that are so short.
    """

    tree: Tree
    vectors: Any
    lost: Any
    kappa: Any
    axes: tuple[int, ...]


def new_sight(connection: ConnectionArrays) -> Sight:
    """Return one that is to be filled."""
    n_points, dim = len(connection.graph.indptr) - 1, connection.steps.shape[1]
    vectors, lost, kappa = np.zeros((n_points, dim)), np.zeros(n_points), np.zeros(n_points)
    return Sight(new_tree(connection.graph), vectors, lost, kappa, tuple(range(dim)))


@compiled()
def ways_agree(connection):
    """Tell whether every step back is the step forth, turned, but for rounding.

    Arcs are so. A path is then as long from one of its ends as from the other.
    """
    rotations, steps, reverse = connection.rotations, connection.steps, connection.reverse
    dim = steps.shape[1]
    for edge in range(len(steps)):
        back, whole, apart = reverse[edge], 0.0, 0.0
        if back < edge:
            continue
        for row in range(dim):
            gap = steps[back, row]
            for inner in range(dim):
                gap += rotations[edge, inner, row] * steps[edge, inner]
            apart += gap * gap
            whole += steps[edge, row] * steps[edge, row]
        if apart > _ROUNDING**2 * whole:
            return False
    return True


@compiled()
def inward_row(connection, source, sight, row):
    """Fill ``row`` (n,) with ‖node → source‖ where both ways agree; returns the number reached.

    As in `develop_both_ways`, but what leads back is what leads forth: nothing has to be looked up
    but the edge itself.
    """
    graph, tails, _, rotations, steps, kept, points, curvature = connection
    tree, vectors, lost, kappa, axes = sight
    is_whole, is_curved = len(kept) == 0, len(curvature) > 0
    dim = len(axes)
    n_reached = grow_tree(graph, source, tree)
    order, parent_edge = tree.order, tree.parent_edge
    if n_reached < len(row):
        row[:] = np.inf
    vectors[source] = 0.0
    lost[source] = 0.0
    row[source] = 0.0
    back = np.empty(dim)
    keep = 1.0
    for position in range(1, n_reached):
        node = np.uint64(order[position])
        edge = np.uint64(parent_edge[node])
        parent = np.uint64(tails[edge])
        if not is_whole:
            keep = np.sqrt(kept[edge])
        for axis in range(dim):
            seen = 0.0
            for inner in range(dim):
                seen += rotations[edge, inner, axis] * (
                    keep * vectors[parent, inner] - steps[edge, inner]
                )
            vectors[node, axis] = seen
        if is_curved:
            for axis in range(dim):
                back[axis] = 0.0
                for inner in range(dim):
                    back[axis] -= rotations[edge, inner, axis] * steps[edge, inner]
            around = 0.5 * (curvature[parent] + curvature[node])
            kappa[node] = curve(vectors, node, back, kappa[parent], around)
        if not is_whole:
            before, after = 0.0, 0.0
            for axis in range(dim):
                before += vectors[parent, axis] ** 2
                after += vectors[node, axis] ** 2
                vectors[node, axis] *= keep
            lost[node] = lost[parent] + (1 - keep) * (np.sqrt(before) + np.sqrt(after))
        squares = 0.0
        for axis in range(dim):
            squares += vectors[node, axis] ** 2
        length = np.sqrt(squares)
        if not is_whole:
            length += lost[node]
        row[node] = max(length, chord(points, source, node))
    return n_reached


@compiled()
def develop_both_ways(connection, n_reached, unfolding):
    """Unfold every path of the tree from both ends, in one pass.

    Inward no rotation has to be accumulated: the root as seen from a node is the step to its parent
    plus what the parent sees, turned into the frame of the node. Outward it is Algorithm 2, Eq. 4.
    The share ``kept`` is carried over an edge, its root over either half; the length of the rest
    adds up in ``lost``, and the distance is that of the vector and what was lost.
    """
    _, tails, reverse, rotations, steps, kept, _, curvature = connection
    tree, inward, outward, turns, lost, kappa = unfolding
    dim = steps.shape[1]
    is_whole, is_curved = len(kept) == 0, len(curvature) > 0
    order, parent_edge = tree.order, tree.parent_edge
    root = order[0]
    lost[root, :] = 0.0
    for row in range(dim):
        inward[root, row] = 0.0
        outward[root, row] = 0.0
        for column in range(dim):
            turns[root, row, column] = 1.0 if row == column else 0.0
    for position in range(1, n_reached):
        node = order[position]
        edge = parent_edge[node]
        back = reverse[edge]
        parent = tails[edge]
        keep = 1.0 if is_whole else np.sqrt(kept[edge])
        for row in range(dim):
            here, there = 0.0, 0.0
            for inner in range(dim):
                # The rotation of the way back is the transpose, and this one is at hand.
                here += rotations[edge, inner, row] * inward[parent, inner]
                there += turns[parent, row, inner] * steps[edge, inner]
            inward[node, row] = steps[back, row] + keep * here
            outward[node, row] = keep * outward[parent, row] + there
            for column in range(dim):
                turn = 0.0
                for inner in range(dim):
                    turn += turns[parent, row, inner] * rotations[edge, inner, column]
                turns[node, row, column] = turn
        if is_curved:
            around = 0.5 * (curvature[parent] + curvature[node])
            kappa[node] = curve(inward, node, steps[back], kappa[parent], around)
        lost[node, 0], lost[node, 1] = lost[parent, 0], lost[parent, 1]
        if keep < 1:
            lost[node, 0] += (1 - keep) * (_length(inward, parent) + _length(inward, node))
            lost[node, 1] += (1 - keep) * (_length(outward, parent) + _length(outward, node))
            for row in range(dim):
                inward[node, row] *= keep
                outward[node, row] *= keep


@compiled()
def mean_row(connection, source, unfolding, row):
    """Fill ``row`` (n,) with the means of ‖node → source‖ and ‖source → node‖.

    Nodes that no path reaches get infinity. With curvature, which is only known towards the source,
    the second is the first. Returns the number of nodes that are reached.
    """
    tree, inward, outward, _, lost, _ = unfolding
    is_curved = len(connection.curvature) > 0
    n_reached = grow_tree(connection.graph, source, tree)
    develop_both_ways(connection, n_reached, unfolding)
    if n_reached < len(row):
        row[:] = np.inf
    for position in range(n_reached):
        node = tree.order[position]
        here = _length(inward, node) + lost[node, 0]
        there = here if is_curved else _length(outward, node) + lost[node, 1]
        least = chord(connection.points, source, node)
        row[node] = 0.5 * (max(here, least) + max(there, least))
    return n_reached


@compiled()
def one_way_row(connection, source, unfolding, row):
    """Fill ``row`` (n,) with ‖node → source‖ alone, else as `mean_row` does."""
    tree, inward, _, _, lost, _ = unfolding
    n_reached = grow_tree(connection.graph, source, tree)
    develop_both_ways(connection, n_reached, unfolding)
    row[:] = np.inf
    for position in range(n_reached):
        node = tree.order[position]
        here = _length(inward, node) + lost[node, 0]
        row[node] = max(here, chord(connection.points, source, node))


@compiled()
def chord(points, one, other):
    """Measure the straight way between two of the points (n, n_axes)."""
    total = 0.0
    for axis in range(points.shape[1]):
        total += (points[one, axis] - points[other, axis]) ** 2
    return np.sqrt(total)


@compiled()
def _length(vectors, node):
    total = 0.0
    for axis in range(vectors.shape[1]):
        total += vectors[node, axis] * vectors[node, axis]
    return np.sqrt(total)
