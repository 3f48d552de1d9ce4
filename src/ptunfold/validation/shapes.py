"""Single arrays of records: kind, shape, range and size of their values."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptunfold.types import BoolArray, FloatArray, IntArray

# Beyond these, squares and sums over paths overflow or vanish.
LARGEST, LEAST = 1e100, 1e-290
_SLACK = 1e-3  # of orthonormal vectors, from a device in 32 bits
_ROWS_TOGETHER = 1 << 14
_KINDS = {"i": ("whole numbers", "iu"), "f": ("numbers", "fiu"), "b": ("yes and no", "b")}


def look_at(value: Any, name: str, kind: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Look at an array: numbers of a kind, in a shape with None for any length."""
    array = np.asarray(value)
    words, kinds = _KINDS[kind]
    if array.dtype.kind not in kinds:
        raise ValueError(f"{name} holds values of type {array.dtype}; {words} are needed")
    if array.ndim != len(shape) or any(
        wanted is not None and wanted != found
        for wanted, found in zip(shape, array.shape, strict=False)
    ):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(f"{name} has shape {array.shape}; it has to be ({wanted})")
    return array


def check_range(indices: IntArray, n_points: int, name: str, least: int = 0) -> None:
    """Check that indices name points that exist."""
    if indices.size and not (indices.min() >= least and indices.max() < n_points):
        wrong = indices[(indices < least) | (indices >= n_points)]
        raise ValueError(
            f"{name} names {len(wrong)} times a point that does not exist (first {wrong[0]}); the "
            f"indices go from {least} to {n_points - 1}"
        )


def check_size(
    values: FloatArray, name: str, *, least: float = -LARGEST, most: float = LARGEST
) -> None:
    """Check that numbers are some, and within bounds."""
    # Comparisons with NaN are false.
    if values.size and not (values.min() >= least and values.max() <= most):
        wrong = values[~((values >= least) & (values <= most))]
        raise ValueError(
            f"{name} has {len(wrong)} of {values.size} values that are NaN or not between "
            f"{least:.3g} and {most:.3g} (first {wrong[0]:.3g})"
        )


def check_orthonormal(matrices: FloatArray, name: str, is_needed: BoolArray | None = None) -> None:
    """Check that the columns of each matrix are orthonormal, in blocks to spare memory."""
    columns = range(matrices.shape[2])
    with np.errstate(all="ignore"):
        for start in range(0, len(matrices), _ROWS_TOGETHER):
            block = matrices[start : start + _ROWS_TOGETHER]
            gaps = np.zeros(len(block))
            for one, other in combinations_with_replacement(columns, 2):
                # Ten times as fast as products of small matrices.
                product = np.einsum("ni,ni->n", block[:, :, one], block[:, :, other])
                np.maximum(gaps, np.abs(product - (one == other)), out=gaps)
            is_wrong = ~(gaps <= _SLACK)
            if is_needed is not None:
                is_none = np.isnan(block).all(axis=(1, 2))
                is_wrong &= is_needed[start : start + _ROWS_TOGETHER] | ~is_none
            if is_wrong.any():
                first = start + int(is_wrong.argmax())
                rest = "" if is_needed is None else "; points without an edge may have none"
                raise ValueError(
                    f"{name}[{first}] is not finite, or its columns are no unit vectors at right "
                    f"angles{rest}"
                )


def check_squares(distances: FloatArray, name: str = "distances") -> None:
    """Refuse distances whose squares overflow or vanish in their own dtype."""
    largest = float(distances.max()) if distances.size else 0.0
    limit = 1e15 if distances.dtype == np.float32 else 1e60
    if largest and not 1 / limit < largest < limit:
        raise ValueError(
            f"{name} go up to {largest:.3g}, too far from 1 for squares in {distances.dtype}; "
            f"divide them by {largest:.0e}"
        )
