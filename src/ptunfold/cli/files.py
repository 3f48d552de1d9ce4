"""What the commands read, write and draw.

Loaded together with the libraries, so that the command itself starts at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ptunfold.cli.app import note, tell
from ptunfold.cli.options import Header, Missing
from ptunfold.explorer.measures import SCORES
from ptunfold.io.choice import Choice
from ptunfold.io.outputs import Outputs
from ptunfold.io.table import Parts, Table, listed, refused_if_damaged
from ptunfold.io.tables import (
    PLACES,
    STREAM,
    check_output,
    lost,
    read_table,
    renamed,
    replaced,
    rows_as_bytes,
    write_table,
)
from ptunfold.memory import free_bytes
from ptunfold.types import FloatArray


def reading(header: Header) -> dict[str, Any]:
    """Return how files are read."""
    has_header = None if header is Header.auto else header is Header.yes
    return {"has_header": has_header, "most_bytes": free_bytes()}


def sparse_distances(source: Path) -> Any:
    """Read a sparse matrix that SciPy has saved; None if a file is no such one."""
    if source.suffix.lower() != ".npz" or not source.is_file():
        return None
    with refused_if_damaged(str(source)):
        with np.load(source, allow_pickle=False) as arrays:
            if not {"format", "shape", "data"} <= set(arrays):
                return None
        return sparse.load_npz(source)


class Taker:
    """Takes points from a table, or its parts, and says what is used and what is left out.

    From the columns that are named, or all that hold numbers. `used` says what to call them, and
    `choice` what else is settled by the first part. Nothing is `missing` where a command has no
    such option.
    """

    def __init__(self, source: Path, columns: list[str] | None, missing: Missing | None) -> None:
        self._source, self._missing = source, missing
        self.choice = Choice(columns)
        self.used: list[str] = []
        self._rows: list[int] = []  # the first of those left out
        self._n_rows, self._has_gaps = 0, False
        self._said: dict[str, str] = {}

    def take(self, part: Table) -> tuple[Table, FloatArray]:
        """Take the points of a part, and the part without rows that have gaps."""
        points = self.choice.points(part)
        self.used = self.choice.used or [f"{points.shape[1]} pixels"]
        is_gap: Any = ~np.isfinite(points)
        has_gap = is_gap.any(axis=1)
        if has_gap.any():
            rows = part.first_row + 1 + np.flatnonzero(has_gap)
            self._rows = [*self._rows, *rows[:10].tolist()][:10]
            self._n_rows += len(rows)
            self._has_gaps |= bool(np.isnan(points).any())
            if self._missing is not Missing.drop:
                gaps = np.flatnonzero(is_gap.any(axis=0))
                used = self.choice.used  # none of pixels
                where = f" ({listed(used[place] for place in gaps)})" if used else ""
                among = "" if part.is_last else f" of the first {part.first_row + part.n_rows:,}"
                raise ValueError(
                    self._rows_with(f"{among} of {self._source}")
                    + f" in the columns used{where}; fill them, or {self._remedy}"
                )
            part, points = part.rows(~has_gap), points[~has_gap]
        return replace(part, numbers=dict(zip(self.choice.used, points.T, strict=False))), points

    @property
    def _remedy(self) -> str:
        if self._missing is None:
            return "leave these points out of the file"
        return "--missing drop"

    def _rows_with(self, among: str = "") -> str:
        n_more = self._n_rows - len(self._rows)
        more = f" and {n_more} more" if n_more else ""
        what = "gaps" if self._has_gaps else "infinite numbers"
        return f"rows {', '.join(map(str, self._rows))}{more}{among} have {what}"

    def say(self, table: Table, of: str = "") -> None:
        """Say what is used, once a part was taken, and which rows are not if it is the last.

        After `of`, which names the file if there are several.
        """
        if table.is_last:
            self._say_rows()
        self._said = dict(self.choice.notes)
        said = f"{of}columns used: {listed(self.used)}"
        if table.place:
            said += f" of {table.place}"
        elif table.style.ending and not table.is_named:
            said += " (no line of names)"
        lost = [f"{name or repr('')} ({why})" for name, why in self.choice.left_out.items()]
        said = "; ".join([said, *_by_note(self._said)])
        note(f"{said}; left out: {listed(lost) or 'none'}")

    def say_rest(self) -> None:
        """Say what was found in later parts, after the last."""
        notes = self.choice.notes.items()
        for said in _by_note({name: how for name, how in notes if name not in self._said}):
            note(said)
        self._say_rows()

    def _say_rows(self) -> None:
        if self._n_rows:
            note(f"{self._rows_with()} and are left out")

    @property
    def state(self) -> dict[str, Any]:
        """What was found so far, in what JSON can hold."""
        return {"choice": self.choice.state, "rows": [self._rows, self._n_rows, self._has_gaps]}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on after parts that were taken before."""
        self.choice.restore(state["choice"])
        self._rows, self._n_rows, self._has_gaps = state["rows"]


def _by_note(notes: dict[str, str]) -> list[str]:
    """Say which columns have each note."""
    return [
        f"{how} in {listed([name for name, other in notes.items() if other == how])}"
        for how in dict.fromkeys(notes.values())
    ]


def places_in(source: Path) -> FloatArray:
    """Read the places of points in another picture, and say which columns they are.

    Data may stand beside the places in a file of this package, and it is these that are compared;
    in files of others, all columns that hold numbers.
    """
    table = read_table(source, **reading(Header.auto), wanted=PLACES)
    own = list(takewhile(set(table.names).__contains__, (f"ptu{place}" for place in count())))
    taker = Taker(source, own or None, None)
    table, places = taker.take(table)
    taker.say(table, f"{source}, ")
    return places


def columns_for(
    fitted: list[str] | None, source: Path, columns: list[str] | None, table: Parts
) -> list[str] | None:
    """Return the columns that a model was fitted to, in its order, whatever theirs is here."""
    named = columns if columns is not None else table.names if table.is_named else None
    if fitted is not None and named is None:
        note(f"{source} has no names; its columns are taken for {listed(fitted)}")
    if fitted is None or named is None:
        return columns
    known = set(named)
    lacking = [name for name in fitted if name not in known]
    if not lacking:  # the number is checked with the points
        return fitted if columns is None or len(columns) == len(fitted) else columns
    places = {name: place for place, name in enumerate(fitted)}
    is_in_order = all(places.get(name, place) == place for place, name in enumerate(named))
    if columns is not None and len(columns) == len(fitted) and is_in_order:
        note(f"columns {listed(columns)} are taken for {listed(fitted)}")
        return columns
    raise ValueError(
        f"{source if columns is None else '--columns'} lacks {listed(lacking)} of the columns "
        f"the model was fitted to ({listed(fitted)}); rename yours, or name those that stand for "
        "them with --columns, in this order"
    )


def table_file(output: Path) -> Path | None:
    """Return the file that a table goes to; none if it is standard output."""
    check_output(output)
    return None if output == STREAM else output


def check_keep(output: Path) -> None:
    """Refuse to keep columns where the output has none."""
    if output.suffix.lower() in (".npy", ".npz", ".h5ad"):
        raise ValueError(
            f"--keep names columns, and {output} will have none; leave it out, or choose another "
            "ending"
        )


def write_places(
    outputs: Outputs, output: Path, table: Table, added: dict[str, FloatArray], key: str = PLACES
) -> None:
    """Write a table with new columns, or print it."""
    say_lost(output, table, list(added), key)
    if output == STREAM:
        tell(rows_as_bytes("", table, added))
        return
    with outputs.writing(output) as part:
        write_table(part, table, added, key)


def say_lost(output: Path, table: Table, names: list[str], key: str) -> None:
    """Say what of the input is not in the output, or something new that is called so."""
    gone = replaced(output, table, names, key)
    if gone:
        are = "are" if gone.startswith("columns") else "is"
        note(f"{gone} of the input {are} replaced in the output")
    others = renamed(output, table)
    if others:
        note(f"renamed in the output, where these names are taken: {listed(others)}")
    left = lost(output, table)
    if left:
        note(f"not in the output: {listed(left)}")


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


def columns_of(
    table: Table, color: str | None, scales: Iterable[str], used: list[str], n_components: int
) -> dict[str, Any]:
    """Take the columns that say something about points beside the numbers that are embedded."""
    known = table.described
    own = {*SCORES, *(f"ptu{place}" for place in range(n_components))}
    for name in (*scales, *([] if color is None else [color])):
        if name not in {*known, *used, *own}:
            raise ValueError(f"there is no column {name}; the columns are {listed(list(known))}")
    embedded = set() if hasattr(table.source, "obsm") else set(used)  # of an AnnData others
    return {name: values for name, values in known.items() if name not in embedded}


def trust_in(model: Any) -> dict[str, Any]:
    """Tell in a few numbers how far an embedding can be trusted."""
    scores = model.scores()
    said: dict[str, Any] = {}
    for name, values in scores.items():
        values = values[np.isfinite(values)]
        said[f"{name}, median"] = float(np.median(values))
        worst = 0.05 if name == "coherence" else 0.95  # of the others little is good
        said[f"{name}, worst twentieth"] = float(np.quantile(values, worst))
    used = int((model.component_labels_ >= 0).sum())
    return said | {
        "texture": model.texture_,
        "shortcuts found": len(model.shortcuts_),
        "components": int(model.component_labels_.max()) + 1,
        "bridges between pieces": 0 if model.graph_.bridges is None else len(model.graph_.bridges),
        "points left out": len(model.embedding_) - used,
        "two-sided": model.orientation_.is_orientable,
        "topology": str(model.topology_),
    }
