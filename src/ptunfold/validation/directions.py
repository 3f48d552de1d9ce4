"""Vectors at points, pictures of points, and rows of distances, from wherever they come."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ptunfold.types import FloatArray
from ptunfold.validation.points import refuse_mask

_LARGEST = 1e60


def check_vectors(
    vectors: Any, name: str, shapes: tuple[tuple[int | None, ...], ...], what: str
) -> FloatArray:
    """Return finite numbers as float64, in one of some shapes with None for any length but 0.

    ``what`` says in an error what has to be passed.
    """
    found = _as_numbers(vectors, name, shapes, what).astype(np.float64)
    n_bad = int((~(np.abs(found) <= _LARGEST)).sum())
    if n_bad:
        raise ValueError(
            f"{name} has {n_bad} of {found.size} values that are NaN, infinite or beyond "
            f"{_LARGEST:.0e}; fill them, for example with 0"
        )
    return found


def check_picture(Z: Any, n_points: int | None) -> FloatArray:
    """Return places of points as float64, (n_points, n_components); NaN for those without one."""
    rows = "one row a point" if n_points is None else f"one row for each of {n_points} points"
    what = f"{rows}, of at least one coordinate"
    found = _as_numbers(Z, "Z", ((n_points, None),), what).astype(np.float64)
    n_bad = int((np.abs(found) > _LARGEST).sum())
    if n_bad:
        raise ValueError(
            f"Z has {n_bad} of {found.size} values that are infinite or beyond {_LARGEST:.0e}; "
            "fill them with NaN to leave these points out"
        )
    return found


def check_rows(distances: Any, n_sources: int, n_points: int) -> FloatArray:
    """Return distances from sources to points, (n_sources, n_points), which may have gaps."""
    what = f"one row for each of {n_sources} sources and one column for each of {n_points} points"
    found: FloatArray = _as_numbers(distances, "distances", ((n_sources, n_points),), what)
    if (found < 0).any():
        raise ValueError("distances has negative entries; pass distances, not similarities")
    # Compared in 64 bits: the bound does not fit into 32.
    if (found[np.isfinite(found)] > np.float64(_LARGEST)).any():
        raise ValueError(f"distances has values beyond {_LARGEST:.0e}; pass them in a larger unit")
    return found


def _as_numbers(
    vectors: Any, name: str, shapes: tuple[tuple[int | None, ...], ...], what: str
) -> NDArray[Any]:
    """Return an array of numbers in one of some shapes."""
    if sparse.issparse(vectors):
        raise TypeError(f"{name} is a sparse matrix; pass {name}.toarray()")
    refuse_mask(vectors, name)
    try:
        found = np.asarray(vectors)
    except ValueError as error:
        raise ValueError(f"the rows of {name} have different lengths; pass {what}") from error
    if found.dtype.kind == "O":
        try:
            found = found.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} holds values that are no numbers; pass {what}") from error
    if found.dtype.kind not in "fiu":
        raise ValueError(f"{name} holds values of type {found.dtype}, not numbers; pass {what}")
    if not any(_has_shape(found.shape, shape) for shape in shapes):
        raise ValueError(f"{name} has shape {found.shape}; pass {what}")
    return found


def _has_shape(found: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(found) == len(wanted) and all(
        length > 0 if one is None else length == one
        for length, one in zip(found, wanted, strict=True)
    )
