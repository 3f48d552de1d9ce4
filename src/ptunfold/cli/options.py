"""Options that several commands have, and what is said in them."""

from __future__ import annotations

import csv
import io
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option


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
Scales = Annotated[
    str | None,
    Option(
        help="How the page colours columns: phase=cyclic,hour=24. The scales are kinds, "
        "sequential, diverging, cyclic, or the length of a turn."
    ),
]
AsJson = Annotated[bool, Option("--json", help="Tell what was done as JSON.")]
Force = Annotated[bool, Option("--force", help="Replace files that are there.")]


def names_in(text: str | None) -> list[str] | None:
    """Split a list of names at commas and line breaks; one that has such in it stands in quotes."""
    if text is None:
        return None
    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


def scales_in(text: str | None) -> dict[str, Any]:
    """Read names of columns with the scales of their colours."""
    pairs = [name.rpartition("=") for name in names_in(text) or []]
    for name, _, scale in pairs:
        if not name or not scale:
            raise ValueError(f"--scales {text} tells no column and its scale; pass phase=cyclic")
    return {name.strip(): number_or_word(scale.strip()) for name, _, scale in pairs}


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
