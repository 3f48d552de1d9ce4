"""Outputs that are written part by part, and gone on with after an interruption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.io.files import whole_file
from ptunfold.io.outputs import Outputs
from ptunfold.io.partial import Partial
from ptunfold.io.table import Table
from ptunfold.io.text import TEXT
from ptunfold.io.writers import ArrayWriter, ParquetWriter, TextWriter, Writer
from ptunfold.types import FloatArray

GROWING = (*TEXT, ".npy")
ENDINGS = (*GROWING, ".parquet")


class Target:
    """An output that rows are added to.

    Parameters
    ----------
    writer : Writer
        Writes them.

    Attributes
    ----------
    state : dict or None
        What was marked last, if the work can be gone on with from there.
    is_over : bool
        Whether nobody wants more rows.
    """

    state: dict[str, Any] | None = None
    is_over = False

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def append(self, part: Table, added: dict[str, FloatArray]) -> None:
        """Write a part of a table with more columns."""
        self._writer.append(part, added)

    def known(self, n_rows: int) -> FloatArray:
        """Return the numbers of the next rows, as far as they were found before."""
        return np.empty((0, 0))

    def remember(self, numbers: FloatArray) -> None:
        """Keep the numbers of rows, so that they need not be found again."""

    def mark(self, state: dict[str, Any]) -> None:
        """Let all that was done be there if the work is stopped from now on."""

    def finish(self, n_rows: int) -> None:
        """Say that all rows are written, and how many."""


class _GrowingTarget(Target):
    """A file that is added to, however the work was stopped."""

    def __init__(self, writer: Writer, partial: Partial) -> None:
        super().__init__(writer)
        self._partial, self.state = partial, partial.state

    def mark(self, state: dict[str, Any]) -> None:
        """Let all that was done be there if the work is stopped from now on."""
        self._partial.mark(state)

    def finish(self, n_rows: int) -> None:
        """Say that all rows are written, and how many."""
        self._partial.finish(self._writer.head(n_rows))


class _RewrittenTarget(Target):
    """A file that cannot be added to: the numbers of the rows are kept beside it.

    When the work is gone on with, all rows are written again, but their numbers are known.
    """

    def __init__(self, writer: Writer, partial: Partial, width: int, dtype: Any) -> None:
        super().__init__(writer)
        self._partial, self._width, self._dtype = partial, width, np.dtype(dtype)
        self._n_kept = 0 if partial.state is None else int(partial.state["rows"])
        self._n_read = 0

    def known(self, n_rows: int) -> FloatArray:
        """Return the numbers of the next rows, as far as they were found before."""
        n_rows = min(n_rows, self._n_kept - self._n_read)
        start = self._n_read * self._width * self._dtype.itemsize
        self._n_read += n_rows
        count = n_rows * self._width
        found = np.fromfile(self._partial.path, self._dtype, count, offset=start)
        return found.reshape(n_rows, self._width)

    def remember(self, numbers: FloatArray) -> None:
        """Keep the numbers of rows, so that they need not be found again."""
        self._partial.write(numbers.astype(self._dtype).tobytes())
        self._n_kept += len(numbers)
        self._n_read = self._n_kept

    def mark(self, state: dict[str, Any]) -> None:
        """Let all that was done be there if the work is stopped from now on."""
        if self._n_read == self._n_kept:  # else more than that is there already
            self._partial.mark({"rows": self._n_kept})


@contextmanager
def open_target(
    output: Path,
    outputs: Outputs,
    columns: tuple[int, Any],
    about: dict[str, Any] | None,
    *,
    resume: bool,
    force: bool,
    when_kept: Callable[[int], None],
) -> Iterator[Target]:
    """Open an output, which gets its name at the end.

    Parameters
    ----------
    output : path
        The file; its ending is one of `ENDINGS`.
    outputs : Outputs
        Gives it its name.
    columns : (int, numpy.dtype)
        The number of new columns, and their type.
    about, resume, force
        As of `Partial`.
    when_kept : callable
        Is told how many rows can be gone on with, if the work is stopped.
    """
    ending = output.suffix.lower()
    n_head = len(ArrayWriter(bytes, *columns).head(0)) if ending == ".npy" else 0
    partial = Partial(output, about, resume=resume, force=force, n_head=n_head)
    try:
        with partial, outputs:
            if ending == ".parquet":
                with _rewritten(output, outputs, columns, partial) as target:
                    yield target
                return
            yield _GrowingTarget(_growing_writer(ending, columns, partial), partial)
            outputs.take_over(output, partial.path)
    except BaseException as error:
        if partial.state is not None and partial.is_kept(error):
            when_kept(partial.state["rows"])
        raise


def _growing_writer(ending: str, columns: tuple[int, Any], partial: Partial) -> Writer:
    if ending == ".npy":
        return ArrayWriter(partial.write, *columns)
    return TextWriter(partial.write, ending, is_begun=partial.state is not None)


@contextmanager
def _rewritten(
    output: Path, outputs: Outputs, columns: tuple[int, Any], partial: Partial
) -> Iterator[Target]:
    width, dtype = columns
    with (
        outputs.writing(output) as part,
        whole_file(part) as name,
        ParquetWriter(name) as writer,
    ):
        # One number more, for what is to be known of a row beside the columns.
        yield _RewrittenTarget(writer, partial, width + 1, dtype)
