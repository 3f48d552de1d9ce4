"""Commands that make models, and that use them."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ptunfold.cli.app import app, check_free, in_words
from ptunfold.cli.files import (
    Missing,
    check_page,
    check_plot,
    columns_of,
    draw,
    names_in,
    read_points,
    write_places,
)


@app.command()
@in_words
def embed(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="CSV, TSV, parquet, Feather, npy, npz, h5ad, or a folder of images.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; its ending says the format.")
    ],
    columns: Annotated[
        str | None, typer.Option(help="Columns to use: x,y,z. By default all that hold numbers.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option(help="Columns to write beside the result. By default all.")
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="Rows with gaps: refuse them, or leave them out.")
    ] = Missing.error,
    save: Annotated[
        Path | None, typer.Option(help="Write the fitted model to this file as well.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the embedding to this file (png, pdf, svg).")
    ] = None,
    explore: Annotated[
        Path | None,
        typer.Option(help="Write a page to look into data and embedding with a browser (html)."),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Tell how far the picture can be trusted.")
    ] = False,
    color: Annotated[
        str | None, typer.Option(help="The column to colour points by; of an h5ad file one of obs.")
    ] = None,
    n_components: Annotated[int, typer.Option("--n-components", "-d", help="Coordinates.")] = 2,
    n_neighbors: Annotated[str, typer.Option("--n-neighbors", "-k", help="A number.")] = "auto",
    radius: Annotated[float | None, typer.Option(help="The longest edge.")] = None,
    graph: Annotated[str, typer.Option(help="knn, mutual or radius.")] = "knn",
    intrinsic_dim: Annotated[
        str, typer.Option(help="Dimension of the data: a number, auto, or none for n-components.")
    ] = "none",
    tangent_neighbors: Annotated[str, typer.Option(help="A number.")] = "auto",
    tangent: Annotated[str, typer.Option(help="auto, pca, quadratic, robust or smooth.")] = "auto",
    tangent_center: Annotated[str, typer.Option(help="mean or point.")] = "mean",
    step: Annotated[str, typer.Option(help="auto, chord, projection or arc.")] = "auto",
    denoise: Annotated[str, typer.Option(help="How often, 0 for never.")] = "auto",
    prune: Annotated[str, typer.Option(help="auto, shortcuts or none.")] = "auto",
    n_landmarks: Annotated[
        str, typer.Option(help="A number, a fraction, or none for all distances.")
    ] = "auto",
    landmarks: Annotated[str, typer.Option(help="maxmin or random.")] = "maxmin",
    mds: Annotated[str, typer.Option(help="classical, stress, robust or additive.")] = "classical",
    disconnected: Annotated[
        str, typer.Option(help="bridge, error, largest or separate.")
    ] = "bridge",
    search: Annotated[str, typer.Option(help="auto, exact or approximate.")] = "auto",
    engine: Annotated[str, typer.Option(help="threads, cuda or dask.")] = "threads",
    store: Annotated[
        Path | None, typer.Option(help="A folder for all distances, instead of memory.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the store of a fit that was stopped.")
    ] = False,
    random_state: Annotated[int | None, typer.Option(help="Seed of a random choice.")] = None,
    n_jobs: Annotated[int, typer.Option(help="Threads, -1 for all cores.")] = -1,
    as_json: Annotated[bool, typer.Option("--json", help="Tell what was done as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Embed the rows of a file, and write it with the coordinates as columns ptu0, ptu1, ...

    For instance: ptunfold embed points.csv -o embedded.csv --columns x,y,z
    """
    from ptunfold.estimator import PTU
    from ptunfold.io.tables import check_output

    for path in (output, save, plot, explore):
        check_free(path, force)
    check_output(output)
    if explore is not None:
        check_page(explore)
    if plot is not None:
        check_plot(plot)
    table, points, names = read_points(source, columns, missing)
    is_drawn = color is not None and (plot is not None or explore is None)
    shade = table.about(str(color)) if is_drawn else None
    about = None if explore is None else columns_of(table, color, names, n_components)
    shape = table.shape
    if keep is not None:
        table = table.keep(names_in(keep) or [])
    start = time.perf_counter()
    model = PTU(
        n_components,
        n_neighbors=number_or_word(n_neighbors),
        radius=radius,
        graph=graph,
        intrinsic_dim=number_or_word(intrinsic_dim),
        tangent_neighbors=number_or_word(tangent_neighbors),
        tangent=tangent,
        tangent_center=tangent_center,
        step=step,
        denoise=number_or_word(denoise),
        prune=number_or_word(prune),
        n_landmarks=number_or_word(n_landmarks),
        landmarks=landmarks,
        mds=mds,
        disconnected=disconnected,
        search=search,
        engine=engine,
        store=store,
        resume=resume,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=sys.stderr.isatty(),
    ).fit(points)
    seconds = time.perf_counter() - start
    trust = trust_in(model) if report else {}  # before anything is written
    write_places(output, table, model.embedding_)
    if save is not None:
        model.save(save)
    if plot is not None:
        draw(plot, model, shade)
    if explore is not None:
        model.explore(
            explore,
            columns=about,
            color=color,
            images=shape,
            title=source.stem,
            feature_names=names if len(names) == points.shape[1] else None,
        )
    said = {
        "input": str(source),
        "output": str(output),
        "model": None if save is None else str(save),
        "plot": None if plot is None else str(plot),
        "explore": None if explore is None else str(explore),
        "points": len(points),
        "columns": names if len(names) <= 100 else f"{len(names)} columns",
        "texture": model.texture_,
        "shortcuts": len(model.shortcuts_),
        "landmarks": len(model.landmarks_),
        "eigenvalues": model.eigenvalues_.tolist(),
        "seconds": round(seconds, 3),
    }
    if as_json:
        typer.echo(json.dumps(said | ({"report": trust} if report else {})))
        return
    kind = "" if model.texture_ is None else f", {model.texture_}"
    typer.echo(f"{len(points)} points{kind}, in {seconds:.1f} s: {output}")
    for name, value in trust.items():
        typer.echo(f"{name:34} {f'{value:.3g}' if isinstance(value, float) else value}")


@app.command()
@in_words
def transform(
    model: Annotated[Path, typer.Argument(help="A model file, from embed --save.")],
    source: Annotated[Path, typer.Argument(metavar="NEW", help="A file with new points.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    columns: Annotated[
        str | None, typer.Option(help="Columns to use, in the order fitted.")
    ] = None,
    missing: Annotated[Missing, typer.Option(help="Rows with gaps.")] = Missing.error,
    as_json: Annotated[bool, typer.Option("--json", help="Tell what was done as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Place new points in the embedding of a model."""
    from ptunfold.estimator import PTU
    from ptunfold.io.tables import check_output

    check_free(output, force)
    check_output(output)
    fitted = PTU.load(model)
    table, points, _ = read_points(source, columns, missing)
    placed = fitted.place(points.astype(fitted.embedding_.dtype))
    write_places(output, table, placed.coordinates)
    _say_placed(as_json, output, placed)


@app.command()
@in_words
def inverse(
    model: Annotated[Path, typer.Argument(help="A model file, from embed --save.")],
    source: Annotated[
        Path, typer.Argument(metavar="PLACES", help="A file with places in the embedding.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    columns: Annotated[
        str | None, typer.Option(help="Columns to use; by default ptu0, ptu1, ... if there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Tell what was done as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Bring places of the embedding back into the space of the data."""
    from ptunfold.estimator import PTU
    from ptunfold.io.tables import read_table

    check_free(output, force)
    fitted = PTU.load(model)
    n_components = fitted.embedding_.shape[1]
    own = [f"ptu{place}" for place in range(n_components)]
    if columns is None and set(own) <= set(read_table(source).names):
        columns = ",".join(own)
    table, places, _ = read_points(source, columns, Missing.error)
    placed = fitted.place_back(places.astype(fitted.embedding_.dtype))
    names = getattr(fitted, "feature_names_in_", None)
    names = [f"x{place}" for place in range(fitted.n_features_in_)] if names is None else names
    write_places(output, table, placed.coordinates, [str(name) for name in names], "X_back")
    _say_placed(as_json, output, placed)


@app.command()
@in_words
def explore(
    model: Annotated[Path, typer.Argument(help="A model file, from embed --save.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write (html).")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a page to look into the data and the embedding of a model with a browser."""
    from ptunfold.estimator import PTU

    check_free(output, force)
    check_page(output)
    PTU.load(model).explore(output, title=model.stem)
    typer.echo(f"open it in a browser: {output}")


@app.command()
@in_words
def info(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Tell what is in a model file."""
    from ptunfold.estimator import PTU

    fitted = PTU.load(model)
    usual = PTU().get_params()
    said = {
        "points": len(fitted.embedding_),
        "features": int(fitted.n_features_in_),
        "components": int(fitted.embedding_.shape[1]),
        "edges": fitted.graph_.n_edges // 2,
        "texture": fitted.texture_,
        "shortcuts": len(fitted.shortcuts_),
        "landmarks": len(fitted.landmarks_),
        "eigenvalues": fitted.eigenvalues_.tolist(),
        "parameters": {k: v for k, v in fitted.get_params().items() if v != usual[k]},
    }
    if as_json:
        typer.echo(json.dumps(said))
        return
    for name, value in said.items():
        typer.echo(f"{name:12} {value}")


def trust_in(model: Any) -> dict[str, Any]:
    """Tell in a few numbers how far an embedding can be trusted."""
    import numpy as np

    scores = model.scores()
    said: dict[str, Any] = {}
    for name, values in scores.items():
        values = values[np.isfinite(values)]
        said[f"{name}, median"] = float(np.median(values))
        said[f"{name}, worst twentieth"] = float(np.quantile(values, 0.95))
    used = int((model.component_labels_ >= 0).sum())
    return said | {
        "texture": model.texture_,
        "shortcuts found": len(model.shortcuts_),
        "components": int(model.component_labels_.max()) + 1,
        "points left out": len(model.embedding_) - used,
        "two-sided": model.orientation_.is_orientable,
    }


def number_or_word(text: str) -> Any:
    """Read a number where there is one, and None for "none"."""
    if text.lower() == "none":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _say_placed(as_json: bool, output: Path, placed: Any) -> None:
    n_outside = int(placed.is_outside.sum())
    if as_json:
        said = {"output": str(output), "points": len(placed.residual), "outside": n_outside}
        typer.echo(json.dumps(said))
        return
    typer.echo(f"{len(placed.residual)} points: {output}")
    if n_outside:
        typer.echo(f"ptunfold: note: {n_outside} of them lie far outside the data", err=True)
