"""Commands that use models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ptunfold.cli.app import command, estimator, note, tell
from ptunfold.cli.files import (
    HEADER,
    Header,
    Missing,
    check_page,
    check_width,
    columns_for,
    names_in,
    names_of,
    open_table,
    points_of,
    table_file,
    write_places,
)
from ptunfold.io.outputs import Outputs


@command
def transform(
    model: Annotated[Path, typer.Argument(help="A model file, from embed --save.")],
    source: Annotated[Path, typer.Argument(metavar="NEW", help="A file with new points.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    columns: Annotated[
        str | None,
        typer.Option(help="Columns to use, in the order fitted; by default those of the model."),
    ] = None,
    header: Annotated[Header, HEADER] = Header.auto,
    missing: Annotated[Missing, typer.Option(help="Rows with gaps.")] = Missing.error,
    as_json: Annotated[bool, typer.Option("--json", help="Tell what was done as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Place new points in the embedding of a model."""
    from ptunfold.io.tables import check_output

    PTU = estimator()
    with Outputs(table_file(output), force=force) as outputs:
        fitted = PTU.load(model)
        table = open_table(source, header)
        check_output(output, table)
        chosen = columns_for(fitted, source, table, names_in(columns))
        found = points_of(source, table, chosen, missing)
        check_width(fitted, found)
        fitted.__dict__.pop("feature_names_in_", None)  # an array has none; they are in order now
        points = found.points.astype(fitted.embedding_.dtype)
        places, info = fitted.transform(points, return_info=True)
        write_places(outputs, output, found.table, places)
        _say_placed(as_json, output, info)


@command
def inverse(
    model: Annotated[Path, typer.Argument(help="A model file, from embed --save.")],
    source: Annotated[
        Path, typer.Argument(metavar="PLACES", help="A file with places in the embedding.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    columns: Annotated[
        str | None, typer.Option(help="Columns to use; by default ptu0, ptu1, ... if there.")
    ] = None,
    header: Annotated[Header, HEADER] = Header.auto,
    as_json: Annotated[bool, typer.Option("--json", help="Tell what was done as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Bring places of the embedding back into the space of the data."""
    from ptunfold.io.tables import check_output

    PTU = estimator()
    with Outputs(table_file(output), force=force) as outputs:
        fitted = PTU.load(model)
        table = open_table(source, header)
        check_output(output, table)
        own = [f"ptu{place}" for place in range(fitted.embedding_.shape[1])]
        chosen = names_in(columns)
        if chosen is None and set(own) <= set(table.names):
            chosen = own
        found = points_of(source, table, chosen, Missing.error)
        places = found.points.astype(fitted.embedding_.dtype)
        points, info = fitted.inverse_transform(places, return_info=True)
        names = names_of(fitted) or [f"x{place}" for place in range(fitted.n_features_in_)]
        write_places(outputs, output, found.table, points, names, "X_back")
        _say_placed(as_json, output, info)


@command
def explore(
    model: Annotated[Path, typer.Argument(help="A model file, from embed --save.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write (html).")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a page to look into the data and the embedding of a model with a browser."""
    check_page(output)
    PTU = estimator()
    with Outputs(output, force=force) as outputs:
        fitted = PTU.load(model)
        with outputs.writing(output) as part:
            fitted.explore(part, title=model.stem)
    tell(f"open it in a browser: {output}")


@command
def info(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Tell what is in a model file."""
    PTU = estimator()
    fitted, usual = PTU.load(model), PTU().get_params()
    said = {
        "points": len(fitted.embedding_),
        "features": int(fitted.n_features_in_),
        "columns": names_of(fitted),
        "components": int(fitted.embedding_.shape[1]),
        "edges": fitted.graph_.n_edges // 2,
        "texture": fitted.texture_,
        "shortcuts": len(fitted.shortcuts_),
        "landmarks": len(fitted.landmarks_),
        "eigenvalues": fitted.eigenvalues_.tolist(),
        "parameters": {k: v for k, v in fitted.get_params().items() if v != usual[k]},
    }
    if as_json:
        tell(json.dumps(said))
        return
    tell("\n".join(f"{name:12} {value}" for name, value in said.items()))


def _say_placed(as_json: bool, output: Path, info: Any) -> None:
    from ptunfold.io.tables import STREAM

    n_points, n_outside = len(info.is_outside), int(info.is_outside.sum())
    said = f"{n_points} points: {output}"
    if as_json:
        numbers = {"output": str(output), "points": n_points, "outside": n_outside}
        said = json.dumps(numbers)
    elif n_outside:
        note(f"{n_outside} of the points lie far outside the data")
    tell(said, aside=output == STREAM)
