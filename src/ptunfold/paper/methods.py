"""The methods that are compared, and how far they are from the truth."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.manifold import Isomap, LocallyLinearEmbedding

from ptunfold.embedding.landmark_scaling import landmark_mds
from ptunfold.estimator import PTU
from ptunfold.geodesics.distances import graph_distances
from ptunfold.geometry.graph import build_graph
from ptunfold.types import FloatArray, IntArray

# What the paper does; its length rescaling is step="chord".
PLAIN: dict[str, Any] = {
    "n_neighbors": 10,
    "tangent_neighbors": 10,
    "tangent": "pca",
    "step": "projection",
    "denoise": 0,
    "coherence": 1,
    "prune": None,
}
_LOCAL = {"LLE": "standard", "Hessian LLE": "hessian", "modified LLE": "modified", "LTSA": "ltsa"}


@dataclass(frozen=True)
class Run:
    """One embedding (n_points, n_components), and the seconds it took."""

    places: FloatArray
    seconds: float
    model: Any = None


def run_ptu(points: FloatArray, n_components: int = 2, **options: Any) -> Run:
    """Embed by PTU, with the options of the estimator."""
    return _timed(lambda: PTU(n_components, n_jobs=-1, **options).fit(points))


def run_isomap(points: FloatArray, n_components: int = 2, n_neighbors: int = 10) -> Run:
    """Embed by scikit-learn's Isomap."""
    return _timed(
        lambda: Isomap(n_neighbors=n_neighbors, n_components=n_components, n_jobs=-1).fit(points)
    )


def run_landmark_isomap(
    points: FloatArray, landmarks: IntArray, n_components: int = 2, n_neighbors: int = 10
) -> Run:
    """Embed by the graph's distances from landmarks, weighted as ours are."""
    start = time.perf_counter()
    graph = build_graph(points, n_neighbors, n_jobs=-1)
    rows = graph_distances(graph, landmarks, n_jobs=-1)
    embedding = landmark_mds(rows, landmarks, n_components)
    return Run(embedding.coordinates, time.perf_counter() - start)


def run_local(points: FloatArray, method: str, n_neighbors: int = 10) -> Run:
    """Embed by one of scikit-learn's local methods; zeros where it gives up."""
    model = LocallyLinearEmbedding(
        n_neighbors=n_neighbors, method=_LOCAL[method], eigen_solver="dense", n_jobs=-1
    )
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            places = model.fit_transform(points)
    except (ValueError, np.linalg.LinAlgError):
        places = np.zeros((len(points), 2))
    return Run(places, time.perf_counter() - start)


LOCAL = list(_LOCAL)


def _timed(fit: Callable[[], Any]) -> Run:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit()
    return Run(model.embedding_, time.perf_counter() - start, model)


def distance_error(found: FloatArray, exact: FloatArray) -> float:
    """Return the paper's measure: the mean of |found - exact| / exact over pairs of points."""
    apart = exact > 0
    return float(np.mean(np.abs(found[apart] - exact[apart]) / exact[apart]))


def correlation(found: FloatArray, wanted: FloatArray) -> float:
    """Return the least multiple correlation of columns of ``wanted`` with those of ``found``."""
    terms = np.column_stack((found, np.ones(len(found))))
    left = wanted - terms @ np.linalg.lstsq(terms, wanted, rcond=None)[0]
    explained = 1 - left.var(axis=0) / wanted.var(axis=0)
    return float(np.sqrt(np.maximum(explained, 0)).min())
