"""Commands that show what there is: data sets, a demonstration, the paper."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from ptunfold.cli.app import command, stop, tell
from ptunfold.cli.embedding import embed
from ptunfold.cli.options import Force
from ptunfold.cli.using import info
from ptunfold.io.outputs import Outputs
from ptunfold.leaving import leave_in_order


@command
def datasets(
    name: Annotated[str | None, Argument(help="Which; without it, a list.")] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="The file to write.")] = None,
    n_points: Annotated[int | None, Option(help="The number of points.")] = None,
    seed: Annotated[int, Option(help="Seed of the random numbers.")] = 0,
    force: Force = False,
) -> None:
    """List the data sets with a known truth, or write one to a file."""
    from ptunfold import datasets as sets
    from ptunfold.cli.files import table_file, write_places
    from ptunfold.io.table import Table
    from ptunfold.io.tables import STREAM, check_output

    leave_in_order()
    known = [known for known in sets.__all__ if known not in ("Dataset", "faces", "digit_zero")]
    if name is None:
        told = (f"{one:14} {(getattr(sets, one).__doc__ or '').splitlines()[0]}" for one in known)
        tell("\n".join(told))
        return
    if name not in known:
        raise ValueError(f"there is no data set {name}; choose among {', '.join(known)}")
    if output is None:
        raise ValueError("say where to write it: --output points.csv")
    if n_points is not None and n_points < 1:
        raise ValueError(f"--n-points {n_points} is no number of points; pass 1 or more")
    if seed < 0:
        raise ValueError(f"--seed {seed} is below 0; pass 0 or more")
    check_output(output, Table([], []))
    with Outputs(table_file(output), force=force) as outputs:
        make = getattr(sets, name)
        try:
            data = make(seed=seed) if n_points is None else make(n_points, seed=seed)
        except (RuntimeError, ValueError) as error:  # the first of a triangulation
            raise ValueError(f"{name} cannot be made of {n_points} points; pass more") from error
        columns, truth = _columns_of(data)
        if output.suffix.lower() not in (".npy", ".npz"):  # which hold points alone, and arrays
            color = {"color": data.color.astype(data.points.dtype)}
            columns, truth = columns | color | truth, {}
        write_places(outputs, output, Table([], [], truth), columns, "X")
        tell(f"{len(data.points)} points: {output}", aside=output == STREAM)


def _columns_of(data: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Name the columns of the points of a set, and of its truth."""
    n_columns = data.points.shape[1]
    names = "xyzw"[:n_columns] if n_columns <= 4 else [f"x{place}" for place in range(n_columns)]
    truth = data.coordinates if data.coordinates is not None else data.parameters
    known = {} if truth is None else {f"true{i}": column for i, column in enumerate(truth.T)}
    return dict(zip(names, data.points.T, strict=True)), known


def _make_folder(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if output.is_file() else error.strerror
        raise ValueError(
            f"{output} cannot be a folder for the files ({why}); pass another name"
        ) from error


@command
def demo(
    output: Annotated[Path, Option("--output", "-o", help="Folder for the files it makes.")] = Path(
        "ptunfold-demo"
    ),
) -> None:
    """Make a sheet with a hole, embed it, and show every step as the commands you would use."""
    _make_folder(output)
    points, flat = output / "sheet.csv", output / "flat.csv"
    model, picture = output / "sheet.safetensors", output / "sheet.png"
    page = output / "sheet.html"
    Outputs(points, flat, model, picture, page)  # nothing is replaced
    typer.echo(f"ptunfold datasets s_with_hole -o {points}")
    datasets("s_with_hole", points)
    typer.echo(
        f"ptunfold embed {points} -o {flat} --columns x,y,z --save {model} --plot {picture} "
        f"--explore {page} --color color"
    )
    embed(points, flat, columns="x,y,z", save=model, plot=picture, explore=page, color="color")
    typer.echo(f"ptunfold info {model}")
    info(model)
    typer.echo(f"open it in a browser: {page}")


@command
def paper(
    names: Annotated[
        list[str] | None, Argument(help="Figures to run, for instance petals; all by default.")
    ] = None,
    output: Annotated[
        Path, Option("--output", "-o", help="Folder for the page and its pictures.")
    ] = Path("paper"),
    quick: Annotated[
        bool, Option("--quick", help="Reduced sizes, in less than three minutes.")
    ] = False,
    faces: Annotated[
        Path | None, Option(help="face_data.mat, the images of faces.", exists=True)
    ] = None,
    digits: Annotated[
        Path | None, Option(help="mnist.npz, the images of digits.", exists=True)
    ] = None,
) -> None:
    """Run the figures and tables of the paper, and compare its claims with what is found here.

    Ends with an error if a claim does not hold.
    """
    if find_spec("matplotlib") is None:
        raise stop("pictures need matplotlib; pip install 'ptunfold[plot]'")
    from ptunfold.paper.report import all_met, write_report
    from ptunfold.paper.sections import SECTIONS, Extent

    leave_in_order()
    for name in names or []:
        if name not in SECTIONS:
            raise stop(f"there is no figure {name!r}; choose among {', '.join(SECTIONS)}")
    _make_folder(output)
    extent = Extent(is_quick=quick, faces=faces, digits=digits)
    sections = write_report(output, names or [], extent=extent, say=typer.echo)
    typer.echo(f"The page is {output / 'paper.html'}.")
    if not all_met(sections):
        raise stop("some of the paper's claims do not hold here; they are marked NOT MET")
