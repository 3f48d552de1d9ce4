"""Geodesic distances by parallel transport along shortest paths (Algorithm 2 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.geodesics.blocks import plan_blocks, run_blocks
from ptunfold.kernels.development import one_way_rows
from ptunfold.kernels.paths import tree_lengths
from ptunfold.types import Connection, FloatArray, Graph, IntArray
from ptunfold.validation import check_sources

_TILE = 512


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
    if sources is None:
        everyone = np.arange(n_points)
        return distances_among(connection, everyone, dtype=dtype, n_jobs=n_jobs, progress=progress)
    sources = check_sources(sources, n_points)
    distances = np.empty((len(sources), n_points), dtype=dtype)

    def both_ways(block: slice) -> None:
        inward = np.empty((block.stop - block.start, n_points))
        outward = np.empty_like(inward)
        one_way_rows(*_arrays(connection), sources[block], inward, outward)
        distances[block] = 0.5 * (inward + outward)

    run_blocks(both_ways, plan_blocks(len(sources), n_points), n_jobs=n_jobs, progress=progress)
    return distances


def distances_among(
    connection: Connection,
    nodes: IntArray,
    *,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    progress: bool = False,
) -> FloatArray:
    """Estimate all geodesic distances among ``nodes``, as a symmetric matrix in their order."""
    n_points = connection.graph.n_points
    distances = np.empty((len(nodes), len(nodes)), dtype=dtype)
    skipped = np.empty((0, n_points))

    def one_way(block: slice) -> None:
        inward = np.empty((block.stop - block.start, n_points))
        one_way_rows(*_arrays(connection), nodes[block], inward, skipped)
        distances[block] = inward[:, nodes]

    run_blocks(one_way, plan_blocks(len(nodes), n_points), n_jobs=n_jobs, progress=progress)
    symmetrize(distances)
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

    run_blocks(measure, plan_blocks(len(sources), n_points), n_jobs=n_jobs, progress=progress)
    return rows


def symmetrize(matrix: FloatArray) -> None:
    """Replace a square matrix by the mean of itself and its transpose, in place."""
    for start in range(0, len(matrix), _TILE):
        rows = slice(start, start + _TILE)
        for other in range(start, len(matrix), _TILE):
            columns = slice(other, other + _TILE)
            mean = 0.5 * (matrix[rows, columns] + matrix[columns, rows].T)
            matrix[rows, columns] = mean
            matrix[columns, rows] = mean.T


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
