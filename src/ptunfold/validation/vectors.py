"""Vectors: at the points of a fit, or seen from one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
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
    found = found.astype(np.float64)
    n_bad = int((~(np.abs(found) <= _LARGEST)).sum())
    if n_bad:
        raise ValueError(
            f"{name} has {n_bad} of {found.size} values that are NaN, infinite or beyond "
            f"{_LARGEST:.0e}; fill them, for example with 0"
        )
    return found


def _has_shape(found: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(found) == len(wanted) and all(
        length > 0 if one is None else length == one
        for length, one in zip(found, wanted, strict=True)
    )
