"""What the sections have in common."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptunfold.datasets import Dataset
from ptunfold.embedding.alignment import embedding_error
from ptunfold.embedding.classical import classical_mds
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import PLAIN, Run, run_isomap, run_ptu
from ptunfold.types import FloatArray

SEED = 1
OURS = "PTU, default"
RESCALED: dict[str, Any] = {**PLAIN, "step": "chord"}
AS_IN_PAPER = {"PTU as in the paper": PLAIN}


@dataclass(frozen=True)
class Extent:
    """How much is run: at full or reduced size, and the files of public images."""

    is_quick: bool = False
    faces: Path | None = None
    digits: Path | None = None

    def n(self, full: int, quick: int) -> int:
        """Choose a size."""
        return quick if self.is_quick else full


def percent(value: float) -> str:
    """Write a share with three digits."""
    return f"{100 * value:.3g} %"


def at_most(text: str, paper: str, value: float, bound: float) -> Claim:
    """Claim that an error is small."""
    return Claim(text, paper, percent(value), value <= bound)


def at_least(text: str, paper: str, value: float, bound: float) -> Claim:
    """Claim that an error is large."""
    return Claim(text, paper, percent(value), value >= bound)


def against_isomap(text: str, errors: dict[str, float], bound: float) -> Claim:
    """Claim that our error is small, beside that of Isomap."""
    ours, isomap = errors[OURS], errors["Isomap"]
    return Claim(text, "a picture", f"{percent(ours)} against {percent(isomap)}", ours <= bound)


def embed(
    points: FloatArray,
    ways: dict[str, dict[str, Any]],
    n_components: int = 2,
    *,
    n_neighbors: int = 10,
) -> dict[str, Run]:
    """Embed by PTU as it is by default, by PTU in other ways, and by Isomap."""
    return {
        OURS: run_ptu(points, n_components),
        **{name: run_ptu(points, n_components, **options) for name, options in ways.items()},
        "Isomap": run_isomap(points, n_components, n_neighbors),
    }


def line(name: str, run: Run, *errors: float) -> list[str]:
    """Make a row of a table."""
    return [name, *(percent(error) for error in errors), f"{run.seconds:.2f}"]


def truth_of(data: Dataset) -> FloatArray:
    """Return the true coordinates or, of a set that has none, the embedding by true distances."""
    if data.coordinates is not None:
        return data.coordinates
    return classical_mds(data.distances()).coordinates


def tabulate(
    section: Section, runs: dict[str, Run], exact: FloatArray, affine: Container[str] = ()
) -> dict[str, float]:
    """Fill the table of a section with errors of embeddings, and return these by name.

    Methods named in ``affine`` keep no scale: they are compared after the best affine map.
    """
    errors = {
        name: embedding_error(run.places, exact, is_affine=name in affine)
        for name, run in runs.items()
    }
    section.header = ["method", "error of the embedding", "seconds"]
    section.rows = [line(name, run, errors[name]) for name, run in runs.items()]
    return errors
