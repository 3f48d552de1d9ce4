"""What the commands read, write and draw."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

import typer


class Missing(StrEnum):
    """What to do with rows that have gaps."""

    error = "error"
    drop = "drop"


def read_points(source: Path, columns: str | None, missing: Missing) -> tuple[Any, Any, list[str]]:
    """Read a file; the table without rows left out, its numbers, and their names."""
    import numpy as np

    from ptunfold.io.tables import read_table

    table = read_table(source)
    if table.shape is not None and columns is None:
        return table, table.source, [f"{len(table.source[0])} pixels"]
    points, names = table.numbers(names_in(columns))
    has_gap: Any = ~np.isfinite(points).all(axis=1)
    if has_gap.any():
        rows = ", ".join(str(row + 1) for row in np.flatnonzero(has_gap)[:10])
        more = "" if has_gap.sum() <= 10 else f" and {has_gap.sum() - 10} more"
        if missing is Missing.error:
            raise ValueError(
                f"rows {rows}{more} of {source} have gaps in the columns used; fill them, or "
                "--missing drop"
            )
        typer.echo(f"ptunfold: note: rows {rows}{more} have gaps and are left out", err=True)
        table, points = table.rows(~has_gap), points[~has_gap]
    return table, points, names


def write_places(
    output: Path,
    table: Any,
    places: Any,
    names: list[str] | None = None,
    key: str = "X_ptu",
) -> None:
    """Write a table with new columns, by default ptu0, ptu1, ..."""
    from ptunfold.io.tables import write_table

    names = names or [f"ptu{place}" for place in range(places.shape[1])]
    write_table(output, table, dict(zip(names, places.T, strict=True)), key)


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
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent}; make it, or choose another place")


def columns_of(table: Any, color: str | None, used: list[str], n_components: int) -> dict[str, Any]:
    """Take the columns that say something about points beside the numbers that are embedded."""
    known = table.described
    own = {"local distortion", "disagreement", "landmark", "component"}
    own |= {f"ptu{place}" for place in range(n_components)}
    if color is not None and color not in {*known, *used, *own}:
        raise ValueError(f"there is no column {color}; the columns are {', '.join(known)}")
    return {name: values for name, values in known.items() if name not in used}


def names_in(text: str | None) -> list[str] | None:
    """Split a list of names."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
