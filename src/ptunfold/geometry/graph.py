"""The proximity graph: nearest neighbours, mutual ones, a radius, or a graph of the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ptunfold.geometry.neighbors import distinct_places, edge_lengths, neighbor_lists, pairs_within
from ptunfold.threads import check_not_stopped
from ptunfold.types import BoolArray, FloatArray, Graph, IntArray, Points, Space, pair_keys
from ptunfold.validation.graphs import check_graph_matrix, check_graph_settings
from ptunfold.validation.points import check_points
from ptunfold.validation.records import check_graph, check_lengths, is_known_good, known_good


def build_graph(
    points: Points,
    n_neighbors: int = 10,
    *,
    graph: str = "knn",
    radius: float | None = None,
    search: str = "auto",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Graph:
    """Connect each point with its neighbours (Sec. 3.1 of the paper).

    Parameters
    ----------
    points : (n_points, n_features)
        The points, or what :func:`metric_space` made of their distances.
    n_neighbors : int
        The number k of nearest neighbours; not used with ``graph="radius"``. Neighbours that tie
        with the last one, up to eight, are in. Copies of a point do not count: they are joined to
        the first of them, and that one to its neighbours.
    graph : {"knn", "mutual", "radius"}
        An edge joins two points if either is among the k nearest of the other ("knn"), if each
        is ("mutual"), or if they are at most ``radius`` apart ("radius").
    radius : float, optional
        With "knn" and "mutual", edges longer than this are left out.
    search : {"auto", "exact", "approximate"}
        How neighbours are found: exactly; by neighbour descent (pynndescent) in many dimensions;
        or exactly unless points are many and of many dimensions.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.
    verbose : bool
        Show that an approximate search is under way; the first one of a process compiles.

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
    points = points if isinstance(points, Space) else check_points(points)
    check_graph_settings(graph, n_neighbors, radius, len(points))
    n_points = len(points)
    if graph == "radius":
        assert radius is not None
        pattern = _pattern(pairs_within(points, radius, n_jobs), n_points)
        pattern = pattern + pattern.T
    else:
        # Among distinct places, or copies would crowd out the neighbours; copies of a place are
        # joined to its first point.
        places = distinct_places(points)
        is_first = places == np.arange(n_points)
        pattern = _neighbor_pattern(points, is_first, n_neighbors, search, n_jobs, verbose)
        pattern = pattern.multiply(pattern.T) if graph == "mutual" else pattern + pattern.T
        if not is_first.all():
            copies = np.flatnonzero(~is_first)
            joins = _pattern(np.column_stack((copies, places[copies])), n_points)
            pattern = pattern + joins + joins.T
    found = measure_graph(points, pattern, n_jobs)
    return found if radius is None else subgraph(found, found.lengths <= radius)


def thinned(graph: Graph, n_neighbors: int) -> Graph:
    """Keep the shortest edges of each point, as `build_graph` does with fewer neighbours.

    Those of length 0 lead to copies, and do not count.

    Examples
    --------
    >>> from ptunfold import build_graph
    >>> from ptunfold.datasets import flat_square
    >>> points = flat_square(500).points
    >>> ten, five = (build_graph(points, k) for k in (10, 5))
    >>> bool((thinned(ten, 5).indices == five.indices).all())
    True
    """
    counted = np.where(graph.lengths > 0, graph.lengths, np.inf)
    order = np.lexsort((counted, graph.tails))
    last = graph.indptr[:-1] + np.minimum(n_neighbors, np.diff(graph.indptr)) - 1
    # Points without an edge have no last one, and nothing to keep.
    longest = counted[order[np.clip(last, 0, max(graph.n_edges - 1, 0))]] if graph.n_edges else last
    is_near = (graph.lengths <= longest[graph.tails] * (1 + 1e-12)) | (graph.lengths == 0)
    return subgraph(graph, is_near | is_near[graph.reverse])


def measure_graph(points: Points, pattern: sparse.csr_array, n_jobs: int | None) -> Graph:
    """Make the graph of a symmetric pattern of edges, (n_points, n_points)."""
    pattern = sparse.csr_array(pattern)
    pattern.sort_indices()
    indptr, indices = pattern.indptr.astype(np.int64), pattern.indices.astype(np.int32)
    tails = np.repeat(np.arange(len(points), dtype=np.int32), np.diff(indptr))
    lengths = check_lengths(edge_lengths(points, tails, indices, n_jobs=n_jobs), "graph.lengths")
    return known_good(Graph(indptr, indices, lengths))


def _neighbor_pattern(
    points: Points,
    is_first: BoolArray,
    n_neighbors: int,
    search: str,
    n_jobs: int | None,
    verbose: bool,
) -> sparse.csr_array:
    """Mark the nearest neighbours of each distinct point, (n_points, n_points)."""
    n_points = len(points)
    distinct = np.flatnonzero(is_first)
    chosen: Points = points
    if len(distinct) < n_points:
        chosen = points.among(distinct) if isinstance(points, Space) else points[distinct]
    n_nearest = min(n_neighbors, len(distinct) - 1)
    indptr, indices = neighbor_lists(
        chosen, n_nearest, search=search, n_jobs=n_jobs, verbose=verbose
    )
    if len(distinct) < n_points:
        degrees = np.zeros(n_points, dtype=np.int64)
        degrees[distinct] = np.diff(indptr)
        indptr = np.concatenate(([0], np.cumsum(degrees)))
        indices = distinct[indices]
    return pattern_of(indptr, indices)


def pattern_of(indptr: IntArray, indices: IntArray) -> sparse.csr_array:
    """Mark edges by the points that they lead to, those of each point together."""
    n_points = len(indptr) - 1
    marks = np.ones(len(indices), dtype=np.int8)
    return sparse.csr_array((marks, indices, indptr), shape=(n_points, n_points))


def _pattern(pairs: IntArray, n_points: int) -> sparse.csr_array:
    marks = np.ones(len(pairs), dtype=np.int8)
    return sparse.csr_array((marks, (pairs[:, 0], pairs[:, 1])), shape=(n_points, n_points))


def graph_from_matrix(matrix: Any, n_points: int) -> Graph:
    """Take a sparse matrix of edge lengths as the proximity graph.

    Parameters
    ----------
    matrix : SciPy sparse matrix or array of shape (n_points, n_points), or Graph
        Each stored entry is the length of an edge; a stored 0 is an edge of length 0. An entry on
        one side of the diagonal is enough; of two that differ the smaller one holds. The diagonal
        is ignored, but must not be all positive, as that of similarities is. No length is computed
        from the points: what is not stored is no edge.
    n_points : int
        The number of points that the matrix must have.

    Returns
    -------
    graph : Graph
        Symmetric; it may have several components.

    Examples
    --------
    >>> from sklearn.neighbors import kneighbors_graph
    >>> from ptunfold import graph_from_matrix
    >>> from ptunfold.datasets import flat_square
    >>> matrix = kneighbors_graph(flat_square(100).points, 5, mode="distance")
    >>> graph_from_matrix(matrix, 100).n_points
    100
    """
    if isinstance(matrix, Graph):
        return check_graph(matrix, n_points)
    entries = check_graph_matrix(matrix, n_points).tocoo()
    rows, columns = entries.coords
    off_diagonal = rows != columns
    rows, columns, lengths = rows[off_diagonal], columns[off_diagonal], entries.data[off_diagonal]
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    return graph_from_edges(n_points, low, high, lengths)


def subgraph(graph: Graph, is_kept: BoolArray) -> Graph:
    """Keep some edges, (n_edges,) in both directions alike, and all points."""
    degrees = np.bincount(graph.tails[is_kept], minlength=graph.n_points)
    indptr = np.concatenate(([0], np.cumsum(degrees))).astype(np.int64)
    bridges = graph.bridges
    if bridges is not None:
        places, _ = find_edges(graph, *bridges.T)
        bridges = bridges[is_kept[places]]
    kept = Graph(indptr, graph.indices[is_kept], graph.lengths[is_kept], bridges)
    return known_good(kept) if is_known_good(graph) else kept


def graph_from_edges(n_points: int, tails: IntArray, heads: IntArray, lengths: FloatArray) -> Graph:
    """Build a graph from undirected edges; of an edge given twice the shorter length holds."""
    both = pair_keys(n_points, tails, heads), pair_keys(n_points, heads, tails)
    keys = np.concatenate(both)
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


def with_edges(points: Points, graph: Graph, edges: IntArray) -> Graph:
    """Return the graph with edges (n_edges, 2) that it lacks, of their lengths in space."""
    both = np.concatenate((edges, edges[:, ::-1]))
    both = both[np.lexsort(both.T[::-1])]
    own = pair_keys(graph.n_points, graph.tails, graph.indices)
    places = np.searchsorted(own, pair_keys(graph.n_points, *both.T))
    degrees = np.diff(graph.indptr) + np.bincount(both[:, 0], minlength=graph.n_points)
    return Graph(
        np.concatenate(([0], np.cumsum(degrees))),
        np.insert(graph.indices, places, both[:, 1]),
        np.insert(graph.lengths, places, edge_lengths(points, *both.T, n_jobs=1)),  # few
        graph.bridges,
    )


def joined_by(graph: Graph, other: Graph) -> Graph:
    """Join components by the shortest edge that another graph has between each two of them."""
    labels = graph.component_labels
    ours, theirs = labels[other.tails], labels[other.indices]
    joins = np.flatnonzero(ours < theirs)
    if not len(joins):
        return graph
    pairs = pair_keys(graph.n_points, ours[joins], theirs[joins])
    order = np.lexsort((other.lengths[joins], pairs))
    _, first = np.unique(pairs[order], return_index=True)
    joins = joins[order[first]]
    return graph_from_edges(
        graph.n_points,
        np.concatenate((graph.tails, other.tails[joins])),
        np.concatenate((graph.indices, other.indices[joins])),
        np.concatenate((graph.lengths, other.lengths[joins])),
    )


def without_edges(graph: Graph, tails: IntArray, heads: IntArray) -> Graph:
    """Return the graph without some of its edges."""
    if not len(tails):
        return graph
    is_kept = np.ones(graph.n_edges, dtype=bool)
    for places, is_there in (find_edges(graph, tails, heads), find_edges(graph, heads, tails)):
        is_kept[places[is_there]] = False
    return subgraph(graph, is_kept)


def without_bridges(graph: Graph) -> Graph:
    """Return the graph as it was before its components were joined."""
    return graph if graph.bridges is None else without_edges(graph, *graph.bridges.T)


def edges_from(graph: Graph, nodes: IntArray) -> IntArray:
    """List the edges that leave some nodes, one node after the other."""
    degrees = graph.indptr[nodes + 1] - graph.indptr[nodes]
    firsts = graph.indptr[nodes] - np.cumsum(degrees) + degrees
    return np.repeat(firsts, degrees) + np.arange(degrees.sum())


def has_edges(graph: Graph, tails: IntArray, heads: IntArray) -> BoolArray:
    """Tell which edges the graph has, (n_edges,)."""
    return find_edges(graph, tails, heads)[1]


def find_edges(graph: Graph, tails: IntArray, heads: IntArray) -> tuple[IntArray, BoolArray]:
    """Find where edges stand in a graph, and whether they do."""
    if not graph.n_edges:
        return np.zeros(len(tails), dtype=np.int64), np.zeros(len(tails), dtype=bool)
    # By halves, among the edges that leave the same point.
    low, end = graph.indptr[tails], graph.indptr[np.asarray(tails) + 1]
    high, last = end, graph.n_edges - 1
    for _ in range(int(np.diff(graph.indptr).max()).bit_length()):
        check_not_stopped()
        middle = (low + high) // 2
        is_before = (middle < high) & (graph.indices[np.minimum(middle, last)] < heads)
        low, high = np.where(is_before, middle + 1, low), np.where(is_before, high, middle)
    places = np.minimum(low, last)
    return places, (graph.indices[places] == heads) & (low < end)
