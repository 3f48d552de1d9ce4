"""The proximity graph: nearest neighbours, mutual ones, a radius, or a graph of the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptunfold.geometry.neighbors import edge_lengths, nearest_neighbors, pairs_within
from ptunfold.types import FloatArray, Graph, IntArray
from ptunfold.validation import check_graph_matrix, check_graph_settings, check_points


def build_graph(
    points: FloatArray,
    n_neighbors: int = 10,
    *,
    kind: str = "knn",
    radius: float | None = None,
    n_jobs: int | None = None,
) -> Graph:
    """Connect each point with its neighbours (Sec. 3.1 of the paper).

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    n_neighbors : int
        The number k of nearest neighbours; not used with ``kind="radius"``.
    kind : {"knn", "mutual", "radius"}
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
    n_points = len(points)
    check_graph_settings(kind, n_neighbors, radius, n_points)
    if kind == "radius":
        assert radius is not None
        directed = pairs_within(points, radius, n_jobs)
    else:
        heads = nearest_neighbors(points, n_neighbors, n_jobs)
        tails = np.repeat(np.arange(n_points), n_neighbors)
        directed = np.column_stack((tails, heads.ravel()))
    low, high = np.sort(directed, axis=1).T.astype(np.int64)
    keys, count = np.unique(low * n_points + high, return_counts=True)
    if kind == "mutual":
        keys = keys[count == 2]
    low, high = keys // n_points, keys % n_points
    lengths = edge_lengths(points, low, high)
    if radius is not None:
        near = lengths <= radius
        low, high, lengths = low[near], high[near], lengths[near]
    return graph_from_edges(n_points, low, high, lengths)


def graph_from_matrix(matrix: Any, n_points: int) -> Graph:
    """Take a sparse matrix of edge lengths as the proximity graph.

    Parameters
    ----------
    matrix : SciPy sparse matrix or array of shape (n_points, n_points)
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
    entries = check_graph_matrix(matrix, n_points).tocoo()
    rows, columns = entries.coords
    off_diagonal = rows != columns
    rows, columns, lengths = rows[off_diagonal], columns[off_diagonal], entries.data[off_diagonal]
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    return graph_from_edges(n_points, low, high, lengths)


def graph_from_edges(n_points: int, tails: IntArray, heads: IntArray, lengths: FloatArray) -> Graph:
    """Build a graph from undirected edges; of an edge given twice the shorter length holds."""
    both_tails = np.concatenate((tails, heads)).astype(np.int64)
    both_heads = np.concatenate((heads, tails)).astype(np.int64)
    both_lengths = np.concatenate((lengths, lengths)).astype(np.float64)
    order = np.lexsort((both_lengths, both_heads, both_tails))
    both_tails, both_heads = both_tails[order], both_heads[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(both_tails) != 0) | (np.diff(both_heads) != 0)
    degrees = np.bincount(both_tails[first], minlength=n_points)
    indptr = np.concatenate(([0], np.cumsum(degrees)))
    return Graph(
        indptr=indptr.astype(np.int64),
        indices=both_heads[first].astype(np.int32),
        lengths=both_lengths[order][first],
    )
