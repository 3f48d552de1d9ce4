"""The columns of a table that are used as points: the same ones in all of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptunfold.io.numerals import NOTHING_SEEN, Column, Ways
from ptunfold.io.table import RefusedError, Table, as_numbers, listed
from ptunfold.types import FloatArray

_NO_NUMBERS, _COUNTS = "nothing but gaps", "numbers the rows"
_NAME_THEM = "name the columns to use with --columns"


class Choice:
    """Which columns are used, settled by the first part of a table and held in all others.

    What a later part would have changed, had all been read at once, is refused.

    By default all columns that hold nothing but numbers and gaps, or pixels. `used` has their
    names, none of pixels, `notes` what there is to say about some, `left_out` why others are not.
    """

    def __init__(self, names: Sequence[str] | None = None) -> None:
        self._names = None if names is None else list(names)
        self.used: list[str] = []
        self.notes: dict[str, str] = {}
        self.left_out: dict[str, str] = {}
        self._ways: dict[str, Ways] = {}
        self._gaps: set[str] = set()  # columns that hold nothing else so far
        self._is_settled = False

    def points(self, part: Table) -> FloatArray:
        """Return the numbers of a part, (n_rows, n_columns), a gap being NaN."""
        if part.shape is not None and self._names is None:
            self.left_out = part.left_out
            return part.source
        if not self._is_settled:
            columns = self._settle(part)
            self._is_settled = True
        else:
            columns = [self._next(part, name) for name in self.used]
            if self._names is None:
                self._check_left_out(part)
        if part.is_last:
            for name in self._gaps.intersection(self.used):
                raise _no_numbers(name, _NO_NUMBERS)
        return np.column_stack(columns)

    def _settle(self, part: Table) -> list[FloatArray]:
        found: dict[str, FloatArray] = {}
        left_out = dict(part.left_out)
        for name in part.names if self._names is None else self._names:
            if name in found:
                raise ValueError(f"column {name} is named twice; name each once")
            values, note = self._read(part, name)[:2]
            if self._names is None and name in self._gaps:
                values, note = None, _NO_NUMBERS
            if values is not None and (self._names is not None or name not in part.index):
                found[name] = values
            elif self._names is not None:
                raise _no_numbers(name, note)
            else:
                left_out[name] = note or _COUNTS
        if not found and self._names is not None:
            raise ValueError(f"no column is named; the columns are {listed(part.names)}")
        if not found:
            raise ValueError(
                f"none of the columns {listed(part.names)} holds numbers; name those to use"
            )
        if self._names is not None:
            left_out |= {name: "not named" for name in part.names if name not in found}
        self.used, self.left_out = list(found), left_out
        self.notes = {name: note for name, note in self.notes.items() if name in found}
        return list(found.values())

    def _next(self, part: Table, name: str) -> FloatArray:
        column = self._read(part, name)
        if column.values is None:
            is_text = column.culprit is not None and part.lines
            where = f", line {part.lines[column.culprit or 0]}" if is_text else ""
            raise RefusedError(
                f"column {name} does not hold numbers to its end ({column.note}{where}); mend it, "
                f"or {_NAME_THEM}"
            )
        return column.values

    def _check_left_out(self, part: Table) -> None:
        """Refuse columns that were left out for what is no longer true of them."""
        for name, why in self.left_out.items():
            if why == _NO_NUMBERS and name in self._gaps:
                column = as_numbers(part.column(name), part.style.decimal)
                if column.values is None or not np.isnan(column.values).all():
                    raise RefusedError(
                        f"column {name or repr('')} held nothing but gaps in its first "
                        f"{part.first_row:,} rows, and does not go on so; {_NAME_THEM}"
                    )
            if why == _COUNTS and name not in part.index:
                raise RefusedError(
                    f"column {name or repr('')} numbers the rows, but not those after "
                    f"{part.first_row:,}; {_NAME_THEM}"
                )

    def _read(self, part: Table, name: str) -> Column:
        """Read a column, and remember what it tells about those to come."""
        before = self._ways.get(name, NOTHING_SEEN)
        column = as_numbers(part.column(name), part.style.decimal, before, part.first_row)
        if column.values is not None:
            self._ways[name] = column.ways
            if column.note:
                self.notes[name] = column.note
            if not (len(column.values) and np.isnan(column.values).all()):
                self._gaps.discard(name)
            elif not self._is_settled:
                self._gaps.add(name)
        return column

    @property
    def state(self) -> dict[str, Any]:
        """All that is settled, in words and numbers of JSON."""
        settled = {"used": self.used, "notes": self.notes, "left_out": self.left_out}
        return settled | {"ways": self._ways, "gaps": sorted(self._gaps)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on with what was settled before."""
        self.used, self.notes, self.left_out = state["used"], state["notes"], state["left_out"]
        self._ways = {name: Ways(*ways) for name, ways in state["ways"].items()}
        self._gaps = set(state["gaps"])
        self._is_settled = True


def _no_numbers(name: str, why: str) -> ValueError:
    return ValueError(f"column {name} does not hold numbers ({why}); choose others")
