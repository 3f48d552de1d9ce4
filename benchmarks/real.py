"""PTU as it comes on real data and on surfaces, beside Isomap, UMAP and the heat method.

Writes ``benchmarks/results/real.md``. ``python benchmarks/real.py wifi knot`` takes the sets whose
names begin so, and writes nothing.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from real_sets import Surface, all_sets
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.manifold import Isomap
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, kneighbors_graph

from ptunfold import PTU, geodesic_distances

N_NEAR = 10
SLACK = 0.02  # how far behind the better Isomap is behind
SHARE = 0.8  # of the error of shortest paths, and not more


def umap(X, n_components):
    from umap import UMAP

    return UMAP(n_components=n_components, random_state=0, n_jobs=1).fit_transform(X)


EMBEDDINGS = {
    "PTU": lambda X, c: PTU(n_components=c).fit_transform(X),
    "Isomap 5": lambda X, c: Isomap(n_neighbors=5, n_components=c).fit_transform(X),
    "Isomap 10": lambda X, c: Isomap(n_neighbors=10, n_components=c).fit_transform(X),
    "UMAP": umap,
}


def shortest_paths(X, sources):
    graph = kneighbors_graph(X, N_NEAR, mode="distance")
    return dijkstra(graph.maximum(graph.T), directed=False, indices=sources)


def heat(X, sources):
    from potpourri3d import PointCloudHeatSolver

    solver = PointCloudHeatSolver(X)
    return np.stack([solver.compute_distance(int(source)) for source in sources])


DISTANCES = {
    "PTU": lambda X, sources: geodesic_distances(X, sources=sources, intrinsic_dim=2),
    "shortest paths": shortest_paths,
    "heat method": heat,
}


def knn_score(places, data):
    """Predict every target from ten nearest neighbours in the embedding; average over targets."""
    folds = KFold(5, shuffle=True, random_state=0)
    found = []
    for value in data.values.values():
        guess = cross_val_predict(KNeighborsRegressor(N_NEAR), places, value, cv=folds)
        found.append(1 - np.mean((guess - value) ** 2) / value.var())
    for angle in data.angles.values():
        guess = cross_val_predict(KNeighborsRegressor(N_NEAR), places, _circle(angle), cv=folds)
        found.append(np.mean(np.cos(np.arctan2(guess[:, 1], guess[:, 0]) - angle)))
    if data.labels is not None:
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        guess = cross_val_predict(KNeighborsClassifier(N_NEAR), places, data.labels, cv=folds)
        found.append(np.mean(guess == data.labels))
    return float(np.mean(found))


def rank_score(places, data):
    """Correlate the ranks of embedded and of true distances, where there are values or angles."""
    truth = [(value - value.mean()) / value.std() for value in data.values.values()]
    truth += [side for angle in data.angles.values() for side in _circle(angle).T]
    if not truth:
        return np.nan
    n_some = min(1000, len(places))
    some = np.random.default_rng(0).choice(len(places), n_some, replace=False)
    exact = pdist(np.column_stack(truth)[some])
    return float(spearmanr(pdist(places[some]), exact).statistic)


def _circle(angle):
    return np.column_stack((np.cos(angle), np.sin(angle)))


def timed(function, *arguments):
    start = time.perf_counter()
    return function(*arguments), time.perf_counter() - start


def measure_points(data):
    """Return kNN, rank and seconds of every method, and whether PTU is behind the better Isomap."""
    scores = []
    for embed in EMBEDDINGS.values():
        places, seconds = timed(embed, data.X.astype(float), data.n_components)
        scores.append((knn_score(places, data), rank_score(places, data), seconds))
    ours, five, ten = np.array(scores)[:3, :2]
    return scores, bool((ours < np.maximum(five, ten) - SLACK).any())


def measure_surface(data):
    """Return error, bias and seconds of every method, and whether PTU is behind."""
    scores = []
    apart = data.distances > 0
    for measure in DISTANCES.values():
        found, seconds = timed(measure, data.X, data.sources)
        off = 100 * (found - data.distances)[apart] / data.distances[apart]
        scores.append((np.abs(off).mean(), off.mean(), seconds))
    return scores, bool(scores[0][0] > SHARE * scores[1][0])


def point_table(rows):
    yield "## Point sets\n"
    yield (
        "kNN: the mean over targets of what ten nearest neighbours in the embedding predict in"
        " 5-fold cross-validation:\nR² of values, cosine of the error of angles, accuracy of"
        " labels. Rank: Spearman's correlation of embedded with\ntrue distances, where there are"
        " values or angles. Each cell is kNN / rank; seconds are in the order of the columns.\n"
    )
    yield "| set | points | targets | " + " | ".join(EMBEDDINGS) + " | seconds | |"
    yield "|" + " --- |" * (len(EMBEDDINGS) + 5)
    for data, scores, behind in rows:
        targets = [*data.values, *data.angles, *(["label"] if data.labels is not None else [])]
        cells = [f"{knn:.3f}" + ("" if np.isnan(r) else f" / {r:.3f}") for knn, r, _ in scores]
        seconds = ", ".join(f"{score[2]:.1f}" for score in scores)
        yield (
            f"| {data.name} | {len(data.X)} × {data.X.shape[1]} | {', '.join(targets)} | "
            + " | ".join(cells)
            + f" | {seconds} | {'behind' if behind else ''} |"
        )


def surface_table(rows):
    yield "\n## Surfaces\n"
    yield (
        "Distances from 30 points to all: mean relative error (bias) in per cent. The truth is"
        " exact on\nthe whole mesh; the methods get points only. Seconds are in the order of the"
        " columns.\n"
    )
    yield "| surface | points | " + " | ".join(DISTANCES) + " | seconds | |"
    yield "|" + " --- |" * (len(DISTANCES) + 4)
    for data, scores, behind in rows:
        cells = [f"{error:.2f} ({bias:+.2f})" for error, bias, _ in scores]
        seconds = ", ".join(f"{score[2]:.1f}" for score in scores)
        yield (
            f"| {data.name} | {len(data.X)} | "
            + " | ".join(cells)
            + f" | {seconds} | {'behind' if behind else ''} |"
        )


def summary(points, surfaces):
    n_points = sum(behind for *_, behind in points)
    n_surfaces = sum(behind for *_, behind in surfaces)
    return (
        f"\nPTU is more than {SLACK} behind the better Isomap on {n_points} of {len(points)} point"
        f" sets, and above {SHARE} of the error of shortest paths on {n_surfaces} of"
        f" {len(surfaces)} surfaces."
    )


def _warm_up():
    """Have functions compiled before the clock runs."""
    rng = np.random.default_rng(0)
    for n_points, n_features in ((300, 3), (80, 300)):
        X = rng.standard_normal((n_points, n_features))
        for embed in EMBEDDINGS.values():
            embed(X, 2)
    geodesic_distances(rng.standard_normal((300, 3)), sources=[0], intrinsic_dim=2)


def main(names):
    warnings.simplefilter("ignore")
    _warm_up()
    points, surfaces = [], []
    for data in all_sets():
        if names and not data.name.startswith(tuple(names)):
            continue
        measure, rows = (
            (measure_surface, surfaces) if isinstance(data, Surface) else (measure_points, points)
        )
        rows.append((data, *measure(data)))
        print(data.name, [tuple(f"{x:.3f}" for x in score) for score in rows[-1][1]], flush=True)
    lines = [*point_table(points), *surface_table(surfaces), summary(points, surfaces)]
    print("\n" + "\n".join(lines))
    if not names:
        path = Path(__file__).parent / "results" / "real.md"
        path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
