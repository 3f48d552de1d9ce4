"""A symmetric matrix by its upper half, as bands of rows: half the memory of the whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.types import FloatArray

BAND = 256  # rows


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


def with_tops(bands: list[FloatArray]) -> Iterator[tuple[int, FloatArray]]:
    """List the bands with the index of their first row."""
    return ((BAND * index, band) for index, band in enumerate(bands))
