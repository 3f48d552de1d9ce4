"""Exact nearest neighbours, by tree where space is small and by brute force where it is large."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from ptunfold.kernels.lengths import squared_lengths
from ptunfold.threads import cut, run_blocks
from ptunfold.types import FloatArray, IntArray

# Beyond this many features a tree visits most of its leaves on data that are not very thin.
_MOST_TREE_FEATURES = 15
# Up to this many differences even a tree that visits all its leaves is quicker than the start of
# brute force on threads.
_MOST_TREE_VALUES = 250_000_000
_MOST_TIES = 8
_EDGES_TOGETHER = 1 << 17


def neighbor_pairs(points: FloatArray, n_neighbors: int, n_jobs: int | None = None) -> IntArray:
    """List the pairs (point, neighbour) of each point with its nearest other points.

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
    pairs : (n_pairs, 2) int
        Each point has ``n_neighbors`` of them, and some more where neighbours tie with the last.
        Duplicates of a point are among its neighbours, itself never.
    """
    n_points = len(points)
    # A few more candidates than needed, measured again exactly: brute force rounds, trees break
    # ties as they come, and neither may decide who is a neighbour.
    n_candidates = min(n_neighbors + 1 + _MOST_TIES, n_points)
    candidates = nearest(points, points, n_candidates, n_jobs)
    rows = np.arange(n_points).repeat(n_candidates)
    squares = _squared_lengths(points, rows, candidates.ravel(), n_jobs)
    squares = squares.reshape(candidates.shape)
    squares[candidates == np.arange(n_points)[:, None]] = np.inf
    last = np.partition(squares, n_neighbors - 1, axis=1)[:, n_neighbors - 1 : n_neighbors]
    is_near = (squares <= last * (1 + 1e-12)).ravel()
    return np.column_stack((rows[is_near], candidates.ravel()[is_near]))


def nearest(
    points: FloatArray, queries: FloatArray, n_nearest: int, n_jobs: int | None = None
) -> IntArray:
    """Find the points nearest to each query, as indices (n_queries, n_nearest)."""
    n_values = len(points) * len(queries) * points.shape[1]
    if points.shape[1] <= _MOST_TREE_FEATURES or n_values <= _MOST_TREE_VALUES:
        _, found = _tree(points).query(queries, n_nearest, workers=effective_n_jobs(n_jobs))
        return found.reshape(-1, n_nearest)
    # Brute force expands |x - y|², which far from the origin cancels all digits. The median stays
    # with the data where the mean follows an outlier.
    sample = points[np.random.default_rng(0).integers(len(points), size=501)]
    center = np.median(sample.astype(np.float64), axis=0)
    centred, from_center = points - center, queries - center
    search = NearestNeighbors(algorithm="brute", n_jobs=n_jobs).fit(centred)
    found = search.kneighbors(from_center, n_nearest, return_distance=False)
    # Where the spacing is no larger than what rounding leaves of it, look again, digit by digit.
    spacing = np.linalg.norm(from_center - centred[found[:, -1]], axis=1)
    rounding = np.sqrt(1e3 * np.finfo(np.float64).eps) * np.linalg.norm(from_center, axis=1)
    for query in np.flatnonzero(spacing <= rounding):
        squares = np.square(centred - from_center[query]).sum(axis=1)
        found[query] = np.argsort(squares, kind="stable")[:n_nearest]
    return found


def pairs_within(points: FloatArray, radius: float, n_jobs: int | None = None) -> IntArray:
    """Find all pairs of points at most ``radius`` apart, give or take rounding, (n_pairs, 2)."""
    radius = radius * (1 + 1e-6)
    if points.shape[1] <= _MOST_TREE_FEATURES:
        return _tree(points).query_pairs(radius, output_type="ndarray")
    search = NearestNeighbors(algorithm="brute", radius=radius, n_jobs=n_jobs)
    matrix = search.fit(points - np.median(points, axis=0)).radius_neighbors_graph().tocoo()
    return np.column_stack((matrix.row, matrix.col))


def edge_lengths(
    points: FloatArray, tails: IntArray, heads: IntArray, n_jobs: int | None = None
) -> FloatArray:
    """Measure the Euclidean length of each edge in float64, (n_edges,)."""
    return np.sqrt(_squared_lengths(points, tails, heads, n_jobs))


def _squared_lengths(
    points: FloatArray, tails: IntArray, heads: IntArray, n_jobs: int | None
) -> FloatArray:
    squares = np.empty(len(tails))
    tails, heads = (np.ascontiguousarray(ends, dtype=np.int64) for ends in (tails, heads))

    def handle(block: slice) -> None:
        squared_lengths(points, tails[block], heads[block], squares[block])

    run_blocks(handle, cut(len(tails), _EDGES_TOGETHER), n_jobs=n_jobs)
    return squares


def _tree(points: FloatArray) -> cKDTree:
    # Median splits degenerate where many values are equal; midpoint splits do not.
    return cKDTree(points, balanced_tree=False)
