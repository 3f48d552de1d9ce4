"""Few distances instead of all."""

from __future__ import annotations

from ptunfold.datasets import letter_a, petals, s_uneven
from ptunfold.embedding.alignment import embedding_error
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import run_isomap, run_landmark_isomap, run_ptu
from ptunfold.paper.pictures import canvas, panel
from ptunfold.paper.sections.common import SEED, Extent, line, percent


def landmarks(extent: Extent) -> Section:
    """Use few distances instead of all."""
    n_points = extent.n(1600, 800)
    letters = letter_a(extent.n(888, 600), size=extent.n(120, 40), seed=SEED)
    sets = {
        "petals": (petals(n_points, seed=SEED), (9, 19), 0.02),
        "noisy petals": (petals(n_points, noise=0.03, seed=SEED), (9, 19), 0.03),
        "letter A": (letters, (5, 10, 15), 0.1),
        "S, varying density": (s_uneven(extent.n(2000, 1000), seed=SEED), (10, 20), 0.02),
    }
    section = Section(
        "landmarks",
        "Landmarks",
        "Embeddings by the distances from a few landmarks, against those by all distances.",
        header=["set", "landmarks", "L-PTU to PTU", "landmark Isomap to Isomap", "L-PTU, seconds"],
    )
    section.figure, axes = canvas(9, n_columns=3)
    panels = iter(axes)
    for name, (data, counts, bound) in sets.items():
        full, isomap = run_ptu(data.points).places, run_isomap(data.points).places
        apart = []
        for count in counts:
            run = run_ptu(data.points, landmarks=count)
            chosen = run.model.landmarks_
            other = run_landmark_isomap(data.points, chosen)
            apart.append(embedding_error(run.places, full))
            errors = (apart[-1], embedding_error(other.places, isomap))
            section.rows.append([name, *line(str(count), run, *errors)])
            ax = next(panels)
            panel(ax, run.places, data.color, f"{name}, {count} landmarks")
            ax.scatter(*run.places[chosen].T, c="red", s=14)
        text = f"{name}: {counts[-1]} landmarks are as good as all distances"
        found = f"{percent(apart[-1])} apart"
        section.claims.append(Claim(text, "visually the same", found, apart[-1] <= bound))
    return section
