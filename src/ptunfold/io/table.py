"""A table: columns of a file, each as it stands there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ptunfold.io.numerals import NOTHING_SEEN, Column, Ways, read_numbers
from ptunfold.types import BoolArray


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


class Style(NamedTuple):
    """How a table was written as text: its ending, separator and decimal mark."""

    ending: str = ""
    separator: str = ","
    decimal: str = "."


_NO_STYLE = Style()


@dataclass(frozen=True)
class Table:
    """Columns of a file, each as it stands there.

    Attributes
    ----------
    names : list of str
        The names of the columns.
    columns : list
        For each column a list of texts, an Arrow array or a NumPy array.
    source : object
        What else the file holds: the Arrow table with its schema, an AnnData, other arrays, pixels.
    shape : tuple of int or None
        Of an image, where rows are images.
    is_named : bool
        Whether the names stand in the file.
    place : str
        Where in the file the columns are, if there is a choice.
    left_out : dict of str to str
        What of the file is not used whatever columns are chosen, and why.
    index : frozenset of str
        Columns that number the rows.
    style : Style
        How it was written as text.
    first_row : int
        Of a part of a file: how many rows are before it.
    lines : sequence of int
        The line of each row, in a text.
    is_last : bool
        Whether no rows come after it.
    """

    names: list[str]
    columns: list[Any]
    source: Any = None
    shape: tuple[int, ...] | None = None
    is_named: bool = False
    place: str = ""
    left_out: dict[str, str] = field(default_factory=dict)
    index: frozenset[str] = frozenset()
    style: Style = _NO_STYLE
    first_row: int = 0
    lines: Sequence[int] = ()
    is_last: bool = True

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> Any:
        """Return a column as it stands in the file."""
        if name not in self._places:
            raise ValueError(f"there is no column {name}; the columns are {listed(self.names)}")
        return self.columns[self._places[name]]

    @property
    def described(self) -> dict[str, Any]:
        """All columns, as numbers where they hold nothing else; of an AnnData its ``obs``."""
        return {name: self._describe(column) for name, column in self._columns_about.items()}

    def about(self, name: str) -> Any:
        """Return what one column says about the rows, as in ``described``.

        Of an AnnData also one of the columns that are embedded, x0, x1, ...
        """
        known = self._columns_about
        if name not in known and name not in self.names:
            raise ValueError(f"there is no column {name}; the columns are {listed(known)}")
        return self._describe(known[name] if name in known else self.column(name))

    def _describe(self, column: Any) -> Any:
        if hasattr(column, "cat"):
            return column  # pandas' categories have an order of their own
        if hasattr(column, "iloc"):
            column = column.to_numpy()
        numbers = as_numbers(column, self.style.decimal).values
        texts = column.to_pylist() if hasattr(column, "to_pylist") else column
        return np.array(texts, dtype=object) if numbers is None else numbers

    @property
    def _columns_about(self) -> dict[str, Any]:
        if hasattr(self.source, "obsm"):
            return {str(name): column for name, column in self.source.obs.items()}
        return dict(zip(self.names, self.columns, strict=True))

    def keep(self, names: Sequence[str]) -> Table:
        """Keep some columns."""
        kept = [self.column(name) for name in names]
        source = self.source.select(list(names)) if hasattr(self.source, "select") else self.source
        return replace(self, names=list(names), columns=kept, source=source)

    def rows(self, is_kept: BoolArray) -> Table:
        """Keep some rows."""
        columns = [_select(column, is_kept) for column in self.columns]
        source = self.source
        if hasattr(source, "filter"):
            source = source.filter(is_kept)
        elif hasattr(source, "obsm"):
            source = source[is_kept].copy()
        elif isinstance(source, np.ndarray):
            source = source[is_kept]
        return replace(self, columns=columns, source=source)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}


class Parts(ABC):
    """A table that is read some rows at a time.

    Attributes
    ----------
    names : list of str
        Of the columns.
    is_named : bool
        Whether they stand in the file.
    n_bytes_a_row : float
        About how much memory a row takes.
    unit : {"rows", "bytes"}
        What is counted.
    total : int or None
        How many of them there are, where that is known.
    """

    names: list[str]
    is_named: bool
    n_bytes_a_row: float
    unit = "rows"
    total: int | None

    @abstractmethod
    def read(self, n_rows: int | None = None) -> Table | None:
        """Read so many rows, or all; None if there are no more."""

    @property
    @abstractmethod
    def done(self) -> int:
        """How many units were read."""

    @property
    @abstractmethod
    def position(self) -> dict[str, int]:
        """Where the next rows are."""

    @abstractmethod
    def seek(self, position: dict[str, int]) -> None:
        """Go on at a position in the same file, which must be no pipe."""


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
    if not (
        arrow.types.is_integer(kind)
        or arrow.types.is_floating(kind)
        or arrow.types.is_decimal(kind)
        or arrow.types.is_null(kind)
    ):
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


def _select(column: Any, is_kept: BoolArray) -> Any:
    if isinstance(column, list):
        return [text for text, kept in zip(column, is_kept, strict=True) if kept]
    return column[is_kept] if isinstance(column, np.ndarray) else column.filter(is_kept)
