"""Rows of a file carried elsewhere, part by part: in bounded memory, and gone on with if stopped.

Loaded together with the libraries, so that the command itself starts at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ptunfold import __version__
from ptunfold.cli.app import note, tell
from ptunfold.cli.files import Taker, columns_for, reading, say_lost, table_file
from ptunfold.cli.options import Header, Missing, names_in
from ptunfold.estimator import PTU
from ptunfold.io.models import checksum_of
from ptunfold.io.outputs import Outputs
from ptunfold.io.partial import fingerprint
from ptunfold.io.table import Parts, listed
from ptunfold.io.tables import (
    PLACES,
    STREAM,
    check_output,
    open_parts,
    rows_as_bytes,
    usual_rows,
)
from ptunfold.io.targets import ENDINGS, Target, open_target
from ptunfold.progress import stage
from ptunfold.types import FloatArray


class Work(NamedTuple):
    """A command that carries rows, "transform" or "inverse", its files and options."""

    command: str
    model: Path
    source: Path
    output: Path
    columns: str | None
    header: Header
    missing: Missing | None  # none to say it with
    chunk_size: int | None
    resume: bool
    force: bool

    @property
    def ending(self) -> str:
        """Of the output; none if it is printed."""
        return "" if self.output == STREAM else self.output.suffix.lower()


class _Task(NamedTuple):
    """What a model does with points in some columns, and what the new columns are called."""

    call: Callable[..., tuple[FloatArray, Any]]
    columns: list[str] | None  # all that hold numbers, if None
    n_columns: int | None  # so many there have to be
    names: list[str]
    dtype: Any
    key: str  # what they are called together

    def carry(self, points: FloatArray) -> FloatArray:
        """Carry points; a last column tells which lie far outside the data."""
        places, info = self.call(points.astype(self.dtype), return_info=True)
        return np.column_stack((places, info.is_outside))


def carry_rows(work: Work) -> tuple[int, int]:
    """Carry the rows of a file, and write it with new columns.

    Returns how many were written, and how many of them lie far outside the data.
    """
    outputs = Outputs(table_file(work.output), force=work.force)
    fitted = PTU.load(work.model)
    about = _about(work)
    if work.resume and about is None:
        raise ValueError(
            f"{work.source} cannot be read again, and --resume has to; pass the name of a file"
        )
    if work.resume and work.ending not in ENDINGS:
        raise ValueError(
            f"{work.output} cannot be gone on with; the endings for --resume are "
            f"{', '.join(ENDINGS)}"
        )
    features = fitted.__dict__.pop("feature_names_in_", None)  # which the arrays to come have not
    known = None if features is None else list(map(str, features))
    options: dict[str, Any] = {"features": names_in(work.columns) or known or ()}
    if work.command == "inverse":
        # Data may stand beside their places in a file, and it is these that are brought back.
        options = {"wanted": PLACES}
    with open_parts(work.source, **reading(work.header), **options) as parts:
        task = _task(work, fitted, known, parts)
        opened = _printed(outputs)
        if work.ending:
            opened = open_target(
                work.output,
                outputs,
                (len(task.names), task.dtype),
                task.key,
                about,
                resume=work.resume,
                force=work.force,
                when_kept=lambda n: note(f"{n:,} rows are kept; --resume goes on with them"),
            )
        with opened as target:
            return _carry_parts(work, task, parts, target)


def _about(work: Work) -> dict[str, Any] | None:
    """Tell what an output is made from; None if that cannot be read again."""
    if work.source == STREAM or not work.source.is_file():
        return None
    return {
        "model": checksum_of(work.model),
        "input": fingerprint(work.source),
        "settings": [work.command, work.ending, work.columns, work.header, work.missing],
        "ptunfold": __version__,
    }


def _task(work: Work, fitted: Any, known: list[str] | None, parts: Parts) -> _Task:
    chosen, n_features = names_in(work.columns), fitted.n_features_in_
    dtype = fitted.embedding_.dtype
    own = [f"ptu{place}" for place in range(fitted.embedding_.shape[1])]
    if work.command == "transform":
        chosen = columns_for(known, work.source, chosen, parts)
        return _Task(fitted.transform, chosen, n_features, own, dtype, PLACES)
    if chosen is None and set(own) <= set(parts.names):
        chosen = own
    names = known or [f"x{place}" for place in range(n_features)]
    return _Task(fitted.inverse_transform, chosen, None, names, dtype, "X_back")


@contextmanager
def _printed(outputs: Outputs) -> Iterator[Target]:
    """Print part by part: what is printed cannot be taken back."""

    def write(*rows: Any) -> None:
        target.is_over = not tell(rows_as_bytes("", *rows))

    target = Target(write)
    try:
        with outputs:
            yield target
    except BaseException:
        if target.is_begun:
            note("what was printed is not all")
        raise


def _carry_parts(work: Work, task: _Task, parts: Parts, target: Target) -> tuple[int, int]:
    taker = Taker(work.source, task.columns, work.missing)
    n_rows = n_outside = 0
    if target.state is not None:
        n_rows, n_outside = target.state["rows"], target.state["outside"]
        parts.seek(target.state["position"])
        taker.restore(target.state["taken"])
    is_in_parts = not work.ending or work.ending in ENDINGS
    size = (work.chunk_size or usual_rows(parts)) if is_in_parts else None
    part = parts.read(size)
    if part is None:
        raise ValueError(f"{parts.name} has no rows")
    check_output(work.output, part)
    table, points = taker.take(part)
    taker.say(table)
    is_whole = part.is_last
    n_found, n_wanted = points.shape[1], task.n_columns
    if n_wanted is not None and n_found != n_wanted:
        raise ValueError(
            f"{n_found} columns are used ({listed(taker.used)}), and the model was fitted to "
            f"{n_wanted}; name {n_wanted} with --columns, in the order fitted"
        )
    say_lost(work.output, table, task.names, task.key)
    is_seen = sys.stderr.isatty() and (work.ending != "" or not sys.stdout.isatty())
    with stage(work.command, parts.total, parts.unit, is_seen, n_done=parts.done) as bar:
        while True:
            if len(points):
                numbers = target.carried(points, task.carry)
                target.append(table, dict(zip(task.names, numbers.T[:-1], strict=True)))
                n_rows += len(numbers)
                n_outside += int(np.count_nonzero(numbers[:, -1]))
            if part.is_last or target.is_over:
                break
            state = {"position": parts.position, "taken": taker.state}
            target.mark({"rows": n_rows, "outside": n_outside, **state})
            n_done, part = parts.done, parts.read(size)
            if part is None:
                break
            table, points = taker.take(part)
            bar.update(parts.done - n_done)
    if not is_whole:
        taker.say_rest()
    if not n_rows:
        task.carry(points)  # which refuses none
    return n_rows, n_outside
