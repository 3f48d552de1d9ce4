"""Tables that are written part by part, each as `write_table` would have written it whole."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.lib import format as npy

from ptunfold.io.frames import arrow_library, with_columns
from ptunfold.io.table import Table
from ptunfold.io.text import write_text
from ptunfold.types import FloatArray


class Writer(ABC):
    """Writes rows as they come."""

    @abstractmethod
    def append(self, part: Table, added: dict[str, FloatArray]) -> None:
        """Write a part of a table with more columns."""

    def head(self, n_rows: int) -> bytes:
        """Return what has to stand at the start when all is written."""
        return b""


class TextWriter(Writer):
    """Writes texts.

    Parameters
    ----------
    write : callable
        Takes bytes.
    ending : str or None
        Of the file; None for that of the table, if it is a text.
    is_begun : bool
        Whether the names of the columns are written.
    """

    def __init__(
        self, write: Callable[[bytes], Any], ending: str | None, *, is_begun: bool
    ) -> None:
        self._write, self._ending, self._is_begun = write, ending, is_begun

    def append(self, part: Table, added: dict[str, FloatArray]) -> None:
        """Write a part of a table with more columns."""
        text = io.StringIO(newline="")
        ending = self._ending or part.style.ending or ".csv"
        write_text(text, part, added, ending, with_names=not self._is_begun)
        self._is_begun = True
        # Names of files may hold bytes that are no text.
        self._write(text.getvalue().encode("utf-8", errors="surrogateescape"))


class ArrayWriter(Writer):
    """Writes the new columns alone, as a .npy file without its head.

    Parameters
    ----------
    write : callable
        Takes bytes.
    n_columns : int
        Of the array.
    dtype : numpy.dtype
        Of its numbers.
    """

    def __init__(self, write: Callable[[bytes], Any], n_columns: int, dtype: Any) -> None:
        self._write, self._n_columns, self._dtype = write, n_columns, np.dtype(dtype)

    def append(self, part: Table, added: dict[str, FloatArray]) -> None:
        """Write a part of a table with more columns."""
        self._write(np.column_stack(list(added.values())).tobytes())

    def head(self, n_rows: int) -> bytes:
        """Return what has to stand at the start; its length does not depend on the rows."""
        file = io.BytesIO()
        shape = (n_rows, self._n_columns)
        about = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(file, about)
        return file.getvalue()


class ParquetWriter(Writer):
    """Writes a parquet file, a group of rows for each part.

    Parameters
    ----------
    path : path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None

    def append(self, part: Table, added: dict[str, FloatArray]) -> None:
        """Write a part of a table with more columns."""
        rows = with_columns(part, added)
        if self._file is None:
            self._file = arrow_library().parquet.ParquetWriter(self._path, rows.schema)
        self._file.write_table(rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.close()
