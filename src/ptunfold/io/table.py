"""A table: columns of a file, each as it stands there; whole, or some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ptunfold.forks import cached_property
from ptunfold.io.numerals import NOTHING_SEEN, Column, Ways, is_gap, is_name, read_numbers
from ptunfold.memory import in_words
from ptunfold.types import BoolArray, FloatArray
from ptunfold.validation.values import first_repeated


class RefusedError(ValueError):
    """A file that is not read, with the reason in one sentence."""


@contextmanager
def refused_if_damaged(name: str) -> Iterator[None]:
    """Say in a sentence that a file is damaged; libraries have errors of all kinds for that."""
    try:
        yield
    except (MemoryError, RefusedError):
        raise
    except Exception as error:
        raise RefusedError(f"{name} cannot be read; it may be damaged ({error})") from error


def check_memory(n_bytes: float, most_bytes: float, name: str) -> None:
    """Refuse what does not fit into memory, before it is read."""
    if n_bytes > most_bytes:
        raise RefusedError(
            f"{name} holds {in_words(n_bytes)} when it is unpacked, and {in_words(most_bytes)} of "
            "memory are free; take a part of it"
        )


class Style(NamedTuple):
    """How a table was written as text: its ending, separator and decimal mark."""

    ending: str = ""
    separator: str = ","
    decimal: str = "."


@dataclass(frozen=True)
class Table:
    """Columns of a file, each as it stands there: lists of texts, Arrow or NumPy arrays."""

    names: list[str]
    columns: list[Any]
    # What else the file holds: the Arrow table with its schema, an AnnData, other arrays, pixels.
    source: Any = None
    shape: tuple[int, ...] | None = None  # of an image, where rows are images
    is_named: bool = False  # the names stand in the file
    labels: dict[str, Any] = field(default_factory=dict)  # names of the rows, always written
    beside: dict[str, Any] = field(default_factory=dict)  # columns about the rows, never points
    renamed: dict[str, str] = field(default_factory=dict)  # what of these had a name that is taken
    numbers: dict[str, Any] = field(default_factory=dict)  # what columns that are used were read as
    place: str = ""  # where in the file the columns are, if there is a choice
    left_out: dict[str, str] = field(default_factory=dict)  # never used, and why
    index: frozenset[str] = frozenset()  # columns that number the rows
    style: Style = field(default_factory=Style)
    first_row: int = 0  # of a part: how many rows are before it
    lines: Sequence[int] = ()  # of each row, in a text
    is_last: bool = True  # no rows come after it

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> Any:
        """Return a column as it stands in the file."""
        if name not in self._places:
            raise _no_column(name, self.names)
        return self.columns[self._places[name]]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @property
    def described(self) -> dict[str, Any]:
        """All columns, as numbers where they hold nothing else; of an AnnData its ``obs``.

        Digits that name something stay as they are: 007 is not 7, and long ones are not rounded.
        """
        return {name: self._describe(column) for name, column in self._columns_about.items()}

    def about(self, name: str) -> Any:
        """Return a column as in ``described``; of an AnnData also one of those embedded."""
        known = self._columns_about
        if name not in known and name not in self.names:
            raise _no_column(name, known)
        return self._describe(known[name] if name in known else self.column(name))

    def _describe(self, column: Any) -> Any:
        if hasattr(column, "cat"):
            return column  # pandas' categories have an order of their own
        if hasattr(column, "iloc"):
            column = column.to_numpy()
        numbers = as_numbers(column, self.style.decimal).values
        if numbers is not None and not _are_names(column, numbers):
            return numbers
        values = values_of(column)
        if numbers is not None:
            values = [None if is_gap(text) else text for text in map(str, values)]
        # Not as an array of all: lists in a column are not to become columns.
        return np.fromiter(values, object, len(values))

    @property
    def _columns_about(self) -> dict[str, Any]:
        if hasattr(self.source, "obsm"):
            return {str(name): column for name, column in self.source.obs.items()}
        return dict(zip(self.names, self.columns, strict=True))

    @property
    def written(self) -> dict[str, Any]:
        """All columns that go into a file of columns."""
        return self.labels | self.beside | dict(zip(self.names, self.columns, strict=True))

    def keep(self, names: Sequence[str]) -> Table:
        """Keep some columns, and the names of the rows."""
        twice = first_repeated(names)
        if twice is not None:
            raise ValueError(f"column {twice} is named twice; name it once")
        known = self.written
        for name in names:
            if name not in known:
                raise _no_column(name, known)
        kept = [known[name] for name in names]
        source = self.source.select(list(names)) if hasattr(self.source, "select") else self.source
        return replace(self, names=list(names), columns=kept, beside={}, source=source)

    def rows(self, is_kept: BoolArray) -> Table:
        """Keep some rows."""
        columns = [_select(column, is_kept) for column in self.columns]
        labels, beside = (
            {name: _select(column, is_kept) for name, column in some.items()}
            for some in (self.labels, self.beside)
        )
        lines = [line for line, kept in zip(self.lines, is_kept, strict=False) if kept]
        source = self.source
        if hasattr(source, "obsm"):
            source = source[is_kept].copy()
        elif hasattr(source, "filter") or isinstance(source, np.ndarray):
            source = _select(source, is_kept)
        elif isinstance(source, dict):  # arrays of an npz file: those that have a row a point
            source = {
                name: _select(values, is_kept) if len(is_kept) in np.shape(values)[:1] else values
                for name, values in source.items()
            }
        return replace(
            self, columns=columns, labels=labels, beside=beside, lines=lines, source=source
        )


def values_of(column: Any) -> list[Any]:
    """List what is in a column, as values of Python; times of a zone that nobody knows in UTC."""
    if isinstance(column, list):
        return column
    if isinstance(column, np.ndarray):
        texts: list[Any] = column.tolist()
        return texts
    import pyarrow as arrow

    kind = column.type
    try:
        try:
            values: list[Any] = column.to_pylist()
        except (KeyError, ValueError):  # as libraries say that they do not know it
            if not arrow.types.is_timestamp(kind):
                raise
            values = column.cast(arrow.timestamp(kind.unit, "UTC")).to_pylist()
    except (KeyError, ValueError) as error:
        raise RefusedError(
            f"values of type {kind} have no words here ({error}); leave out their column"
        ) from error
    return values


def _are_names(column: Any, numbers: FloatArray) -> bool:
    """Tell whether digits in a column name something, so that as numbers they would be others."""
    if not isinstance(column, list) and not (np.abs(numbers) >= 2**53).any():
        return False
    return any(map(is_name, values_of(column)))


def _no_column(name: str, known: Any) -> ValueError:
    return ValueError(f"there is no column {name}; the columns are {listed(known)}")


def _select(rows: Any, is_kept: BoolArray) -> Any:
    if isinstance(rows, list):
        return [text for text, kept in zip(rows, is_kept, strict=True) if kept]
    return rows[is_kept] if isinstance(rows, np.ndarray) else rows.filter(is_kept)


class Parts:
    """A table that is read some rows at a time.

    `total` says how many `unit` there are, where that is known, and `done` how many were read;
    `n_done` how many rows.
    """

    unit = "rows"
    n_done = 0
    n_bytes_a_row = 0.0  # of memory, about
    most_bytes = np.inf  # that are read at a time

    def __init__(
        self, name: str, names: list[str], total: int | None, *, is_named: bool = False
    ) -> None:
        self.name, self.names, self.is_named, self.total = name, names, is_named, total

    def read(self, n_rows: int | None = None) -> Table | None:
        """Read so many rows, or all; None if there are no more."""
        n_left = (self.total or 0) - self.n_done
        n_rows = n_left if n_rows is None else min(n_rows, n_left)
        if n_rows <= 0 or not self.names:
            return None
        check_memory(n_rows * self.n_bytes_a_row, self.most_bytes, self.name)
        with refused_if_damaged(self.name):
            table = self._rows(n_rows)
        table = replace(table, first_row=self.n_done, is_last=n_rows == n_left)
        self.n_done += n_rows
        return table

    def _rows(self, n_rows: int) -> Table:
        """Read rows that are there."""
        raise NotImplementedError

    @property
    def done(self) -> int:
        """How many units were read."""
        return self.n_done

    @property
    def position(self) -> dict[str, int]:
        """Where the next rows are."""
        return {"row": self.n_done}

    def seek(self, position: dict[str, int]) -> None:
        """Go on at a position of a file that was just opened."""
        self.n_done = position["row"]

    def close(self) -> None:
        """Let go of the file."""


class WholeTable(Parts):
    """A table that is in memory as a whole: one part, however many rows are asked for."""

    def __init__(self, name: str, table: Table) -> None:
        super().__init__(name, table.names, table.n_rows, is_named=table.is_named)
        self._table = table

    def read(self, n_rows: int | None = None) -> Table | None:
        """Return all of it, and then None."""
        return super().read()

    def _rows(self, n_rows: int) -> Table:
        return self._table


def as_numbers(
    column: Any, decimal: str = ".", before: Ways = NOTHING_SEEN, first_row: int = 0
) -> Column:
    """Return a column as float64, gaps as NaN, or why it cannot be; see `read_numbers`."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind in "fiu":
            return Column(column.astype(np.float64))
        return Column(None, f"values of type {column.dtype}")
    if isinstance(column, list):
        return read_numbers(column, decimal, before, first_row)
    import pyarrow as arrow

    kind = column.type.value_type if arrow.types.is_dictionary(column.type) else column.type
    types = arrow.types
    known = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    if not any(is_one(kind) for is_one in known):
        return Column(None, f"values of type {kind}")
    # Whole numbers beyond 2 ** 53 are rounded, as in any other format.
    plain = column.cast(kind).cast(arrow.float64(), safe=False)
    return Column(np.array(plain.to_numpy(zero_copy_only=False), dtype=np.float64))


def listed(names: Any, most: int = 12) -> str:
    """Write names in a row, the middle of a long one left out.

    Examples
    --------
    >>> listed(["x", "y"]), listed([f"x{place}" for place in range(99)], most=4)
    ('x, y', 'x0, x1, x2, ..., x98 (99 in all)')
    """
    names = [str(name) or "''" for name in names]
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])}, ..., {names[-1]} ({len(names)} in all)"
