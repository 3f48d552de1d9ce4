"""All squared distances of a component, wherever they lie: what scaling needs to know of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any, Protocol

import numpy as np

from ptunfold.geodesics.bands import BAND
from ptunfold.threads import cut, run_blocks
from ptunfold.types import FloatArray

_MOST_BANDS = 8  # together
_FEW_GROUPS = 8
_COLUMNS = 2048

Tile = tuple[slice, slice, FloatArray]  # rows and columns of the matrix, and its entries there


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

    def multiply(self, factor: FloatArray, n_jobs: int | None) -> FloatArray:
        """Multiply the matrix with ``factor`` (n_points, n_vectors), of its own dtype, in float64.

        The matrix is read once. ``factor`` and the product are where `near` brings them.
        """

    def whole(self) -> FloatArray:
        """Return the matrix itself in float64; for small ones."""


def plan_slabs(n_points: int) -> list[slice]:
    """Cut the rows of a matrix into slabs of whole bands: the unit of its products.

    Sums over a slab are added up in one order, so that products have the same bits wherever and in
    whatever order the slabs are handled.

    Examples
    --------
    >>> plan_slabs(600)
    [slice(0, 256, None), slice(256, 512, None), slice(512, 600, None)]
    """
    n_bands = -(-n_points // BAND)
    return cut(n_points, BAND * min(max(n_bands // _FEW_GROUPS, 1), _MOST_BANDS))


def plan_tiles(slab: slice, n_points: int) -> list[tuple[slice, slice]]:
    """Cut a slab, from the diagonal to the right, into tiles; list their rows and columns.

    Tiles have the rows of a band, and the columns of whole slabs, but nothing left of the diagonal
    block of their band. They are listed from left to right, and from top to bottom where they have
    the same columns.

    Examples
    --------
    >>> plan_tiles(slice(256, 512), 600)
    [(slice(256, 512, None), slice(256, 600, None))]
    """
    height = plan_slabs(n_points)[0].stop
    bands = [slice(top, min(top + BAND, slab.stop)) for top in range(slab.start, slab.stop, BAND)]
    return [
        (rows, slice(max(columns.start, rows.start), columns.stop))
        for columns in cut(n_points, max(_COLUMNS // height, 1) * height)
        if columns.stop > slab.start
        for rows in bands
    ]


class BandSquares:
    """Squared distances as bands in memory, or as whatever gives bands when it is asked for them.

    Parameters
    ----------
    bands : sequence of arrays
        The upper half of the matrix, as `new_bands` describes it.
    """

    def __init__(self, bands: Sequence[FloatArray]) -> None:
        self.bands = bands
        self.dtype = bands[0].dtype
        self.n_points = bands[0].shape[1]

    def near(self, vectors: FloatArray) -> FloatArray:
        """Leave vectors where they are."""
        return vectors

    def multiply(self, factor: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Multiply the matrix with ``factor`` (n_points, n_vectors), in float64."""
        slabs = plan_slabs(self.n_points)
        products: list[FloatArray] = [np.empty(0)] * len(slabs)

        def handle(block: slice) -> None:
            for index in range(block.start, block.stop):
                products[index] = slab_product(
                    slabs[index].start, self._tiles(slabs[index]), factor
                )

        run_blocks(handle, cut(len(slabs), 1), n_jobs=n_jobs)
        return sum_of_products(slabs, products, self.n_points)

    def _tiles(self, slab: slice) -> Iterator[Tile]:
        """List the tiles of a slab, band by band: a band may have to be read."""
        tiles = sorted(plan_tiles(slab, self.n_points), key=lambda tile: tile[0].start)
        for top, of_band in groupby(tiles, lambda tile: tile[0].start):
            band = self.bands[top // BAND]
            for rows, columns in of_band:
                yield rows, columns, band[:, columns.start - top : columns.stop - top]

    def whole(self) -> FloatArray:
        """Return the matrix itself in float64."""
        slabs = plan_slabs(self.n_points)
        return whole_of(chain.from_iterable(map(self._tiles, slabs)), self.n_points)


def slab_product(top: int, tiles: Iterable[Tile], factor: FloatArray) -> FloatArray:
    """Multiply the tiles of a slab, and their mirror images, with ``factor``.

    Parameters
    ----------
    top : int
        The first row of the slab.
    tiles : iterable of (rows, columns, array)
        As `plan_tiles` lists them, or band by band: that is the same order for each row.
    factor : (n_points, n_vectors)
        In the dtype of the tiles.

    Returns
    -------
    product : (n_points - top, n_vectors) float64
        What they contribute to the rows from ``top`` on; there is nothing above.
    """
    product = np.zeros((len(factor) - top, factor.shape[1]))
    for rows, columns, tile in tiles:
        # Sums of this many terms in the dtype of the matrix, their total in float64.
        product[rows.start - top : rows.stop - top] += tile @ factor[columns]
        beyond = max(0, rows.stop - columns.start)  # the diagonal block is its own mirror image
        mirror = slice(columns.start + beyond - top, columns.stop - top)
        product[mirror] += tile[:, beyond:].T @ factor[rows]
    return product


def whole_of(tiles: Iterable[Tile], n_points: int) -> FloatArray:
    """Put the tiles of all slabs, and their mirror images, into one matrix of float64."""
    whole = np.empty((n_points, n_points))
    for rows, columns, tile in tiles:
        whole[rows, columns] = tile
        whole[columns, rows] = tile.T
    return whole


def sum_of_products(
    slabs: list[slice], products: Sequence[FloatArray], n_points: int
) -> FloatArray:
    """Add up what the slabs contribute, from the first to the last, (n_points, n_vectors)."""
    total = np.zeros((n_points, products[0].shape[1]))
    for rows, product in zip(slabs, products, strict=True):
        total[rows.start :] += product
    return total
