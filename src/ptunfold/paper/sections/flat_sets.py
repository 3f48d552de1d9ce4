"""Sets that can be flattened: a ring, a solid torus, a sheet with a hole, uneven sampling."""

from __future__ import annotations

import numpy as np

from ptunfold.datasets import annulus, filled_torus, s_uneven, s_with_hole
from ptunfold.embedding.alignment import aligned, embedding_error
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import PLAIN
from ptunfold.paper.pictures import canvas, error_maps, panel, side_by_side
from ptunfold.paper.sections.common import (
    AS_IN_PAPER,
    OURS,
    RESCALED,
    SEED,
    Extent,
    against_isomap,
    at_least,
    at_most,
    embed,
    line,
    percent,
    tabulate,
    truth_of,
)


def linear(extent: Extent) -> Section:
    """Flatten a flat set exactly."""
    data = annulus(extent.n(1500, 600), seed=SEED)
    exact = truth_of(data)
    runs = embed(data.points, AS_IN_PAPER)
    section = Section(
        "linear",
        "Linear precision",
        f"A flat ring of {len(data.points)} points, placed at random in R³; k = 10.",
    )
    errors = tabulate(section, runs, exact)
    worst, isomap = max(errors[OURS], errors["PTU as in the paper"]), errors["Isomap"]
    section.claims = [
        Claim("PTU flattens flat data exactly", "exact", f"{worst:.1e}", worst < 1e-9),
        Claim("Isomap distorts them", "above 1 % in places", percent(isomap), isomap > 0.01),
    ]
    section.figure = error_maps(runs, exact)
    return section


def torus(extent: Extent) -> Section:
    """Unfold a solid torus of R⁴."""
    data = filled_torus(extent.n(3000, 1000), seed=SEED)
    exact = truth_of(data)
    runs = embed(data.points, AS_IN_PAPER, 3)
    section = Section(
        "torus",
        "Solid torus in R⁴",
        f"{len(data.points)} points of a solid torus with a constant fourth coordinate; d = 3.",
    )
    errors = tabulate(section, runs, exact)
    section.claims = [
        at_most("PTU is nearly perfect", "0.06 %", errors[OURS], 0.0006),
        at_least("Isomap is far off", "40.6 %", errors["Isomap"], 0.2),
    ]
    section.figure, axes = canvas(2)
    for ax, name in zip(axes, (OURS, "Isomap"), strict=True):
        panel(ax, aligned(runs[name].places, exact), data.color, f"{name}, from above")
    return section


def holey_s(extent: Extent) -> Section:
    """Unfold a sheet with a hole."""
    data = s_with_hole(extent.n(2000, 1000), seed=SEED)
    exact = truth_of(data)
    ways = {"PTU as in the paper, rescaled": RESCALED, "PTU as in the paper": PLAIN}
    runs = embed(data.points, ways)
    section = Section(
        "holey-s",
        "S with a hole",
        f"{len(data.points)} points of a sheet bent to an S, a rectangle cut out; k = K = 10.",
        header=["method", "error of a point", "error of the embedding", "seconds"],
    )
    size = np.linalg.norm(np.ptp(exact, axis=0))
    off = {}
    for name, run in runs.items():
        apart = np.linalg.norm(aligned(run.places, exact) - exact, axis=1) / size
        off[name] = float(apart.mean())
        section.rows.append(line(name, run, off[name], embedding_error(run.places, exact)))
    text = "PTU's error per point, relative to the sheet"
    section.claims = [
        at_most(text, "below 0.2 %", off[OURS], 0.002),
        at_least("Isomap's is many times that", "15 %", off["Isomap"], 10 * off[OURS]),
    ]
    panels = [(name, runs[name].places) for name in (OURS, "Isomap")]
    section.figure = side_by_side(data.points, data.color, panels)
    return section


def density(extent: Extent) -> Section:
    """Sample unevenly."""
    data = s_uneven(extent.n(2000, 1000), seed=SEED)
    exact = truth_of(data)
    runs = embed(data.points, {"PTU as in the paper, rescaled": RESCALED})
    section = Section(
        "density",
        "S with varying density",
        f"{len(data.points)} points, 30 times as dense at one end as at the other.",
    )
    errors = tabulate(section, runs, exact)
    text = "PTU copes with uneven sampling, Isomap does not"
    section.claims = [against_isomap(text, errors, min(0.014, errors["Isomap"] / 3))]
    section.figure = error_maps(runs, exact)
    return section
