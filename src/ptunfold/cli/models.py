"""Commands that use models."""

from __future__ import annotations

import json
from functools import partial
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
    table_file,
)
from ptunfold.io.outputs import Outputs

CHUNK_SIZE = typer.Option(
    min=1, help="Rows in memory at a time. By default a part of some tens of megabytes."
)
RESUME = typer.Option("--resume", help="Go on with an output that was stopped.")


@command
def transform(
    model: Annotated[Path, typer.Argument(help="A model file, from embed --save.")],
    source: Annotated[
        Path, typer.Argument(metavar="NEW", help="A file with new points, or - for a pipe.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    columns: Annotated[
        str | None,
        typer.Option(help="Columns to use, in the order fitted; by default those of the model."),
    ] = None,
    header: Annotated[Header, HEADER] = Header.auto,
    missing: Annotated[Missing, typer.Option(help="Rows with gaps.")] = Missing.error,
    chunk_size: Annotated[int | None, CHUNK_SIZE] = None,
    resume: Annotated[bool, RESUME] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Tell what was done as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Place new points in the embedding of a model.

    Texts, parquet and npy files of any length: they are read and written in parts.
    """
    PTU = estimator()
    from ptunfold.cli.streaming import How, Work, carry_rows

    outputs = Outputs(table_file(output), force=force)
    fitted = PTU.load(model)
    work = Work(
        "transform",
        model,
        source,
        output,
        How(columns, header, missing, chunk_size, resume, force),
        carry=lambda points: fitted.transform(
            points.astype(fitted.embedding_.dtype), return_info=True
        ),
        names=[f"ptu{place}" for place in range(fitted.embedding_.shape[1])],
        dtype=fitted.embedding_.dtype,
        choose=partial(columns_for, names_of(fitted), source, columns=names_in(columns)),
        check=partial(check_width, int(fitted.n_features_in_)),
        key="X_ptu",
    )
    fitted.__dict__.pop("feature_names_in_", None)  # an array has none; they are in order now
    done = carry_rows(work, outputs)
    _say_placed(as_json, output, done.n_rows, done.n_outside)


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
    chunk_size: Annotated[int | None, CHUNK_SIZE] = None,
    resume: Annotated[bool, RESUME] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Tell what was done as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Bring places of the embedding back into the space of the data.

    Of files of any length, as transform.
    """
    PTU = estimator()
    from ptunfold.cli.streaming import How, Work, carry_rows

    outputs = Outputs(table_file(output), force=force)
    fitted = PTU.load(model)
    own = [f"ptu{place}" for place in range(fitted.embedding_.shape[1])]

    def choose(table: Any) -> list[str] | None:
        chosen = names_in(columns)
        return own if chosen is None and set(own) <= set(table.names) else chosen

    work = Work(
        "inverse",
        model,
        source,
        output,
        How(columns, header, Missing.error, chunk_size, resume, force),
        carry=lambda places: fitted.inverse_transform(
            places.astype(fitted.embedding_.dtype), return_info=True
        ),
        names=names_of(fitted) or [f"x{place}" for place in range(fitted.n_features_in_)],
        dtype=fitted.embedding_.dtype,
        choose=choose,
        check=lambda found: None,
        key="X_back",
    )
    done = carry_rows(work, outputs)
    _say_placed(as_json, output, done.n_rows, done.n_outside)


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


def _say_placed(as_json: bool, output: Path, n_rows: int, n_outside: int) -> None:
    from ptunfold.io.tables import STREAM

    said = f"{n_rows} points: {output}"
    if as_json:
        said = json.dumps({"output": str(output), "points": n_rows, "outside": n_outside})
    elif n_outside:
        note(f"{n_outside} of the points lie far outside the data")
    tell(said, aside=output == STREAM)
