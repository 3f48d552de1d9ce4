"""Four petals of a sphere, without and with noise."""

from __future__ import annotations

from ptunfold.datasets import Dataset, petals
from ptunfold.embedding.alignment import aligned
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import LOCAL, PLAIN, run_isomap, run_local, run_ptu
from ptunfold.paper.pictures import side_by_side
from ptunfold.paper.sections.common import SEED, Extent, percent, tabulate, truth_of


def four_petals(extent: Extent) -> Section:
    """Unfold a curved set that is not convex."""
    n_points = extent.n(1600, 800)
    data = petals(n_points, n_features=100, seed=SEED)
    return _petals(
        data,
        Section(
            "petals",
            "Four petals of a sphere, in R¹⁰⁰",
            f"{n_points} points, rotated into 100 dimensions. The truth is the embedding by the "
            "true distances along the sphere; local methods are compared after an affine map.",
        ),
        at_most=0.02,
    )


def noisy_petals(extent: Extent) -> Section:
    """Do the same with noise."""
    n_points = extent.n(1600, 800)
    data = petals(n_points, noise=0.03, seed=SEED)
    return _petals(
        data,
        Section(
            "noisy-petals",
            "Four petals with noise",
            f"{n_points} points of R³, noise of 3 % of the radius along the normal.",
        ),
        at_most=0.05,
    )


def _petals(data: Dataset, section: Section, at_most: float) -> Section:
    exact = truth_of(data)
    runs = {
        "PTU, default": run_ptu(data.points),
        "PTU as in the paper": run_ptu(data.points, **{**PLAIN, "tangent_neighbors": 20}),
        "Isomap": run_isomap(data.points),
        **{name: run_local(data.points, name) for name in LOCAL},
    }
    errors = tabulate(section, runs, exact, LOCAL)
    section.claims = [
        Claim(
            "PTU finds four petals without distortion",
            "a picture",
            percent(errors["PTU, default"]),
            errors["PTU, default"] <= at_most,
        ),
        Claim(
            "Isomap fails",
            "a picture",
            percent(errors["Isomap"]),
            errors["Isomap"] >= 4 * errors["PTU, default"],
        ),
    ]
    if section.name == "noisy-petals":
        best = min(errors[name] for name in LOCAL)
        section.claims.append(
            Claim(
                "local methods fail under noise: the best of them",
                "a picture",
                percent(best),
                best >= 4 * errors["PTU, default"],
            )
        )
    else:
        section.claims.append(
            Claim(
                "plain LLE fails without noise too",
                "near degenerate",
                percent(errors["LLE"]),
                errors["LLE"] >= 4 * errors["PTU, default"],
            )
        )
    panels = [
        (name, aligned(run.places, exact, is_affine=name in LOCAL)) for name, run in runs.items()
    ]
    section.figure = side_by_side(data.points, data.color, panels)
    return section
