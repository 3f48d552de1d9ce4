"""Passes over a large square matrix, tile by tile, so that a column is not read line by line."""

from __future__ import annotations

from ptunfold.kernels.compiling import compiled

TILE = 64
_SMALL_TILE = 16
_WIDE_TILE = 32


@compiled()
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


@compiled()
def add_rows(band, top, rows, start):
    """Add rows of a matrix to a band of its upper half.

    ``rows`` (s, n) are the rows from ``start`` on, ``band`` (h, n - top) those from ``top`` on,
    with the columns from there on. What lies left of the diagonal block is added in its mirror
    place; inside the diagonal block everything keeps its own.
    """
    height, n_points = len(band), rows.shape[1]
    for index in range(max(0, top - start), min(len(rows), top + height - start)):
        for column in range(top, n_points):
            band[start + index - top, column - top] += rows[index, column]
    below = max(0, top + height - start)
    for upper in range(below, len(rows), _SMALL_TILE):
        for left in range(0, height, _SMALL_TILE):
            for column in range(left, min(left + _SMALL_TILE, height)):
                for index in range(upper, min(upper + _SMALL_TILE, len(rows))):
                    band[column, start + index - top] += rows[index, top + column]


@compiled()
def square_mirrored(rows, mirror, squares):
    """Write the squares of the means of ``rows`` (h, w) and the transpose of ``mirror`` (w, h).

    ``squares`` may be ``rows`` itself.
    """
    height, width = rows.shape
    for left in range(0, width, _WIDE_TILE):
        right = min(left + _WIDE_TILE, width)
        for top in range(0, height, _SMALL_TILE):
            for row in range(top, min(top + _SMALL_TILE, height)):
                for column in range(left, right):
                    mean = 0.5 * (rows[row, column] + mirror[column, row])
                    squares[row, column] = mean * mean


@compiled()
def square_means(band):
    """Turn a band of sums of two directions into squares of their means."""
    height = len(band)
    for row in range(height):
        for column in range(row, height):
            mean = 0.5 * (band[row, column] + band[column, row])
            band[row, column] = mean * mean
            band[column, row] = mean * mean
        for column in range(height, band.shape[1]):
            mean = 0.5 * band[row, column]
            band[row, column] = mean * mean
