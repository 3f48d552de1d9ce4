"""Metrics: distances in the place of coordinates, with a truth that is known.

``python benchmarks/metrics.py [--alanine FILE] [--output benchmarks/results/metrics.md]``

The file holds conformations as ``X`` (n, 3 * n_atoms) with ``angle_*`` (n,); without it that line
is left out.
"""

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist
from sklearn.manifold import Isomap
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor, kneighbors_graph

from ptunfold import PTU, geodesic_distances
from ptunfold.datasets import annulus, flat_square, s_with_hole, spherical_cap, swiss_roll

PLAIN = {"tangent": "pca", "step": "chord", "denoise": 0, "n_neighbors": 10, "coherence": 1}


def error(found, truth):
    """Tell the mean error of distances, as part of their mean."""
    return np.abs(found - truth).mean() / truth.mean()


def by_paths(distances):
    """Return lengths along the graph of ten neighbours, as Isomap takes them."""
    graph = kneighbors_graph(distances, 10, mode="distance", metric="precomputed")
    return csgraph.dijkstra(graph, directed=False)


def noisy(data, noise, seed=0):
    side = np.ptp(data.points, axis=0).max()
    shift = noise * side * np.random.default_rng(seed).normal(size=data.points.shape)
    return replace(data, points=data.points + shift)


def random_cap(angle, n_points):
    return spherical_cap(n_points, angle=angle, sampling="random")


SETS = {
    "square": flat_square(1000),
    "ring": annulus(1000),
    "S with a hole": s_with_hole(1500),
    "S with a hole, noise 1 %": noisy(s_with_hole(1500), 0.01),
    "cap of 60°": random_cap(60, 1000),
    "cap of 60°, noise 0.5 %": noisy(random_cap(60, 1000), 0.005),
    "roll": swiss_roll(1500),
    "roll, noise 1 %": noisy(swiss_roll(1500), 0.01),
}


def euclidean_lines():
    yield "| set | settings | from coordinates | from distances | they differ by |"
    yield "| --- | --- | --- | --- | --- |"
    for name, data in SETS.items():
        truth, distances = data.distances(), cdist(data.points, data.points)
        for settings, options in (("plain", PLAIN), ("auto", {})):
            one = geodesic_distances(data.points, **options)
            other = geodesic_distances(distances, metric="precomputed", **options)
            errors = f"{100 * error(one, truth):.2g} % | {100 * error(other, truth):.2g} %"
            apart = np.abs(one - other).max() / truth.max()
            yield f"| {name} | {settings} | {errors} | {apart:.1e} |"


def sphere(n_points=1500):
    """Make points on a sphere, and the arcs between them."""
    points = np.random.default_rng(0).normal(size=(n_points, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return 2 * np.arcsin(np.clip(cdist(points, points) / 2, 0, 1))


def distorted_roll(n_points=1500):
    """Make a roll whose distances are shortened, the more the longer they are."""
    data = swiss_roll(n_points)
    apart = cdist(data.points, data.points)
    truth = data.distances()
    scale = truth.max() / 4
    return scale * np.tanh(apart / scale), truth


def shifted_histograms(n_points=600, n_bins=200):
    """Make histograms of one shape at random places, and tell where these are."""
    places = np.sort(np.random.default_rng(0).uniform(0.2, 0.8, n_points))
    bins = np.linspace(0, 1, n_bins)
    found = np.exp(-0.5 * ((bins - places[:, None]) / 0.04) ** 2)
    return found / found.sum(axis=1, keepdims=True), places


def wasserstein(one, other):
    """Return the least work that makes one histogram of the other, on a line of length 1."""
    return np.abs(np.cumsum(one - other)).sum() / (len(one) - 1)


def rotated_images(n_points=800, n_rings=12, n_angles=48, seed=0):
    """Make images of two spots that lie differently, each turned at random, in polar coordinates.

    Returns images, and the radius and the angle between the spots that tell them apart.
    """
    rng = np.random.default_rng(seed)
    radius, angle = rng.uniform(0.35, 0.75, n_points), rng.uniform(0.7, 2.2, n_points)
    turn = rng.uniform(0, 2 * np.pi, n_points)
    rings = (np.arange(n_rings) + 0.5) / n_rings
    around = 2 * np.pi * np.arange(n_angles) / n_angles
    x, y = (rings[:, None] * side(around) for side in (np.cos, np.sin))
    images = np.zeros((n_points, n_rings, n_angles))
    for distance, where, width in ((0.55, turn, 0.25), (radius, turn + angle, 0.2)):
        places = (distance * side(where) for side in (np.cos, np.sin))
        left, up = (np.broadcast_to(place, n_points)[:, None, None] for place in places)
        images += np.exp(-0.5 * (np.square(x - left) + np.square(y - up)) / width**2)
    images *= np.sqrt(rings)[:, None]  # a pixel of an outer ring is larger
    return images.reshape(n_points, -1), np.column_stack((radius, angle))


def up_to_rotation(one, other, n_rings=12):
    """Return the distance of two images, one of them turned as suits best."""
    first, second = (np.fft.rfft(image.reshape(n_rings, -1), axis=1) for image in (one, other))
    size = 2 * (first.shape[1] - 1)
    products = np.fft.irfft((first * second.conj()).sum(axis=0), 16 * size) * 16
    return np.sqrt(max(one @ one + other @ other - 2 * products.max(), 0))


def rmsd(conformations):
    """Return the root mean square distance of atoms, each pair of conformations turned to fit."""
    shapes = conformations.reshape(len(conformations), -1, 3)
    shapes = shapes - shapes.mean(axis=1, keepdims=True)
    sizes = np.square(shapes).sum(axis=(1, 2))
    found = np.empty((len(shapes), len(shapes)))
    for row, shape in enumerate(shapes):
        products = np.einsum("ax,nay->nxy", shape, shapes)
        values = np.linalg.svd(products, compute_uv=False)
        values[:, -1] *= np.sign(np.linalg.det(products))
        found[row] = sizes[row] + sizes - 2 * values.sum(axis=1)
    found = np.sqrt(np.maximum(0.5 * (found + found.T), 0) / shapes.shape[1])
    np.fill_diagonal(found, 0)
    return found


def told(embedding, values):
    """Tell how well ten neighbours in an embedding predict values, in the mean: R²."""
    folds = KFold(5, shuffle=True, random_state=0)
    found = cross_val_predict(KNeighborsRegressor(10), embedding, values, cv=folds)
    off = np.square(found - values).mean(axis=0) / values.var(axis=0)
    return float(np.mean(1 - off))


def angles_told(embedding, angles):
    """Tell how well ten neighbours predict angles: the mean cosine of the error."""
    folds, found = KFold(5, shuffle=True, random_state=0), []
    for angle in angles:
        circle = np.column_stack((np.cos(angle), np.sin(angle)))
        there = cross_val_predict(KNeighborsRegressor(10), embedding, circle, cv=folds)
        found.append(np.cos(np.arctan2(there[:, 1], there[:, 0]) - angle).mean())
    return float(np.mean(found))


def best_isomap(distances, score):
    """Return the better score of Isomap with 5 and 10 neighbours."""
    models = (Isomap(n_neighbors=k, metric="precomputed") for k in (5, 10))
    return max(score(model.fit_transform(distances)) for model in models)


def truth_lines(alanine):
    yield "| distances | what is compared | PTU | Isomap |"
    yield "| --- | --- | --- | --- |"
    arcs = sphere()
    ours, theirs = error(geodesic_distances(arcs, metric="precomputed"), arcs), by_paths(arcs)
    yield (
        f"| arcs on a sphere | error of distances | {100 * ours:.2g} % "
        f"| {100 * error(theirs, arcs):.2g} % |"
    )
    apart, truth = distorted_roll()
    ours = error(geodesic_distances(apart, metric="precomputed"), truth)
    yield (
        f"| roll, long distances shortened | error of distances | {100 * ours:.2g} % "
        f"| {100 * error(by_paths(apart), truth):.2g} % |"
    )
    histograms, places = shifted_histograms()
    truth = np.abs(places[:, None] - places)
    ours = geodesic_distances(histograms, metric=wasserstein, intrinsic_dim=1)
    work = cdist(histograms, histograms, wasserstein)
    yield (
        f"| histograms, Wasserstein-1 | error of distances | {100 * error(ours, truth):.2g} % "
        f"| {100 * error(by_paths(work), truth):.2g} % |"
    )
    images, known = rotated_images()
    model = PTU(metric=up_to_rotation).fit(images)
    apart = cdist(images, images, up_to_rotation)
    theirs = best_isomap(apart, lambda found: told(found, known))
    coordinates = best_isomap(cdist(images, images), lambda found: told(found, known))
    yield (
        f"| images up to rotation | R² of what differs | {told(model.embedding_, known):.3f} "
        f"| {theirs:.3f} (of pixels {coordinates:.3f}) |"
    )
    if alanine is not None:
        data = np.load(alanine)
        angles = [data[name] for name in data.files if name.startswith("angle_")]
        apart = rmsd(data["X"].astype(float))
        ours = angles_told(PTU(metric="precomputed").fit_transform(apart), angles)
        theirs = best_isomap(apart, lambda found: angles_told(found, angles))
        yield (
            f"| conformations, RMSD | mean cosine of the error of two angles | {ours:.3f} "
            f"| {theirs:.3f} |"
        )


def cost_lines():
    rng = np.random.default_rng(0)
    sheet = swiss_roll(10_000).points
    wide = np.exp(sheet @ rng.normal(size=(3, 300)) * 0.02) + 0.5
    yield "| fit | seconds |"
    yield "| --- | --- |"
    PTU().fit(wide[:500])  # compiles
    for metric in ("euclidean", "cosine"):
        start = time.perf_counter()
        PTU(metric=metric).fit(wide)
        seconds = time.perf_counter() - start
        yield f'| 10 000 points of 300 features, metric="{metric}" | {seconds:.1f} |'
    yield ""
    yield "| a callable on | calls for each point | n·K² allows |"
    yield "| --- | --- | --- |"
    for name, data in (("square", flat_square(3000)), ("roll", swiss_roll(3000))):
        calls = 0

        def counted(one, other):
            nonlocal calls
            calls += 1
            offset = one - other
            return float(np.sqrt(offset @ offset))

        model = PTU(metric=counted).fit(data.points)
        width = model.frames_.members.shape[1] - 1
        yield f"| {name}, 3000 points | {calls / len(data.points):.0f} | {width**2} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alanine", type=Path)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = ["# Metrics", "", "Made by `make metrics`. Errors are means over all pairs.", ""]
    parts = {
        "Euclidean distances in the place of coordinates": euclidean_lines(),
        "Other distances": truth_lines(given.alanine),
        "What it costs": cost_lines(),
    }
    for title, part in parts.items():
        lines += [f"## {title}", ""]
        print(lines[-2], flush=True)
        for line in part:
            lines.append(line)
            print(line, flush=True)
        lines.append("")
    if given.output is not None:
        given.output.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
