"""All squared distances of a component, wherever they lie: what scaling needs to know of them.

In memory and on disk a symmetric matrix is kept by its upper half, as bands of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import FloatArray, IntArray

BAND = 256  # rows
_MOST_BANDS = 8  # together
_FEW_GROUPS = 8
_COLUMNS = 2048


class Squares(Protocol):
    """A symmetric matrix of squared distances that can be multiplied with vectors."""

    @property
    def n_points(self) -> int:
        """Number of rows and columns."""

    @property
    def dtype(self) -> Any:
        """NumPy's float32 or float64."""

    def near(self, vectors: FloatArray) -> FloatArray:
        """Bring vectors to where products with the matrix are made, memory or a device."""

    def here(self, vectors: Any) -> FloatArray:
        """Bring vectors back from there."""

    def multiply(self, factor: FloatArray, n_jobs: int | None) -> FloatArray:
        """Multiply the matrix with ``factor`` (n_points, n_vectors), of its own dtype, in float64.

        The matrix is read once. ``factor`` and the product are where `near` brings them.
        """

    def rows(self, chosen: IntArray) -> FloatArray:
        """Return some rows, (n_chosen, n_points), of its own dtype."""

    def whole(self) -> FloatArray:
        """Return the matrix itself in float64; for small ones."""


def new_bands(n_points: int, dtype: DTypeLike) -> list[FloatArray]:
    """Return the bands of a matrix of zeros.

    Band a has the rows from ``a * BAND`` on, at most `BAND` of them, and the columns from there to
    the end: shape ``(BAND, n_points - a * BAND)``.
    """
    return [
        np.zeros((min(BAND, n_points - top), n_points - top), dtype=dtype)
        for top in range(0, n_points, BAND)
    ]


def bands_of(matrix: FloatArray) -> list[FloatArray]:
    """Look at the upper half of a symmetric matrix as bands; nothing is copied."""
    return [matrix[top : top + BAND, top:] for top in range(0, len(matrix), BAND)]


def plan_bands(n_points: int) -> list[slice]:
    """Cut the rows of a matrix into blocks of whole bands: the unit of its products.

    Sums over a block are added up in one order, so that products have the same bits wherever and
    in whatever order the blocks are handled.

    Examples
    --------
    >>> plan_bands(600)
    [slice(0, 256, None), slice(256, 512, None), slice(512, 600, None)]
    """
    n_bands = -(-n_points // BAND)
    return cut(n_points, BAND * min(max(n_bands // _FEW_GROUPS, 1), _MOST_BANDS))


class BandSquares:
    """Squared distances as bands in memory."""

    def __init__(self, bands: Sequence[FloatArray]) -> None:
        self.bands = bands
        self.dtype = bands[0].dtype
        self.n_points = bands[0].shape[1]

    def band(self, index: int) -> FloatArray:
        """Return a band."""
        return self.bands[index]

    def near(self, vectors: FloatArray) -> FloatArray:
        """Leave vectors where they are."""
        return vectors

    def here(self, vectors: FloatArray) -> FloatArray:
        """Leave vectors where they are."""
        return vectors

    def multiply(self, factor: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Multiply the matrix with ``factor`` (n_points, n_vectors), in float64."""
        blocks, products = plan_bands(self.n_points), {}

        def handle(rows: slice) -> None:
            bands = map(self.band, range(rows.start // BAND, -(-rows.stop // BAND)))
            products[rows.start] = _product(rows.start, bands, factor)

        run_blocks(handle, blocks, Run(n_jobs))
        total = np.zeros((self.n_points, factor.shape[1]))
        for rows in blocks:  # from the first to the last
            total[rows.start :] += products[rows.start]
        return total

    def rows(self, chosen: IntArray) -> FloatArray:
        """Return some rows, (n_chosen, n_points), of its own dtype."""
        rows = np.empty((len(chosen), self.n_points), dtype=self.dtype)
        for top in range(0, self.n_points, BAND):
            band = self.band(top // BAND)
            end = top + len(band)
            is_here, is_below = (chosen >= top) & (chosen < end), chosen >= end
            rows[is_here, top:] = band[chosen[is_here] - top]
            rows[is_below, top:end] = band[:, chosen[is_below] - top].T
        return rows

    def whole(self) -> FloatArray:
        """Return the matrix itself in float64."""
        whole = np.empty((self.n_points, self.n_points))
        for top in range(0, self.n_points, BAND):
            band = self.band(top // BAND)
            whole[top : top + len(band), top:] = band
            whole[top:, top : top + len(band)] = band.T
        return whole


def _product(top: int, bands: Iterable[FloatArray], factor: FloatArray) -> FloatArray:
    """Multiply bands that follow each other, and their mirror images, with ``factor``.

    ``top`` is the first row of the first band. Returns what they contribute to the rows from there
    on, (n_points - top, n_vectors) float64; there is nothing above.
    """
    product = np.zeros((len(factor) - top, factor.shape[1]))
    below = factor[top:]
    start = 0
    for band in bands:
        rows = slice(start, start + len(band))
        for left in range(0, band.shape[1], _COLUMNS):
            # Sums of this many terms in the dtype of the matrix, their total in float64.
            tile = band[:, left : left + _COLUMNS]
            columns = slice(start + left, start + left + tile.shape[1])
            product[rows] += tile @ below[columns]
            beyond = max(0, len(band) - left)  # the diagonal block is its own mirror image
            mirror = slice(columns.start + beyond, columns.stop)
            product[mirror] += tile[:, beyond:].T @ below[rows]
        start += len(band)
    return product
