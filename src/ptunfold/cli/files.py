"""What the commands read, write and draw."""

from __future__ import annotations

import csv
import io
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import typer

from ptunfold.cli.app import note, tell
from ptunfold.io.outputs import Outputs

HEADER = typer.Option(help="Whether the first line of a text holds names.")


class Missing(StrEnum):
    """What to do with rows that have gaps."""

    error = "error"
    drop = "drop"


class Header(StrEnum):
    """Whether the first line holds names."""

    auto = "auto"
    yes = "yes"
    no = "no"


class Source(NamedTuple):
    """What was read: the table without rows left out, its numbers, and what they are."""

    table: Any
    points: Any
    names: list[str]
    left_out: dict[str, str]

    @property
    def used(self) -> list[str]:
        """What to call what was used."""
        return self.names or [f"{self.points.shape[1]} pixels"]


def open_table(source: Path, header: Header) -> Any:
    """Read a file that fits into memory."""
    from ptunfold.io.tables import read_table
    from ptunfold.memory import free_bytes

    has_header = None if header is Header.auto else header is Header.yes
    return read_table(source, has_header=has_header, most_bytes=free_bytes())


class Taker:
    """Takes points from a table, or its parts, and says what is used and what is left out.

    Parameters
    ----------
    source : path
        Where the table comes from, for messages.
    columns : list of str or None
        Those to use; None for all that hold numbers.
    missing : Missing
        What to do with rows that have gaps.
    """

    def __init__(self, source: Path, columns: list[str] | None, missing: Missing) -> None:
        from ptunfold.io.choice import Choice

        self._source, self._missing = source, missing
        self._choice = Choice(columns)
        self._rows: list[int] = []  # the first of those left out
        self._n_rows, self._has_gaps = 0, False
        self._said: dict[str, str] = {}

    def take(self, part: Any) -> Source:
        """Take the points of a part."""
        import numpy as np

        points = self._choice.points(part)
        is_gap: Any = ~np.isfinite(points)
        has_gap = is_gap.any(axis=1)
        if has_gap.any():
            self._rows += [part.first_row + int(row) + 1 for row in np.flatnonzero(has_gap)[:10]]
            self._n_rows += int(has_gap.sum())
            self._has_gaps |= bool(np.isnan(points).any())
            if self._missing is Missing.error:
                used = self._choice.used  # none of pixels
                gaps = np.flatnonzero(is_gap.any(axis=0))
                raise self._refusal(part, [used[place] for place in gaps] if used else [])
            part, points = part.rows(~has_gap), points[~has_gap]
        return Source(part, points, self._choice.used, self._choice.left_out)

    def _refusal(self, part: Any, names: list[str]) -> ValueError:
        where = f" ({_shortly(names)})" if names else ""
        among = "" if part.is_last else f" of the first {part.first_row + part.n_rows:,}"
        return ValueError(
            f"{self._rows_with_gaps}{among} of {self._source} have {self._what} in the columns "
            f"used{where}; fill them, or --missing drop"
        )

    @property
    def _rows_with_gaps(self) -> str:
        rows, n_more = self._rows[:10], self._n_rows - 10
        return f"rows {', '.join(map(str, rows))}{f' and {n_more} more' if n_more > 0 else ''}"

    @property
    def _what(self) -> str:
        return "gaps" if self._has_gaps else "infinite numbers"

    def say(self, found: Source) -> None:
        """Say what is used, once a part was taken, and which rows are not if it is the last."""
        if found.table.is_last:
            self._say_rows()
        self._said = dict(self._choice.notes)
        _say_used(found, self._said)

    def say_rest(self) -> None:
        """Say what was found in later parts, after the last."""
        new = {name: how for name, how in self._choice.notes.items() if name not in self._said}
        for how in dict.fromkeys(new.values()):
            note(f"{how} in {_shortly([name for name, other in new.items() if other == how])}")
        self._say_rows()

    def _say_rows(self) -> None:
        if self._n_rows:
            note(f"{self._rows_with_gaps} have {self._what} and are left out")

    @property
    def state(self) -> dict[str, Any]:
        """What was found so far, in what JSON can hold."""
        rows = [self._rows[:10], self._n_rows, self._has_gaps]
        return {"choice": self._choice.state, "rows": rows}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on after parts that were taken before."""
        self._choice.restore(state["choice"])
        self._rows, self._n_rows, self._has_gaps = state["rows"]


def points_of(source: Path, table: Any, columns: list[str] | None, missing: Missing) -> Source:
    """Take the points from a table, and say what was used and what was left out."""
    taker = Taker(source, columns, missing)
    found = taker.take(table)
    taker.say(found)
    return found


def _say_used(found: Source, notes: dict[str, str]) -> None:
    table = found.table
    said = f"columns used: {_shortly(found.used)}"
    if table.place:
        said += f" of {table.place}"
    elif table.style.ending and not table.is_named:
        said += " (no line of names)"
    for how in dict.fromkeys(notes.values()):
        those = [name for name, other in notes.items() if other == how]
        said += f"; {how} in {_shortly(those)}"
    lost = [f"{name or repr('')} ({why})" for name, why in found.left_out.items()]
    note(f"{said}; left out: {_shortly(lost) or 'none'}")


def _shortly(names: list[str]) -> str:
    from ptunfold.io.table import listed

    return listed(names)


def columns_for(
    fitted: list[str] | None, source: Path, table: Any, columns: list[str] | None
) -> list[str] | None:
    """Return the columns that a model was fitted to, in its order, whatever theirs is here."""
    named = columns if columns is not None else table.names if table.is_named else None
    if fitted is not None and named is None:
        note(f"{source} has no names; its columns are taken for {_shortly(fitted)}")
    if fitted is None or named is None:
        return columns
    known = set(named)
    lacking = [name for name in fitted if name not in known]
    if not lacking:  # the number is checked with the points
        return fitted if columns is None or len(columns) == len(fitted) else columns
    places = {name: place for place, name in enumerate(fitted)}
    is_in_order = all(places.get(name, place) == place for place, name in enumerate(named))
    if columns is not None and len(columns) == len(fitted) and is_in_order:
        note(f"columns {_shortly(columns)} are taken for {_shortly(fitted)}")
        return columns
    raise ValueError(
        f"{source if columns is None else '--columns'} lacks {_shortly(lacking)} of the columns "
        f"the model was fitted to ({_shortly(fitted)}); rename yours, or name those that stand for "
        "them with --columns, in this order"
    )


def names_of(model: Any) -> list[str] | None:
    """Return the names of the columns that a model was fitted to, if it knows them."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def check_width(n_features: int, found: Source) -> None:
    """Check that there are as many columns as a model was fitted to."""
    n_found = found.points.shape[1]
    if n_found != n_features:
        raise ValueError(
            f"{n_found} columns are used ({_shortly(found.used)}), and the model was fitted to "
            f"{n_features}; name {n_features} with --columns, in the order fitted"
        )


def write_places(
    outputs: Outputs,
    output: Path,
    table: Any,
    places: Any,
    names: list[str] | None = None,
    key: str = "X_ptu",
) -> None:
    """Write a table with new columns, by default ptu0, ptu1, ..."""
    from ptunfold.io.tables import STREAM, write_table
    from ptunfold.io.text import write_text

    names = names or [f"ptu{place}" for place in range(places.shape[1])]
    added = dict(zip(names, places.T, strict=True))
    say_replaced(table, names)
    if output == STREAM:
        text = io.StringIO(newline="")
        write_text(text, table, added, table.style.ending or ".csv")
        tell(text.getvalue().encode("utf-8", errors="surrogateescape"))
        return
    with outputs.writing(output) as part:
        write_table(part, table, added, key)


def say_replaced(table: Any, names: list[str]) -> None:
    """Say which columns of the input are not in the output."""
    replaced = [name for name in table.names if name in names]
    if replaced:
        note(f"columns {_shortly(replaced)} of the input are replaced in the output")


def table_file(output: Path) -> Path | None:
    """Return the file that a table goes to; none if it is standard output."""
    from ptunfold.io.tables import STREAM, check_output

    check_output(output)
    return None if output == STREAM else output


def check_plot(path: Path) -> None:
    """Check that a picture can be drawn, before the work starts."""
    try:
        import matplotlib as mpl
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise ValueError("figures need matplotlib; pip install 'ptunfold[plot]'") from error
    mpl.use("Agg")
    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in known:
        raise ValueError(f"{path} has no ending of a picture; the endings are {', '.join(known)}")


def draw(path: Path, model: Any, color: Any) -> None:
    """Draw an embedding to a file."""
    from ptunfold import show
    from ptunfold.io.files import whole_file

    with whole_file(path) as name:
        show.embedding(model, color).figure.savefig(name, dpi=150)


def check_page(path: Path) -> None:
    """Check the name of a page, before the work starts."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path} has no ending of a page; call it {path.with_suffix('.html')}")


def columns_of(table: Any, color: str | None, used: list[str], n_components: int) -> dict[str, Any]:
    """Take the columns that say something about points beside the numbers that are embedded."""
    known = table.described
    own = {"local distortion", "disagreement", "landmark", "component"}
    own |= {f"ptu{place}" for place in range(n_components)}
    if color is not None and color not in {*known, *used, *own}:
        raise ValueError(f"there is no column {color}; the columns are {_shortly(list(known))}")
    return {name: values for name, values in known.items() if name not in used}


def names_in(text: str | None) -> list[str] | None:
    """Split a list of names; one that has a comma in it stands in quotes."""
    if text is None:
        return None
    fields = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in fields if name.strip()]
