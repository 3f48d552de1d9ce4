"""Rotations around the triangles of a graph."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def turn_around_triangles(indptr, indices, reverse, rotations, start, stop, turns):
    """Measure how far a vector comes back turned that is carried around a triangle.

    ``turns`` (E,) becomes, for the edges that leave the nodes ``start:stop`` for a later one and
    for the same edges the other way, the mean of 1 - cos over all triangles with that edge and
    all directions of the vector: 1 - tr(R_uv R_vw R_wu) / d. NaN where there is no triangle.
    """
    dim = rotations.shape[1]
    for node in range(start, stop):
        for edge in range(indptr[node], indptr[node + 1]):
            other = indices[edge]
            if other <= node:
                continue
            total, count = 0.0, 0
            # Neighbours are in ascending order: those that both have are found in one pass.
            first, second = indptr[node], indptr[other]
            while first < indptr[node + 1] and second < indptr[other + 1]:
                if indices[first] < indices[second]:
                    first += 1
                elif indices[first] > indices[second]:
                    second += 1
                else:
                    trace = 0.0
                    for row in range(dim):
                        for column in range(dim):
                            carried = 0.0
                            for inner in range(dim):
                                carried += (
                                    rotations[edge, row, inner] * rotations[second, inner, column]
                                )
                            trace += carried * rotations[first, row, column]
                    total += 1 - trace / dim
                    count += 1
                    first += 1
                    second += 1
            turns[edge] = total / count if count else np.nan
            turns[reverse[edge]] = turns[edge]
