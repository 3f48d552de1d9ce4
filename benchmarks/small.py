"""Small sets: PTU as it comes beside its plain form and two Isomaps, 50 to 400 points.

``python benchmarks/small.py 8`` takes eight seeds, from 100 on, ten minutes of two cores, and
writes ``benchmarks/results/small.md``. Noise is alike in all directions, as a part of the longest
side. Distances are those from 40 of the points to all: the exact ones over hills take longest.
"""

import argparse
import os
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from accuracy import RESCALED
from joblib import Parallel, delayed
from truth import distance_error

from ptunfold import build_graph, geodesic_distances, graph_distances
from ptunfold.datasets import petals, s_uneven, s_with_hole, spherical_cap, swiss_roll, two_hills
from ptunfold.geometry.components import join_components

SETS = {
    "S with a hole": s_with_hole,
    "S, uneven": s_uneven,
    "roll": swiss_roll,
    "petals": petals,
    "cap of 60°": partial(spherical_cap, angle=60, sampling="random"),
    "two hills": two_hills,
}
SIZES, NOISES = (50, 100, 150, 200, 300, 400), (0, 0.01, 0.02)
MOST = 1.1  # of the least of the others
N_SOURCES = 40


def lengths_of(points, n_neighbors, sources):
    """Measure shortest paths on a graph whose pieces are joined, as Isomap joins them."""
    graph = build_graph(points, n_neighbors)
    graph, _ = join_components(points, graph, "bridge", 1, say=lambda _: None)
    return graph_distances(graph, sources)


def errors_of(name, n_points, seed):
    """Mean relative errors of distances with each noise, in per cent, (n_noises, 4)."""
    warnings.simplefilter("ignore")
    data = SETS[name](n_points, seed=seed)
    side = np.ptp(data.points, axis=0).max()
    shift = np.random.default_rng(1000 + seed).normal(size=data.points.shape)
    sources = np.random.default_rng(seed).choice(n_points, N_SOURCES, replace=False)
    exact = data.distances(sources)
    errors = []
    for noise in NOISES:
        points = data.points + noise * side * shift
        found = (
            geodesic_distances(points, sources=sources, intrinsic_dim=2),
            geodesic_distances(points, sources=sources, intrinsic_dim=2, **RESCALED),
            lengths_of(points, 5, sources),
            lengths_of(points, 10, sources),
        )
        errors.append([distance_error(each, exact) for each in found])
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_seeds", type=int)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    cases = list(product(SETS, SIZES, NOISES))
    seeds = range(asked.first, asked.first + asked.n_seeds)
    jobs = (delayed(errors_of)(*job) for job in product(SETS, SIZES, seeds))
    errors = np.array(Parallel(asked.jobs)(jobs)).reshape(-1, len(seeds), len(NOISES), 4)
    errors = errors.swapaxes(1, 2).reshape(len(cases), len(seeds), 4)
    lines = [
        "# Small sets",
        "",
        f"Mean relative error of distances in per cent, medians of {len(seeds)} seeds, from",
        f"{asked.first} on. Plain: planes of 15 points and chords, nothing denoised. Behind: more",
        f"than {MOST} times the least of the others.",
        "",
        "| set | points | noise | PTU | plain | Isomap 5 | Isomap 10 | |",
        "|" + " --- |" * 8,
    ]
    n_behind = 0
    for (name, n_points, noise), found in zip(cases, np.median(errors, axis=1), strict=True):
        is_behind = found[0] > MOST * found[1:].min()
        n_behind += is_behind
        cells = " | ".join(f"{error:.3g}" for error in found)
        word = "behind" if is_behind else ""
        lines.append(f"| {name} | {n_points} | {100 * noise:g} % | {cells} | {word} |")
    lines += ["", f"{n_behind} of {len(cases)} rows are behind."]
    print("\n".join(lines))
    (Path(__file__).parent / "results" / "small.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
