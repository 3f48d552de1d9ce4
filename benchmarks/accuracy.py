"""Accuracy against the truth: the paper's plain form, the default, the careful options, Isomap.

Writes ``benchmarks/results/accuracy.md``: median and worst over seeds of the mean relative error of
distances, or of the Frobenius error of the embedding after rigid alignment, in per cent.
"""

import statistics
import sys
import warnings
from pathlib import Path

import numpy as np
from truth import embedding_error

from ptunfold import PTU, build_graph, classical_mds, geodesic_distances, graph_distances
from ptunfold.datasets import petals, s_uneven, s_with_hole, spherical_cap, swiss_roll

PLAIN = {"n_neighbors": 10, "tangent_neighbors": 10, "step": "projection"}
CAREFUL = {
    "n_neighbors": 20,
    "tangent": "quadratic",
    "step": "arc",
    "denoise": "auto",
    "prune": "shortcuts",
}
WAYS = {"paper": PLAIN, "default": {}, "careful": CAREFUL}
DISTANCES = {
    "spherical cap, 700 regular": lambda seed: spherical_cap(700, angle=40),
    "spherical cap, 1500 random": lambda seed: spherical_cap(
        1500, angle=60, sampling="random", seed=seed
    ),
    "S with a hole, 2000": lambda seed: s_with_hole(2000, seed=seed),
    "S, density 1:30, 2000": lambda seed: s_uneven(2000, seed=seed),
}
NOISES = [0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.028, 0.032, 0.035]


def distance_error(found, exact):
    apart = exact > 0
    return 100 * float(np.mean(np.abs(found[apart] - exact[apart]) / exact[apart]))


def main(n_seeds):
    warnings.simplefilter("ignore")
    names = [*WAYS, "Isomap"]
    lines = []

    def say(line):
        print(line, flush=True)
        lines.append(line)

    def table(what, sets, measure):
        say(f"\n{what}, median (worst) of {n_seeds} seeds, in per cent\n")
        say("| set | " + " | ".join(names) + " |")
        say("|" + " --- |" * (1 + len(names)))
        for name, make in sets.items():
            runs = [measure(make(seed)) for seed in range(n_seeds)]
            columns = zip(*runs, strict=True)
            cells = [f"{statistics.median(c):.3f} ({max(c):.3f})" for c in columns]
            say(f"| {name} | " + " | ".join(cells) + " |")

    def distances(data):
        exact = data.distances()
        found = [geodesic_distances(data.points, n_jobs=-1, **way) for way in WAYS.values()]
        found.append(graph_distances(build_graph(data.points), n_jobs=-1))
        return [distance_error(rows, exact) for rows in found]

    def embeddings(data):
        found = [PTU(n_jobs=-1, **way).fit(data.points).embedding_ for way in WAYS.values()]
        rows = graph_distances(build_graph(data.points), n_jobs=-1)
        if np.isfinite(rows).all():
            found.append(classical_mds(rows).coordinates)
        else:
            found.append(np.zeros_like(found[0]))
        exact = data.coordinates
        if exact is None:  # no flat truth: the embedding by the true distances
            exact = classical_mds(data.distances()).coordinates
        return [100 * embedding_error(places, exact) for places in found]

    say("careful: `" + ", ".join(f"{name}={value!r}" for name, value in CAREFUL.items()) + "`")
    table("Mean relative error of all distances", DISTANCES, distances)
    rolls = {
        f"swiss roll, 2000, noise {noise:.1%}": lambda seed, noise=noise: swiss_roll(
            2000, noise=noise, seed=seed
        )
        for noise in NOISES
    }
    sets = {
        **rolls,
        "petals, 1600": lambda seed: petals(1600, seed=seed),
        "petals, 1600, noise 3 %": lambda seed: petals(1600, noise=0.03, seed=seed),
    }
    table("Error of the embedding", sets, embeddings)
    (Path(__file__).parent / "results" / "accuracy.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
