"""Files part by part, in bounded memory, where their kind allows that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.io.arrays import ArrayParts
from ptunfold.io.frames import ParquetParts
from ptunfold.io.table import Parts, Table, refused_if_damaged
from ptunfold.io.tables import Kind, kind_of, read_kind
from ptunfold.io.text import TEXT, TextParts

# Of a part in memory, and the most rows: with more of them each takes no less time.
_A_PART = 1 << 25
_MOST_ROWS = 1 << 17


class WholeTable(Parts):
    """A table that is in memory as a whole, as one part.

    Parameters
    ----------
    table : Table
        All of it.
    """

    def __init__(self, table: Table) -> None:
        self._table, self._is_read = table, False
        self.names, self.is_named, self.total = table.names, table.is_named, table.n_rows
        self.n_bytes_a_row = 0.0

    def read(self, n_rows: int | None = None) -> Table | None:
        """Return the table, however many rows are asked for, and then None."""
        table = None if self._is_read else self._table
        self._is_read = True
        return table

    @property
    def done(self) -> int:
        """How many rows were read."""
        return self._table.n_rows if self._is_read else 0

    @property
    def position(self) -> dict[str, int]:
        """Where the next rows are."""
        return {"row": self.done}

    def seek(self, position: dict[str, int]) -> None:
        """Go back to the start; there is no other position to go on at."""
        self._is_read = False


@contextmanager
def open_parts(
    path: Path, *, has_header: bool | None = None, most_bytes: float = np.inf
) -> Iterator[Parts]:
    """Open a file, a pipe or a folder of images, to be read part by part.

    Texts, .npy files and parquet files are; of pipes texts and arrays. What else there is comes in
    one part.

    Parameters
    ----------
    path : path
        The file; "-" for standard input.
    has_header : bool, optional
        Whether the first line of a text holds names; by default that is found out.
    most_bytes : float
        The most memory that a part may take.

    Raises
    ------
    ValueError
        As of `read_table`; of what comes later when it is read.
    """
    kind = kind_of(path)
    is_streamed = kind.ending in TEXT or kind.ending == ".npy"
    if kind.ending == ".parquet" and kind.pipe is None:
        with ParquetParts(path, kind.name) as parts:
            yield parts
    elif not is_streamed:
        yield WholeTable(read_kind(path, kind, has_header, most_bytes))
    else:
        with kind.pipe or path.open("rb") as file:
            yield _parts_of(file, path, kind, has_header, most_bytes)


def _parts_of(
    file: Any, path: Path, kind: Kind, has_header: bool | None, most_bytes: float
) -> Parts:
    n_bytes = path.stat().st_size if kind.pipe is None else None
    if kind.ending in TEXT:
        return TextParts(file, kind.name, kind.ending, has_header, n_bytes)
    with refused_if_damaged(kind.name):
        return ArrayParts(file, kind.name, n_bytes, most_bytes)


def usual_rows(parts: Parts) -> int:
    """Return how many rows make a part of some tens of megabytes."""
    return int(np.clip(_A_PART / max(parts.n_bytes_a_row, 1.0), 1, _MOST_ROWS))
