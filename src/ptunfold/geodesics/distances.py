"""Geodesic distances by parallel transport along shortest paths (Algorithm 2 of the paper)."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.geodesics.arrangement import arrange
from ptunfold.geodesics.rows import Blocks, MeanRows, plan_batches, plan_blocks
from ptunfold.geodesics.squares import BAND, BandSquares, new_bands
from ptunfold.kernels.compiling import loading
from ptunfold.kernels.development import new_unfolding, one_way_row
from ptunfold.kernels.inputs import (
    BatchArrays,
    Owners,
    chords_of,
    connection_arrays,
    curvature_of,
    graph_arrays,
)
from ptunfold.kernels.tiles import TILE, add_rows, square_means, symmetrize_rows
from ptunfold.kernels.trees import tree_lengths
from ptunfold.threads import Run, cut, effective_n_jobs, run_blocks
from ptunfold.types import Connection, FloatArray, Graph, IntArray
from ptunfold.validation.records import check_connection, check_graph
from ptunfold.validation.values import check_sources

_BAR = ("distances", "sources")
MOST_NEIGHBORS = 1 << 16
_BUCKET_WIDTH = 1.0  # of the median edge length (benchmarks/lanes.py)
_LEAST_CARRIED = 1e-9  # over half an edge: what is lost of a length is found again by division


def transport_distances(
    connection: Connection,
    sources: Any = None,
    *,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> FloatArray:
    """Estimate geodesic distances from some points, or between all of them.

    Each distance is the mean of two: the shortest path unfolded from either end. Distances from
    listed sources take both from the tree of the source. Distances between all points take the
    second from the tree of the other end, at half the cost; where two shortest paths tie, the
    trees may choose differently, and so may the two ways to call this function. Where coherence
    is below 1 they differ by up to a few per cent: what a path loses is counted from its source.

    Parameters
    ----------
    connection : Connection
        Rotations and steps on the edges of the graph.
    sources : list of int, optional
        The points to start from; all by default.
    dtype : dtype
        float32 or float64, for the result; the arithmetic is always in float64.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`. The result does not depend on it.
    verbose : bool
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
    connection = check_connection(connection)
    n_points = connection.graph.n_points
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype={dtype!r} cannot hold distances; pass numpy.float32 or float64")
    run = Run(n_jobs, verbose)
    if sources is None:
        labels = connection.graph.component_labels
        if labels.max() == 0:
            return distances_among(connection, np.arange(n_points), dtype, run)
        distances = np.full((n_points, n_points), np.inf, dtype=dtype)
        for label in range(labels.max() + 1):
            nodes = np.flatnonzero(labels == label)
            distances[np.ix_(nodes, nodes)] = distances_among(connection, nodes, dtype, run)
        return distances
    sources = check_sources(sources, n_points)
    distances = np.empty((len(sources), n_points), dtype=dtype)
    MeanRows(connection).fill(sources, distances, run)
    return distances


def distances_among(
    connection: Connection,
    nodes: IntArray,
    dtype: DTypeLike = np.float64,
    run: Run = Run(),
    *,
    is_one_way: bool = False,
) -> FloatArray:
    """Estimate all geodesic distances among all nodes of a component, as a symmetric matrix.

    With ``is_one_way`` the two directions are left as they are; else both become their mean.
    """
    arrangement = arrange(connection, nodes)
    rows_of = OneWayRows(arrangement.connection, arrangement.position)
    distances = np.empty((len(nodes), len(nodes)), dtype=dtype)

    def write(block: slice) -> None:
        rows_of.write(block, distances, 0)

    run_blocks(write, rows_of.blocks, run, *_BAR)
    if not is_one_way:
        symmetrize(distances, n_jobs=run.n_jobs)
    return distances


def fold_directions(rows_of: Blocks, dtype: DTypeLike, run: Run = Run()) -> BandSquares:
    """Collect rows of one-way distances into squares of the means of both directions, in memory.

    ``dtype`` counts where ``rows_of`` leaves a choice.
    """
    dtype = np.dtype(dtype) if rows_of.dtype is None else rows_of.dtype
    n_rows = int(rows_of.owned[-1])
    bands = new_bands(n_rows, dtype)
    locks = [Lock() for _ in bands]

    def add(block: slice) -> None:
        first, last = rows_of.owned[block.start], rows_of.owned[block.stop]
        rows = np.empty((last - first, n_rows), dtype=dtype)
        rows_of.write(block, rows, first)
        # Each entry is added to twice, once for each direction, in any order.
        for index in range(-(-last // BAND)):
            with locks[index]:
                add_rows(bands[index], BAND * index, rows, first)

    def finish(block: slice) -> None:
        for band in bands[block]:
            square_means(band)

    n_threads = rows_of.n_threads(run.n_jobs)
    run_blocks(add, rows_of.blocks, run, *_BAR, n_threads=n_threads)
    run_blocks(finish, cut(len(bands), 1), run.quiet)
    return BandSquares(bands)


def owners_of(position: IntArray, n_nodes: int) -> tuple[IntArray, IntArray]:
    """List the rows that belong to each node: ``owners[owned[s]:owned[s + 1]]`` for node s."""
    owners = np.argsort(position, kind="stable")
    return owners, np.searchsorted(position[owners], np.arange(n_nodes + 1))


class OneWayRows:
    """Distances towards the nodes of an arranged component: `Blocks` by this process.

    ``position`` (n_rows,) is the node that each row and column of the caller's matrix stands for;
    the rows of node s are ``owners[owned[s]:owned[s + 1]]``.
    """

    dtype: Any = None

    def __init__(self, connection: Connection, position: IntArray) -> None:
        graph = connection.graph
        self.connection, self.position = connection, position
        self.blocks = plan_batches(graph.n_points)
        self.owners, self.owned = owners_of(position, graph.n_points)
        per_width = 1.0
        self.has_hub = False
        if graph.n_edges:
            per_width = 1 / float(_BUCKET_WIDTH * np.median(graph.lengths))
            # Batches number the neighbours of a node in 16 bits.
            self.has_hub = bool(np.diff(graph.indptr).max() > MOST_NEIGHBORS)
        back = (graph.reverse - graph.indptr[graph.indices]).astype(np.uint16)
        shares, points = shares_of(connection), chords_of(connection)
        curvature = curvature_of(connection)
        self.laid = BatchArrays(graph_arrays(graph), back, per_width, *shares, points, curvature)
        self._idle: list[Any] = []  # room for each thread, made once

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_idle": []}

    def n_threads(self, n_jobs: int | None) -> int:
        """Tell how many threads may write blocks at a time."""
        return effective_n_jobs(n_jobs)

    def write(self, block: slice, rows: FloatArray, first_row: int) -> None:
        """Write the rows of a block of nodes into ``rows``, which begins at ``first_row``."""
        if self.has_hub:
            self._write_by_trees(block, rows, first_row)
            return
        # Not before: half a second of the first call goes into Numba's own preparations.
        with loading:
            from ptunfold.kernels.batches import batch_rows, new_batch

        laid, owners = self.laid, Owners(self.position, self.owners, self.owned)
        try:
            batch = self._idle.pop()
        except IndexError:
            height = self.connection.intrinsic_dim + 2 * (len(laid.lost) > 0)
            height += len(laid.curvature) > 0
            batch = new_batch(len(laid.points), height, laid.points.shape[1])
        batch_rows(laid, owners, block.start, block.stop, batch, rows, first_row)
        self._idle.append(batch)

    def _write_by_trees(self, block: slice, rows: FloatArray, first_row: int) -> None:
        row = np.empty(self.connection.graph.n_points)
        arrays = connection_arrays(self.connection)
        unfolding = new_unfolding(arrays)
        for source in range(block.start, block.stop):
            one_way_row(arrays, source, unfolding, row)
            owners = self.owners[self.owned[source] : self.owned[source + 1]]
            rows[owners - first_row] = row[self.position]


def shares_of(connection: Connection) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Write what is carried over edges, and what is not, as batches want it.

    The root of the share is carried over either half of an edge, before its step and after it.
    Returns steps, shortened to what is carried of them; rotations, flat, likewise; and what is lost
    of the length before, and for each unit of the length after, both with a 1 after them, and a
    last pair of ones; nothing is lost, and the last array empty, where everything is carried.
    """
    if connection.coherence is None:
        return connection.steps, connection.rotations.ravel(), np.empty(0)
    half = np.maximum(np.sqrt(connection.coherence), _LEAST_CARRIED)
    lost = np.ones((len(half) + 1, 4))
    lost[:-1, 0], lost[:-1, 2] = 1 - half, 1 / half - 1
    return (
        connection.steps * half[:, None],
        (connection.rotations * np.square(half)[:, None, None]).ravel(),
        lost.ravel()[:-2],
    )


def graph_distances(
    graph: Graph, sources: Any = None, *, n_jobs: int | None = None, verbose: bool = False
) -> FloatArray:
    """Measure shortest paths on the graph, what Isomap takes for geodesics.

    Parameters
    ----------
    graph : Graph
        The proximity graph.
    sources : list of int, optional
        The points to start from; all by default.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    lengths : (n_sources, n_points) float64
        Infinite where no path leads.

    Examples
    --------
    >>> from ptunfold import build_graph, graph_distances
    >>> from ptunfold.datasets import flat_square
    >>> graph = build_graph(flat_square(100).points, n_neighbors=5)
    >>> graph_distances(graph).shape
    (100, 100)
    """
    graph = check_graph(graph)
    n_points = graph.n_points
    sources = np.arange(n_points) if sources is None else check_sources(sources, n_points)
    rows = np.empty((len(sources), n_points))

    def measure(block: slice) -> None:
        tree_lengths(graph_arrays(graph), sources[block], rows[block])

    run_blocks(measure, plan_blocks(len(sources), n_points), Run(n_jobs, verbose), *_BAR)
    return rows


def symmetrize(matrix: FloatArray, *, squared: bool = False, n_jobs: int | None = None) -> None:
    """Replace a square matrix by the mean of itself and its transpose, or its square, in place."""

    def handle(rows: slice) -> None:
        symmetrize_rows(matrix, rows.start, rows.stop, 2 if squared else 1)

    run_blocks(handle, cut(len(matrix), TILE), Run(n_jobs))
