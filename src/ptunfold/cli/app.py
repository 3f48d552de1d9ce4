"""The command, and what its parts have in common."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
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
            raise stop(" ".join(str(error).split())) from error
        except KeyboardInterrupt as error:
            typer.echo("ptunfold: stopped", err=True)
            raise typer.Exit(130) from error

    return run


def stop(message: str) -> typer.Exit:
    """Say what is wrong; raise what this returns."""
    typer.echo(f"ptunfold: {message}", err=True)
    return typer.Exit(1)


def check_free(path: Path | None, force: bool) -> None:
    """Refuse to replace a file, unless that is wanted."""
    if path is not None and path.exists() and not force:
        raise ValueError(f"{path} is there already; choose another name, or --force to replace it")
