"""The command line."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    help="Parallel Transport Unfolding: manifold learning that stays true on data with holes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_state = {"debug": False}


class Missing(StrEnum):
    """What to do with rows that have gaps."""

    error = "error"
    drop = "drop"


@app.callback()
def main(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the code an error arose.")
    ] = False,
) -> None:
    """Parallel Transport Unfolding: manifold learning that stays true on data with holes."""
    _state["debug"] = debug


def in_words(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors into one sentence, and warnings into another."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        def say(message: Any, *rest: Any, **more: Any) -> None:
            typer.echo(f"ptunfold: note: {message}", err=True)

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default", UserWarning)
                warnings.showwarning = say
                command(*args, **options)
        except BrokenPipeError as error:  # the reader has seen enough
            sys.stderr.close()
            raise typer.Exit(0) from error
        except (ValueError, MemoryError, OSError) as error:
            if _state["debug"]:
                raise
            raise _stop(" ".join(str(error).split())) from error
        except KeyboardInterrupt as error:
            typer.echo("ptunfold: stopped", err=True)
            raise typer.Exit(130) from error

    return run


def _stop(message: str) -> typer.Exit:
    typer.echo(f"ptunfold: {message}", err=True)
    return typer.Exit(1)


def _free(path: Path | None, force: bool) -> None:
    if path is not None and path.exists() and not force:
        raise ValueError(f"{path} is there already; choose another name, or --force to replace it")


def _number_or_word(text: str) -> Any:
    """Read a number where there is one, and None for "none"."""
    if text.lower() == "none":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


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
    color: Annotated[str | None, typer.Option(help="The column to colour points by.")] = None,
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

    for path in (output, save, plot):
        _free(path, force)
    check_output(output)
    if plot is not None:
        _check_plot(plot)
    table, points, names = _read(source, columns, missing)
    shade = None if color is None else table.numbers([color])[0][:, 0]
    if keep is not None:
        table = table.keep(_names(keep) or [])
    start = time.perf_counter()
    model = PTU(
        n_components,
        n_neighbors=_number_or_word(n_neighbors),
        radius=radius,
        graph=graph,
        intrinsic_dim=_number_or_word(intrinsic_dim),
        tangent_neighbors=_number_or_word(tangent_neighbors),
        tangent=tangent,
        tangent_center=tangent_center,
        step=step,
        denoise=_number_or_word(denoise),
        prune=_number_or_word(prune),
        n_landmarks=_number_or_word(n_landmarks),
        landmarks=landmarks,
        mds=mds,
        disconnected=disconnected,
        search=search,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=sys.stderr.isatty(),
    ).fit(points)
    seconds = time.perf_counter() - start
    _write(output, table, model.embedding_)
    if save is not None:
        model.save(save)
    if plot is not None:
        _draw(plot, model, shade)
    said = {
        "input": str(source),
        "output": str(output),
        "model": None if save is None else str(save),
        "plot": None if plot is None else str(plot),
        "points": len(points),
        "columns": names if len(names) <= 100 else f"{len(names)} columns",
        "texture": model.texture_,
        "shortcuts": len(model.shortcuts_),
        "landmarks": len(model.landmarks_),
        "eigenvalues": model.eigenvalues_.tolist(),
        "seconds": round(seconds, 3),
    }
    kind = "" if model.texture_ is None else f", {model.texture_}"
    line = f"{len(points)} points{kind}, in {seconds:.1f} s: {output}"
    typer.echo(json.dumps(said) if as_json else line)


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

    _free(output, force)
    check_output(output)
    fitted = PTU.load(model)
    table, points, _ = _read(source, columns, missing)
    placed = fitted.place(points.astype(fitted.embedding_.dtype))
    _write(output, table, placed.coordinates)
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

    _free(output, force)
    fitted = PTU.load(model)
    n_components = fitted.embedding_.shape[1]
    own = [f"ptu{place}" for place in range(n_components)]
    if columns is None and set(own) <= set(read_table(source).names):
        columns = ",".join(own)
    table, places, _ = _read(source, columns, Missing.error)
    placed = fitted.place_back(places.astype(fitted.embedding_.dtype))
    names = getattr(fitted, "feature_names_in_", None)
    names = [f"x{place}" for place in range(fitted.n_features_in_)] if names is None else names
    _write(output, table, placed.coordinates, [str(name) for name in names], "X_back")
    _say_placed(as_json, output, placed)


@app.command()
@in_words
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the files it makes.")
    ] = Path("ptunfold-demo"),
) -> None:
    """Make a sheet with a hole, embed it, and show every step as the commands you would use."""
    output.mkdir(parents=True, exist_ok=True)
    points, flat = output / "sheet.csv", output / "flat.csv"
    model, picture = output / "sheet.safetensors", output / "sheet.png"
    for path in (points, flat, model, picture):
        _free(path, False)
    typer.echo(f"ptunfold datasets s_with_hole -o {points}")
    datasets("s_with_hole", points)
    typer.echo(
        f"ptunfold embed {points} -o {flat} --columns x,y,z --save {model} --plot {picture} "
        "--color color"
    )
    embed(points, flat, columns="x,y,z", save=model, plot=picture, color="color")
    typer.echo(f"ptunfold info {model}")
    info(model)


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


@app.command()
@in_words
def datasets(
    name: Annotated[str | None, typer.Argument(help="Which; without it, a list.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write.")
    ] = None,
    n_points: Annotated[int | None, typer.Option(help="The number of points.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """List the data sets with a known truth, or write one to a file."""
    import numpy as np

    from ptunfold import datasets as sets
    from ptunfold.io.tables import Table

    known = [known for known in sets.__all__ if known not in ("Dataset", "faces", "digit_zero")]
    if name is None:
        for one in known:
            typer.echo(f"{one:14} {(getattr(sets, one).__doc__ or '').splitlines()[0]}")
        return
    if name not in known:
        raise ValueError(f"there is no data set {name}; choose among {', '.join(known)}")
    if output is None:
        raise ValueError("say where to write it: --output points.csv")
    _free(output, force)
    make = getattr(sets, name)
    data = make(seed=seed) if n_points is None else make(n_points, seed=seed)
    axes = "xyzw" if data.points.shape[1] <= 4 else None
    names = [axes[i] if axes else f"x{i}" for i in range(data.points.shape[1])]
    truth = data.coordinates if data.coordinates is not None else data.parameters
    added = {} if truth is None else {f"true{i}": column for i, column in enumerate(truth.T)}
    columns = dict(zip(names, data.points.T, strict=True)) | {"color": data.color} | added
    if output.suffix.lower() in (".npy", ".npz"):
        table: Table = Table(names, list(data.points.T), {"X": data.points, **added})
        _write(output, table, data.points, names, "X")
        return
    from ptunfold.io.tables import write_table

    write_table(output, Table([], []), {n: np.asarray(c) for n, c in columns.items()})
    typer.echo(f"{len(data.points)} points: {output}")


@app.command()
@in_words
def paper(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Figures to run, for instance petals; all by default."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the page and its pictures.")
    ] = Path("paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Reduced sizes, in less than three minutes.")
    ] = False,
    faces: Annotated[
        Path | None, typer.Option(help="face_data.mat, the images of faces.", exists=True)
    ] = None,
    digits: Annotated[
        Path | None, typer.Option(help="mnist.npz, the images of digits.", exists=True)
    ] = None,
) -> None:
    """Run the figures and tables of the paper, and compare its claims with what is found here.

    Ends with an error if a claim does not hold.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise _stop("pictures need matplotlib; pip install 'ptunfold[plot]'") from error
    from ptunfold.paper.report import all_met, write_report
    from ptunfold.paper.sections import SECTIONS, Extent

    for name in names or []:
        if name not in SECTIONS:
            raise _stop(f"there is no figure {name!r}; choose among {', '.join(SECTIONS)}")
    extent = Extent(is_quick=quick, faces=faces, digits=digits)
    sections = write_report(output, names or [], extent=extent, say=typer.echo)
    typer.echo(f"The page is {output / 'paper.html'}.")
    if not all_met(sections):
        raise _stop("some of the paper's claims do not hold here; they are marked NOT MET")


def _read(source: Path, columns: str | None, missing: Missing) -> tuple[Any, Any, list[str]]:
    """Read a file; the table without rows left out, its numbers, and their names."""
    import numpy as np

    from ptunfold.io.tables import read_table

    table = read_table(source)
    if table.shape is not None and columns is None:
        return table, table.source, [f"{len(table.source[0])} pixels"]
    points, names = table.numbers(_names(columns))
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


def _write(
    output: Path,
    table: Any,
    places: Any,
    names: list[str] | None = None,
    key: str = "X_ptu",
) -> None:
    from ptunfold.io.tables import write_table

    names = names or [f"ptu{place}" for place in range(places.shape[1])]
    write_table(output, table, dict(zip(names, places.T, strict=True)), key)


def _check_plot(path: Path) -> None:
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


def _draw(path: Path, model: Any, color: Any) -> None:
    """Draw an embedding to a file."""
    from ptunfold import show
    from ptunfold.io.files import whole_file

    with whole_file(path) as name:
        show.embedding(model, color).figure.savefig(name, dpi=150)


def _say_placed(as_json: bool, output: Path, placed: Any) -> None:
    n_outside = int(placed.is_outside.sum())
    if as_json:
        said = {"output": str(output), "points": len(placed.residual), "outside": n_outside}
        typer.echo(json.dumps(said))
        return
    typer.echo(f"{len(placed.residual)} points: {output}")
    if n_outside:
        typer.echo(f"ptunfold: note: {n_outside} of them lie far outside the data", err=True)
