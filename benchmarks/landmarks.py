"""How close landmarks come to all distances, by their number, choice and weights.

Writes ``benchmarks/results/landmarks.md``: Frobenius error after rigid alignment, in per cent,
median and worst of ten seeds, against the embedding by all distances and the exact sheet.
"""

import statistics
import sys
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from truth import embedding_error

from ptunfold import PTU, geodesic_distances, landmark_mds
from ptunfold.datasets import petals, s_uneven, swiss_roll

SETS = {
    "petals": (lambda seed: petals(1600, seed=seed), (9, 19, 50)),
    "uneven S": (lambda seed: s_uneven(2000, seed=seed), (10, 20, 50)),
    "roll with a hole": (lambda seed: swiss_roll(2000, hole=0.4, seed=seed), (10, 20, 50)),
    "roll, 1 % noise": (lambda seed: swiss_roll(2000, noise=0.01, seed=seed), (10, 20, 50, 100)),
}


def error(found, exact):
    return 100 * embedding_error(found, exact)


def equal_weights(rows, landmarks, n_components=2):
    """Place points as the paper does, with the ½ that its formula lacks."""
    squares = rows**2
    among = 0.5 * (squares[:, landmarks] + squares[:, landmarks].T)
    means = among.mean(axis=0)
    gram = -0.5 * (among - means - means[:, None] + means.mean())
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    return 0.5 * (means[:, None] - squares).T @ vectors / np.sqrt(values)


def choices(points, distances, count, seed):
    rng = np.random.default_rng(seed)
    centers = KMeans(count, n_init=1, random_state=seed).fit(points).cluster_centers_
    return {
        "maxmin": PTU(landmarks=count).fit(points).landmarks_,
        "k-means": np.unique(cdist(centers, points).argmin(axis=1)),
        "random": rng.choice(len(points), count, replace=False),
    }


def main(n_seeds):
    lines = [
        f"Error in per cent, median (worst) of {n_seeds} seeds.\n",
        "| set | landmarks | choice | weights | to all distances | to the sheet |",
        "|" + " --- |" * 6,
    ]
    for name, (make, counts) in SETS.items():
        found = {}
        for seed in range(n_seeds):
            data = make(seed)
            distances = geodesic_distances(data.points, n_jobs=-1)
            full = PTU(landmarks=None, n_jobs=-1).fit(data.points).embedding_
            for count in counts:
                for choice, chosen in choices(data.points, distances, count, seed).items():
                    rows = distances[chosen]
                    for weights, places in (
                        ("cells", landmark_mds(rows, chosen).coordinates),
                        ("equal", equal_weights(rows, chosen)),
                    ):
                        exact = data.coordinates
                        found.setdefault((count, choice, weights), []).append(
                            (error(places, full), None if exact is None else error(places, exact))
                        )
        for (count, choice, weights), pairs in found.items():
            cells = [
                "" if None in column else f"{statistics.median(column):.2f} ({max(column):.2f})"
                for column in zip(*pairs, strict=True)
            ]
            lines.append(f"| {name} | {count} | {choice} | {weights} | {cells[0]} | {cells[1]} |")
            print(lines[-1], flush=True)
    (Path(__file__).parent / "results" / "landmarks.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
