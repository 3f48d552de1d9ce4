"""Sheets that can be flattened: a hole, uneven sampling."""

from __future__ import annotations

import numpy as np

from ptunfold.datasets import s_uneven, s_with_hole
from ptunfold.embedding.alignment import aligned, embedding_error
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import PLAIN, run_isomap, run_ptu
from ptunfold.paper.pictures import error_maps, side_by_side
from ptunfold.paper.sections.common import RESCALED, SEED, Extent, line, percent, tabulate, truth_of


def holey_s(extent: Extent) -> Section:
    """Unfold a sheet with a hole."""
    data = s_with_hole(extent.n(2000, 1000), seed=SEED)
    exact = truth_of(data)
    runs = {
        "PTU, default": run_ptu(data.points),
        "PTU as in the paper, rescaled": run_ptu(data.points, **RESCALED),
        "PTU as in the paper": run_ptu(data.points, **PLAIN),
        "Isomap": run_isomap(data.points),
    }
    section = Section(
        "holey-s",
        "S with a hole",
        f"{len(data.points)} points of a sheet bent to an S, a rectangle cut out; k = K = 10.",
    )
    section.header = ["method", "error of a point", "error of the embedding", "seconds"]
    size = np.linalg.norm(np.ptp(exact, axis=0))
    off = {}
    for name, run in runs.items():
        apart = np.linalg.norm(aligned(run.places, exact) - exact, axis=1) / size
        off[name] = float(apart.mean())
        section.rows.append(line(name, run, off[name], embedding_error(run.places, exact)))
    section.claims = [
        Claim(
            "PTU's error per point, relative to the sheet",
            "below 0.2 %",
            percent(off["PTU, default"]),
            off["PTU, default"] <= 0.002,
        ),
        Claim(
            "Isomap's is many times that",
            "15 %",
            percent(off["Isomap"]),
            off["Isomap"] >= 10 * off["PTU, default"],
        ),
    ]
    panels = [(name, runs[name].places) for name in ("PTU, default", "Isomap")]
    section.figure = side_by_side(data.points, data.color, panels)
    return section


def density(extent: Extent) -> Section:
    """Sample unevenly."""
    data = s_uneven(extent.n(2000, 1000), seed=SEED)
    exact = truth_of(data)
    runs = {
        "PTU, default": run_ptu(data.points),
        "PTU as in the paper, rescaled": run_ptu(data.points, **RESCALED),
        "Isomap": run_isomap(data.points),
    }
    section = Section(
        "density",
        "S with varying density",
        f"{len(data.points)} points, 30 times as dense at one end as at the other.",
    )
    errors = tabulate(section, runs, exact)
    section.claims = [
        Claim(
            "PTU copes with uneven sampling, Isomap does not",
            "a picture",
            f"{percent(errors['PTU, default'])} against {percent(errors['Isomap'])}",
            errors["PTU, default"] <= min(0.014, errors["Isomap"] / 3),
        )
    ]
    section.figure = error_maps(runs, exact)
    return section
