"""Accuracy against the truth: the default, the paper's plain form, Isomap, and other choices.

Writes ``benchmarks/results/accuracy.md``. Errors are in per cent, median (worst) over seeds: the
mean relative error of all distances, or the Frobenius error of the embedding after the best rigid
motion. ``python benchmarks/accuracy.py 3`` takes three seeds, and a tenth of the time.
"""

import itertools
import statistics
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree
from truth import distance_error, embedding_error

from ptunfold import (
    PTU,
    build_graph,
    classical_mds,
    estimate_dimension,
    find_shortcuts,
    geodesic_distances,
    graph_distances,
)
from ptunfold.datasets import (
    annulus,
    filled_torus,
    flat_square,
    l_shape,
    petals,
    s_uneven,
    s_with_hole,
    spherical_cap,
    swiss_roll,
)
from ptunfold.datasets.record import Dataset, lift
from ptunfold.geometry.graph import graph_from_edges

FIXED = {"tangent": "pca", "denoise": 0, "coherence": 1, "prune": None}
PAPER = {**FIXED, "n_neighbors": 10, "tangent_neighbors": 10, "step": "projection"}
RESCALED = {**FIXED, "n_neighbors": 10, "tangent_neighbors": 15, "step": "chord"}
ISOMAP = None
WAYS = {"default": {}, "paper": PAPER, "paper, rescaled, K = 15": RESCALED, "Isomap": ISOMAP}
NOISES = [0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.028, 0.032, 0.035]
GRID = [
    {**FIXED, "n_neighbors": k, "tangent_neighbors": n_near, "step": step}
    for k, n_near, step in itertools.product(
        (8, 12, 20), (10, 20, 40), ("projection", "chord", "arc")
    )
]
lines: list[str] = []


def say(line=""):
    print(line, flush=True)
    lines.append(line)


def table(first, columns, rows):
    """Print rows of lists of runs, a run being a list with a number for each column."""
    say(f"| {first} | " + " | ".join(columns) + " |")
    say("|" + " --- |" * (1 + len(columns)))
    for name, runs in rows:
        cells = [
            f"{statistics.median(column):.3g} ({max(column):.3g})"
            for column in zip(*runs, strict=True)
        ]
        say(f"| {name} | " + " | ".join(cells) + " |")


def distances_of(data, way, dim=2):
    if way is ISOMAP:
        return graph_distances(build_graph(data.points), n_jobs=-1)
    return geodesic_distances(data.points, intrinsic_dim=dim, n_jobs=-1, **way)


def embedding_of(data, way):
    if way is not ISOMAP:
        return PTU(n_jobs=-1, **way).fit(data.points).embedding_
    rows = graph_distances(build_graph(data.points), n_jobs=-1)
    # In several parts there is nothing to embed: an error of 100 %.
    return classical_mds(rows).coordinates if np.isfinite(rows).all() else 0 * data.points[:, :2]


def error_of(data, way):
    exact = data.coordinates
    if exact is None:  # no flat truth: the embedding by the true distances
        exact = classical_mds(data.distances()).coordinates
    return 100 * embedding_error(embedding_of(data, way), exact)


def distances(n_seeds):
    sets = {
        "spherical cap, 700 regular": lambda seed: spherical_cap(700, angle=40),
        "spherical cap, 1500 random": lambda seed: spherical_cap(
            1500, angle=60, sampling="random", seed=seed
        ),
        "S with a hole, 2000": lambda seed: s_with_hole(2000, seed=seed),
        "S, density 1:30, 2000": lambda seed: s_uneven(2000, seed=seed),
        "S with a hole, 400": lambda seed: s_with_hole(400, seed=seed),
        "S³, cap of 60°, 1500 random": partial(ball, 3),
        "S⁴, cap of 60°, 1500 random": partial(ball, 4),
    }
    dims = {name: {"³": 3, "⁴": 4}.get(name[1], 2) for name in sets}
    say("## Curved sets: mean relative error of all distances\n")
    rows = []
    for name, make in sets.items():
        runs = []
        for seed in range(n_seeds):
            data = make(seed)
            exact = data.distances()
            runs.append(
                [
                    distance_error(distances_of(data, way, dims[name]), exact)
                    for way in WAYS.values()
                ]
            )
        rows.append((name, runs))
    table("set", WAYS, rows)


def ball(dim, seed):
    """Sample a cap of the unit sphere in R^(dim + 1)."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((100_000, dim + 1))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points = points[points[:, 0] > 0.5][:1500]

    def rows(sources):
        return np.arccos(np.clip(points[sources] @ points.T, -1, 1)) * ~np.eye(1500, dtype=bool)

    return Dataset(points, points[:, 0], rows)


def flat_sets(n_seeds):
    say("\n## Flat sets: largest error of a distance, relative to the largest distance\n")
    sets = {"square": flat_square, "annulus": annulus, "L": l_shape, "solid ring": filled_torus}
    rows = []
    for name, make in sets.items():
        runs = []
        for seed in range(n_seeds):
            data = make(1000, seed=seed)
            exact = data.distances()
            dim = data.coordinates.shape[1]
            runs.append(
                [
                    np.abs(distances_of(data, way, dim) - exact).max() / exact.max()
                    for way in WAYS.values()
                ]
            )
        rows.append((name, runs))
    table("set, 1000", WAYS, rows)


def noisy_rolls(n_seeds):
    say("\n## Swiss roll, 2000 points, noise along the normal: error of the embedding\n")
    say(f"The best of {len(GRID)} fixed choices is the one with the least median at that noise.\n")
    rows, choices = [], []
    for noise in NOISES:
        sets = [swiss_roll(2000, noise=noise, seed=seed) for seed in range(n_seeds)]
        runs = [[error_of(data, way) for way in WAYS.values()] for data in sets]
        tried = [[error_of(data, way) for data in sets] for way in GRID]
        best = int(np.argmin(np.median(tried, axis=1)))
        rows.append(
            (f"{noise:.1%}", [[*run, off] for run, off in zip(runs, tried[best], strict=True)])
        )
        way = GRID[best]
        choices.append(
            f"{noise:.1%}: k = {way['n_neighbors']}, K = {way['tangent_neighbors']}, {way['step']}"
        )
    table("noise", [*WAYS, "best fixed choice"], rows)
    say("\nBest fixed choices: " + "; ".join(choices) + ".")


def dense_rolls(n_seeds):
    say("\n## Swiss roll, noise of 2.8 %, ever more points: error of the embedding\n")
    ways = {"default": {}, "neighbourhoods that do not grow": {"denoise": 3}}
    rows = []
    for n_points in (2000, 4000, 8000, 16_000):
        sets = [swiss_roll(n_points, noise=0.028, seed=seed) for seed in range(n_seeds)]
        rows.append((n_points, [[error_of(data, way) for way in ways.values()] for data in sets]))
    table("points", ways, rows)


def other_noise(n_seeds):
    say("\n## Petals: error of the embedding\n")
    sets = {"1600": 0.0, "1600, noise 3 %": 0.03}
    rows = [
        (
            name,
            [
                [error_of(petals(1600, noise=noise, seed=seed), way) for way in WAYS.values()]
                for seed in range(n_seeds)
            ],
        )
        for name, noise in sets.items()
    ]
    table("petals", WAYS, rows)

    say("\n## Swiss roll, 2000 points, 10 % outliers, 0.4 % noise: error of the embedding\n")
    ways = {
        **WAYS,
        "least squares surfaces": {"tangent": "quadratic"},
        "no denoising, robust": {"denoise": 0},
        "no denoising, least squares": {"denoise": 0, "tangent": "quadratic"},
    }
    everywhere, inside = [], []
    for seed in range(n_seeds):
        data = swiss_roll(2000, noise=0.004, outliers=0.1, seed=seed)
        found = [embedding_of(data, way) for way in ways.values()]
        kept = ~data.is_outlier
        everywhere.append([100 * embedding_error(places, data.coordinates) for places in found])
        inside.append(
            [100 * embedding_error(places[kept], data.coordinates[kept]) for places in found]
        )
    table("points", ways, [("all", everywhere), ("those not displaced", inside)])


def shortcuts(n_seeds):
    say("\n## Shortcuts: swiss roll, 2000 points, 1 % of wrong edges planted\n")
    runs = []
    for seed in range(n_seeds):
        data = swiss_roll(2000, seed=seed)
        graph = build_graph(data.points)
        pairs = cKDTree(data.points).query_pairs(7.5, output_type="ndarray")
        spans = [
            np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
            for places in (data.points, data.coordinates)
        ]
        wrong = np.flatnonzero(spans[1] > 3 * spans[0])
        chosen = np.random.default_rng(seed).choice(wrong, graph.n_edges // 200, replace=False)
        once = graph.tails < graph.indices
        planted = graph_from_edges(
            2000,
            np.concatenate((graph.tails[once], pairs[chosen, 0])),
            np.concatenate((graph.indices[once], pairs[chosen, 1])),
            np.concatenate((graph.lengths[once], spans[0][chosen])),
        )
        found = {tuple(pair) for pair in np.transpose(find_shortcuts(planted)).tolist()}
        keys = {tuple(pair) for pair in np.sort(pairs[chosen], axis=1).tolist()}
        runs.append(
            [
                100 * (1 - len(found & keys) / len(keys)),
                100 * len(found - keys) / (graph.n_edges / 2),
            ]
        )
    table("", ["planted edges missed, %", "good edges lost, %"], [("swiss roll", runs)])


def dimensions():
    say("\n## Dimension: cases in which the consensus is right\n")
    counts, missed = {}, []
    for n_points in (2000, 5000):
        for kind, dim, n_features in itertools.product(
            ("sphere", "torus", "cloud", "roll"), range(1, 9), (3, 10, 30, 100)
        ):
            rng = np.random.default_rng(100 * dim + n_features)
            points = shape(kind, dim, n_points, rng)
            if points is None or points.shape[1] > n_features:
                continue
            found = estimate_dimension(lift(points, n_features, rng), n_jobs=-1)
            right, n_cases = counts.get((n_points, kind), (0, 0))
            counts[n_points, kind] = right + (found.consensus == dim), n_cases + 1
            if found.consensus != dim and n_points == 5000:
                missed.append(f"{kind} of {dim} in R^{n_features}: {found.consensus}")
    say("| points | sphere | torus | cloud | roll | all |\n|" + " --- |" * 6)
    for n_points in (2000, 5000):
        cells = [counts[n_points, kind] for kind in ("sphere", "torus", "cloud", "roll")]
        cells.append(tuple(map(sum, zip(*cells, strict=True))))
        shown = [f"{right} of {n} ({right / n:.0%})" for right, n in cells]
        say(f"| {n_points} | " + " | ".join(shown) + " |")
    say("\nMissed with 5000 points: " + ("; ".join(missed) or "none") + ".")


def shape(kind, dim, n_points, rng):
    if kind == "sphere":
        points = rng.standard_normal((n_points, dim + 1))
        return points / np.linalg.norm(points, axis=1, keepdims=True)
    if kind == "torus":
        angles = rng.uniform(0, 2 * np.pi, (n_points, dim))
        return np.hstack((np.cos(angles), np.sin(angles)))
    if kind == "cloud":
        return rng.standard_normal((n_points, dim))
    if dim == 1:
        angle = rng.uniform(5, 14, n_points)
        return np.column_stack((angle * np.cos(angle), angle * np.sin(angle)))
    # A roll with more directions across, each as long as the first.
    roll = swiss_roll(n_points, seed=int(rng.integers(1000))).points
    return np.column_stack((roll, rng.uniform(0, 21, (n_points, dim - 2))))


def main(n_seeds):
    warnings.simplefilter("ignore")
    say(f"Over {n_seeds} seeds: median (worst), in per cent unless said otherwise.\n")
    distances(n_seeds)
    flat_sets(n_seeds)
    noisy_rolls(n_seeds)
    dense_rolls(n_seeds)
    other_noise(n_seeds)
    shortcuts(n_seeds)
    dimensions()
    (Path(__file__).parent / "results" / "accuracy.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
