"""Commands that show what there is: data sets, a demonstration, the paper."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ptunfold.cli.app import app, check_free, in_words, stop
from ptunfold.cli.files import write_places
from ptunfold.cli.models import embed, info


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
    from ptunfold.io.tables import Table, write_table

    known = [known for known in sets.__all__ if known not in ("Dataset", "faces", "digit_zero")]
    if name is None:
        for one in known:
            typer.echo(f"{one:14} {(getattr(sets, one).__doc__ or '').splitlines()[0]}")
        return
    if name not in known:
        raise ValueError(f"there is no data set {name}; choose among {', '.join(known)}")
    if output is None:
        raise ValueError("say where to write it: --output points.csv")
    check_free(output, force)
    make = getattr(sets, name)
    data = make(seed=seed) if n_points is None else make(n_points, seed=seed)
    axes = "xyzw" if data.points.shape[1] <= 4 else None
    names = [axes[i] if axes else f"x{i}" for i in range(data.points.shape[1])]
    truth = data.coordinates if data.coordinates is not None else data.parameters
    added = {} if truth is None else {f"true{i}": column for i, column in enumerate(truth.T)}
    columns = dict(zip(names, data.points.T, strict=True)) | {"color": data.color} | added
    if output.suffix.lower() in (".npy", ".npz"):
        table: Table = Table(names, list(data.points.T), {"X": data.points, **added})
        write_places(output, table, data.points, names, "X")
    else:
        write_table(output, Table([], []), {n: np.asarray(c) for n, c in columns.items()})
    typer.echo(f"{len(data.points)} points: {output}")


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
    page = output / "sheet.html"
    for path in (points, flat, model, picture, page):
        check_free(path, False)
    typer.echo(f"ptunfold datasets s_with_hole -o {points}")
    datasets("s_with_hole", points)
    typer.echo(
        f"ptunfold embed {points} -o {flat} --columns x,y,z --save {model} --plot {picture} "
        f"--explore {page} --color color"
    )
    embed(
        points,
        flat,
        columns="x,y,z",
        save=model,
        plot=picture,
        explore=page,
        color="color",
    )
    typer.echo(f"ptunfold info {model}")
    info(model)
    typer.echo(f"open it in a browser: {page}")


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
    if find_spec("matplotlib") is None:
        raise stop("pictures need matplotlib; pip install 'ptunfold[plot]'")
    from ptunfold.paper.report import all_met, write_report
    from ptunfold.paper.sections import SECTIONS, Extent

    for name in names or []:
        if name not in SECTIONS:
            raise stop(f"there is no figure {name!r}; choose among {', '.join(SECTIONS)}")
    extent = Extent(is_quick=quick, faces=faces, digits=digits)
    sections = write_report(output, names or [], extent=extent, say=typer.echo)
    typer.echo(f"The page is {output / 'paper.html'}.")
    if not all_met(sections):
        raise stop("some of the paper's claims do not hold here; they are marked NOT MET")
