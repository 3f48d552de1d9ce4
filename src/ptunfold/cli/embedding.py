"""The command that makes models."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ptunfold.cli import options
from ptunfold.cli.app import command, estimator, tell
from ptunfold.io.outputs import Outputs, whole_file


@command
def embed(
    source: Annotated[
        Path,
        Argument(
            metavar="INPUT",
            help="CSV, TSV, parquet, Feather, npy, npz, h5ad, a folder of images, or - for a pipe.",
        ),
    ],
    output: Annotated[
        Path,
        Option(
            "--output", "-o", help="The file to write; its ending says the format, - for a pipe."
        ),
    ],
    columns: Annotated[
        str | None, Option(help="Columns to use: x,y,z. By default all that hold numbers.")
    ] = None,
    keep: Annotated[
        str | None, Option(help="Columns to write beside the result. By default all.")
    ] = None,
    header: options.Names = options.Header.auto,
    missing: options.Gaps = options.Missing.error,
    save: Annotated[
        Path | None, Option(help="Write the fitted model to this file as well.")
    ] = None,
    plot: Annotated[
        Path | None, Option(help="Draw the embedding to this file (png, pdf, svg).")
    ] = None,
    explore: Annotated[
        Path | None,
        Option(help="Write a page to look into data and embedding with a browser (html)."),
    ] = None,
    scales: options.Scales = None,
    report: Annotated[
        bool, Option("--report", help="Tell how far the picture can be trusted.")
    ] = False,
    color: Annotated[
        str | None, Option(help="The column to colour points by; of an h5ad file one of obs.")
    ] = None,
    n_components: Annotated[int, Option("--n-components", "-d", help="Coordinates.")] = 2,
    metric: Annotated[
        str, Option(help="How far rows are apart: euclidean, cosine, cityblock, haversine, ...")
    ] = "euclidean",
    precomputed: Annotated[
        bool,
        Option(
            "--precomputed",
            help="INPUT is a matrix of distances, one row and one column a point; sparse as npz.",
        ),
    ] = False,
    n_neighbors: Annotated[str, Option("--n-neighbors", "-k", help="A number.")] = "auto",
    radius: Annotated[float | None, Option(help="The longest edge.")] = None,
    graph: Annotated[str, Option(help="knn, mutual or radius.")] = "knn",
    intrinsic_dim: Annotated[
        str, Option(help="Dimension of the data: a number, auto, or none for n-components.")
    ] = "none",
    tangent_neighbors: Annotated[str, Option(help="A number.")] = "auto",
    tangent: Annotated[str, Option(help="auto, pca, quadratic or robust.")] = "auto",
    step: Annotated[str, Option(help="auto, chord, projection or arc.")] = "auto",
    denoise: Annotated[str, Option(help="How often, 0 for never.")] = "auto",
    coherence: Annotated[
        str, Option(help="How much of a path is believed, from 0 for its length to 1.")
    ] = "auto",
    prune: Annotated[str, Option(help="auto, shortcuts or none.")] = "auto",
    landmarks: Annotated[
        str, Option(help="A number, a fraction, or none for all distances.")
    ] = "auto",
    landmark_selection: Annotated[str, Option(help="maxmin or random.")] = "maxmin",
    mds: Annotated[str, Option(help="auto, classical or stress.")] = "auto",
    disconnected: Annotated[str, Option(help="bridge, error, largest or separate.")] = "bridge",
    seams: Annotated[
        str, Option(help="Data that close upon themselves: auto, cut or leave.")
    ] = "auto",
    search: Annotated[str, Option(help="auto, exact or approximate.")] = "auto",
    engine: Annotated[str, Option(help="threads, cuda or dask.")] = "threads",
    store: Annotated[
        Path | None, Option(help="A folder for all distances, instead of memory.")
    ] = None,
    resume: Annotated[
        bool, Option("--resume", help="Go on with the store of a fit that was stopped.")
    ] = False,
    random_state: Annotated[int | None, Option(help="Seed of a random choice.")] = None,
    n_jobs: Annotated[
        int | None, Option(help="Threads; by default as many as there are cores.")
    ] = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
) -> None:
    """Embed the rows of a file, and write it with the coordinates as columns ptu0, ptu1, ...

    For instance: ptunfold embed points.csv -o embedded.csv --columns x,y,z
    """
    PTU = estimator()
    import numpy as np

    from ptunfold import show
    from ptunfold.cli import files
    from ptunfold.engines import Disk, check_engine
    from ptunfold.io.table import Table
    from ptunfold.io.tables import STREAM, check_output, read_table

    _check_store(store, resume, landmarks)
    where = engine if store is None else Disk(store, resume, engine)
    check_engine(where)
    precomputed = precomputed or metric == "precomputed"
    if precomputed and metric not in ("euclidean", "precomputed"):
        raise ValueError(f"--precomputed has distances, so --metric {metric} is not used; pass one")
    if precomputed and missing is options.Missing.drop:
        raise ValueError(
            "--missing drop leaves out rows, and a matrix of distances has a column for each; "
            "leave such points out of the file"
        )
    colours = options.scales_in(scales)
    if explore is not None:
        options.check_page(explore)
    elif colours:
        raise ValueError("--scales is for the colours of a page; pass --explore")
    if color is not None and plot is None and explore is None:
        raise ValueError("--color is for a picture or a page; pass --plot or --explore")
    if plot is not None:
        files.check_plot(plot)
    if save is not None:
        _check_save(save, source)
    if keep is not None:
        files.check_keep(output)
    with Outputs(files.table_file(output), save, plot, explore, force=force) as outputs:
        taker = files.Taker(source, options.names_in(columns), None if precomputed else missing)
        points: Any = files.sparse_distances(source) if precomputed else None
        if points is not None:
            if columns is not None:
                raise ValueError(
                    f"{source} is a sparse matrix, whose columns have no names; leave --columns out"
                )
            table = Table([], [])
            check_output(output, table)
        else:
            asked_for = options.names_in(columns) or ()
            table = read_table(source, **files.reading(header), features=asked_for)
            check_output(output, table)
            table, points = taker.take(table)
            taker.say(table)
        names = taker.choice.used
        if precomputed:
            # The columns are points: of them nothing is written again, nor called by name.
            table = table.keep([name for name in table.written if name not in set(names)])
            names = []
        shade = None if color is None or plot is None else table.about(color)
        about: Any = None
        if explore is not None:
            about = files.columns_of(table, color, colours, taker.used, n_components)
        shape = table.shape
        if keep is not None:
            table = table.keep(options.names_in(keep) or [])
        start = time.perf_counter()
        model = PTU(
            n_components,
            metric="precomputed" if precomputed else metric,
            n_neighbors=options.number_or_word(n_neighbors),
            radius=radius,
            graph=graph,
            intrinsic_dim=options.number_or_word(intrinsic_dim),
            tangent_neighbors=options.number_or_word(tangent_neighbors),
            tangent=tangent,
            step=step,
            denoise=options.number_or_word(denoise),
            coherence=options.number_or_word(coherence),
            prune=options.number_or_word(prune),
            landmarks=options.number_or_word(landmarks),
            landmark_selection=landmark_selection,
            mds=mds,
            disconnected=disconnected,
            seams=seams,
            search=search,
            engine=where,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=sys.stderr.isatty(),
        ).fit(points)
        seconds = time.perf_counter() - start
        trust = files.trust_in(model) if report else {}  # before anything is written
        if table.is_named and names and len(names) == points.shape[1]:
            model.feature_names_in_ = np.array(names, dtype=object)
        if save is not None:
            with outputs.writing(save) as part:
                model.save(part)
        if plot is not None:
            with outputs.writing(plot) as part, whole_file(part) as name:
                show.embedding(model, shade).figure.savefig(name, dpi=150)
        if explore is not None:
            with outputs.writing(explore) as part:
                model.explore(
                    part,
                    columns=about,
                    color=color,
                    scales=colours,
                    images=shape,
                    title="points" if source == STREAM else source.stem,
                    feature_names=names or None,
                )
        added = {f"ptu{place}": column for place, column in enumerate(model.embedding_.T)}
        files.write_places(outputs, output, table, added)  # last: it may be printed
        said = {
            "input": str(source),
            "output": str(output),
            "model": save and str(save),
            "plot": plot and str(plot),
            "explore": explore and str(explore),
            "points": len(model.embedding_),
            "columns": taker.used if len(taker.used) <= 100 else f"{len(taker.used)} columns",
            "left_out": taker.choice.left_out,
            "texture": model.texture_,
            "shortcuts": len(model.shortcuts_),
            "landmarks": len(model.landmarks_),
            "eigenvalues": model.eigenvalues_.tolist(),
            "seconds": round(seconds, 3),
        }
        _say(said, trust, as_json=as_json, aside=output == STREAM)


def _check_store(store: Path | None, resume: bool, landmarks: str) -> None:
    """Check what is said about a folder for distances, in the words of the command."""
    from ptunfold.engines import has_distances

    if store is None:
        if resume:
            raise ValueError("--resume needs the folder to go on with; pass --store")
        return
    if options.number_or_word(landmarks) not in ("auto", None):
        raise ValueError(
            f"--store keeps the distances between all points, and --landmarks {landmarks} needs "
            "none of them; leave one of the two options out"
        )
    if not resume and has_distances(store):
        raise ValueError(
            f"--store {store} has distances in it already; --resume goes on with them, or pass "
            "another folder"
        )


def _check_save(save: Path, source: Path) -> None:
    """Check where a model goes: it can neither be printed nor stand in the place of the data."""
    from ptunfold.io.tables import STREAM

    if save == STREAM:
        raise ValueError("--save - would print the model, which is no text; pass a file for it")
    if save.exists() and source.exists() and save.samefile(source):
        raise ValueError(
            f"--save {save} would put the model in the place of the input; choose another name"
        )


def _say(said: dict[str, Any], trust: dict[str, Any], *, as_json: bool, aside: bool) -> None:
    """Tell what was done; not where the result is printed too."""
    if as_json:
        tell(json.dumps(said | ({"report": trust} if trust else {})), aside=aside)
        return
    kind = "" if said["texture"] is None else f", {said['texture']}"
    lines = [f"{said['points']} points{kind}, in {said['seconds']:.1f} s: {said['output']}"]
    for name, value in trust.items():
        lines.append(f"{name:34} {f'{value:.3g}' if isinstance(value, float) else value}")
    tell("\n".join(lines), aside=aside)
