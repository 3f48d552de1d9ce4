"""Columns of texts in files whose columns have types: numbers, where they hold nothing else."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ptunfold.io.numerals import NOTHING_SEEN, Ways, is_gap, is_label, read_numbers, short
from ptunfold.io.table import RefusedError, Table

_TEXTS, _WHOLE, _NUMBERS = "texts", "whole numbers", "numbers"
_PLAIN = re.compile("-?(0|[1-9][0-9]{0,18})")
_MOST = 2**63


class Kinds:
    """What the columns of a table hold, settled by its first part and held in all others.

    Columns that are used are numbers as they were used. Others are whole numbers or numbers if all
    their texts are, with nothing where there are gaps, and texts in all other cases.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._ways: dict[str, Ways] = {}

    def typed(self, part: Table) -> dict[str, Any]:
        """Return the columns of a part: texts, arrays, and masked ones where there may be gaps."""
        if not part.style.ending:  # no text: its columns have types
            return part.written
        columns = part.written.items()
        return {
            name: part.numbers[name] if name in part.numbers else self._typed(part, name, column)
            for name, column in columns
        }

    def _typed(self, part: Table, name: str, texts: list[str]) -> Any:
        if name not in self._kinds:
            self._kinds[name] = _kind_of(texts, part.style.decimal)
        kind = self._kinds[name]
        if kind is _TEXTS:
            return texts
        is_none = [is_gap(text) for text in texts]
        if kind is _WHOLE:
            values, culprit = _whole_numbers(texts, is_none)
        else:
            before = self._ways.get(name, NOTHING_SEEN)
            values, _, self._ways[name], culprit = read_numbers(texts, part.style.decimal, before)
        if values is None:
            row = culprit or 0
            raise RefusedError(
                f"column {name or repr('')} held {kind} in the first part, and holds "
                f"{short(texts[row])} in line {part.lines[row]}, but has one type in this format; "
                "write a text, or pass a larger --chunk-size"
            )
        return np.ma.MaskedArray(values, is_none)


def _kind_of(texts: list[str], decimal: str) -> str:
    there = [text.strip() for text in texts if not is_gap(text)]
    if not there or any(map(is_label, there)):
        return _TEXTS
    if all(map(_is_whole, there)):
        return _WHOLE
    # Longer ones lose digits as other numbers.
    is_long = any(len(text) > 15 and text.lstrip("-").isdigit() for text in there)
    return _TEXTS if is_long or read_numbers(texts, decimal).values is None else _NUMBERS


def _whole_numbers(texts: list[str], is_none: list[bool]) -> tuple[Any, int | None]:
    """Return whole numbers, or none and the first row that is no such."""
    found = np.zeros(len(texts), dtype=np.int64)
    for row, text in enumerate(texts):
        if not is_none[row]:
            if not _is_whole(text):
                return None, row
            found[row] = int(text)
    return found, None


def _is_whole(text: str) -> bool:
    text = text.strip()
    return _PLAIN.fullmatch(text) is not None and -_MOST <= int(text) < _MOST
