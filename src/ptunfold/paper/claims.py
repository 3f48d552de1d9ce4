"""What a section of the report consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, its number or words for it, and what was found here.

    Whether it holds here is None if it could not be tried.
    """

    text: str
    paper: str
    here: str
    is_met: bool | None


@dataclass
class Section:
    """One figure or table of the paper: data and parameters in words, claims, measurements."""

    name: str
    title: str
    data: str
    claims: list[Claim] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    figure: Any = None  # matplotlib's
    seconds: float = 0.0
