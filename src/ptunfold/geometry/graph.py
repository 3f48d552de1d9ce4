"""The proximity graph: nearest neighbours, mutual ones, a radius, or a graph of the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptunfold.geometry.copies import distinct_places
from ptunfold.geometry.neighbors import edge_lengths, neighbor_pairs, pairs_within
from ptunfold.types import FloatArray, Graph, IntArray
from ptunfold.validation import (
    check_graph_matrix,
    check_graph_settings,
    check_points,
    check_same_size,
)


def build_graph(
    points: FloatArray,
    n_neighbors: int = 10,
    *,
    graph: str = "knn",
    radius: float | None = None,
    n_jobs: int | None = None,
) -> Graph:
    """Connect each point with its neighbours (Sec. 3.1 of the paper).

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    n_neighbors : int
        The number k of nearest neighbours; not used with ``graph="radius"``. Neighbours that tie
        with the last one are in. Copies of a point do not count: they are joined to the first of
        them, and that one to its neighbours.
    graph : {"knn", "mutual", "radius"}
        An edge joins two points if either is among the k nearest of the other ("knn"), if each
        is ("mutual"), or if they are at most ``radius`` apart ("radius").
    radius : float, optional
        With "knn" and "mutual", edges longer than this are left out.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    graph : Graph
        Symmetric; it may have several components.

    Examples
    --------
    >>> from ptunfold import build_graph
    >>> graph = build_graph([[0.0], [1.0], [2.0], [10.0]], n_neighbors=1)
    >>> graph.to_sparse().toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 1., 0.],
           [0., 1., 0., 8.],
           [0., 0., 8., 0.]])
    """
    points = check_points(points)
    check_graph_settings(graph, n_neighbors, radius, len(points))
    places = distinct_places(points)
    distinct = np.flatnonzero(places == np.arange(len(points)))
    if graph == "radius":
        assert radius is not None
        pairs = pairs_within(points, radius, n_jobs)
    else:
        # Among distinct places, or copies would crowd out the neighbours; copies of a place are
        # joined to its first point.
        n_nearest = min(n_neighbors, len(distinct) - 1)
        pairs = distinct[neighbor_pairs(points[distinct], n_nearest, n_jobs)]
        if graph == "mutual":
            pairs = _in_both_directions(pairs, len(points))
        copies = np.flatnonzero(places != np.arange(len(points)))
        pairs = np.concatenate((pairs, np.column_stack((copies, places[copies]))))
    lengths = edge_lengths(points, pairs[:, 0], pairs[:, 1], n_jobs)
    if radius is not None:
        pairs, lengths = pairs[lengths <= radius], lengths[lengths <= radius]
    return graph_from_edges(len(points), pairs[:, 0], pairs[:, 1], lengths)


def _in_both_directions(pairs: IntArray, n_points: int) -> IntArray:
    low, high = np.sort(pairs, axis=1).T
    keys, count = np.unique(low * n_points + high, return_counts=True)
    return np.column_stack((keys // n_points, keys % n_points))[count == 2]


def graph_from_matrix(matrix: Any, n_points: int) -> Graph:
    """Take a sparse matrix of edge lengths as the proximity graph.

    Parameters
    ----------
    matrix : SciPy sparse matrix or array of shape (n_points, n_points), or Graph
        Each stored entry is the length of an edge; a stored 0 is an edge of length 0. An entry on
        one side of the diagonal is enough; of two that differ the smaller one holds. The diagonal
        is ignored. No length is computed from the points: what is not stored is no edge.
    n_points : int
        The number of points that the matrix must have.

    Returns
    -------
    graph : Graph
        Symmetric; it may have several components.
    """
    if isinstance(matrix, Graph):
        check_same_size(n_points, matrix.n_points)
        return matrix
    entries = check_graph_matrix(matrix, n_points).tocoo()
    rows, columns = entries.coords
    off_diagonal = rows != columns
    rows, columns, lengths = rows[off_diagonal], columns[off_diagonal], entries.data[off_diagonal]
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    return graph_from_edges(n_points, low, high, lengths)


def graph_from_edges(n_points: int, tails: IntArray, heads: IntArray, lengths: FloatArray) -> Graph:
    """Build a graph from undirected edges; of an edge given twice the shorter length holds."""
    keys = np.concatenate((tails * np.int64(n_points) + heads, heads * np.int64(n_points) + tails))
    order = np.argsort(keys, kind="stable")
    keys, first = np.unique(keys[order], return_index=True)
    lengths = np.concatenate((lengths, lengths))[order].astype(np.float64)
    if len(first):
        lengths = np.minimum.reduceat(lengths, first)
    degrees = np.bincount(keys // n_points, minlength=n_points)
    return Graph(
        indptr=np.concatenate(([0], np.cumsum(degrees))).astype(np.int64),
        indices=(keys % n_points).astype(np.int32),
        lengths=lengths,
    )
