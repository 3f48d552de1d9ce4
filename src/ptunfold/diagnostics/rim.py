"""Where a sheet ends: points that have all their neighbours on one side."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ptunfold.geometry.graph import find_edges
from ptunfold.kernels.cones import emptiest_cones
from ptunfold.threads import Run, check_not_stopped, cut, run_blocks
from ptunfold.types import BoolArray, Connection, Graph
from ptunfold.validation.records import check_connection

# Neighbours at angles of up to 107 degrees from one direction are on one side.
_ONE_SIDE = -0.3
# With fewer edges a point than this for two dimensions, every tenth point inside has none behind
# it by chance; then neighbours of neighbours count too, as far as 26 neighbours reach.
_MANY, _REACH = 18, 1.6


def rim_points(connection: Connection, *, n_jobs: int | None = None) -> BoolArray:
    """Find the points at the rim of a sheet, outside and around holes.

    A point is at the rim if some direction has all its neighbours at angles of at most 107 degrees,
    as they are seen in its tangent space, whatever its dimension, and so has one of these.

    Parameters
    ----------
    connection : Connection
        Rotations and steps on the edges of a graph; bridges do not count.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.

    Returns
    -------
    is_rim : (n_points,) bool
        Whether each point is at the rim; False for points without an edge.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, connect, estimate_frames
    >>> from ptunfold.diagnostics.rim import rim_points
    >>> points = np.random.default_rng(0).random((1000, 2))
    >>> graph = build_graph(points)
    >>> is_rim = rim_points(connect(points, graph, estimate_frames(points, graph)))
    >>> from_border = np.minimum(points, 1 - points).min(axis=1)
    >>> print(f"{np.median(from_border):.2f} {np.median(from_border[is_rim]):.2f}")
    0.15 0.01
    """
    connection = check_connection(connection)
    graph, dim = connection.graph, connection.intrinsic_dim
    is_used = edges_along(connection)
    has_ring = np.count_nonzero(is_used) < _MANY * graph.n_points * max(dim - 1, 1)
    found = np.full(graph.n_points, np.nan)
    arrays = (graph.indptr, graph.indices, connection.rotations, connection.steps, is_used)
    nodes = np.arange(graph.n_points)

    def handle(block: slice) -> None:
        emptiest_cones(*arrays, nodes[block], has_ring, _REACH, found)

    run_blocks(handle, cut(len(nodes), max(512, len(nodes) // 64)), Run(n_jobs))
    is_rim = found > _ONE_SIDE
    if dim == 1:
        return is_rim
    # A rim is a line or more; a point alone is one with a gap beside it.
    tails, heads = graph.tails[is_used], graph.indices[is_used]
    return is_rim & (np.bincount(tails, is_rim[heads], graph.n_points) > 0)


def edges_along(connection: Connection) -> BoolArray:
    """Mark the edges that say something about the sheet: no bridges, no copies, (n_edges,)."""
    check_not_stopped()  # of many points each of these takes a good part of a second
    lengths = reduce(np.maximum, np.abs(connection.steps).T)  # an axis at a time: rows are short
    check_not_stopped()
    return (lengths > 0) & np.isfinite(lengths) & ~is_bridge(connection.graph)


def is_bridge(graph: Graph) -> BoolArray:
    """Mark the edges that were added to join components, (n_edges,)."""
    marked = np.zeros(graph.n_edges, dtype=bool)
    if graph.bridges is not None and len(graph.bridges):
        for tails, heads in (graph.bridges.T, graph.bridges[:, ::-1].T):
            places, is_there = find_edges(graph, tails, heads)
            marked[places[is_there]] = True
    return marked
