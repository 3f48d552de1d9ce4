"""Flat sets, which come out exactly."""

from __future__ import annotations

from ptunfold.datasets import annulus, filled_torus
from ptunfold.embedding.alignment import aligned
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import PLAIN, run_isomap, run_ptu
from ptunfold.paper.pictures import canvas, error_maps, panel
from ptunfold.paper.sections.common import SEED, Extent, percent, tabulate, truth_of


def linear(extent: Extent) -> Section:
    """Flatten a flat set exactly."""
    data = annulus(extent.n(1500, 600), seed=SEED)
    exact = truth_of(data)
    runs = {
        "PTU, default": run_ptu(data.points),
        "PTU as in the paper": run_ptu(data.points, **PLAIN),
        "Isomap": run_isomap(data.points),
    }
    section = Section(
        "linear",
        "Linear precision",
        f"A flat ring of {len(data.points)} points, placed at random in R³; k = 10.",
    )
    errors = tabulate(section, runs, exact)
    worst = max(errors["PTU, default"], errors["PTU as in the paper"])
    section.claims = [
        Claim("PTU flattens flat data exactly", "exact", f"{worst:.1e}", worst < 1e-9),
        Claim(
            "Isomap distorts them",
            "above 1 % in places",
            percent(errors["Isomap"]),
            errors["Isomap"] > 0.01,
        ),
    ]
    section.figure = error_maps(runs, exact)
    return section


def torus(extent: Extent) -> Section:
    """Unfold a solid torus of R⁴."""
    data = filled_torus(extent.n(3000, 1000), seed=SEED)
    exact = truth_of(data)
    runs = {
        "PTU, default": run_ptu(data.points, 3),
        "PTU as in the paper": run_ptu(data.points, 3, **PLAIN),
        "Isomap": run_isomap(data.points, 3),
    }
    section = Section(
        "torus",
        "Solid torus in R⁴",
        f"{len(data.points)} points of a solid torus with a constant fourth coordinate; d = 3.",
    )
    errors = tabulate(section, runs, exact)
    section.claims = [
        Claim(
            "PTU is nearly perfect",
            "0.06 %",
            percent(errors["PTU, default"]),
            errors["PTU, default"] <= 0.0006,
        ),
        Claim("Isomap is far off", "40.6 %", percent(errors["Isomap"]), errors["Isomap"] >= 0.2),
    ]
    figure, axes = canvas(2)
    for ax, name in zip(axes, ("PTU, default", "Isomap"), strict=True):
        panel(ax, aligned(runs[name].places, exact), data.color, f"{name}, from above")
    section.figure = figure
    return section
