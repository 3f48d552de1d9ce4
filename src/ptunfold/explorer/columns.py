"""What a caller tells about his points, as columns of numbers or of codes for words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptunfold.types import FloatArray, IntArray

_EXACT = 1 << 24  # whole numbers up to here are exact in 32 bits


@dataclass(frozen=True, eq=False)
class Column:
    """One value for each point.

    Attributes
    ----------
    name : str
        What it is called.
    values : (n_points,) float64 or int
        Numbers; with labels, their places in the list, -1 for a gap.
    labels : list of str or None
        The words that are meant, if it holds words.
    is_score : bool
        Whether it was computed from the embedding.
    """

    name: str
    values: FloatArray | IntArray
    labels: list[str] | None = None
    is_score: bool = False


def as_columns(given: Any, n_points: int) -> list[Column]:
    """Read a dict, a data frame or any other table of columns.

    Raises
    ------
    ValueError
        If a column has more or fewer values than there are points.
    """
    if given is None:
        return []
    if hasattr(given, "items"):
        pairs = list(given.items())
    elif hasattr(given, "columns"):
        pairs = [(name, given[name]) for name in given.columns]
    else:
        raise ValueError(
            f"columns are {type(given).__name__}, not names with values; pass a dict or a data "
            "frame"
        )
    return [_as_column(str(name), values, n_points) for name, values in pairs]


def _as_column(name: str, given: Any, n_points: int) -> Column:
    values = np.asarray(given)
    if values.shape != (n_points,):
        raise ValueError(
            f"column {name} has shape {values.shape}, but there are {n_points} points; pass one "
            "value for each"
        )
    is_number = values.dtype.kind in "fiu"
    is_exact = values.dtype.kind == "f" or (is_number and np.abs(values).max() < _EXACT)
    if is_number and is_exact:
        return Column(name, values.astype(np.float64))
    is_gap = np.array([value is None or value != value for value in values.tolist()])
    texts = np.where(is_gap, "", values.astype(str)) if len(values) else values.astype(str)
    labels, codes = np.unique(texts[~is_gap], return_inverse=True)
    places = np.full(n_points, -1, dtype=np.int32)
    places[~is_gap] = codes
    return Column(name, places, labels.tolist())
