"""The command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Parallel Transport Unfolding: manifold learning that stays true on data with holes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def main() -> None:
    """Parallel Transport Unfolding: manifold learning that stays true on data with holes."""


@app.command()
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

        from ptunfold.paper.report import all_met, write_report
        from ptunfold.paper.sections import SECTIONS, Extent
    except ImportError as error:
        raise _stop("pictures need matplotlib; pip install 'ptunfold[plot]'") from error
    for name in names or []:
        if name not in SECTIONS:
            raise _stop(f"there is no figure {name!r}; choose among {', '.join(SECTIONS)}")
    extent = Extent(is_quick=quick, faces=faces, digits=digits)
    sections = write_report(output, names or [], extent=extent, say=typer.echo)
    typer.echo(f"The page is {output / 'paper.html'}.")
    if not all_met(sections):
        raise _stop("some of the paper's claims do not hold here; they are marked NOT MET")


def _stop(message: str) -> typer.Exit:
    typer.echo(f"ptunfold: {message}", err=True)
    return typer.Exit(1)
