"""Swiss rolls under noise."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ptunfold.datasets import swiss_roll
from ptunfold.embedding.alignment import aligned, embedding_error
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import LOCAL, PLAIN, Run, run_isomap, run_local, run_ptu
from ptunfold.paper.pictures import side_by_side
from ptunfold.paper.sections.common import Extent, line, percent, truth_of
from ptunfold.types import FloatArray


def noisy_rolls(extent: Extent) -> Section:
    """Put global and local methods under growing noise."""
    n_points = extent.n(2000, 1200)
    n_seeds = extent.n(3, 1)
    noises = [0, 0.005, 0.01, 0.013, 0.016, 0.02, 0.025, 0.027, 0.028]
    if extent.is_quick:
        noises = [0, 0.013, 0.02, 0.028]
    methods: dict[str, Callable[[FloatArray], Run]] = {
        "PTU, default": run_ptu,
        "PTU as in the paper, K = 25": lambda points: run_ptu(
            points, **{**PLAIN, "tangent_neighbors": 25}
        ),
        "Isomap": run_isomap,
        **{name: partial(run_local, method=name) for name in LOCAL},
    }
    errors: dict[str, list[float]] = {name: [] for name in methods}
    shown = {}
    for noise in noises:
        tries: dict[str, list[float]] = {name: [] for name in methods}
        for seed in range(n_seeds):
            data = swiss_roll(n_points, noise=noise, seed=seed)
            for name, method in methods.items():
                places = method(data.points).places
                is_local, exact = name in LOCAL, truth_of(data)
                off = embedding_error(places, exact, is_affine=is_local)
                tries[name].append(off)
                if seed == 0 and noise == 0.02:
                    shown[name] = aligned(places, exact, is_affine=is_local)
                    shown_data = data
        for name, values in tries.items():
            errors[name].append(float(np.median(values)))
    section = Section(
        "noise",
        "Swiss roll under noise, from 0 to 2.8 %",
        f"{n_points} points, Gaussian noise along the normal in parts of the box, median of "
        f"{n_seeds} seeds; 10 neighbours; local methods are compared after the best affine map.",
    )
    section.header = ["method", *(f"{noise:.1%}" for noise in noises)]
    section.rows = [[name, *map(percent, values)] for name, values in errors.items()]
    index = noises.index(0.013)
    late = [errors[name][i] for name in LOCAL for i in range(index + 1, len(noises))]
    ours = errors["PTU, default"]
    before = max(value for value, noise in zip(ours, noises, strict=True) if noise <= 0.027)
    section.claims = [
        Claim("PTU holds up to 2.7 %", "holds", f"at most {percent(before)}", before <= 0.1),
        Claim(
            "local methods have failed beyond 1.3 %",
            "all fail",
            f"at least {percent(min(late))}",
            min(late) >= 3 * before,
        ),
        Claim("here PTU holds at 2.8 % too", "fails", percent(ours[-1]), ours[-1] <= 0.1),
    ]
    panels = list(shown.items())
    section.figure = side_by_side(shown_data.points, shown_data.color, panels)
    return section


def sparse_noise(extent: Extent) -> Section:
    """Displace a few points far off."""
    data = swiss_roll(extent.n(2000, 1500), noise=0.004, outliers=0.1, seed=0)
    exact = truth_of(data)
    assert data.is_outlier is not None
    kept = ~data.is_outlier
    runs = {
        "PTU, default": run_ptu(data.points),
        "PTU as in the paper": run_ptu(data.points, **PLAIN),
        "Isomap": run_isomap(data.points),
    }
    section = Section(
        "sparse-noise",
        "Swiss roll with outliers",
        f"{len(data.points)} points, a tenth displaced by up to 8 % of the box, 0.4 % noise on the "
        "others.",
    )
    errors = {name: embedding_error(run.places[kept], exact[kept]) for name, run in runs.items()}
    section.claims = [
        Claim(
            "Isomap accentuates thinly sampled regions, PTU does not",
            "a picture",
            f"{percent(errors['PTU, default'])} against {percent(errors['Isomap'])}",
            errors["PTU, default"] <= errors["Isomap"] / 2,
        )
    ]
    section.header = ["method", "points not displaced", "all points", "seconds"]
    section.rows = [
        line(name, run, errors[name], embedding_error(run.places, exact))
        for name, run in runs.items()
    ]
    section.figure = side_by_side(
        data.points,
        data.color,
        [(name, aligned(run.places, exact)) for name, run in runs.items()],
    )
    return section
