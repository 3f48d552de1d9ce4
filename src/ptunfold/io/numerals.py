"""Numbers in texts: plain ones, and those with commas where it is clear what a comma means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from ptunfold.types import FloatArray

GAPS = frozenset(("", "na", "n/a", "<na>", "nan", "null", "none"))
_GROUPS = "[+-]?[1-9][0-9]{0,2}"
_COMMA_GROUPS = re.compile(rf"{_GROUPS}(,[0-9]{{3}})+(\.[0-9]*)?")  # 1,234.5
_DOT_GROUPS = re.compile(rf"{_GROUPS}(\.[0-9]{{3}})+")  # 1.234.567
_DECIMAL_COMMA = re.compile(  # 1234,5 and 1.234,5
    rf"([+-]?[0-9]*|{_GROUPS}(\.[0-9]{{3}})+),[0-9]+([eE][+-]?[0-9]+)?"
)


_LABEL = re.compile(r"\+.*|-?0[0-9].*")
_DIGITS = re.compile("[+-]?[0-9]+")
_CONTINENTAL, _ENGLISH = "decimal commas", "commas between thousands"


class Ways(NamedTuple):
    """What the numbers of a column have told so far about the way they are written."""

    has_commas: bool = False  # so that it matters how they are read
    has_dots: bool = False
    may_be_continental: bool = True  # all of them may have decimal commas
    may_be_english: bool = True  # or commas between thousands

    def reading(self, decimal: str) -> str | None:
        """Return what there is to say about the way to read them; None if there is no such way."""
        if not self.has_commas and (decimal == "." or not self.has_dots):
            return ""
        if self.may_be_continental and (decimal == "," or not self.may_be_english):
            return _CONTINENTAL
        if self.may_be_english:
            return _ENGLISH if self.has_commas else ""
        return None


NOTHING_SEEN = Ways()


class Column(NamedTuple):
    """A column read as numbers, with what there is to say about it."""

    values: FloatArray | None  # (n_rows,), gaps are NaN; None if it holds anything else
    note: str = ""  # how the numbers were read, if not plainly, or why there are none
    ways: Ways = NOTHING_SEEN  # what is known now about the way they are written
    culprit: int | None = None  # the row that is no number, or contradicts those before


def is_gap(text: str) -> bool:
    """Tell whether a text stands for nothing."""
    return text.strip().lower() in GAPS


def is_label(text: str) -> bool:
    """Tell whether a number would lose letters of a text that stands for one: 007, +49."""
    return _LABEL.fullmatch(text.strip()) is not None


def is_name(value: Any) -> bool:
    """Tell whether digits name something, and would be others as a number: 007, or too many.

    Examples
    --------
    >>> [is_name(value) for value in ("007", "7", "0.5", 2**53 + 1, "9007199254740993", None)]
    [True, False, False, True, True, False]
    """
    if not isinstance(value, str):
        return isinstance(value, int) and float(value) != value
    text = value.strip()
    if not _DIGITS.fullmatch(text):
        return False
    return is_label(text) or (len(text) > 15 and float(text) != Decimal(text))


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
    """Return what stands before decimals in a table: a comma, if some number says so."""
    for column in columns:
        odd = [text.strip() for text in column if not is_gap(text) and _plain(text) is None]
        # Where fields are set apart by semicolons the comma has another task.
        clear = separator == ";" or not all(_COMMA_GROUPS.fullmatch(text) for text in odd)
        if odd and clear and all(_is_continental(text) for text in odd):
            return ","
    return "."


def read_numbers(
    texts: Sequence[str], decimal: str = ".", before: Ways = NOTHING_SEEN, first_row: int = 0
) -> Column:
    """Read a column of texts as numbers, or a part of it after `first_row` others.

    `decimal` is what the table has before decimals, for numbers that can be read in two ways, and
    `before` what the parts before have told: one that would have them read in another way is none.

    Examples
    --------
    >>> read_numbers(["1.5", "", "2"]).values
    array([1.5, nan, 2. ])
    >>> column = read_numbers(["1,234.5", "7"])
    >>> column.values, column.note
    (array([1234.5,    7. ]), 'commas between thousands')
    """
    if decimal == "." and not before.has_commas:
        column = _read_plain(texts, before)
        if column is not None:
            return column
    values = np.full(len(texts), np.nan)
    odd: dict[int, str] = {}
    dotted: dict[int, str] = {}
    for row, text in enumerate(map(str.strip, texts)):
        if is_gap(text):
            continue
        value = _plain(text)
        if value is not None:
            values[row] = value
            if "." in text:
                dotted[row] = text
        elif _has_commas(text):
            odd[row] = text
        else:
            note = f"words, as {short(texts[row])} in row {first_row + row + 1}"
            return Column(None, note, before, row)
    ways = Ways(
        before.has_commas or bool(odd),
        before.has_dots or bool(dotted),
        before.may_be_continental
        and all(map(_is_continental, odd.values()))
        and all(map(_DOT_GROUPS.fullmatch, dotted.values())),
        before.may_be_english and all(map(_COMMA_GROUPS.fullmatch, odd.values())),
    )
    reading, known = ways.reading(decimal), before.reading(decimal)
    is_new = not before.has_commas and not before.has_dots
    if reading is None or (not is_new and (reading == _CONTINENTAL) != (known == _CONTINENTAL)):
        # The first that cannot be read as those before; at the start, the first with commas.
        if is_new:
            row = next(iter(odd))
        elif known == _CONTINENTAL:
            both = sorted((odd | dotted).items())
            row = next(row for row, text in both if not _is_continental(text))
        else:
            row = next(row for row, text in odd.items() if not _COMMA_GROUPS.fullmatch(text))
        where = "" if is_new else f" in row {first_row + row + 1}"
        note = f"numbers written in two ways, as {short(texts[row])}{where}"
        return Column(None, note, before, row)
    if reading == _CONTINENTAL:
        for row, text in (odd | dotted).items():
            values[row] = float(text.replace(".", "").replace(",", "."))
    else:
        for row, text in odd.items():
            values[row] = float(text.replace(",", ""))
    return Column(values, reading, ways)


def _read_plain(texts: Sequence[str], before: Ways) -> Column | None:
    """Read numbers as most are written, several times as fast; None if some are not."""
    try:
        values = np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    except ValueError:
        return None
    everything = "".join(texts)
    if "_" in everything:  # which Python takes for a number
        return None
    if "." in everything:
        dotted = (text.strip() for text in texts if "." in text)
        is_continental = before.may_be_continental and all(map(_DOT_GROUPS.fullmatch, dotted))
        before = before._replace(has_dots=True, may_be_continental=is_continental)
    return Column(values, "", before)


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


def short(text: str) -> str:
    """Quote a text, of a long one the start."""
    return repr(text if len(text) <= 30 else f"{text[:27]}...")
