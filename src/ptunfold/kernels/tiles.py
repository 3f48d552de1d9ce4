"""Passes over a large square matrix, tile by tile, so that a column is not read line by line."""

from __future__ import annotations

from numba import njit

TILE = 64


@njit(nogil=True, cache=True)
def symmetrize_rows(matrix, start, stop, power):
    """Replace ``matrix`` by the mean of itself and its transpose, squared if ``power`` is 2.

    Handles the tiles on and right of the diagonal in the rows ``start:stop``, and their mirror
    images; ``start`` is a multiple of `TILE`. Different rows may be handled at the same time.
    """
    n_points = len(matrix)
    for top in range(start, stop, TILE):
        bottom = min(top + TILE, stop)
        for left in range(top, n_points, TILE):
            right = min(left + TILE, n_points)
            for row in range(top, bottom):
                for column in range(max(left, row), right):
                    mean = 0.5 * (matrix[row, column] + matrix[column, row])
                    if power == 2:
                        mean *= mean
                    matrix[row, column] = mean
                    matrix[column, row] = mean
