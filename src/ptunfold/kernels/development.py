"""Cartan development along a shortest-path tree, towards its root and away from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.curving import curve
from ptunfold.kernels.trees import Tree, forget_tree, grow_whole_tree, new_tree


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


def new_unfolding(n_points: int, dim: int) -> Unfolding:
    """Return one that is to be filled; what no path leads to stays zero."""
    inward, outward = np.zeros((2, n_points, dim))
    turns, lost = np.zeros((n_points, dim, dim)), np.zeros((n_points, 2))
    return Unfolding(new_tree(n_points), inward, outward, turns, lost, np.zeros(n_points))


@compiled()
def develop_both_ways(connection, n_settled, unfolding):
    """Unfold every path of the tree from both ends, in one pass.

    Inward no rotation has to be accumulated: the root as seen from a node is the step to its parent
    plus what the parent sees, turned into the frame of the node. Outward it is Algorithm 2, Eq. 4.
    The share ``kept`` is carried over an edge, its root over either half; the length of the rest
    adds up in ``lost``, and the distance is that of the vector and what was lost.
    """
    _, tails, reverse, rotations, steps, kept, _, curvature = connection
    tree, inward, outward, turns, lost, kappa = unfolding
    dim = steps.shape[1]
    is_curved = len(curvature) > 0
    order, parent_edge = tree.order, tree.parent_edge
    root = order[0]
    lost[root, :] = 0.0
    for row in range(dim):
        inward[root, row] = 0.0
        outward[root, row] = 0.0
        for column in range(dim):
            turns[root, row, column] = 1.0 if row == column else 0.0
    for position in range(1, n_settled):
        node = order[position]
        edge = parent_edge[node]
        back = reverse[edge]
        parent = tails[edge]
        keep = np.sqrt(kept[edge])
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
            kappa[node] = curve(inward[node], steps[back], kappa[parent], around)
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

    Nodes that no path reaches get infinity. The tree of ``unfolding`` is new and left so. With
    curvature, which is only known towards the source, the second is the first.
    """
    forget_tree(unfolding.tree, *measure_row(connection, source, unfolding, row))


@compiled()
def measure_row(connection, source, unfolding, row):
    """Do as `mean_row`, but leave the tree as it is; returns what `forget_tree` wants to know."""
    tree, inward, outward, _, lost, _ = unfolding
    is_curved = len(connection.curvature) > 0
    n_settled, size = grow_whole_tree(connection.graph, source, tree)
    develop_both_ways(connection, n_settled, unfolding)
    if n_settled < len(row):
        row[:] = np.inf
    for position in range(n_settled):
        node = tree.order[position]
        here = _length(inward, node) + lost[node, 0]
        there = here if is_curved else _length(outward, node) + lost[node, 1]
        least = chord(connection.points, source, node)
        row[node] = 0.5 * (max(here, least) + max(there, least))
    return n_settled, size


@compiled()
def one_way_row(connection, source, unfolding, row):
    """Fill ``row`` (n,) with ‖node → source‖ alone, else as `mean_row` does."""
    tree, inward, _, _, lost, _ = unfolding
    n_settled, size = grow_whole_tree(connection.graph, source, tree)
    develop_both_ways(connection, n_settled, unfolding)
    row[:] = np.inf
    for position in range(n_settled):
        node = tree.order[position]
        here = _length(inward, node) + lost[node, 0]
        row[node] = max(here, chord(connection.points, source, node))
    forget_tree(tree, n_settled, size)


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
