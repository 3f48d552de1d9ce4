"""Distances of few points on sheets, rolls and closed surfaces, beside both Isomaps.

``python benchmarks/few_points.py 3 --jobs 2 --output benchmarks/results/few_points.md`` takes three
seeds of each set; ``--first 100`` other ones.
"""

import argparse
import os
import warnings
from functools import partial
from itertools import product

import numpy as np
from closed import TURN, cylinder, with_noise, wrapped
from joblib import Parallel, delayed
from sklearn.manifold import Isomap
from truth import distance_error

from ptunfold import PTU
from ptunfold.datasets import annulus, petals, s_with_hole, sphere, spherical_cap, swiss_roll

SIZES = (60, 100, 150, 220, 300, 450)
NOISES = (0, 0.01, 0.02, 0.04)  # of the longest side
DIMENSIONS = (None, 8)  # that the noise has; as many as the points by default
PLAIN = {"n_neighbors": 10, "tangent": "pca", "step": "chord", "denoise": 0, "coherence": 1}
BEHIND = 1.1  # times the error of the better Isomap


def of_dataset(make, n_points, rng):
    data = make(n_points, seed=int(rng.integers(1 << 30)))
    return data.points, data.distances()


def torus(n_points, rng, radii):
    angles = rng.uniform(0, TURN, (n_points, 2))
    points = np.concatenate((radii * np.cos(angles), radii * np.sin(angles)), axis=1)
    return points, wrapped(radii * angles, TURN * radii)(np.arange(n_points))


def tube(n_points, rng):
    points, rows, _ = cylinder(n_points, rng)
    return points, rows(np.arange(n_points))


SHAPES = {
    "sphere": partial(of_dataset, sphere),
    "torus": partial(torus, radii=np.array([1.0, 0.6])),
    "thin torus": partial(torus, radii=np.array([1.0, 0.3])),
    "tube": tube,
    "cap": partial(of_dataset, spherical_cap),
    "petals": partial(of_dataset, petals),
    "annulus": partial(of_dataset, annulus),
    "S with a hole": partial(of_dataset, s_with_hole),
    "roll": partial(of_dataset, swiss_roll),
    "roll with a hole": partial(of_dataset, partial(swiss_roll, hole=0.4)),
}


def measure(shape, n_points, noise, n_features, seed):
    """Return the errors of PTU as it comes, of its plain form and of two Isomaps, in per cent."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, n_points])
    points, exact = SHAPES[shape](n_points, rng)
    if n_features:
        turn = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
        points = points @ turn[: points.shape[1]]
    points = with_noise(points, noise, rng)
    found = [PTU(n_jobs=1, **options).fit(points).distances() for options in ({}, PLAIN)]
    found += [Isomap(n_neighbors=k).fit(points).dist_matrix_ for k in (5, 10)]
    return [distance_error(distances, exact) for distances in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--output")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    sets = list(product(SHAPES, SIZES, NOISES, DIMENSIONS, seeds))
    errors = np.array(Parallel(asked.jobs)(delayed(measure)(*one) for one in sets))
    names = np.array([shape for shape, *_ in sets])
    behind = errors[:, 0] > BEHIND * errors[:, 2:].min(axis=1)
    lines = [
        "# Few points\n",
        f"Geodesic distances of {', '.join(map(str, SIZES))} points with noise of "
        f"{', '.join(f'{noise:.0%}' for noise in NOISES)} of the longest side, in the space of the "
        f"surface and in eight dimensions, {asked.seeds} seeds of each: the geometric mean of the "
        "mean relative errors in per cent, and on how many sets PTU as it comes is more than a "
        "tenth behind the better Isomap.\n",
        "| shape | PTU | plain PTU | Isomap 5 | Isomap 10 | behind |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in [*SHAPES, "all"]:
        some = (names == name) | (name == "all")
        means = np.exp(np.log(np.maximum(errors[some], 1e-3)).mean(axis=0))
        cells = " | ".join(f"{mean:.2f}" for mean in means)
        lines.append(f"| {name} | {cells} | {behind[some].sum()} of {some.sum()} |")
    print("\n".join(lines))
    if asked.output:
        with open(asked.output, "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
