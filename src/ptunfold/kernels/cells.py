"""Cells of a graph: each node goes to the nearest of some seeds, and is unfolded from there."""

from __future__ import annotations

from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.trees import grow_forest


@compiled()
def grow_cells(graph, tails, rotations, steps, seeds, tree, cell, where, turns):
    """Unfold each node from the nearest of ``seeds``, along the shortest path from it.

    ``cell`` (n,) becomes the number of that seed, -1 where no path leads; ``where`` (n, d) and
    ``turns`` (n, d, d) the place of the node and its frame, in the frame of the seed. The ``tree``
    becomes the forest of these paths.
    """
    dim = steps.shape[1]
    cell[:] = -1
    for number in range(len(seeds)):
        cell[seeds[number]] = number
        for axis in range(dim):
            turns[seeds[number], axis, axis] = 1.0
    n_reached = grow_forest(graph, seeds, tree)
    for position in range(n_reached):
        node = tree.order[position]
        edge = tree.parent_edge[node]
        if edge < 0:
            continue
        parent = tails[edge]
        cell[node] = cell[parent]
        for row in range(dim):
            place = where[parent, row]
            for inner in range(dim):
                place += turns[parent, row, inner] * steps[edge, inner]
            where[node, row] = place
            for column in range(dim):
                turn = 0.0
                for inner in range(dim):
                    turn += turns[parent, row, inner] * rotations[edge, inner, column]
                turns[node, row, column] = turn
