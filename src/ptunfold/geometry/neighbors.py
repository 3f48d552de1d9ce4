"""Exact nearest neighbours, by tree where space is small and by brute force where it is large."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from ptunfold.types import FloatArray, IntArray

# Beyond this many features a tree visits most of its leaves on data that are not very thin.
_MOST_TREE_FEATURES = 15
_CHUNK_VALUES = 1 << 22


def nearest_neighbors(points: FloatArray, n_neighbors: int, n_jobs: int | None = None) -> IntArray:
    """Find the nearest other points of each point.

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    n_neighbors : int
        How many neighbours, below ``n_points``.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    neighbors : (n_points, n_neighbors) int
        By distance, then by index. Duplicates of a point are among its neighbours, itself never.
    """
    n_points = len(points)
    # A few more candidates than needed, measured again exactly: brute force rounds, trees break
    # ties as they come, and neither may decide who is a neighbour.
    n_candidates = min(n_neighbors + 8, n_points)
    candidates = nearest(points, points, n_candidates, n_jobs)
    neighbors = np.empty((n_points, n_neighbors), dtype=np.int64)
    rows_per_chunk = max(1, _CHUNK_VALUES // (n_candidates * points.shape[1]))
    for start in range(0, n_points, rows_per_chunk):
        rows = np.arange(start, min(start + rows_per_chunk, n_points))
        chosen = np.sort(candidates[rows], axis=1)
        offsets = points[chosen].astype(np.float64) - points[rows, None, :]
        squares = np.einsum("ijk,ijk->ij", offsets, offsets)
        squares[chosen == rows[:, None]] = np.inf
        ranking = np.argsort(squares, axis=1, kind="stable")[:, :n_neighbors]
        neighbors[rows] = np.take_along_axis(chosen, ranking, axis=1)
    return neighbors


def nearest(
    points: FloatArray, queries: FloatArray, n_nearest: int, n_jobs: int | None = None
) -> IntArray:
    """Find the points nearest to each query, as indices (n_queries, n_nearest)."""
    if points.shape[1] <= _MOST_TREE_FEATURES:
        _, found = _tree(points).query(queries, n_nearest, workers=effective_n_jobs(n_jobs))
        return found.reshape(-1, n_nearest)
    # Brute force expands |x - y|²; far from the origin that would cancel all digits.
    center = points.mean(axis=0)
    search = NearestNeighbors(algorithm="brute", n_jobs=n_jobs).fit(points - center)
    return search.kneighbors(queries - center, n_nearest, return_distance=False)


def pairs_within(points: FloatArray, radius: float, n_jobs: int | None = None) -> IntArray:
    """Find all pairs of points at most ``radius`` apart, give or take rounding, (n_pairs, 2)."""
    radius = radius * (1 + 1e-6)
    if points.shape[1] <= _MOST_TREE_FEATURES:
        return _tree(points).query_pairs(radius, output_type="ndarray")
    search = NearestNeighbors(algorithm="brute", radius=radius, n_jobs=n_jobs)
    matrix = search.fit(points - points.mean(axis=0)).radius_neighbors_graph().tocoo()
    return np.column_stack((matrix.row, matrix.col))


def edge_lengths(points: FloatArray, tails: IntArray, heads: IntArray) -> FloatArray:
    """Measure the Euclidean length of each edge in float64, (n_edges,)."""
    lengths = np.empty(len(tails))
    edges_per_chunk = max(1, _CHUNK_VALUES // points.shape[1])
    for start in range(0, len(tails), edges_per_chunk):
        chunk = slice(start, start + edges_per_chunk)
        offsets = points[heads[chunk]].astype(np.float64) - points[tails[chunk]]
        lengths[chunk] = np.linalg.norm(offsets, axis=1)
    return lengths


def _tree(points: FloatArray) -> cKDTree:
    # Median splits degenerate where many values are equal; midpoint splits do not.
    return cKDTree(points, balanced_tree=False)
