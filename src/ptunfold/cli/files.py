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


def points_of(source: Path, table: Any, columns: list[str] | None, missing: Missing) -> Source:
    """Take the points from a table, and say what was used and what was left out."""
    import numpy as np

    points, names, notes, left_out = table.numbers(columns)
    is_gap: Any = ~np.isfinite(points)
    has_gap = is_gap.any(axis=1)
    if has_gap.any():
        rows = ", ".join(str(row + 1) for row in np.flatnonzero(has_gap)[:10])
        more = "" if has_gap.sum() <= 10 else f" and {has_gap.sum() - 10} more"
        what = "gaps" if np.isnan(points).any() else "infinite numbers"
        if missing is Missing.error:
            places = np.flatnonzero(is_gap.any(axis=0))
            where = f" ({_shortly([names[place] for place in places])})" if names else ""
            raise ValueError(
                f"rows {rows}{more} of {source} have {what} in the columns used{where}; fill "
                "them, or --missing drop"
            )
        note(f"rows {rows}{more} have {what} and are left out")
        table, points = table.rows(~has_gap), points[~has_gap]
    found = Source(table, points, names, left_out)
    _say_used(found, notes)
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


def columns_for(model: Any, source: Path, table: Any, columns: list[str] | None) -> Any:
    """Return the columns that a model was fitted to, in its order, whatever theirs is here."""
    fitted = names_of(model)
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


def check_width(model: Any, found: Source) -> None:
    """Check that there are as many columns as a model was fitted to."""
    n_features, n_found = int(model.n_features_in_), found.points.shape[1]
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
    replaced = [name for name in table.names if name in added]
    if replaced:
        note(f"columns {_shortly(replaced)} of the input are replaced in the output")
    if output == STREAM:
        text = io.StringIO(newline="")
        write_text(text, table, added, table.style.ending or ".csv")
        tell(text.getvalue().encode("utf-8", errors="surrogateescape"))
        return
    with outputs.writing(output) as part:
        write_table(part, table, added, key)


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
