"""The command, and what its parts have in common."""

from __future__ import annotations

import csv
import os
import sys
import warnings
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from ptunfold.leaving import leave_in_order

_CODES = (
    "Exit codes: 0 done; 1 not done, with one sentence on why; 2 an option that is not known; "
    "130 stopped by Ctrl-C."
)
app = typer.Typer(
    help="Parallel Transport Unfolding: manifold learning that stays true on data with holes.",
    epilog=_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_state = {"debug": False}


@app.callback()
def main(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the code an error arose.")
    ] = False,
) -> None:
    """Parallel Transport Unfolding: manifold learning that stays true on data with holes."""
    _state["debug"] = debug


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function, whose errors and warnings are sentences."""
    return app.command(epilog=_CODES)(in_words(function))


def in_words(function: Callable[..., None]) -> Callable[..., None]:
    """Turn errors into one sentence, and warnings into another."""

    @wraps(function)
    def run(*args: Any, **options: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default", UserWarning)
                warnings.showwarning = lambda message, *rest, **more: note(str(message))
                function(*args, **options)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt as error:
            # Python ends by the signal if it came through an exec, unless there is another.
            exec("")
            typer.echo("ptunfold: stopped", err=True)
            raise typer.Exit(130) from error
        except Exception as error:
            if _state["debug"]:
                raise
            raise stop(_sentence(error)) from error

    return run


def _sentence(error: Exception) -> str:
    words = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({words})" if words else "there is not enough memory"
    # Of RuntimeErrors those of the package are sentences; libraries have kinds of their own.
    is_said = isinstance(error, ValueError | OSError | ImportError) or type(error) is RuntimeError
    if is_said and words:
        return words
    kind = type(error).__name__
    return f"something is wrong in ptunfold itself ({kind}: {words}); --debug shows where"


def estimator() -> Any:
    """Load PTU and all that it needs, which takes seconds."""
    from ptunfold.estimator import PTU

    leave_in_order()
    return PTU


def stop(message: str) -> typer.Exit:
    """Say what is wrong; raise what this returns."""
    typer.echo(f"ptunfold: {message}", err=True)
    return typer.Exit(1)


def note(message: str) -> None:
    """Say something beside the result."""
    typer.echo(f"ptunfold: note: {message}", err=True)


def tell(message: str | bytes, *, aside: bool = False) -> bool:
    """Print a result, at once, so that an error comes before files are there.

    A reader that has seen enough is no error; the answer is whether there is one.
    """
    try:
        typer.echo(message, err=aside, nl=not isinstance(message, bytes))
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still to be printed, at the end of the process too, goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


class Missing(StrEnum):
    """What to do with rows that have gaps."""

    error = "error"
    drop = "drop"


class Header(StrEnum):
    """Whether the first line holds names."""

    auto = "auto"
    yes = "yes"
    no = "no"


Model = Annotated[Path, Argument(help="A model file, from embed --save.")]
Output = Annotated[Path, Option("--output", "-o", help="The file to write.")]
Names = Annotated[Header, Option(help="Whether the first line of a text holds names.")]
Gaps = Annotated[Missing, Option(help="Rows with gaps: refuse them, or leave them out.")]
ChunkSize = Annotated[
    int | None,
    Option(min=1, help="Rows in memory at a time. By default a part of some tens of megabytes."),
]
Resume = Annotated[bool, Option("--resume", help="Go on with an output that was stopped.")]
AsJson = Annotated[bool, Option("--json", help="Tell what was done as JSON.")]
Force = Annotated[bool, Option("--force", help="Replace files that are there.")]


def names_in(text: str | None) -> list[str] | None:
    """Split a list of names; one that has a comma in it stands in quotes."""
    if text is None:
        return None
    fields = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in fields if name.strip()]


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


def check_page(path: Path) -> None:
    """Check the name of a page, before the work starts."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path} has no ending of a page; call it {path.with_suffix('.html')}")
