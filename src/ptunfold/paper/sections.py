"""One function a figure or table of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from ptunfold.datasets import (
    Dataset,
    annulus,
    curved_torus,
    digit_zero,
    faces,
    filled_torus,
    letter_a,
    light_stage,
    petals,
    s_uneven,
    s_with_hole,
    spherical_cap,
    swiss_roll,
    two_hills,
)
from ptunfold.distances import geodesic_distances
from ptunfold.embedding.classical import classical_mds
from ptunfold.geodesics.distances import graph_distances
from ptunfold.geometry.graph import build_graph, graph_from_matrix
from ptunfold.paper.methods import (
    LOCAL,
    PLAIN,
    Run,
    aligned,
    correlation,
    distance_error,
    embedding_error,
    run_isomap,
    run_landmark_isomap,
    run_local,
    run_ptu,
)
from ptunfold.paper.pictures import canvas, scatter, side_by_side, thumbnails
from ptunfold.paper.record import Claim, Section
from ptunfold.paper.timing import stage_exponents
from ptunfold.types import FloatArray

SEED = 1
RESCALED: dict[str, Any] = {**PLAIN, "step": "chord"}


@dataclass(frozen=True)
class Extent:
    """How much is run.

    Attributes
    ----------
    is_quick : bool
        At reduced size.
    faces, digits : path, optional
        Files of the public images.
    """

    is_quick: bool = False
    faces: Path | None = None
    digits: Path | None = None

    def n(self, full: int, quick: int) -> int:
        """Choose a size."""
        return quick if self.is_quick else full


def percent(value: float) -> str:
    """Write a share with three digits."""
    return f"{100 * value:.3g} %"


def line(name: str, run: Run, *errors: float) -> list[str]:
    """Make a row of a table."""
    return [name, *(percent(error) for error in errors), f"{run.seconds:.2f}"]


def linear(extent: Extent) -> Section:
    """Flatten a flat set exactly."""
    data = annulus(extent.n(1500, 600), seed=SEED)
    exact = data.coordinates
    assert exact is not None
    runs = {
        "PTU, default": run_ptu(data.points),
        "PTU as in the paper": run_ptu(data.points, **PLAIN),
        "Isomap": run_isomap(data.points),
    }
    errors = {name: embedding_error(run.places, exact) for name, run in runs.items()}
    section = Section(
        "linear",
        "Linear precision",
        f"A flat ring of {len(data.points)} points, placed at random in R³; k = 10.",
    )
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
    section.header = ["method", "error of the embedding", "seconds"]
    section.rows = [line(name, run, errors[name]) for name, run in runs.items()]
    section.figure = _error_map(data, runs, exact)
    return section


def _error_map(data: Dataset, runs: dict[str, Run], exact: FloatArray) -> Any:
    """Draw embeddings in the paper's colours: error of each point, up to 1 % of the box."""
    figure, axes = canvas(len(runs))
    box = np.ptp(exact, axis=0).max()
    for ax, (name, run) in zip(axes, runs.items(), strict=True):
        places = aligned(run.places, exact)
        off = np.linalg.norm(places - exact, axis=1) / box
        scatter(
            ax, places[:, :2], off, f"{name}: blue 0, red 1 %", cmap="coolwarm", vmin=0, vmax=0.01
        )
    return figure


def torus(extent: Extent) -> Section:
    """Unfold a solid torus of R⁴."""
    data = filled_torus(extent.n(3000, 1000), seed=SEED)
    exact = data.coordinates
    assert exact is not None
    runs = {
        "PTU, default": run_ptu(data.points, 3),
        "PTU as in the paper": run_ptu(data.points, 3, **PLAIN),
        "Isomap": run_isomap(data.points, 3),
    }
    errors = {name: embedding_error(run.places, exact) for name, run in runs.items()}
    section = Section(
        "torus",
        "Solid torus in R⁴",
        f"{len(data.points)} points of a solid torus with a constant fourth coordinate; d = 3.",
    )
    section.claims = [
        Claim(
            "PTU is nearly perfect",
            "0.06 %",
            percent(errors["PTU, default"]),
            errors["PTU, default"] <= 0.0006,
        ),
        Claim("Isomap is far off", "40.6 %", percent(errors["Isomap"]), errors["Isomap"] >= 0.2),
    ]
    section.header = ["method", "error of the embedding", "seconds"]
    section.rows = [line(name, run, errors[name]) for name, run in runs.items()]
    figure, axes = canvas(2)
    for ax, name in zip(axes, ("PTU, default", "Isomap"), strict=True):
        scatter(ax, aligned(runs[name].places, exact)[:, :2], data.color, f"{name}, from above")
    section.figure = figure
    return section


def holey_s(extent: Extent) -> Section:
    """Unfold a sheet with a hole."""
    data = s_with_hole(extent.n(2000, 1000), seed=SEED)
    exact = data.coordinates
    assert exact is not None
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


def cap(extent: Extent) -> Section:
    """Measure a sphere, and plot the error against the number of edges."""
    data = spherical_cap(700)
    exact = data.distances()
    triangles = graph_from_matrix(data.graph, 700)
    ways: dict[str, dict[str, Any]] = {
        "triangulation, rescaled, K = 6": {**RESCALED, "tangent_neighbors": 6, "graph": data.graph},
        "triangulation, rescaled, K = 10": {**RESCALED, "graph": data.graph},
        "triangulation, projection": {**PLAIN, "graph": data.graph},
        "default": {},
    }
    found = {name: geodesic_distances(data.points, n_jobs=-1, **way) for name, way in ways.items()}
    found["shortest paths of the triangulation"] = graph_distances(triangles, n_jobs=-1)
    errors = {name: distance_error(rows, exact) for name, rows in found.items()}
    section = Section(
        "cap",
        "Geodesic distances on a spherical cap",
        "A triangulated cap of 700 points, 40° from pole to rim; the paper's own is not given.",
    )
    best = errors["triangulation, rescaled, K = 6"]
    along = errors["shortest paths of the triangulation"]
    section.claims = [
        Claim("PTU, mean relative error", "0.046 %", percent(best), best <= 0.00046),
        Claim("shortest paths", "5.6 %", percent(along), 0.03 < along < 0.08),
        Claim(
            "here, by default",
            "–",
            percent(errors["default"]),
            errors["default"] <= 0.00012,
        ),
    ]
    section.header = ["distances", "mean relative error"]
    section.rows = [[name, percent(error)] for name, error in errors.items()]
    section.figure = _errors_by_edges(triangles, found, exact)
    return section


def _errors_by_edges(graph: Any, found: dict[str, FloatArray], exact: FloatArray) -> Any:
    """Draw the mean error against the number of edges of the shortest path."""
    lengths, parents = dijkstra(graph.to_sparse(), return_predecessors=True)
    n_edges = np.zeros_like(parents)
    rows = np.arange(len(parents))
    for place in np.argsort(lengths, axis=1)[:, 1:].T:
        n_edges[rows, place] = n_edges[rows, parents[rows, place]] + 1
    figure, (ax,) = canvas(1, height=3.4, n_columns=1)
    figure.set_size_inches(6.5, 3.6)
    apart = exact > 0
    for name, rows_found in found.items():
        off = np.abs(rows_found[apart] - exact[apart]) / exact[apart]
        total = np.bincount(n_edges[apart], off)
        counts = np.bincount(n_edges[apart])
        enough = np.flatnonzero(counts > 100)
        ax.semilogy(enough, 100 * total[enough] / counts[enough], label=name)
    ax.set(xlabel="edges of the path", ylabel="mean relative error, %")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=7)
    return figure


def hills(extent: Extent) -> Section:
    """Unfold a landscape, with few and many neighbours for the tangents."""
    n_points = extent.n(3000, 1200)
    data = two_hills(n_points, seed=SEED)
    sources = np.arange(0, n_points, n_points // extent.n(40, 10))
    exact = data.distances(sources)
    base = {**PLAIN, "n_neighbors": 8, "step": "chord"}
    ways: dict[str, dict[str, Any]] = {
        "PTU, default": {},
        "PTU, k = K = 8": {**base, "tangent_neighbors": 8},
        "PTU, k = 8, K = 24": {**base, "tangent_neighbors": 24},
    }
    runs = {name: run_ptu(data.points, **way) for name, way in ways.items()}
    errors = {
        name: distance_error(run.model.distances(sources), exact) for name, run in runs.items()
    }
    runs["Isomap"] = run_isomap(data.points, n_neighbors=8)
    graph = build_graph(data.points, 8)
    errors["Isomap"] = distance_error(graph_distances(graph, sources), exact)
    moved = embedding_error(runs["PTU, k = 8, K = 24"].places, runs["PTU, k = K = 8"].places)
    section = Section(
        "hills",
        "Two Gaussian hills",
        f"{n_points} points of a height field; errors against geodesics followed numerically from "
        f"{len(sources)} of them.",
    )
    section.claims = [
        Claim("K = 8 and K = 24 look alike", "alike", f"{percent(moved)} apart", moved <= 0.02),
        Claim(
            "PTU and Isomap are comparable on dense data: PTU is no worse",
            "comparable",
            f"{percent(errors['PTU, default'])} and {percent(errors['Isomap'])}",
            errors["PTU, default"] <= errors["Isomap"],
        ),
    ]
    section.header = ["method", "error of distances", "seconds"]
    section.rows = [line(name, run, errors[name]) for name, run in runs.items()]
    section.figure = side_by_side(
        data.points,
        data.color,
        [(name, run.places) for name, run in runs.items() if "def" not in name],
    )
    return section


def bent_torus(extent: Extent) -> Section:
    """Unfold a solid torus that is curved in R⁴."""
    n_points = extent.n(3000, 1200)
    data = curved_torus(n_points, seed=SEED)
    sources = np.arange(0, n_points, n_points // extent.n(30, 8))
    exact = data.distances(sources)
    runs = {
        "PTU, default": run_ptu(data.points, 3),
        "PTU as in the paper": run_ptu(data.points, 3, **PLAIN),
    }
    errors = {
        name: distance_error(run.model.distances(sources), exact) for name, run in runs.items()
    }
    runs["Isomap"] = run_isomap(data.points, 3)
    errors["Isomap"] = distance_error(graph_distances(build_graph(data.points), sources), exact)
    section = Section(
        "curved-torus",
        "Curved solid torus in R⁴",
        f"{n_points} points (x, y, z, (x² + y²)/2); errors against geodesics of the paraboloid.",
    )
    section.claims = [
        Claim(
            "PTU handles it, Isomap does not",
            "a picture",
            f"{percent(errors['PTU, default'])} against {percent(errors['Isomap'])}",
            errors["PTU, default"] <= errors["Isomap"] / 10,
        )
    ]
    section.header = ["method", "error of distances", "seconds"]
    section.rows = [line(name, run, errors[name]) for name, run in runs.items()]
    section.figure = side_by_side(
        data.points, data.color, [(name, run.places) for name, run in runs.items()]
    )
    return section


def four_petals(extent: Extent) -> Section:
    """Unfold a curved set that is not convex."""
    n_points = extent.n(1600, 800)
    data = petals(n_points, n_features=100, seed=SEED)
    return _petals(
        extent,
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
        extent,
        data,
        Section(
            "noisy-petals",
            "Four petals with noise",
            f"{n_points} points of R³, noise of 3 % of the radius along the normal.",
        ),
        at_most=0.05,
    )


def _petals(extent: Extent, data: Dataset, section: Section, at_most: float) -> Section:
    exact = classical_mds(data.distances()).coordinates
    runs = {
        "PTU, default": run_ptu(data.points),
        "PTU as in the paper": run_ptu(data.points, **{**PLAIN, "tangent_neighbors": 20}),
        "Isomap": run_isomap(data.points),
        **{name: run_local(data.points, name) for name in LOCAL},
    }
    errors = {
        name: embedding_error(run.places, exact, is_affine=name in LOCAL)
        for name, run in runs.items()
    }
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
    section.header = ["method", "error of the embedding", "seconds"]
    section.rows = [line(name, run, errors[name]) for name, run in runs.items()]
    panels = [
        (name, aligned(run.places, exact, is_affine=name in LOCAL)) for name, run in runs.items()
    ]
    section.figure = side_by_side(data.points, data.color, panels)
    return section


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
        **{name: lambda points, name=name: run_local(points, name) for name in LOCAL},  # type: ignore[misc]
    }
    errors: dict[str, list[float]] = {name: [] for name in methods}
    shown = {}
    for noise in noises:
        tries: dict[str, list[float]] = {name: [] for name in methods}
        for seed in range(n_seeds):
            data = swiss_roll(n_points, noise=noise, seed=seed)
            for name, method in methods.items():
                places = method(data.points).places
                assert data.coordinates is not None
                is_local = name in LOCAL
                off = embedding_error(places, data.coordinates, is_affine=is_local)
                tries[name].append(off)
                if seed == 0 and noise == 0.02:
                    shown[name] = aligned(places, data.coordinates, is_affine=is_local)
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
    exact = data.coordinates
    assert exact is not None
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


def density(extent: Extent) -> Section:
    """Sample unevenly."""
    data = s_uneven(extent.n(2000, 1000), seed=SEED)
    exact = data.coordinates
    assert exact is not None
    runs = {
        "PTU, default": run_ptu(data.points),
        "PTU as in the paper, rescaled": run_ptu(data.points, **RESCALED),
        "Isomap": run_isomap(data.points),
    }
    errors = {name: embedding_error(run.places, exact) for name, run in runs.items()}
    section = Section(
        "density",
        "S with varying density",
        f"{len(data.points)} points, 30 times as dense at one end as at the other.",
    )
    section.claims = [
        Claim(
            "PTU copes with uneven sampling, Isomap does not",
            "a picture",
            f"{percent(errors['PTU, default'])} against {percent(errors['Isomap'])}",
            errors["PTU, default"] <= min(0.014, errors["Isomap"] / 3),
        )
    ]
    section.header = ["method", "error of the embedding", "seconds"]
    section.rows = [line(name, run, errors[name]) for name, run in runs.items()]
    section.figure = _error_map(data, runs, exact)
    return section


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
    figure, axes = canvas(9, n_columns=3)
    panel = iter(axes)
    for name, (data, counts, bound) in sets.items():
        full, isomap = run_ptu(data.points).places, run_isomap(data.points).places
        apart = []
        for count in counts:
            run = run_ptu(data.points, n_landmarks=count)
            chosen = run.model.landmarks_
            other = run_landmark_isomap(data.points, chosen)
            apart.append(embedding_error(run.places, full))
            section.rows.append(
                [
                    name,
                    str(count),
                    percent(apart[-1]),
                    percent(embedding_error(other.places, isomap)),
                    f"{run.seconds:.2f}",
                ]
            )
            ax = next(panel)
            scatter(ax, run.places, data.color, f"{name}, {count} landmarks")
            ax.scatter(*run.places[chosen].T, c="red", s=14)
        section.claims.append(
            Claim(
                f"{name}: {counts[-1]} landmarks are as good as all distances",
                "visually the same",
                f"{percent(apart[-1])} apart",
                apart[-1] <= bound,
            )
        )
    section.figure = figure
    return section


def letters(extent: Extent) -> Section:
    """Arrange images with a gap among them."""
    side = extent.n(120, 40)
    whole, part = (letter_a(size=side, missing=missing, seed=SEED) for missing in (False, True))
    assert part.kept is not None
    assert whole.shape is not None
    section = Section(
        "letter-a",
        "Letter A, turned and resized",
        f"{len(whole.points)} images of {whole.shape[0]} × {whole.shape[1]} pixels; "
        f"{len(part.points)} without those of middle size and small angle. Isomap with k = 8.",
        header=["method", "angle", "size", "shift without the part", "seconds"],
    )
    shifts, figures = {}, []
    for name, method in (
        ("PTU, default", run_ptu),
        ("Isomap", lambda points: run_isomap(points, n_neighbors=8)),
    ):
        run, again = method(whole.points), method(part.points)
        angle, size = _polar_correlations(run.places, whole)
        shifts[name] = embedding_error(again.places, run.places[part.kept])
        section.rows.append(
            [name, f"{angle:.4f}", f"{size:.4f}", percent(shifts[name]), f"{run.seconds:.2f}"]
        )
        figures += [
            (f"{name}, all", run.places, whole),
            (f"{name}, a part missing", again.places, part),
        ]
        if name == "PTU, default":
            section.claims.append(
                Claim(
                    "polar coordinates are angle and size: correlations",
                    "a picture",
                    f"{angle:.4f} and {size:.4f}",
                    min(angle, size) >= 0.99,
                )
            )
    section.claims.append(
        Claim(
            "without a part, PTU's picture stays and Isomap's does not: shift",
            "a picture",
            f"{percent(shifts['PTU, default'])} against {percent(shifts['Isomap'])}",
            shifts["PTU, default"] <= shifts["Isomap"] / 10,
        )
    )
    figure, axes = canvas(4, height=4, n_columns=2)
    for ax, (title, places, data) in zip(axes, figures, strict=True):
        thumbnails(ax, places, data.points, whole.shape, title)
    figure.set_size_inches(10, 9)
    section.figure = figure
    return section


def _polar_correlations(places: FloatArray, data: Dataset) -> tuple[float, float]:
    """Correlate angle and radius about the apex of the cone with the angle and size of letters.

    Images of a letter of size s, turned by t, differ by what its outline sweeps: s ds² + s³ dt² up
    to constants, the metric of a cone with the radius s^(3/2). Its apex is where squared radii fit
    s³ best.
    """
    assert data.parameters is not None
    turn, size = data.parameters.T
    terms = np.column_stack((2 * places, size**3, np.ones(len(places))))
    squares = np.square(places).sum(axis=1)
    apex = np.linalg.lstsq(terms, squares, rcond=None)[0][:2]
    arms = places - apex
    radius = np.linalg.norm(arms, axis=1)
    middle = (arms / radius[:, None]).mean(axis=0)
    angle = np.angle((arms @ [1, 1j]) / (middle @ [1, 1j]))
    found = [np.corrcoef(angle, turn)[0, 1], np.corrcoef(radius, size)[0, 1]]
    return abs(float(found[0])), abs(float(found[1]))


def face_images(extent: Extent) -> Section:
    """Arrange images of a head."""
    data = faces(extent.faces)
    is_there = extent.faces is not None
    run = run_ptu(
        data.points, 2, intrinsic_dim=3, **{**PLAIN, "n_neighbors": 6, "tangent_neighbors": 18}
    )
    other = run_isomap(data.points, 2, n_neighbors=6)
    alike = correlation(run.places, other.places)
    section = Section(
        "faces",
        "Faces",
        "698 images of a head, d = 3, k = 6, K = 18."
        if is_there
        else "The file of the faces was not given (--faces face_data.mat); scikit-learn's 8 × 8 "
        "digits stand in for it, and the claim is not tried.",
        claims=[
            Claim(
                "PTU and Isomap arrange the images alike: correlation",
                "quite similar",
                f"{alike:.3f}" + ("" if is_there else " (on digits)"),
                alike >= 0.8 if is_there else None,
            )
        ],
        header=["method", "seconds"],
        rows=[["PTU", f"{run.seconds:.2f}"], ["Isomap", f"{other.seconds:.2f}"]],
    )
    section.figure = _two_with_images(data, run, other)
    return section


def _two_with_images(data: Dataset, run: Run, other: Run) -> Any:
    assert data.shape is not None
    figure, axes = canvas(2, height=4, n_columns=2)
    figure.set_size_inches(10, 4.8)
    for ax, (name, places) in zip(
        axes, (("PTU", run.places), ("Isomap", aligned(other.places, run.places))), strict=True
    ):
        thumbnails(ax, places, data.points / data.points.max(), data.shape, name)
    return figure


def zeros(extent: Extent) -> Section:
    """Arrange images of handwritten zeros, of more dimensions than are shown."""
    data = digit_zero(extent.n(3000, 1000), path=extent.digits)
    assert data.shape is not None
    options = {**PLAIN, "intrinsic_dim": 4}
    run, other = run_ptu(data.points, 2, **options), run_isomap(data.points, 2)
    alike = correlation(run.places, other.places)
    return Section(
        "digit-zero",
        "Handwritten zeros",
        f"{len(data.points)} images of {data.shape[0]} × {data.shape[1]} pixels, d = 4, k = K = "
        "10; MNIST where it can be had, else scikit-learn's digits.",
        claims=[
            Claim(
                "PTU and Isomap map zeros quite similarly: correlation",
                "quite similar",
                f"{alike:.3f}",
                alike >= 0.7,
            )
        ],
        header=["method", "seconds"],
        rows=[["PTU", f"{run.seconds:.2f}"], ["Isomap", f"{other.seconds:.2f}"]],
        figure=_two_with_images(data, run, other),
    )


def lights(extent: Extent) -> Section:
    """Arrange images of a thing under moving light."""
    data = light_stage(height=extent.n(608, 152), width=extent.n(456, 114), seed=SEED)
    assert data.parameters is not None
    assert data.shape is not None
    options = {**PLAIN, "n_neighbors": 8, "tangent_neighbors": 8}
    runs = {
        "PTU, default": run_ptu(data.points),
        "PTU, k = K = 8": run_ptu(data.points, **options),
        "Isomap": run_isomap(data.points, n_neighbors=8),
    }
    found = {name: correlation(run.places, data.parameters) for name, run in runs.items()}
    height, width, _ = data.shape
    section = Section(
        "light-stage",
        "One light after the other",
        f"221 images of {height} × {width} pixels in colour, a rendered thing lit from 221 "
        "directions; d = 2, k = 8.",
        claims=[
            Claim(
                "PTU recovers the light's direction: correlation",
                "a picture",
                f"{found['PTU, k = K = 8']:.4f}",
                found["PTU, k = K = 8"] >= 0.95,
            )
        ],
        header=["method", "correlation with the light's x and y", "seconds"],
        rows=[[name, f"{found[name]:.4f}", f"{run.seconds:.2f}"] for name, run in runs.items()],
    )
    figure, axes = canvas(2, height=4, n_columns=2)
    figure.set_size_inches(10, 4.8)
    step = max(1, height // 76)
    small = data.points.reshape(221, *data.shape)[:, ::step, ::step]
    for ax, name in zip(axes, ("PTU, k = K = 8", "Isomap"), strict=True):
        thumbnails(ax, runs[name].places, small.reshape(221, -1), small.shape[1:], name)
    section.figure = figure
    return section


def timing(extent: Extent) -> Section:
    """Measure the orders of growth."""
    sizes = [1000, 2000, 4000] if extent.is_quick else [1000, 2000, 4000, 8000]
    seconds, exponents = stage_exponents(sizes)
    bounds = {"graph": 1.5, "frames": 1.5, "connection": 1.5, "distances": 2.5}
    words = {"graph": "n log n", "frames": "n", "connection": "n", "distances": "n² log n"}
    section = Section(
        "timing",
        "How the time grows",
        "Swiss roll in R³, stages of the paper's method on one thread, the quickest of three.",
        header=["stage", *map(str, sizes), "growth"],
    )
    for name, bound in bounds.items():
        section.rows.append(
            [name, *(f"{value:.3f} s" for value in seconds[name]), f"n^{exponents[name]:.2f}"]
        )
        section.claims.append(
            Claim(
                f"{name}: order", words[name], f"n^{exponents[name]:.2f}", exponents[name] <= bound
            )
        )
    return section


SECTIONS: dict[str, Callable[[Extent], Section]] = {
    "linear": linear,
    "torus": torus,
    "holey-s": holey_s,
    "cap": cap,
    "hills": hills,
    "curved-torus": bent_torus,
    "petals": four_petals,
    "noisy-petals": noisy_petals,
    "noise": noisy_rolls,
    "sparse-noise": sparse_noise,
    "density": density,
    "landmarks": landmarks,
    "letter-a": letters,
    "faces": face_images,
    "digit-zero": zeros,
    "light-stage": lights,
    "timing": timing,
}
