"""The command that makes models."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ptunfold.cli.app import command, estimator, tell
from ptunfold.cli.files import (
    HEADER,
    Header,
    Missing,
    check_page,
    check_plot,
    columns_of,
    draw,
    names_in,
    open_table,
    points_of,
    table_file,
    write_places,
)
from ptunfold.io.outputs import Outputs


@command
def embed(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="CSV, TSV, parquet, Feather, npy, npz, h5ad, a folder of images, or - for a pipe.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The file to write; its ending says the format, - for a pipe."
        ),
    ],
    columns: Annotated[
        str | None, typer.Option(help="Columns to use: x,y,z. By default all that hold numbers.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option(help="Columns to write beside the result. By default all.")
    ] = None,
    header: Annotated[Header, HEADER] = Header.auto,
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
    tangent: Annotated[str, typer.Option(help="auto, pca, quadratic or robust.")] = "auto",
    step: Annotated[str, typer.Option(help="auto, chord, projection or arc.")] = "auto",
    denoise: Annotated[str, typer.Option(help="How often, 0 for never.")] = "auto",
    prune: Annotated[str, typer.Option(help="auto, shortcuts or none.")] = "auto",
    landmarks: Annotated[
        str, typer.Option(help="A number, a fraction, or none for all distances.")
    ] = "auto",
    landmark_selection: Annotated[str, typer.Option(help="maxmin or random.")] = "maxmin",
    mds: Annotated[str, typer.Option(help="auto, classical or stress.")] = "auto",
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
    n_jobs: Annotated[
        int | None, typer.Option(help="Threads; by default as many as there are cores.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Tell what was done as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Embed the rows of a file, and write it with the coordinates as columns ptu0, ptu1, ...

    For instance: ptunfold embed points.csv -o embedded.csv --columns x,y,z
    """
    from ptunfold.io.tables import STREAM, check_output

    PTU = estimator()
    from ptunfold.engines import Disk

    if resume and store is None:
        raise ValueError("--resume needs the folder to go on with; pass --store")
    if explore is not None:
        check_page(explore)
    if plot is not None:
        check_plot(plot)
    with Outputs(table_file(output), save, plot, explore, force=force) as outputs:
        table = open_table(source, header)
        check_output(output, table)
        found = points_of(source, table, names_in(columns), missing)
        table, points, names, _ = found
        is_drawn = color is not None and (plot is not None or explore is None)
        shade = table.about(str(color)) if is_drawn else None
        about = None if explore is None else columns_of(table, color, found.used, n_components)
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
            step=step,
            denoise=number_or_word(denoise),
            prune=number_or_word(prune),
            landmarks=number_or_word(landmarks),
            landmark_selection=landmark_selection,
            mds=mds,
            disconnected=disconnected,
            search=search,
            engine=engine if store is None else Disk(store, resume, engine),
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=sys.stderr.isatty(),
        ).fit(points)
        seconds = time.perf_counter() - start
        trust = trust_in(model) if report else {}  # before anything is written
        if table.is_named and len(names) == points.shape[1]:
            import numpy as np

            model.feature_names_in_ = np.array(names, dtype=object)
        if save is not None:
            with outputs.writing(save) as part:
                model.save(part)
        if plot is not None:
            with outputs.writing(plot) as part:
                draw(part, model, shade)
        if explore is not None:
            with outputs.writing(explore) as part:
                model.explore(
                    part,
                    columns=about,
                    color=color,
                    images=shape,
                    title="points" if source == STREAM else source.stem,
                    feature_names=names or None,
                )
        write_places(outputs, output, table, model.embedding_)  # last: it may be printed
        said = {
            "input": str(source),
            "output": str(output),
            "model": None if save is None else str(save),
            "plot": None if plot is None else str(plot),
            "explore": None if explore is None else str(explore),
            "points": len(points),
            "columns": found.used if len(names) <= 100 else f"{len(names)} columns",
            "left_out": found.left_out,
            "texture": model.texture_,
            "shortcuts": len(model.shortcuts_),
            "landmarks": len(model.landmarks_),
            "eigenvalues": model.eigenvalues_.tolist(),
            "seconds": round(seconds, 3),
        }
        _say(said, trust, as_json=as_json, aside=output == STREAM)


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
