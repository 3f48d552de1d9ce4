"""Cartan development along a shortest-path tree, towards its root and away from it."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.trees import forget_tree, grow_whole_tree, new_tree


@compiled()
def develop_to_root(tails, reverse, rotations, steps, kept, tree, n_settled, vectors, lost):
    """Unfold every path of the tree into the tangent space of its far end.

    ``vectors[u]`` becomes the root as seen from ``u``: the step to the parent plus what the parent
    sees, turned into the frame of ``u``. No rotation has to be accumulated. The share ``kept`` (E,)
    is carried over the edge, its root over either half; the length of the rest adds up in
    ``lost[u]``, and the distance is ‖vectors[u]‖ + lost[u].
    """
    dim = steps.shape[1]
    order, parent_edge = tree.order, tree.parent_edge
    for axis in range(dim):
        vectors[order[0], axis] = 0.0
    lost[order[0]] = 0.0
    for position in range(1, n_settled):
        node = order[position]
        parent = tails[parent_edge[node]]
        edge = reverse[parent_edge[node]]
        keep = np.sqrt(kept[edge])
        for row in range(dim):
            value = 0.0
            for column in range(dim):
                value += rotations[edge, row, column] * vectors[parent, column]
            vectors[node, row] = steps[edge, row] + keep * value
        lost[node] = lost[parent]
        if keep < 1:
            lost[node] += (1 - keep) * (_length(vectors, parent) + _length(vectors, node))
            for row in range(dim):
                vectors[node, row] *= keep


@compiled()
def develop_both_ways(
    tails, reverse, rotations, steps, kept, tree, n_settled, inward, outward, turns, lost
):
    """Unfold every path of the tree from both ends, in one pass.

    ``inward[u]`` becomes the root as seen from ``u``, as in `develop_to_root`; ``outward[u]``
    becomes ``u`` as seen from the root (Algorithm 2, Eq. 4), ``turns[u]`` the product of the
    rotations on the way, from the frame of ``u`` to that of the root. ``lost`` (n, 2) are the
    lengths that were not carried on, of either.
    """
    dim = steps.shape[1]
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
        lost[node, 0], lost[node, 1] = lost[parent, 0], lost[parent, 1]
        if keep < 1:
            lost[node, 0] += (1 - keep) * (_length(inward, parent) + _length(inward, node))
            lost[node, 1] += (1 - keep) * (_length(outward, parent) + _length(outward, node))
            for row in range(dim):
                inward[node, row] *= keep
                outward[node, row] *= keep


@compiled()
def one_way_row(
    indptr, indices, lengths, tails, reverse, rotations, steps, kept, points, source, row
):
    """Fill ``row`` (n,) with ‖node → source‖, infinite where no path leads."""
    n_points = len(indptr) - 1
    tree = new_tree(n_points)
    vectors, lost = np.empty((n_points, steps.shape[1])), np.empty(n_points)
    n_settled, _ = grow_whole_tree(indptr, indices, lengths, source, tree)
    develop_to_root(tails, reverse, rotations, steps, kept, tree, n_settled, vectors, lost)
    row[:] = np.inf
    for position in range(n_settled):
        node = tree.order[position]
        row[node] = max(_length(vectors, node) + lost[node], chord(points, source, node))


@compiled()
def mean_row(
    indptr,
    indices,
    lengths,
    tails,
    reverse,
    rotations,
    steps,
    kept,
    points,
    source,
    tree,
    inward,
    outward,
    turns,
    lost,
    row,
):
    """Fill ``row`` (n,) with the means of ‖node → source‖ and ‖source → node‖.

    Nodes that no path reaches get infinity. ``tree`` is new and left so; ``inward`` and
    ``outward`` (n, d), ``turns`` (n, d, d) and ``lost`` (n, 2) are workspace.
    """
    n_settled, size = grow_whole_tree(indptr, indices, lengths, source, tree)
    develop_both_ways(
        tails, reverse, rotations, steps, kept, tree, n_settled, inward, outward, turns, lost
    )
    if n_settled < len(row):
        row[:] = np.inf
    for position in range(n_settled):
        node = tree.order[position]
        here = _length(inward, node) + lost[node, 0]
        there = _length(outward, node) + lost[node, 1]
        least = chord(points, source, node)
        row[node] = 0.5 * (max(here, least) + max(there, least))
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
