"""Rotations around the triangles of a graph."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled


@compiled()
def turn_around_triangles(connection, nodes, is_node, sums):
    """Measure how far a vector comes back turned that is carried around a triangle.

    The turn around the triangle of u, v and w is H = R_uv R_vw R_wu. Where the curvature K is
    constant, it is H = I + K B with B = (a bᵗ - b aᵗ) / 2, a and b two sides written in the frame
    of u: for d = 2, by K times the area. ``sums`` (E, 4) becomes, for the edges that leave one of
    the ``nodes``, and for the same edges the other way, the means over all triangles with that edge
    of ‖H - I‖² / d, ⟨H - I, B⟩ / d and ‖B‖² / d, and their number. An edge between two nodes that
    ``is_node`` marks is measured by the first of them, whichever thread has the other.
    """
    (indptr, indices, _), _, reverse, rotations, steps, _, _, _ = connection
    dim = rotations.shape[1]
    carried, side, base = np.empty((dim, dim)), np.empty(dim), np.empty(dim)
    way = np.full(len(indptr) - 1, -1, dtype=np.int32)  # the edge to each neighbour of the node
    for node in nodes:
        for edge in range(indptr[node], indptr[node + 1]):
            way[indices[edge]] = edge - indptr[node]
        for edge in range(indptr[node], indptr[node + 1]):
            other = indices[edge]
            if other < node and is_node[other]:
                continue
            for row in range(dim):  # as both ends see it, so that their order does not matter
                base[row] = steps[edge, row]
                for column in range(dim):
                    base[row] -= rotations[edge, row, column] * steps[reverse[edge], column]
            turned, along, area, count = 0.0, 0.0, 0.0, 0
            for second in range(indptr[other], indptr[other + 1]):
                if way[indices[second]] < 0:
                    continue
                first = indptr[node] + way[indices[second]]
                for row in range(dim):
                    side[row] = steps[first, row]
                    for column in range(dim):
                        side[row] += rotations[edge, row, column] * steps[second, column]
                        carried[row, column] = 0.0
                        for inner in range(dim):
                            carried[row, column] += (
                                rotations[edge, row, inner] * rotations[second, inner, column]
                            )
                for row in range(dim):
                    for column in range(dim):
                        turn = 0.0
                        for inner in range(dim):
                            turn += carried[row, inner] * rotations[first, column, inner]
                        if row == column:
                            turned += 2 * (1 - turn)
                            continue
                        plane = 0.125 * (base[row] * side[column] - side[row] * base[column])
                        along += turn * plane
                        area += plane * plane
                count += 1
            scale = 1.0 / (dim * count) if count else 0.0
            sums[edge, 0], sums[edge, 1] = turned * scale, along * scale
            sums[edge, 2], sums[edge, 3] = area * scale, count
            for part in range(4):
                sums[reverse[edge], part] = sums[edge, part]
        for edge in range(indptr[node], indptr[node + 1]):
            way[indices[edge]] = -1
