"""Geodesic distances by parallel transport along shortest paths (Algorithm 2 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.geodesics.arrangement import arrange
from ptunfold.geodesics.blocks import plan_batches, plan_blocks
from ptunfold.geometry.components import component_labels
from ptunfold.kernels.batches import batch_rows
from ptunfold.kernels.development import one_way_rows
from ptunfold.kernels.paths import tree_lengths
from ptunfold.kernels.tiles import TILE, symmetrize_rows
from ptunfold.threads import cut, run_blocks
from ptunfold.types import Connection, FloatArray, Graph, IntArray
from ptunfold.validation import check_sources

_BAR = {"description": "distances", "unit": "sources"}
_MOST_NEIGHBORS = 1 << 16
_BUCKET_WIDTH = 1.0  # of the median edge length (benchmarks/lanes.py)


def transport_distances(
    connection: Connection,
    sources: Any = None,
    *,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    progress: bool = False,
) -> FloatArray:
    """Estimate geodesic distances from some points, or between all of them.

    Each distance is the mean of two: the shortest path unfolded from either end. Distances from
    listed sources take both from the tree of the source. Distances between all points take the
    second from the tree of the other end, at half the cost; where two shortest paths tie, the
    trees may choose differently, and so may the two ways to call this function.

    Parameters
    ----------
    connection : Connection
        Rotations and steps on the edges of the graph.
    sources : list of int, optional
        The points to start from; all by default.
    dtype : dtype
        float32 or float64, for the result; the arithmetic is always in float64.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. The result does not depend on it.
    progress : bool
        Show a progress bar.

    Returns
    -------
    distances : (n_sources, n_points)
        Infinite where no path leads.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, connect, estimate_frames, transport_distances
    >>> points = np.random.default_rng(0).random((100, 2))
    >>> graph = build_graph(points)
    >>> connection = connect(points, graph, estimate_frames(points, graph))
    >>> distances = transport_distances(connection, sources=[7])
    >>> bool(np.allclose(distances, np.linalg.norm(points - points[7], axis=1)))
    True
    """
    n_points = connection.graph.n_points
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype={dtype!r} cannot hold distances; pass numpy.float32 or float64")
    if sources is None:
        labels = component_labels(connection.graph)
        if labels.max() == 0:
            return distances_among(
                connection, np.arange(n_points), dtype=dtype, n_jobs=n_jobs, progress=progress
            )
        distances = np.full((n_points, n_points), np.inf, dtype=dtype)
        for label in range(labels.max() + 1):
            nodes = np.flatnonzero(labels == label)
            distances[np.ix_(nodes, nodes)] = distances_among(
                connection, nodes, dtype=dtype, n_jobs=n_jobs, progress=progress
            )
        return distances
    sources = check_sources(sources, n_points)
    distances = np.empty((len(sources), n_points), dtype=dtype)

    def both_ways(block: slice) -> None:
        inward = np.empty((block.stop - block.start, n_points))
        outward = np.empty_like(inward)
        one_way_rows(*_arrays(connection), sources[block], inward, outward)
        distances[block] = 0.5 * (inward + outward)

    run_blocks(
        both_ways, plan_blocks(len(sources), n_points), n_jobs=n_jobs, **_BAR, progress=progress
    )
    return distances


def distances_among(
    connection: Connection,
    nodes: IntArray,
    *,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    progress: bool = False,
) -> FloatArray:
    """Estimate all geodesic distances in a component, as a symmetric matrix.

    Parameters
    ----------
    connection : Connection
        Rotations and steps on the edges of the graph.
    nodes : (n_nodes,) int
        All nodes of one component; the matrix has their order.
    dtype, n_jobs, progress
        As in :func:`transport_distances`.
    """
    arrangement = arrange(connection, nodes)
    distances = one_way_distances(
        arrangement.connection, arrangement.position, dtype=dtype, n_jobs=n_jobs, progress=progress
    )
    symmetrize(distances, n_jobs=n_jobs)
    return distances


def one_way_distances(
    connection: Connection,
    position: IntArray,
    *,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    progress: bool = False,
) -> FloatArray:
    """Estimate all geodesic distances in an arranged component, one way.

    Parameters
    ----------
    connection : Connection
        As `arrange` lays it out.
    position : (n_rows,) int
        The node that each row and column stands for. Sorted it is a little quicker.
    dtype, n_jobs, progress
        As in :func:`transport_distances`.

    Returns
    -------
    distances : (n_rows, n_rows)
        Row i has the distances towards i, unfolded from the other end.
    """
    graph = connection.graph
    owners = np.argsort(position, kind="stable")
    owned = np.searchsorted(position[owners], np.arange(graph.n_points + 1))
    per_width = 1 / (_BUCKET_WIDTH * np.median(graph.lengths)) if graph.n_edges else 1.0
    back = (graph.reverse - graph.indptr[graph.indices]).astype(np.uint16)
    rotations = connection.rotations.ravel()
    distances = np.empty((len(position), len(position)), dtype=dtype)

    def by_batches(block: slice) -> None:
        batch_rows(
            graph.indptr,
            graph.indices,
            graph.lengths,
            back,
            connection.steps,
            rotations,
            block.start,
            block.stop,
            per_width,
            position,
            owners,
            owned,
            distances,
        )

    def by_trees(block: slice) -> None:
        for source in range(block.start, block.stop):
            row, nothing = np.empty((1, graph.n_points)), np.empty((0, graph.n_points))
            one_way_rows(*_arrays(connection), np.array([source]), row, nothing)
            distances[owners[owned[source] : owned[source + 1]]] = row[0, position]

    # Batches number the neighbours of a node in 16 bits.
    is_hub = graph.n_edges and np.diff(graph.indptr).max() > _MOST_NEIGHBORS
    work = by_trees if is_hub else by_batches
    run_blocks(work, plan_batches(graph.n_points), n_jobs=n_jobs, **_BAR, progress=progress)
    return distances


def graph_distances(
    graph: Graph, sources: Any = None, *, n_jobs: int | None = None, progress: bool = False
) -> FloatArray:
    """Measure shortest paths on the graph, what Isomap takes for geodesics.

    Parameters
    ----------
    graph : Graph
        The proximity graph.
    sources : list of int, optional
        The points to start from; all by default.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : bool
        Show a progress bar.

    Returns
    -------
    lengths : (n_sources, n_points) float64
        Infinite where no path leads.
    """
    n_points = graph.n_points
    sources = np.arange(n_points) if sources is None else check_sources(sources, n_points)
    rows = np.empty((len(sources), n_points))

    def measure(block: slice) -> None:
        tree_lengths(graph.indptr, graph.indices, graph.lengths, sources[block], rows[block])

    run_blocks(
        measure, plan_blocks(len(sources), n_points), n_jobs=n_jobs, **_BAR, progress=progress
    )
    return rows


def symmetrize(matrix: FloatArray, *, squared: bool = False, n_jobs: int | None = None) -> None:
    """Replace a square matrix by the mean of itself and its transpose, in place.

    Parameters
    ----------
    matrix : (n, n)
        Overwritten.
    squared : bool
        Square the means in the same pass.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    """

    def handle(rows: slice) -> None:
        symmetrize_rows(matrix, rows.start, rows.stop, 2 if squared else 1)

    run_blocks(handle, cut(len(matrix), TILE), n_jobs=n_jobs)


def _arrays(connection: Connection) -> tuple[Any, ...]:
    graph = connection.graph
    return (
        graph.indptr,
        graph.indices,
        graph.lengths,
        graph.tails,
        graph.reverse,
        connection.rotations,
        connection.steps,
    )
