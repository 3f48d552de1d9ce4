"""Curvature, rims, holes and stretch against the truth, and what they cost.

``python benchmarks/shape.py 20 --output benchmarks/results/shape.md``
"""

import argparse
import time
import warnings

import numpy as np
from scipy.spatial import cKDTree

from ptunfold import PTU
from ptunfold.datasets import (
    annulus,
    flat_square,
    l_shape,
    petals,
    s_uneven,
    s_with_hole,
    sphere,
    spherical_cap,
    swiss_roll,
)


def fitted(points, **parameters):
    with warnings.catch_warnings(action="ignore"):
        return PTU(**parameters).fit(points)


def with_noise(points, percent, seed):
    extent = np.ptp(points, axis=0).max()
    noise = np.random.default_rng(seed + 99).standard_normal(points.shape)
    return points + percent / 100 * extent * noise


def saddle(n_points, seed):
    plane = np.random.default_rng(seed).uniform(-1, 1, (n_points, 2))
    height = 0.5 * (plane[:, 0] ** 2 - plane[:, 1] ** 2)
    return np.column_stack((plane, height)), -1 / (1 + np.square(plane).sum(axis=1)) ** 2


def ring_torus(n_points, seed, far=2.0, near=0.8):
    rng = np.random.default_rng(seed)
    around, across = rng.uniform(0, 2 * np.pi, (2, 4 * n_points))
    kept = rng.random(4 * n_points) < (far + near * np.cos(across)) / (far + near)
    around, across = around[kept][:n_points], across[kept][:n_points]
    radius = far + near * np.cos(across)
    points = np.column_stack(
        (radius * np.cos(around), radius * np.sin(around), near * np.sin(across))
    )
    return points, np.cos(across) / (near * radius)


def round_space(n_points, seed):
    points = np.random.default_rng(seed).standard_normal((n_points, 4))
    return points / np.linalg.norm(points, axis=1, keepdims=True), np.ones(n_points)


def even(points, value):
    return points, np.full(len(points), float(value))


CURVED = {
    "sphere, R = 0.5": (lambda n, s: even(0.5 * sphere(n, seed=s).points, 4), 2, 3, 4 * np.pi),
    "sphere, R = 1": (lambda n, s: even(sphere(n, seed=s).points, 1), 2, 3, 4 * np.pi),
    "sphere, R = 3": (lambda n, s: even(3 * sphere(n, seed=s).points, 1 / 9), 2, 3, 4 * np.pi),
    "cap of 60°": (
        lambda n, s: even(spherical_cap(n, angle=60, sampling="random", seed=s).points, 1),
        2,
        2,
        np.pi,
    ),
    "saddle": (saddle, 2, 2, None),
    "ring torus": (ring_torus, 2, 3, 0.0),
    "3-sphere": (round_space, 3, 4, 2 * np.pi**2),
    "swiss roll": (lambda n, s: even(swiss_roll(n, seed=s).points, 0), 2, 2, 0.0),
}


def curvature_rows(n_seeds):
    yield (
        "\n## Curvature of 3000 points\n\nErrors relative to the truth, of the roll to a sphere as "
        "large as it, of saddle and torus to the largest curvature; medians over points and "
        "seeds, the range of the medians over seeds in brackets.\n"
    )
    yield "set | noise % | error, % | 90 % of points within, % | truth within 2 std | total | bound"
    yield "--- | --- | --- | --- | --- | --- | ---"
    for name, (make, dim, n_components, total) in CURVED.items():
        for noise in (0, 1, 2):
            found = []
            for seed in range(n_seeds):
                points, truth = make(3000, seed)
                points = with_noise(points, noise, seed)
                scale = np.abs(truth).max() or (0.5 * np.ptp(points, axis=0).max()) ** -2
                model = fitted(points, n_components=n_components, intrinsic_dim=dim, landmarks=20)
                bent = model.curvature()  # which no embedding changes
                error = np.abs(bent.values - truth)
                found.append(
                    (
                        100 * np.median(error) / scale,
                        100 * np.quantile(error, 0.9) / scale,
                        np.mean(error <= 2 * bent.std),
                        bent.total,
                        bent.bound,
                    )
                )
            low, middle, high = np.quantile(found, (0, 0.5, 1), axis=0)
            wanted = "" if total is None else f" of {total:.2f}"
            yield (
                f"{name} | {noise} | {middle[0]:.2g} ({low[0]:.2g} to {high[0]:.2g}) | "
                f"{middle[1]:.2g} | {middle[2]:.0%} | {middle[3]:.2f}{wanted} "
                f"({low[3]:.2f} to {high[3]:.2f}) | {middle[4]:.3g}"
            )


def borders(seed, n_points):
    rng = np.random.default_rng(seed)
    turn = np.linspace(0, 2 * np.pi, 800)
    circle = np.column_stack((np.cos(turn), np.sin(turn)))
    disc = rng.standard_normal((n_points, 2))
    disc *= np.sqrt(rng.random((n_points, 1))) / np.linalg.norm(disc, axis=1, keepdims=True)
    yield "disc", disc, disc, circle, 1 - np.linalg.norm(disc, axis=1)
    ring = annulus(n_points, seed=seed)
    radius = np.linalg.norm(ring.coordinates, axis=1)
    both = np.concatenate((circle, circle[::2] / 2))
    yield (
        "annulus",
        ring.points,
        ring.coordinates,
        both,
        np.minimum(1 - radius, radius - 0.5),
    )
    cube, faces = rng.random((n_points, 3)), rng.random((6000, 3))
    faces[np.arange(6000), np.arange(6000) % 3] = np.arange(6000) // 3 % 2
    yield "cube", cube, cube, faces, np.minimum(cube, 1 - cube).min(axis=1)
    roll = swiss_roll(n_points, seed=seed)
    flat = roll.coordinates / np.ptp(roll.coordinates, axis=0).max()
    flat, ends = flat - flat.min(axis=0), np.ptp(flat, axis=0)
    edge = np.linspace(0, 1, 500)[:, None] * ends
    zero = np.zeros(500)
    rim = np.concatenate(
        [np.column_stack((edge[:, 0], zero + side)) for side in (0, ends[1])]
        + [np.column_stack((zero + side, edge[:, 1])) for side in (0, ends[0])]
    )
    yield "swiss roll", roll.points, flat, rim, np.minimum(flat, ends - flat).min(axis=1)


def rim_rows(n_seeds):
    yield (
        "\n## Rims\n\nPrecision: points that are within a median edge of the rim; recall: of the "
        "rim, what has such a point within a median edge. Medians over seeds, the least in "
        "brackets.\n"
    )
    yield "set | points | precision | recall"
    yield "--- | --- | --- | ---"
    for n_points in (500, 3000):
        found = {}
        for seed in range(n_seeds):
            for name, points, places, border, away in borders(seed, n_points):
                model = fitted(points, n_components=places.shape[1], landmarks=20)
                steps = places[model.graph_.tails] - places[model.graph_.indices]
                is_rim, edge = model.rim(), np.median(np.linalg.norm(steps, axis=1))
                reached = cKDTree(places[is_rim]).query(border)[0] <= edge
                row = (np.mean(away[is_rim] <= edge), np.mean(reached))
                found.setdefault(name, []).append(row)
        for name, rows in found.items():
            (one, two), (least, lower) = np.median(rows, axis=0), np.min(rows, axis=0)
            yield f"{name} | {n_points} | {one:.2f} ({least:.2f}) | {two:.2f} ({lower:.2f})"
        counts = [
            int(
                fitted(sphere(n_points, seed=s).points, n_components=3, intrinsic_dim=2).rim().sum()
            )
            for s in range(n_seeds)
        ]
        told = f"{max(counts)} points at most, {np.mean(counts):.1f} in mean"
        yield f"sphere | {n_points} | {told} |"


HOLES = {
    "annulus, 0.5": lambda n, s: annulus(n, inner=0.5, seed=s),
    "annulus, 0.3": lambda n, s: annulus(n, inner=0.3, seed=s),
    "annulus, 0.2": lambda n, s: annulus(n, inner=0.2, seed=s),
    "S, 0.4": lambda n, s: s_with_hole(n, seed=s),
    "S, 0.2": lambda n, s: s_with_hole(n, hole=0.2, seed=s),
    "swiss roll, 0.3": lambda n, s: swiss_roll(n, hole=0.3, seed=s),
    "swiss roll, 0.2": lambda n, s: swiss_roll(n, hole=0.2, seed=s),
}


def planted(name, n_points, seed):
    """Find the hole: whether alone, its radius and the error of its centre, and samples inside."""
    data, size = HOLES[name](n_points, seed), float(name.split(", ")[1])
    model = fitted(data.points, landmarks=200)
    voids, flat = model.voids(), data.coordinates
    if not voids:
        return 0, np.nan, np.nan, np.nan
    ones = np.ones((len(flat), 1))
    motion = np.linalg.lstsq(np.hstack((model.embedding_, ones)), flat, rcond=None)[0]
    void, low, high = voids[0], flat.min(axis=0), flat.max(axis=0)
    sides = size * (high - low)
    middle, area = 0.5 * (low + high), np.prod(sides)
    places = np.hstack((void.coordinates, np.ones((len(void.samples), 1)))) @ motion
    is_inside = (np.abs(places - middle) < sides / 2).all(axis=1)
    if name.startswith("annulus"):
        middle, area = np.zeros(2), np.pi * size**2
        is_inside = np.linalg.norm(places, axis=1) < size
    radius = np.sqrt(area / np.pi)
    off = np.linalg.norm(np.append(void.center_embedding, 1) @ motion - middle)
    return len(voids) == 1, void.radius / radius, 50 * off / radius, is_inside.mean()


FULL = {
    "swiss roll": lambda n, s: swiss_roll(n, seed=s),
    "square": lambda n, s: flat_square(n, seed=s),
    "S, density 1 to 5": lambda n, s: s_uneven(n, ratio=5, seed=s),
    "cap of 60°": lambda n, s: spherical_cap(n, angle=60, sampling="random", seed=s),
    "L": lambda n, s: l_shape(n, seed=s),
    "petals": lambda n, s: petals(n, seed=s),
    "sphere": lambda n, s: sphere(n, seed=s),
}


def hole_rows(n_seeds):
    yield (
        "\n## Holes\n\nSizes are radii, or shares of width and height. Centres are off by a share "
        "of the hole's diameter; the worst in brackets.\n"
    )
    yield "set | points | found, and nothing else | radius | centre off, % | samples inside"
    yield "--- | --- | --- | --- | --- | ---"
    for name in HOLES:
        for n_points in (500, 1000, 3000):
            rows = np.array([planted(name, n_points, seed) for seed in range(n_seeds)], dtype=float)
            n_found = f"{int(rows[:, 0].sum())} of {n_seeds}"
            if np.isnan(rows[:, 1]).all():
                yield f"{name} | {n_points} | {n_found} | | |"
                continue
            middle, worst = np.nanmedian(rows, axis=0), np.nanmax(rows[:, 2])
            yield (
                f"{name} | {n_points} | {n_found} | {middle[1]:.2f} of the true one | "
                f"{middle[2]:.1f} ({worst:.0f}) | {np.nanmean(rows[:, 3]):.0%}"
            )
    yield "\nfull sheets | points | with a hole"
    yield "--- | --- | ---"
    for name, make in FULL.items():
        for n_points in (500, 1000, 3000):
            n_full = n_seeds * 3 if n_points < 3000 else n_seeds
            found = sum(
                bool(fitted(make(n_points, seed).points, landmarks=100).voids())
                for seed in range(n_full)
            )
            yield f"{name} | {n_points} | {found} of {n_full}"


def stretch_rows(n_seeds):
    yield "\n## Stretch of 2000 points\n\nset | median | share beyond 10 % | bound of any flat map"
    yield "--- | --- | --- | ---"
    for name in ("swiss roll", "cap of 60°", "petals", "S, density 1 to 5"):
        rows = []
        for seed in range(min(n_seeds, 5)):
            model = fitted(FULL[name](2000, seed).points)
            found = model.stretch()
            rows.append((found.median, found.share, model.curvature().bound))
        median, share, bound = np.median(rows, axis=0)
        yield f"{name} | {median:.3f} | {share:.0%} | {bound:.3f}"


def cost_rows(_):
    yield "\n## Seconds for 10 000 points\n\nset | fit | curvature | rim | stretch | voids"
    yield "--- | --- | --- | --- | --- | ---"
    sets = {
        "swiss roll with a hole": swiss_roll(10_000, hole=0.3).points,
        "cap of 60°": spherical_cap(10_000, angle=60, sampling="random").points,
        "sphere": sphere(10_000).points,
    }
    small = fitted(swiss_roll(500, hole=0.3).points)
    for name in ("curvature", "rim", "stretch", "voids"):
        getattr(small, name)()  # compiled
    for name, points in sets.items():
        start = time.perf_counter()
        model = fitted(points)
        seconds = [time.perf_counter() - start]
        for method in ("curvature", "rim", "stretch", "voids"):
            start = time.perf_counter()
            getattr(model, method)()
            seconds.append(time.perf_counter() - start)
        yield f"{name} | " + " | ".join(f"{taken:.2f}" for taken in seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_seeds", type=int, nargs="?", default=20)
    parser.add_argument("--output")
    options = parser.parse_args()
    lines = ["# The shape of sheets\n"]
    print(lines[0])
    for part in (cost_rows, stretch_rows, curvature_rows, rim_rows, hole_rows):
        for line in part(options.n_seeds):
            lines.append(line)
            print(line, flush=True)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
