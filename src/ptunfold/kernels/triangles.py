"""Rotations around the triangles of a graph."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled


@compiled()
def turn_around_triangles(connection, edges, sums):
    """Measure how far a vector comes back turned that is carried around a triangle.

    The turn around the triangle of u, v and w is H = R_uv R_vw R_wu. Where the curvature K is
    constant, it is H = I + K B with B = (a bᵗ - b aᵗ) / 2, a and b two sides written in the frame
    of u: for d = 2, by K times the area. ``sums`` (m, 4) becomes, for the ``edges`` (m,), the means
    over all triangles with that edge of ‖H - I‖² / d, ⟨H - I, B⟩ / d and ‖B‖² / d, and their
    number. Edges that leave the same node should follow each other.
    """
    (indptr, indices, _), tails, reverse, rotations, steps, _, _, _ = connection
    dim = rotations.shape[1]
    carried, side, base = np.empty((dim, dim)), np.empty(dim), np.empty(dim)
    way = np.full(len(indptr) - 1, -1, dtype=np.int32)  # the edge to each neighbour of the node
    node = -1
    for asked in range(len(edges)):
        edge = edges[asked]
        if tails[edge] != node:
            if node >= 0:
                for near in range(indptr[node], indptr[node + 1]):
                    way[indices[near]] = -1
            node = tails[edge]
            for near in range(indptr[node], indptr[node + 1]):
                way[indices[near]] = near - indptr[node]
        for row in range(dim):  # as both ends see it, so that their order does not matter
            base[row] = steps[edge, row]
            for column in range(dim):
                base[row] -= rotations[edge, row, column] * steps[reverse[edge], column]
        turned, along, area, count = 0.0, 0.0, 0.0, 0
        other = indices[edge]
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
        sums[asked, 0], sums[asked, 1] = turned * scale, along * scale
        sums[asked, 2], sums[asked, 3] = area * scale, count
