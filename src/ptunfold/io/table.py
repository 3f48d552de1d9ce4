"""A table: columns of a file, each as it stands there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ptunfold.io.numerals import Column, read_numbers
from ptunfold.types import BoolArray, FloatArray


class RefusedError(ValueError):
    """A file that is not read, with the reason in one sentence."""


class Style(NamedTuple):
    """How a table was written as text: its ending, separator and decimal mark."""

    ending: str = ""
    separator: str = ","
    decimal: str = "."


_NO_STYLE = Style()


class Numbers(NamedTuple):
    """What of a table is used as points.

    Attributes
    ----------
    points : (n_rows, n_columns)
        The numbers; a gap is NaN.
    names : list of str
        Of the columns.
    notes : dict of str to str
        What there is to say about some columns that are used.
    left_out : dict of str to str
        Why, for each column that is not used.
    """

    points: FloatArray
    names: list[str]
    notes: dict[str, str]
    left_out: dict[str, str]


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

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def numbers(self, names: Sequence[str] | None = None) -> Numbers:
        """Return some columns as numbers.

        Without names all columns that hold nothing but numbers and gaps; of images the pixels.
        """
        if names is None and self.shape is not None:
            return Numbers(self.source, [], {}, self.left_out)
        if names is not None and not names:
            raise ValueError(f"no column is named; the columns are {listed(self.names)}")
        found: dict[str, FloatArray] = {}
        notes: dict[str, str] = {}
        left_out = dict(self.left_out)
        for name in self.names if names is None else names:
            if name in found:
                raise ValueError(f"column {name} is named twice; name each once")
            values, note = self._read(name)
            if values is None and names is not None:
                raise ValueError(f"column {name} does not hold numbers ({note}); choose others")
            if values is None or (names is None and name in self.index):
                left_out[name] = note or "numbers the rows"
                continue
            found[name] = values
            if note:
                notes[name] = note
        if names is not None:
            left_out |= {name: "not named" for name in self.names if name not in found}
        if not found:
            raise ValueError(
                f"none of the columns {listed(self.names)} holds numbers; name those to use"
            )
        return Numbers(np.column_stack(list(found.values())), list(found), notes, left_out)

    def _read(self, name: str) -> Column:
        column = as_numbers(self.columns[self._place_of(name)], self.style.decimal)
        if column.values is not None and len(column.values) and np.isnan(column.values).all():
            return Column(None, "nothing but gaps")
        return column

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
        return self._describe(known[name] if name in known else self.columns[self._place_of(name)])

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
        places = [self._place_of(name) for name in names]
        kept = [self.columns[place] for place in places]
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

    def _place_of(self, name: str) -> int:
        if name not in self._places:
            raise ValueError(f"there is no column {name}; the columns are {listed(self.names)}")
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}


def as_numbers(column: Any, decimal: str = ".") -> Column:
    """Return a column as float64, gaps as NaN, or why it cannot be."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind in "fiu":
            return Column(column.astype(np.float64))
        return Column(None, f"values of type {column.dtype}")
    if isinstance(column, list):
        return read_numbers(column, decimal)
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
