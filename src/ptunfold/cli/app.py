"""The command, and what its parts have in common."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from ptunfold import __version__
from ptunfold.leaving import leave_in_order

_CODES = (
    "Exit codes: 0 done; 1 not done, with one sentence on why; 2 an option that is not known; "
    "130 stopped by Ctrl-C."
)
app = typer.Typer(
    help="Parallel Transport Unfolding: manifold learning that stays true on data with holes.",
    epilog=_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_state = {"debug": False}


def _say_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"ptunfold {__version__}")
        raise typer.Exit


@app.callback()
def main(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the code an error arose.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Tell the version.", callback=_say_version, is_eager=True),
    ] = False,
) -> None:
    """Parallel Transport Unfolding: manifold learning that stays true on data with holes."""
    _state["debug"] = debug
    for stream in (sys.stdout, sys.stderr):
        # A name that a terminal has no letters for is no reason to throw work away.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function, whose errors and warnings are sentences."""

    @app.command(epilog=_CODES)
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
