"""Rotations around the triangles of a graph."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def turn_around_triangles(indptr, indices, rotations, steps, start, stop, sums):
    """Measure how far a vector comes back turned that is carried around a triangle.

    The turn around the triangle of u, v and w is H = R_uv R_vw R_wu. Where the curvature K is
    constant, it is H = I + K B with B = (a bᵗ - b aᵗ) / 2, a and b the steps from u to the others:
    for d = 2, by K times the area. ``sums`` (E, 4) becomes, for the edges that leave the nodes
    ``start:stop``, the means over all triangles with that edge of ‖H - I‖² / d, ⟨H - I, B⟩ / d and
    ‖B‖² / d, and their number.
    """
    dim = rotations.shape[1]
    carried = np.empty((dim, dim))
    for node in range(start, stop):
        for edge in range(indptr[node], indptr[node + 1]):
            other = indices[edge]
            turned, along, area, count = 0.0, 0.0, 0.0, 0
            # Neighbours are in ascending order: those that both have are found in one pass.
            first, second = indptr[node], indptr[other]
            while first < indptr[node + 1] and second < indptr[other + 1]:
                if indices[first] < indices[second]:
                    first += 1
                elif indices[first] > indices[second]:
                    second += 1
                else:
                    for row in range(dim):
                        for column in range(dim):
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
                            plane = 0.5 * (
                                steps[edge, row] * steps[first, column]
                                - steps[first, row] * steps[edge, column]
                            )
                            along += turn * plane
                            area += plane * plane
                    count += 1
                    first += 1
                    second += 1
            scale = 1.0 / (dim * count) if count else 0.0
            sums[edge, 0], sums[edge, 1] = turned * scale, along * scale
            sums[edge, 2], sums[edge, 3] = area * scale, count
