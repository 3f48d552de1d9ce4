"""Four petals on a sphere, lifted to 100 dimensions: PTU beside scikit-learn's Isomap.

Run it with ``make demo``, or ``python examples/petals.py [picture.png] [page.html]``.
"""

import sys
import time

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import Isomap

from ptunfold import PTU, classical_mds
from ptunfold.datasets import petals


def align(embedding, truth):
    """Move and turn an embedding on the truth, without scaling; return it and its error."""
    centre, embedding = truth.mean(axis=0), embedding - embedding.mean(axis=0)
    left, _, right = np.linalg.svd(embedding.T @ (truth - centre))
    aligned = embedding @ left @ right
    error = np.linalg.norm(aligned + centre - truth) / np.linalg.norm(truth - centre)
    return aligned + centre, error


def mean_relative_error(distances, exact):
    """Average |estimate - true| / true over all pairs."""
    pairs = exact > 0
    return np.mean(np.abs(distances - exact)[pairs] / exact[pairs])


def main(picture="petals.png", page="petals.html"):
    """Fit both, print the table, draw the picture, write the page."""
    flower = petals(n_points=1600, n_features=100)
    exact = flower.distances()
    # No flat map of a sphere is exact: the best that any method can do here is the embedding of
    # the true distances.
    truth = classical_mds(exact, n_components=2).coordinates

    results = {}
    for name, model, distances_of in (
        ("Isomap", Isomap(n_neighbors=10, n_jobs=-1), lambda model: model.dist_matrix_),
        ("PTU", PTU(n_neighbors=10), lambda model: model.distances()),
    ):
        model.fit(flower.points)  # the first call loads libraries, and compiles, once on a machine
        start = time.perf_counter()
        embedding = model.fit_transform(flower.points)
        seconds = time.perf_counter() - start
        aligned, embedding_error = align(embedding, truth)
        distance_error = mean_relative_error(distances_of(model), exact)
        results[name] = (aligned, distance_error, embedding_error, seconds)
    model.explore(page, columns={"angle": flower.color}, title="four petals in 100 dimensions")

    print(f"\n{len(flower.points)} points of four petals on a sphere, in 100 dimensions\n")
    print("            distances    embedding")
    print("                error        error    seconds")
    for name, (_, distance_error, embedding_error, seconds) in results.items():
        print(f"{name:<10} {distance_error:9.2%} {embedding_error:12.2%} {seconds:10.2f}")

    print("\nSeconds are those of a second call: the first ever compiles for half a minute.")

    panels = [("the truth, flattened as well as can be", truth)]
    panels += [(f"{name}: {result[2]:.1%} off", result[0]) for name, result in results.items()]
    figure = plt.figure(figsize=(13, 3.6), layout="constrained")
    sphere = petals(n_points=1600).points
    axes = figure.add_subplot(1, 4, 1, projection="3d")
    axes.scatter(*sphere.T, c=flower.color, s=3)
    axes.set(title="the data, before their lift to R¹⁰⁰")
    axes.set_box_aspect(np.ptp(sphere, axis=0), zoom=1.6)
    axes.set_axis_off()
    limit = 1.05 * max(np.abs(coordinates).max() for _, coordinates in panels)
    for place, (title, coordinates) in enumerate(panels, start=2):
        axes = figure.add_subplot(1, 4, place)
        axes.scatter(*coordinates.T, c=flower.color, s=3)
        axes.set(title=title, aspect="equal", xlim=(-limit, limit), ylim=(-limit, limit))
        axes.set_xticks([])
        axes.set_yticks([])
    figure.savefig(picture, dpi=110)
    print(f"\nwrote {picture}, and {page}: open it in a browser, and click two points")


if __name__ == "__main__":
    main(*sys.argv[1:])
