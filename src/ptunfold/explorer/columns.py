"""What a caller tells about his points, as columns of numbers or of codes for words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ptunfold.explorer.scales import PLAIN, Scale, chosen, recognised
from ptunfold.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Column:
    """One value for each point: numbers, or places in a list of labels, -1 for a gap.

    Scores are what was computed from the embedding.
    """

    name: str
    values: FloatArray | IntArray
    labels: list[str] | None = None
    is_score: bool = False
    scale: Scale = PLAIN


def as_columns(given: Any, n_points: int) -> list[Column]:
    """Read a dict, a data frame or any other table of columns, one value a point."""
    if given is None:
        return []
    if hasattr(given, "column_names"):  # Arrow
        pairs = list(zip(given.column_names, given.columns, strict=True))
    elif hasattr(given, "items"):
        pairs = list(given.items())
    elif hasattr(given, "columns"):
        pairs = [(name, given[name]) for name in given.columns]
    else:
        raise ValueError(
            f"columns are {type(given).__name__}, not names with values; pass a dict or a data "
            "frame"
        )
    return [as_column(str(name), values, n_points) for name, values in pairs]


def as_column(name: str, given: Any, n_points: int) -> Column:
    """Read one value for each point: numbers, or words in the order of their categories."""
    try:
        shape = np.shape(given)
    except ValueError:
        shape = (len(given), -1)  # lists of several lengths
    if shape != (n_points,):
        raise ValueError(
            f"column {name} has shape {shape}, but there are {n_points} points; pass one value "
            "for each"
        )
    if np.ma.isMaskedArray(given):
        is_kept = given.dtype.kind in "fiub" and not _is_rounded(np.ma.getdata(given))
        kind: Any = float if is_kept else object
        gap: Any = np.nan if kind is float else None
        given = np.where(np.ma.getmaskarray(given), gap, np.ma.getdata(given).astype(kind))
    values = np.asarray(given)
    if is_categorical(given) or values.dtype.kind in "mM":
        return _in_their_order(name, *_listed(given, values))
    if values.dtype.kind in "fiu" and not _is_rounded(values):
        return Column(name, values.astype(np.float64))
    listed = [None if _is_gap(value) else value for value in values.tolist()]
    numbers = _as_numbers(listed)
    if numbers is not None:
        return Column(name, numbers)
    texts = [None if value is None else _as_text(value) for value in listed]
    return _as_codes(
        name, texts, sorted({text for text in texts if text is not None}, key=_natural)
    )


def is_categorical(given: Any) -> bool:
    """Tell whether values are pandas' categories, which have an order of their own."""
    kinds = getattr(given, "cat", given)
    return hasattr(kinds, "codes") and hasattr(kinds, "categories")


def _listed(given: Any, values: Any) -> tuple[Any, Any]:
    """List the categories of values, or the dates among them, and the places of all in the list."""
    if is_categorical(given):
        kinds = getattr(given, "cat", given)
        return np.asarray(kinds.categories), np.asarray(kinds.codes)
    known = ~np.isnat(values)
    codes = np.full(len(values), -1)
    dates, codes[known] = np.unique(values[known], return_inverse=True)
    return dates, codes


def _in_their_order(name: str, kinds: Any, codes: Any) -> Column:
    is_time = kinds.dtype.kind in "mM"
    words = _times_as_texts(kinds) if is_time else [_as_text(kind) for kind in kinds.tolist()]
    texts = [None if code < 0 else words[code] for code in codes]
    found = set(texts)
    return _as_codes(name, texts, [word for word in dict.fromkeys(words) if word in found])


def _as_codes(name: str, texts: list[str | None], labels: list[str]) -> Column:
    code_of = {label: code for code, label in enumerate(labels)}
    codes = [-1 if text is None else code_of[text] for text in texts]
    return Column(name, np.array(codes, dtype=np.int32), labels)


def _times_as_texts(times: Any) -> list[str]:
    """Write dates or spans of time no finer than they are: pandas' are in nanoseconds."""
    for unit in ("D", "m", "s", "ms"):
        coarse = times.astype(f"{times.dtype.kind}8[{unit}]")
        if np.datetime_data(times.dtype)[0] not in ("Y", "M", "W") and (coarse == times).all():
            return [str(time) for time in coarse]
    return [str(time) for time in times]


def scaled(column: Column, given: Any = None) -> Column:
    """Give a column the scale that the caller names, or that its name and its values speak for."""
    if column.labels is not None:
        if given not in (None, "kinds"):
            raise ValueError(
                f"column {column.name} holds words, which are kinds; a scale of {given!r} is for "
                "numbers"
            )
        return replace(column, scale=Scale("kinds"))
    if given is None:
        scale = recognised(column.name, column.values)
    else:
        scale = chosen(given, column.name, column.values)
    if scale.kind != "kinds":
        return replace(column, scale=scale)
    known = np.isfinite(column.values)
    labels, codes = np.unique(column.values[known], return_inverse=True)
    places = np.full(len(column.values), -1, dtype=np.int32)
    places[known] = codes
    words = [f"{label:.15g}" for label in labels]
    return replace(column, values=places, labels=words, scale=scale)


def _is_rounded(values: Any) -> bool:
    """Tell whether float64 has no room for all digits of whole numbers, which are names then."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return False
    large = values[(values > 2**53) | (values < -(2**53))]
    return any(float(value) != value for value in large.tolist())


def _is_gap(value: Any) -> bool:
    """Tell whether a value stands for none: None, NaN, NaT, pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _as_numbers(listed: list[Any]) -> FloatArray | None:
    """Read numbers among objects; None if there is anything else."""
    numbers = np.full(len(listed), np.nan)
    for index, value in enumerate(listed):
        if value is None:
            continue
        if isinstance(value, bool | str | bytes) or not hasattr(value, "__float__"):
            return None
        try:
            numbers[index] = float(value)
        except TypeError:  # an array
            return None
        except OverflowError:  # whole numbers have no end, but no digits of theirs fit on a scale
            return None
        if isinstance(value, int | np.integer) and float(value) != int(value):
            return None
    return None if np.isnan(numbers).all() else numbers


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _natural(text: str) -> tuple[float, str]:
    """Order words as people do: 9 before 10."""
    try:
        return float(text), text
    except ValueError:
        return float("inf"), text
