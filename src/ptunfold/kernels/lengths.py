"""Lengths of edges, measured from the coordinates."""

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
