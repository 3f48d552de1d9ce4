"""Lengths of edges, measured from the coordinates or looked up."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import SUMS, compiled


@compiled(fastmath=SUMS)
def squared_lengths(points, tails, heads, squares):
    """Fill ``squares`` (E,) with the squared lengths of the edges, in float64."""
    for edge in range(len(tails)):
        tail, head = tails[edge], heads[edge]
        total = 0.0
        for column in range(points.shape[1]):
            offset = np.float64(points[tail, column]) - np.float64(points[head, column])
            total += offset * offset
        squares[edge] = total


@compiled()
def squares_among(matrix, rows, columns, squares):
    """Fill ``squares`` (m, r, c), in float64, with those of entries of a matrix.

    The entry at row ``rows[i, j]`` and column ``columns[i, k]`` goes to ``squares[i, j, k]``.
    """
    for one in range(len(rows)):
        for place in range(rows.shape[1]):
            row = rows[one, place]
            for other in range(columns.shape[1]):
                entry = np.float64(matrix[row, columns[one, other]])
                squares[one, place, other] = entry * entry
