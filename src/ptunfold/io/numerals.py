"""Numbers in texts: plain ones, and those with commas where it is clear what a comma means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ptunfold.types import FloatArray

GAPS = frozenset(("", "na", "n/a", "<na>", "nan", "null", "none"))
_GROUPS = "[+-]?[1-9][0-9]{0,2}"
_COMMA_GROUPS = re.compile(rf"{_GROUPS}(,[0-9]{{3}})+(\.[0-9]*)?")  # 1,234.5
_DOT_GROUPS = re.compile(rf"{_GROUPS}(\.[0-9]{{3}})+")  # 1.234.567
_DECIMAL_COMMA = re.compile(  # 1234,5 and 1.234,5
    rf"([+-]?[0-9]*|{_GROUPS}(\.[0-9]{{3}})+),[0-9]+([eE][+-]?[0-9]+)?"
)


class Column(NamedTuple):
    """A column read as numbers, with what there is to say about it.

    Attributes
    ----------
    values : (n_rows,) float64 or None
        Gaps are NaN; None if it holds anything else.
    note : str
        How the numbers were read, if not plainly, or why there are none.
    """

    values: FloatArray | None
    note: str = ""


def is_gap(text: str) -> bool:
    """Tell whether a text stands for nothing."""
    return text.strip().lower() in GAPS


def is_numeral(text: str) -> bool:
    """Tell whether a text is a number in some way of writing.

    Examples
    --------
    >>> [is_numeral(text) for text in ("-1e3", "1,5", "1,234.5", "12_34", "x", "")]
    [True, True, True, False, False, False]
    """
    text = text.strip()
    return (_plain(text) is not None and not is_gap(text)) or _has_commas(text)


def decimal_mark(columns: Sequence[Sequence[str]], separator: str) -> str:
    """Return what stands before decimals in a table: a comma, if some number says so.

    Examples
    --------
    >>> decimal_mark([["1,5", "2"], ["a", "b"]], ";"), decimal_mark([["1,500", "2"]], ",")
    (',', '.')
    """
    for column in columns:
        odd = [text.strip() for text in column if not is_gap(text) and _plain(text) is None]
        # Where fields are set apart by semicolons the comma has another task.
        clear = separator == ";" or not all(_COMMA_GROUPS.fullmatch(text) for text in odd)
        if odd and clear and all(_is_continental(text) for text in odd):
            return ","
    return "."


def read_numbers(texts: Sequence[str], decimal: str = ".") -> Column:
    """Read a column of texts as numbers.

    Parameters
    ----------
    texts : list of str
        One for each row.
    decimal : {".", ","}
        What the table has before decimals, for numbers that can be read in two ways.

    Examples
    --------
    >>> read_numbers(["1.5", "", "2"]).values
    array([1.5, nan, 2. ])
    >>> read_numbers(["12_34", "56_78"])
    Column(values=None, note="words, as '12_34' in row 1")
    >>> read_numbers(["1,234.5", "7"])
    Column(values=array([1234.5,    7. ]), note='commas between thousands')
    """
    values = np.full(len(texts), np.nan)
    odd: list[int] = []
    dotted: list[int] = []
    for row, text in enumerate(texts):
        if is_gap(text):
            continue
        value = _plain(text)
        if value is None:
            if not _has_commas(text.strip()):
                return Column(None, f"words, as {_short(text)} in row {row + 1}")
            odd.append(row)
            continue
        values[row] = value
        if "." in text:
            dotted.append(row)
    if not odd and (decimal == "." or not dotted):
        return Column(values)
    stripped = [text.strip() for text in texts]
    may_be_continental = all(_is_continental(stripped[row]) for row in odd) and all(
        _DOT_GROUPS.fullmatch(stripped[row]) for row in dotted
    )
    may_be_english = all(_COMMA_GROUPS.fullmatch(stripped[row]) for row in odd)
    if may_be_continental and (decimal == "," or not may_be_english):
        for row in (*odd, *dotted):
            values[row] = float(stripped[row].replace(".", "").replace(",", "."))
        return Column(values, "decimal commas")
    if may_be_english:
        for row in odd:
            values[row] = float(stripped[row].replace(",", ""))
        return Column(values, "commas between thousands" if odd else "")
    return Column(None, f"numbers written in two ways, as {_short(texts[odd[0]])}")


def _plain(text: str) -> float | None:
    # Python takes 12_34 for a number, and nobody else does.
    if "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _has_commas(text: str) -> bool:
    return _COMMA_GROUPS.fullmatch(text) is not None or _is_continental(text)


def _is_continental(text: str) -> bool:
    return (_DECIMAL_COMMA.fullmatch(text) or _DOT_GROUPS.fullmatch(text)) is not None


def _short(text: str) -> str:
    return repr(text if len(text) <= 30 else f"{text[:27]}...")
