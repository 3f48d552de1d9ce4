"""Rows of a file carried elsewhere, part by part: in bounded memory, and gone on with if stopped.

Loaded together with the libraries, so that the command itself starts at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ptunfold import __version__
from ptunfold.cli.app import note, tell
from ptunfold.cli.files import Header, Missing, Source, Taker, say_replaced, write_places
from ptunfold.io.models import checksum_of
from ptunfold.io.outputs import Outputs
from ptunfold.io.partial import fingerprint
from ptunfold.io.parts import open_parts, usual_rows
from ptunfold.io.table import Parts, Table
from ptunfold.io.tables import STREAM, check_output
from ptunfold.io.targets import ENDINGS, Target, open_target
from ptunfold.io.writers import TextWriter
from ptunfold.memory import free_bytes
from ptunfold.progress import stage
from ptunfold.types import BoolArray, FloatArray


class How(NamedTuple):
    """The options of commands that carry rows."""

    columns: str | None
    header: Header
    missing: Missing
    chunk_size: int | None
    resume: bool
    force: bool


class Done(NamedTuple):
    """How many rows were written, and how many of them lie far outside the data."""

    n_rows: int
    n_outside: int


@dataclass(frozen=True)
class Work:
    """What is done with the rows of a file.

    Attributes
    ----------
    command : str
        What it is called.
    model, source, output : path
        The files.
    how : How
        Options.
    carry : callable
        Takes points, and returns where they come to lie, with an Extrapolation.
    names : list of str
        Of the columns that come out.
    dtype : numpy.dtype
        Of their numbers.
    choose : callable
        Takes a table, and returns the columns to use, or None.
    check : callable
        Refuses points that do not fit.
    key : str
        What the new columns are called together.
    """

    command: str
    model: Path
    source: Path
    output: Path
    how: How
    carry: Callable[[FloatArray], tuple[FloatArray, Any]]
    names: list[str]
    dtype: Any
    choose: Callable[[Any], list[str] | None]
    check: Callable[[Source], None]
    key: str

    @property
    def ending(self) -> str:
        """Of the output; none if it is printed."""
        return "" if self.output == STREAM else self.output.suffix.lower()

    @property
    def about(self) -> dict[str, Any] | None:
        """What the output is made from; None if that cannot be read again."""
        if self.source == STREAM or not self.source.is_file():
            return None
        how = self.how
        return {
            "model": checksum_of(self.model),
            "input": fingerprint(self.source),
            "settings": [self.command, self.ending, how.columns, how.header, how.missing],
            "ptunfold": __version__,
        }


def carry_rows(work: Work, outputs: Outputs) -> Done:
    """Carry the rows of a file, and write it with new columns."""
    how = work.how
    if how.resume:
        _check_resume(work)
    has_header = None if how.header is Header.auto else how.header is Header.yes
    with open_parts(work.source, has_header=has_header, most_bytes=free_bytes()) as parts:
        taker = Taker(work.source, work.choose(parts), how.missing)
        if work.ending and work.ending not in ENDINGS:
            with outputs:
                return _carry_whole(work, parts, taker, outputs)
        with _target(work, outputs) as target:
            carrier = _Carrier(work, parts, taker, target)
            carrier.run()
            target.finish(carrier.n_rows)
            return Done(carrier.n_rows, carrier.n_outside)


def _check_resume(work: Work) -> None:
    if work.about is None:
        raise ValueError(
            f"{work.source} cannot be read again, and --resume has to; pass the name of a file"
        )
    if work.ending not in ENDINGS:
        raise ValueError(
            f"{work.output} cannot be gone on with; the endings for --resume are "
            f"{', '.join(ENDINGS)}"
        )


def _carry_whole(work: Work, parts: Parts, taker: Taker, outputs: Outputs) -> Done:
    """Carry all rows at once, for outputs that cannot be written in parts."""
    table = parts.read()
    if table is None:
        raise _no_rows(work)
    check_output(work.output, table)
    found = taker.take(table)
    taker.say(found)
    work.check(found)
    places, info = work.carry(found.points)
    write_places(outputs, work.output, found.table, places, work.names, work.key)
    return Done(len(places), int(np.count_nonzero(info.is_outside)))


@contextmanager
def _target(work: Work, outputs: Outputs) -> Iterator[Target]:
    if not work.ending:
        with outputs, _printed() as target:
            yield target
        return
    how = work.how
    with open_target(
        work.output,
        outputs,
        (len(work.names), work.dtype),
        work.about,
        resume=how.resume,
        force=how.force,
        when_kept=lambda n_rows: note(f"{n_rows:,} rows are kept; --resume goes on with them"),
    ) as target:
        yield target


class _Printed(Target):
    """Standard output, part by part: what is printed cannot be taken back."""

    def __init__(self) -> None:
        super().__init__(TextWriter(self._print, None, is_begun=False))
        self.is_begun = False

    def _print(self, content: bytes) -> None:
        self.is_begun = True
        self.is_over = not tell(content)


@contextmanager
def _printed() -> Iterator[Target]:
    target = _Printed()
    try:
        yield target
    except BaseException:
        if target.is_begun:
            note("what was printed is not all")
        raise


class _Carrier:
    """Carries the parts of a table one after the other."""

    def __init__(self, work: Work, parts: Parts, taker: Taker, target: Target) -> None:
        self._work, self._parts, self._taker, self._target = work, parts, taker, target
        self.n_rows = self.n_outside = 0

    def run(self) -> None:
        """Carry all of them."""
        work, parts = self._work, self._parts
        if self._target.state is not None:
            self._restore(self._target.state)
        size = work.how.chunk_size or usual_rows(parts)
        part = parts.read(size)
        if part is None:
            raise _no_rows(work)
        found = self._taker.take(part)
        self._taker.say(found)
        work.check(found)
        say_replaced(found.table, work.names)
        self._write(found, part)
        with self._bar() as bar:
            while not part.is_last and not self._target.is_over:
                n_done, part = parts.done, parts.read(size)
                if part is None:
                    break
                self._write(self._taker.take(part), part)
                bar.update(parts.done - n_done)
        if not found.table.is_last:
            self._taker.say_rest()
        if not self.n_rows:
            work.carry(found.points)  # which refuses none

    def _bar(self) -> Any:
        parts, is_printed = self._parts, not self._work.ending
        return stage(
            self._work.command,
            parts.total,
            parts.unit,
            sys.stderr.isatty() and not (is_printed and sys.stdout.isatty()),
            n_done=parts.done,
        )

    def _write(self, found: Source, part: Table) -> None:
        if len(found.points):
            coordinates, is_outside = self._place(found.points)
            added = dict(zip(self._work.names, coordinates.T, strict=True))
            self._target.append(found.table, added)
            self.n_rows += len(coordinates)
            self.n_outside += int(np.count_nonzero(is_outside))
        if not part.is_last:
            state = {"position": self._parts.position, "taken": self._taker.state}
            self._target.mark({"rows": self.n_rows, "outside": self.n_outside, **state})

    def _place(self, points: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Carry points, but those that were before; and tell which are far outside."""
        numbers = self._target.known(len(points))
        n_known = len(numbers)
        if n_known < len(points):
            places, info = self._work.carry(points[n_known:])
            fresh = np.column_stack((places, info.is_outside))
            self._target.remember(fresh)
            numbers = np.concatenate((numbers, fresh)) if n_known else fresh
        return numbers[:, :-1], numbers[:, -1] != 0

    def _restore(self, state: dict[str, Any]) -> None:
        self.n_rows, self.n_outside = state["rows"], state["outside"]
        self._parts.seek(state["position"])
        self._taker.restore(state["taken"])


def _no_rows(work: Work) -> ValueError:
    name = "standard input" if work.source == STREAM else str(work.source)
    return ValueError(f"{name} has no rows")
