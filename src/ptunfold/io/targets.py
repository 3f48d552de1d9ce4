"""Outputs that are written part by part, and gone on with after an interruption."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.io.arrays import npy_head
from ptunfold.io.foreign import arrow_library, with_columns
from ptunfold.io.kinds import Kinds
from ptunfold.io.outputs import Outputs, writing_of
from ptunfold.io.partial import Partial
from ptunfold.io.table import Table
from ptunfold.io.tables import rows_as_bytes, write_table
from ptunfold.io.text import TEXT
from ptunfold.types import FloatArray

ENDINGS = (*TEXT, ".npy", ".parquet")
Carry = Callable[[FloatArray], FloatArray]
Write = Callable[[Table, dict[str, FloatArray], bool], Any]  # the last for a line of names


class Target:
    """An output that rows are added to; it can be gone on with if it is a `Partial`.

    `state` is what was marked last, if the work can be gone on with from there.
    """

    is_over = False  # nobody wants more rows

    def __init__(self, write: Write, partial: Partial | None = None) -> None:
        self._write, self._partial = write, partial
        self.state = None if partial is None else partial.state
        self.is_begun = self.state is not None

    def append(self, part: Table, added: dict[str, FloatArray]) -> None:
        """Write a part of a table with more columns."""
        with_names, self.is_begun = not self.is_begun, True
        self._write(part, added, with_names)

    def carried(self, points: FloatArray, carry: Carry) -> FloatArray:
        """Return the numbers of the next rows, which need not be found again if they are kept."""
        return carry(points)

    def mark(self, state: dict[str, Any]) -> None:
        """Let all that was done be there if the work is stopped from now on."""
        if self._partial is not None:
            self._partial.mark(state)


class _RewrittenTarget(Target):
    """A parquet file, which cannot be added to: the numbers of the rows are kept beside it.

    When the work is gone on with, all rows are written again, a group for each part, but their
    numbers are known.
    """

    def __init__(self, partial: Partial, output: Path, part: Path, width: int, dtype: Any) -> None:
        super().__init__(self._write_group)
        self._kept, self._output, self._part = partial, output, part
        self._width, self._dtype = width, np.dtype(dtype)
        self._n_kept = 0 if partial.state is None else int(partial.state["rows"])
        self._n_read = 0
        self._kinds = Kinds()
        self._file: Any = None

    def _write_group(self, part: Table, added: dict[str, FloatArray], _: bool) -> None:
        rows = with_columns(part, added, self._kinds)
        with writing_of(self._output):
            if self._file is None:
                self._file = arrow_library().parquet.ParquetWriter(self._part, rows.schema)
            self._file.write_table(rows)

    def carried(self, points: FloatArray, carry: Carry) -> FloatArray:
        """Return the numbers of the next rows: those that are kept, and then others to keep."""
        n_known = min(len(points), self._n_kept - self._n_read)
        start = self._n_read * self._width * self._dtype.itemsize
        found = np.fromfile(self._kept.path, self._dtype, n_known * self._width, offset=start)
        found = found.reshape(n_known, self._width)
        self._n_read += len(points)
        if n_known == len(points):
            return found
        fresh = carry(points[n_known:])
        self._kept.write(fresh.astype(self._dtype).tobytes())
        self._n_kept = self._n_read
        return np.concatenate((found, fresh)) if n_known else fresh

    def mark(self, state: dict[str, Any]) -> None:
        """Let all that was done be there if the work is stopped from now on."""
        if self._n_read == self._n_kept:  # else more than that is there already
            self._kept.mark({"rows": self._n_kept})

    def finish(self) -> None:
        """Write the end of the file, and have it on the disk before it gets its name."""
        with writing_of(self._output):
            if self._file is not None:
                self._file.close()
            with self._part.open("rb+") as file:
                os.fsync(file.fileno())

    def close(self) -> None:
        """Let go of the file, of which nothing is wanted any more."""
        if self._file is not None:
            with suppress(OSError):  # there was another error before
                self._file.close()


@contextmanager
def open_target(
    output: Path,
    outputs: Outputs,
    columns: tuple[int, Any],
    key: str,
    about: dict[str, Any] | None,
    *,
    resume: bool,
    force: bool,
    when_kept: Callable[[int], None],
) -> Iterator[Target]:
    """Open an output, which gets its name at the end; `about`, `resume`, `force` as of `Partial`.

    If its ending is none of `ENDINGS`, there has to be one part. There are `columns` more, of a
    number and a type, which `key` names together. `when_kept` is told how many rows can be gone on
    with, if the work is stopped.
    """
    ending = output.suffix.lower()
    if ending not in ENDINGS:

        def write(table: Table, added: dict[str, FloatArray], _: bool) -> None:
            with outputs.writing(output) as part:
                write_table(part, table, added, key)

        with outputs:
            yield Target(write)
        return
    width, dtype = columns
    n_head = len(npy_head(0, *columns)) if ending == ".npy" else 0
    partial = Partial(output, about, resume=resume, force=force, n_head=n_head)
    try:
        with partial, outputs:
            if ending == ".parquet":
                # One number more, for what is to be known of a row beside the columns.
                part = outputs.begin(output, partial.path.with_suffix(ending))
                with closing(_RewrittenTarget(partial, output, part, width + 1, dtype)) as whole:
                    yield whole
                    whole.finish()
                return
            yield Target(lambda *rows: partial.write(rows_as_bytes(ending, *rows)), partial)
            n_rows = (partial.size - n_head) // (width * np.dtype(dtype).itemsize)
            partial.finish(npy_head(n_rows, *columns) if n_head else b"")
            outputs.take_over(output, partial.path)
    except BaseException as error:
        if partial.state is not None and partial.is_kept(error):
            when_kept(partial.state["rows"])
        raise
