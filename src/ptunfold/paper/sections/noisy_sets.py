"""Swiss rolls and petals of a sphere, without and with noise: global and local methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ptunfold.datasets import Dataset, petals, swiss_roll
from ptunfold.embedding.alignment import aligned, embedding_error
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import LOCAL, PLAIN, Run, run_isomap, run_local, run_ptu
from ptunfold.paper.pictures import side_by_side
from ptunfold.paper.sections.common import (
    AS_IN_PAPER,
    OURS,
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
from ptunfold.types import FloatArray


def noisy_rolls(extent: Extent) -> Section:
    """Put global and local methods under growing noise."""
    n_points = extent.n(2000, 1200)
    n_seeds = extent.n(3, 1)
    noises = [0, 0.005, 0.01, 0.013, 0.016, 0.02, 0.025, 0.027, 0.028]
    if extent.is_quick:
        noises = [0, 0.013, 0.02, 0.028]
    methods: dict[str, Callable[[FloatArray], Run]] = {
        OURS: run_ptu,
        "PTU as in the paper, K = 25": partial(run_ptu, **{**PLAIN, "tangent_neighbors": 25}),
        "Isomap": run_isomap,
        **{name: partial(run_local, method=name) for name in LOCAL},
    }
    errors: dict[str, list[float]] = {name: [] for name in methods}
    shown = {}
    for noise in noises:
        tries: dict[str, list[float]] = {name: [] for name in methods}
        for seed in range(n_seeds):
            data = swiss_roll(n_points, noise=noise, seed=seed)
            exact = truth_of(data)
            for name, method in methods.items():
                places = method(data.points).places
                tries[name].append(embedding_error(places, exact, is_affine=name in LOCAL))
                if seed == 0 and noise == 0.02:
                    shown[name] = aligned(places, exact, is_affine=name in LOCAL)
                    shown_data = data
        for name, values in tries.items():
            errors[name].append(float(np.median(values)))
    section = Section(
        "noise",
        "Swiss roll under noise, from 0 to 2.8 %",
        f"{n_points} points, Gaussian noise along the normal in parts of the box, median of "
        f"{n_seeds} seeds; 10 neighbours; local methods are compared after the best affine map.",
        header=["method", *(f"{noise:.1%}" for noise in noises)],
        rows=[[name, *map(percent, values)] for name, values in errors.items()],
    )
    index = noises.index(0.013)
    best = min(errors[name][i] for name in LOCAL for i in range(index + 1, len(noises)))
    ours = errors[OURS]
    before = max(value for value, noise in zip(ours, noises, strict=True) if noise <= 0.027)
    text, found = "local methods have failed beyond 1.3 %", f"at least {percent(best)}"
    section.claims = [
        Claim("PTU holds up to 2.7 %", "holds", f"at most {percent(before)}", before <= 0.1),
        Claim(text, "all fail", found, best >= 3 * before),
        at_most("here PTU holds at 2.8 % too", "fails", ours[-1], 0.1),
    ]
    section.figure = side_by_side(shown_data.points, shown_data.color, list(shown.items()))
    return section


def sparse_noise(extent: Extent) -> Section:
    """Displace a few points far off."""
    data = swiss_roll(extent.n(2000, 1500), noise=0.004, outliers=0.1, seed=0)
    exact = truth_of(data)
    assert data.is_outlier is not None
    kept = ~data.is_outlier
    runs = embed(data.points, AS_IN_PAPER)
    errors = {name: embedding_error(run.places[kept], exact[kept]) for name, run in runs.items()}
    section = Section(
        "sparse-noise",
        "Swiss roll with outliers",
        f"{len(data.points)} points, a tenth displaced by up to 8 % of the box, 0.4 % noise on the "
        "others.",
        header=["method", "points not displaced", "all points", "seconds"],
        rows=[
            line(name, run, errors[name], embedding_error(run.places, exact))
            for name, run in runs.items()
        ],
    )
    text = "Isomap accentuates thinly sampled regions, PTU does not"
    section.claims = [against_isomap(text, errors, errors["Isomap"] / 2)]
    panels = [(name, aligned(run.places, exact)) for name, run in runs.items()]
    section.figure = side_by_side(data.points, data.color, panels)
    return section


def four_petals(extent: Extent) -> Section:
    """Unfold a curved set that is not convex."""
    data = petals(extent.n(1600, 800), n_features=100, seed=SEED)
    section = Section(
        "petals",
        "Four petals of a sphere, in R¹⁰⁰",
        f"{len(data.points)} points, rotated into 100 dimensions. The truth is the embedding by "
        "the true distances along the sphere; local methods are compared after an affine map.",
    )
    errors = _unfold_petals(section, data, 0.02)
    text = "plain LLE fails without noise too"
    section.claims.append(at_least(text, "near degenerate", errors["LLE"], 4 * errors[OURS]))
    return section


def noisy_petals(extent: Extent) -> Section:
    """Do the same with noise."""
    data = petals(extent.n(1600, 800), noise=0.03, seed=SEED)
    section = Section(
        "noisy-petals",
        "Four petals with noise",
        f"{len(data.points)} points of R³, noise of 3 % of the radius along the normal.",
    )
    errors = _unfold_petals(section, data, 0.05)
    text = "local methods fail under noise: the best of them"
    best = min(errors[name] for name in LOCAL)
    section.claims.append(at_least(text, "a picture", best, 4 * errors[OURS]))
    return section


def _unfold_petals(section: Section, data: Dataset, most: float) -> dict[str, float]:
    """Fill a section; returns the errors by name."""
    exact = truth_of(data)
    runs = embed(data.points, {"PTU as in the paper": {**PLAIN, "tangent_neighbors": 20}})
    runs |= {name: run_local(data.points, name) for name in LOCAL}
    errors = tabulate(section, runs, exact, LOCAL)
    section.claims = [
        at_most("PTU finds four petals without distortion", "a picture", errors[OURS], most),
        at_least("Isomap fails", "a picture", errors["Isomap"], 4 * errors[OURS]),
    ]
    panels = [
        (name, aligned(run.places, exact, is_affine=name in LOCAL)) for name, run in runs.items()
    ]
    section.figure = side_by_side(data.points, data.color, panels)
    return errors
