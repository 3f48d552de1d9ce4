"""Commands that use models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ptunfold.cli import options
from ptunfold.cli.app import command, estimator, note, tell
from ptunfold.io.outputs import Outputs


@command
def transform(
    model: options.Model,
    source: Annotated[
        Path, Argument(metavar="NEW", help="A file with new points, or - for a pipe.")
    ],
    output: options.Output,
    columns: Annotated[
        str | None,
        Option(help="Columns to use, in the order fitted; by default those of the model."),
    ] = None,
    header: options.Names = options.Header.auto,
    missing: options.Gaps = options.Missing.error,
    chunk_size: options.ChunkSize = None,
    resume: options.Resume = False,
    as_json: options.AsJson = False,
    force: options.Force = False,
) -> None:
    """Place new points in the embedding of a model.

    Texts, parquet and npy files of any length: they are read and written in parts.
    """
    estimator()
    from ptunfold.cli.streaming import Work, carry_rows

    work = Work(
        "transform", model, source, output, columns, header, missing, chunk_size, resume, force
    )
    _say_placed(as_json, output, *carry_rows(work))


@command
def inverse(
    model: options.Model,
    source: Annotated[
        Path, Argument(metavar="PLACES", help="A file with places in the embedding.")
    ],
    output: options.Output,
    columns: Annotated[
        str | None, Option(help="Columns to use; by default ptu0, ptu1, ... if there.")
    ] = None,
    header: options.Names = options.Header.auto,
    chunk_size: options.ChunkSize = None,
    resume: options.Resume = False,
    as_json: options.AsJson = False,
    force: options.Force = False,
) -> None:
    """Bring places of the embedding back into the space of the data.

    Of files of any length, as transform.
    """
    estimator()
    from ptunfold.cli.streaming import Work, carry_rows

    work = Work("inverse", model, source, output, columns, header, None, chunk_size, resume, force)
    _say_placed(as_json, output, *carry_rows(work))


def _say_placed(as_json: bool, output: Path, n_rows: int, n_outside: int) -> None:
    said = f"{n_rows} points: {output}"
    if as_json:
        said = json.dumps({"output": str(output), "points": n_rows, "outside": n_outside})
    elif n_outside:
        note(f"{n_outside} of the points lie far outside the data")
    tell(said, aside=output == Path("-"))


@command
def explore(
    model: options.Model,
    output: Annotated[Path, Option("--output", "-o", help="The page to write (html).")],
    compare: Annotated[
        list[Path] | None,
        Option(
            metavar="FILE",
            help="Places of the same points by another method, called as their file; may be "
            "repeated.",
        ),
    ] = None,
    scales: options.Scales = None,
    force: options.Force = False,
) -> None:
    """Write a page to look into the data and the embedding of a model with a browser."""
    options.check_page(output)
    wanted = options.scales_in(scales)
    PTU = estimator()
    from ptunfold.cli.files import places_in
    from ptunfold.validation.values import first_repeated

    twice = first_repeated(file.stem for file in compare or ())
    if twice is not None:
        raise ValueError(
            f"several files to compare are called {twice}, which is what the page calls them; "
            "rename all but one"
        )
    with Outputs(output, force=force) as outputs:
        fitted = PTU.load(model)
        others = {file.stem: places_in(file) for file in compare or ()}
        with outputs.writing(output) as part:
            fitted.explore(part, title=model.stem, compare=others, scales=wanted)
    tell(f"open it in a browser: {output}")


@command
def diagnose(
    model: options.Model,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Write the report with pictures to this page (html)."),
    ] = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
) -> None:
    """Tell what a model has found, how far to trust it, and what to change."""
    if output is not None:
        options.check_page(output)
    PTU = estimator()
    with Outputs(output, force=force) as outputs:
        report = PTU.load(model).diagnose()
        if output is not None:
            with outputs.writing(output) as part:
                report.save(part, title=model.stem)
        tell(json.dumps(report.as_dict(), allow_nan=False) if as_json else str(report))
    if output is not None and not as_json:
        tell(f"open it in a browser: {output}")


@command
def info(model: options.Model, as_json: options.AsJson = False) -> None:
    """Tell what is in a model file."""
    PTU = estimator()
    fitted, usual = PTU.load(model), PTU().get_params()
    names = getattr(fitted, "feature_names_in_", None)
    said = {
        "points": len(fitted.embedding_),
        "features": int(fitted.n_features_in_),
        "columns": None if names is None else list(map(str, names)),
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
