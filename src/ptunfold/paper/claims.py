"""What a section of the report consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, and what was found here.

    Attributes
    ----------
    text : str
        What is claimed.
    paper : str
        The paper's number or words.
    here : str
        What was measured.
    is_met : bool or None
        Whether it holds here; None if it could not be tried.
    """

    text: str
    paper: str
    here: str
    is_met: bool | None


@dataclass
class Section:
    """One figure or table of the paper.

    Attributes
    ----------
    name, title : str
        How it is called, and its heading.
    data : str
        The data and the parameters, in words.
    claims : list of Claim
        What has to hold.
    header, rows : list
        A table of measurements.
    figure : matplotlib figure or None
        The picture.
    seconds : float
        How long it took.
    """

    name: str
    title: str
    data: str
    claims: list[Claim] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    figure: Any = None
    seconds: float = 0.0
