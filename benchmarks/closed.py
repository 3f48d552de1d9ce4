"""Closed data: whether seams are found and periods are right, and nothing is cut that is open.

``python benchmarks/closed.py 50 --jobs 2 --output benchmarks/results/closed.md``, and
``python benchmarks/closed.py 5 --cost`` for what the search for seams takes of a fit.
"""

import argparse
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np

from ptunfold import PTU, pipeline
from ptunfold.datasets import (
    annulus,
    flat_torus,
    klein_bottle,
    petals,
    s_with_hole,
    sphere,
    spherical_cap,
    swiss_roll,
    two_hills,
)

TURN = 2 * np.pi


def with_noise(points, noise, rng):
    return points + noise * np.ptp(points, axis=0).max() * rng.normal(size=points.shape)


def wrapped(coordinates, periods):
    """Measure between coordinates (n, d) whose first ones come back after ``periods``."""

    def rows(sources):
        apart = np.abs(coordinates[sources, None] - coordinates[None])
        for axis, period in enumerate(periods):
            apart[..., axis] = np.minimum(apart[..., axis], period - apart[..., axis])
        return np.linalg.norm(apart, axis=2)

    return rows


def cylinder(n_points, rng):
    angle, height = rng.uniform(0, TURN, n_points), rng.uniform(0, 4, n_points)
    points = np.column_stack((np.cos(angle), np.sin(angle), height))
    return points, wrapped(np.column_stack((angle, height)), [TURN]), [TURN]


def torus(n_points, rng, dim=2):
    angles = rng.uniform(0, TURN, (n_points, dim))
    points = np.concatenate((np.cos(angles), np.sin(angles)), axis=1)
    return points, wrapped(angles, [TURN] * dim), [TURN] * dim


def torus_3d(n_points, rng):
    return torus(n_points, rng, 3)


def moebius(n_points, rng):
    """Sample a flat Möbius band in R⁵."""
    around, across = rng.uniform(0, TURN, n_points), rng.uniform(-0.5, 0.5, n_points)
    sine, cosine = 2 * np.sin(across / 2), 2 * np.cos(across / 2)
    points = np.column_stack(
        (
            sine * np.cos(around / 2),
            sine * np.sin(around / 2),
            cosine * np.cos(around) / 2,
            cosine * np.sin(around) / 2,
            np.sqrt(0.75) * cosine,
        )
    )

    def rows(sources):
        ways = []
        for shift in (-TURN, 0, TURN):
            along = around[sources, None] - around[None] + shift
            ways.append(np.hypot(along, across[sources, None] - (-1) ** (shift != 0) * across))
        return np.min(ways, axis=0)

    return points, rows, [TURN]


def knot(n_points, rng):
    """Sample a closed curve in R³, the trefoil."""
    fine = np.linspace(0, TURN, 200_001)

    def place(angle):
        return np.column_stack(
            (
                np.sin(angle) + 2 * np.sin(2 * angle),
                np.cos(angle) - 2 * np.cos(2 * angle),
                -np.sin(3 * angle),
            )
        )

    lengths = np.linalg.norm(np.diff(place(fine), axis=0), axis=1)
    along = np.concatenate(([0], np.cumsum(lengths)))
    angle = rng.uniform(0, TURN, n_points)
    where = np.interp(angle, fine, along)[:, None]
    return place(angle), wrapped(where, [along[-1]]), [along[-1]]


def projective_plane(n_points, rng):
    axes = rng.normal(size=(n_points, 3))
    x, y, z = (axes / np.linalg.norm(axes, axis=1, keepdims=True)).T
    return np.column_stack(
        (x * y, x * z, y * z, (x * x - y * y) / 2, (x * x + y * y - 2 * z * z) / np.sqrt(12))
    )


def torus_of_revolution(n_points, rng, thickness=0.4):
    angle = rng.uniform(0, TURN, 10 * n_points)
    is_kept = rng.uniform(0, 1 + thickness, len(angle)) < 1 + thickness * np.cos(angle)
    angle, around = angle[is_kept][:n_points], rng.uniform(0, TURN, n_points)
    radius = 1 + thickness * np.cos(angle)
    height = thickness * np.sin(angle)
    return np.column_stack((radius * np.cos(around), radius * np.sin(around), height))


FLAT = {
    "cylinder": (cylinder, 2, "a cylinder"),
    "torus": (torus, 2, "a torus"),
    "3-torus": (torus_3d, 3, "a 3-torus"),
    "Möbius band": (moebius, 2, "a Möbius band"),
    "knot": (knot, 1, "a ring"),
}
CURVED = {
    "sphere": (lambda n, seed: sphere(n, seed=seed).points, "a sphere"),
    "projective plane": (
        lambda n, seed: projective_plane(n, np.random.default_rng(seed)),
        "a projective plane",
    ),
    "Klein bottle": (lambda n, seed: klein_bottle(n, seed=seed).points, "a Klein bottle"),
    "torus of revolution": (
        lambda n, seed: torus_of_revolution(n, np.random.default_rng(seed)),
        "a torus",
    ),
    "flat torus": (lambda n, seed: flat_torus(n, seed=seed).points, "a torus"),
}


def cap(n, seed):
    rng = np.random.default_rng(seed)
    height, angle = rng.uniform(0.5, 1, n), rng.uniform(0, TURN, n)  # 120 degrees across
    radius = np.sqrt(1 - height**2)
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle), height))


def roll_with_hole(n, seed):
    data = swiss_roll(2 * n, seed=seed)
    middle = data.coordinates - data.coordinates.mean(axis=0)
    is_kept = np.linalg.norm(middle / np.ptp(middle, axis=0), axis=1) > 0.2
    return data.points[is_kept][:n]


def noisy_roll(noise):
    return lambda n, seed: swiss_roll(n, noise=noise, seed=seed).points


OPEN = {
    "swiss roll": noisy_roll(0),
    "swiss roll with a hole": roll_with_hole,
    "S with a hole": lambda n, seed: s_with_hole(n, seed=seed).points,
    "annulus": lambda n, seed: annulus(n, seed=seed).points,
    "cap": cap,
    "even cap": lambda n, seed: spherical_cap(n + seed).points,
    "petals": lambda n, seed: petals(n, seed=seed).points,
    "two hills": lambda n, seed: two_hills(n, seed=seed).points,
    "roll, 1 % noise": noisy_roll(0.01),
    "roll, 2 % noise": noisy_roll(0.02),
    "roll, 2.8 % noise": noisy_roll(0.028),
}


def flat(name, n_points, noise, seed):
    """Tell whether it was named and cut right; errors of distances and periods in percent.

    The last is the error of a sheet of the same kind that is open: what is left of this one
    without the points on one side of a cut, by distances within.
    """
    make, dim, expected = FLAT[name]
    rng = np.random.default_rng(seed)
    points, rows, periods = make(n_points, rng)
    noisy = with_noise(points, noise, rng)
    model = PTU(dim, n_jobs=1).fit(noisy)
    topology = model.topology_
    if not topology.name.startswith(expected) or len(topology.seams) != len(periods):
        return False, np.nan, np.nan, np.nan
    sources = np.arange(0, n_points, max(n_points // 50, 1))
    images = model.images()
    if not len(images):
        return False, np.nan, np.nan, np.nan
    tile = np.concatenate((model.embedding_[None], images))
    shown = np.linalg.norm(model.embedding_[None, sources, None] - tile[:, None], axis=3)
    exact = rows(sources)
    error = np.linalg.norm(shown.min(axis=0) - exact) / np.linalg.norm(exact)
    lengths = np.array([seam.length for seam in topology.seams])
    # Half of each turn, within which no way around is shorter.
    turns = model.intrinsic_coordinates_[:, : len(periods)]
    part = np.flatnonzero((np.abs(turns - np.pi) < np.pi / 2).all(axis=1))
    embedding = PTU(dim, n_jobs=1).fit_transform(noisy[part])
    exact = rows(part)[:, part]
    shown = np.linalg.norm(embedding[:, None] - embedding[None], axis=2)
    as_open = np.linalg.norm(shown - exact) / np.linalg.norm(exact)
    return True, 100 * error, 100 * np.abs(lengths / periods - 1).max(), 100 * as_open


def curved(name, n_points, seed):
    make, expected = CURVED[name]
    return PTU(2, n_jobs=1, landmarks=50).fit(make(n_points, seed)).topology_.name == expected


def is_open(name, n_points, seed):
    model = PTU(2, n_jobs=1, landmarks=50).fit(OPEN[name](n_points, seed))
    return not len(model.topology_.edges) and model.topology_.has_rim


def cost(n_repeats, n_points=10_000):
    """Tell the seconds of fits as they come and with all distances, and of their search."""
    sets = {
        name: (make(n_points, np.random.default_rng(0))[0], dim)
        for name, (make, dim, _) in FLAT.items()
    }
    sets["swiss roll"] = OPEN["swiss roll"](n_points, 0), 2
    sets["S with a hole"] = OPEN["S with a hole"](n_points, 0), 2
    cut_open, searched = pipeline.cut_open, []

    def timed(*arguments):
        start = time.perf_counter()
        found = cut_open(*arguments)
        searched.append(time.perf_counter() - start)
        return found

    pipeline.cut_open = timed
    lines = [
        f"{n_points} points | fit, s | search, s (share) | fit with all distances, s | "
        "search, s (share)",
        "--- | --- | --- | --- | ---",
    ]
    for name, (points, dim) in sets.items():
        cells = [name]
        call((PTU(dim).fit, points[:2000]))  # kernels are compiled
        for options in ({}, {"landmarks": None}):
            seconds = []
            searched.clear()
            for _ in range(n_repeats):
                start = time.perf_counter()
                call((PTU(dim, **options).fit, points))
                seconds.append(time.perf_counter() - start)
            whole, part = np.median(seconds), np.median(searched)
            cells += [f"{whole:.2f}", f"{part:.3f} ({100 * part / whole:.0f} %)"]
        lines.append(" | ".join(cells))
        print(lines[-1], flush=True)
    return lines


def call(job):
    function, *arguments = job
    with warnings.catch_warnings(action="ignore"):
        return function(*arguments)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("n_seeds", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 3000])
    parser.add_argument("--sets", nargs="+", help="these sets alone")
    parser.add_argument("--cost", action="store_true", help="what the search takes of a fit")
    parser.add_argument("--output")
    given = parser.parse_args()
    if given.cost:
        print("\n".join(cost(given.n_seeds)))
        return
    seeds, lines = range(given.n_seeds), ["# Closed data", ""]
    rows = [(flat, *case) for case in product(FLAT, given.sizes, (0, 0.01, 0.03))]
    rows += [(curved, *case) for case in product(CURVED, given.sizes)]
    rows += [(is_open, *case) for case in product(OPEN, given.sizes)]
    rows = [row for row in rows if not given.sets or row[1] in given.sets]
    with ProcessPoolExecutor(given.jobs) as pool:
        found = list(pool.map(call, [(*row, seed) for row in rows for seed in seeds], chunksize=4))
    heads = {
        flat: [
            "set | points | noise % | named and cut right | distances, % (worst) | "
            "periods, % (worst) | distances of half of it, open, % (worst)",
            "--- | --- | --- | --- | --- | --- | ---",
        ],
        curved: ["", "set | points | named right", "--- | --- | ---"],
        is_open: ["", "open set | points | left whole", "--- | --- | ---"],
    }
    for place, (function, *case) in enumerate(rows):
        lines += heads.pop(function, [])
        part = found[place * len(seeds) : (place + 1) * len(seeds)]
        if function is not flat:
            lines.append(f"{case[0]} | {case[1]} | {sum(part)} of {len(part)}")
            continue
        right, *errors = np.array(part, dtype=float).T
        numbers = [f"{np.nanmedian(values):.2g} ({np.nanmax(values):.2g})" for values in errors]
        lines.append(
            f"{case[0]} | {case[1]} | {100 * case[2]:g} | {right.sum():.0f} of {len(part)} | "
            + " | ".join(numbers)
        )
    text = "\n".join(lines) + "\n"
    print(text)
    if given.output:
        with open(given.output, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
