"""Error bars: how many errors of distances are within one and two standard deviations.

``python benchmarks/bars.py 10 --jobs 2 --output benchmarks/results/bars.md``

Noise is alike in all directions, as a part of the longest side, unless it says normal. Meshes are
those of a folder with point sets, exact distances and sources, as `make real` takes them.
"""

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path

import numpy as np

from ptunfold import PTU
from ptunfold.datasets import (
    annulus,
    flat_square,
    petals,
    s_with_hole,
    spherical_cap,
    swiss_roll,
    two_hills,
)

NOMINAL = {"68 %": 1.0, "95 %": 1.96}
ALLOWED = {"68 %": (0.60, 0.76), "95 %": (0.90, 0.98)}
N_SOURCES = 8


def noisy(make, noise):
    def made(n_points, seed):
        data = make(n_points, seed=seed)
        side = np.ptp(data.points, axis=0).max()
        shift = noise * side * np.random.default_rng(1000 + seed).normal(size=data.points.shape)
        return replace(data, points=data.points + shift)

    return made


def cap(angle):
    return lambda n_points, seed: spherical_cap(n_points, angle=angle, sampling="random", seed=seed)


SETS = {
    "roll": swiss_roll,
    **{
        f"roll, noise {100 * x:g} %": noisy(swiss_roll, x)
        for x in (0.005, 0.01, 0.015, 0.02, 0.025)
    },
    "roll, noise 1 %, normal": lambda n, seed: swiss_roll(n, noise=0.01, seed=seed),
    "S with a hole": s_with_hole,
    "S with a hole, noise 1 %": noisy(s_with_hole, 0.01),
    "cap of 60°": cap(60),
    "cap of 60°, noise 0.5 %": noisy(cap(60), 0.005),
    "cap of 100°": cap(100),
    "petals": petals,
    "petals, noise 0.5 %": noisy(petals, 0.005),
    "two hills": two_hills,
    "square in 100 dimensions": lambda n, seed: flat_square(n, n_features=100, seed=seed),
    "annulus in 100 dimensions": lambda n, seed: annulus(n, n_features=100, seed=seed),
}


def shares(errors, std):
    """Tell the shares of errors within bars, and how long bars are, as medians."""
    z = np.abs(errors) / np.where(std > 0, std, np.inf)
    within = [float(np.mean(z <= factor)) for factor in NOMINAL.values()]
    return [*within, float(np.median(std) / max(np.median(np.abs(errors)), 1e-300))]


def one(job):
    name, n_points, seed = job
    warnings.simplefilter("ignore")
    data = SETS[name](n_points, seed=seed)
    model = PTU(n_jobs=1, seams="leave").fit(data.points)
    sources = np.random.default_rng(seed).choice(n_points, N_SOURCES, replace=False)
    exact = data.distances(sources)
    found, std = model.distances(sources, return_std=True)
    is_apart = exact > 0
    return job, shares((found - exact)[is_apart], std[is_apart])


def meshes(folder):
    for path in sorted(Path(folder).glob("mesh_*.npz")):
        data = np.load(path)
        with warnings.catch_warnings(action="ignore"):
            model = PTU(seams="leave").fit(data["X"].astype(float))
        found, std = model.distances(data["sources"], return_std=True)
        is_apart = data["distances"] > 0
        yield (
            path.stem,
            len(data["X"]),
            shares((found - data["distances"])[is_apart], std[is_apart]),
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("n_seeds", type=int)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1500, 4000])
    parser.add_argument("--sets", nargs="+", help="these sets alone")
    parser.add_argument("--meshes", help="a folder with mesh_*.npz")
    parser.add_argument("--output")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.n_seeds)
    jobs = list(product(given.sets or SETS, given.sizes, seeds))
    lines = [
        "# Error bars of distances",
        "",
        f"Means over {given.n_seeds} seeds, from {given.first} on. A row is as it should be if 60",
        "to 76 % of the errors are within one standard deviation, 90 to 98 % within 1.96, and the",
        "median bar is at most three times the median error.",
        "",
        "set | points | within 1 | within 1.96 | bar / error | ",
        "--- | --- | --- | --- | --- | ---",
    ]
    n_right, n_rows = 0, 0
    with ProcessPoolExecutor(given.jobs) as pool:
        results = list(pool.map(one, jobs))
    rows = [
        (*key, np.mean([found for _, found in some], axis=0))
        for key, some in groupby(results, key=lambda result: result[0][:2])
    ]
    rows += list(meshes(given.meshes)) if given.meshes else []
    for name, n_points, found in rows:
        is_right = found[2] <= 3 and all(
            low <= share <= high
            for share, (low, high) in zip(found[:2], ALLOWED.values(), strict=True)
        )
        n_right, n_rows = n_right + is_right, n_rows + 1
        told = f"{name} | {n_points} | {found[0]:.0%} | {found[1]:.0%} | {found[2]:.1f}"
        lines.append(f"{told} | {'' if is_right else 'off'}")
    lines += ["", f"{n_right} of {n_rows} rows are as they should be."]
    print("\n".join(lines))
    if given.output:
        Path(given.output).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
