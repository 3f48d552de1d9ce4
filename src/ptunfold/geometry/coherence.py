"""How far transport can be believed: from the rotation around triangles, and the tangent planes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ptunfold.geometry.graph import edges_from
from ptunfold.geometry.order import sample
from ptunfold.kernels.inputs import connection_arrays
from ptunfold.kernels.triangles import turn_around_triangles
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import Connection, FloatArray, Graph, IntArray
from ptunfold.validation.records import check_connection
from ptunfold.validation.values import check_coherence

# What is carried on falls to 1/e where a vector comes back turned by 0.055 radians (3 degrees) from
# a triangle; measured on 26 surfaces with known geodesics, where anything from a third to three
# times as much is nearly as good.
_TURN = 0.003  # radians squared
# In more than two dimensions paths along the graph are longer, by a quarter in six, and the more is
# lost with what is not carried on: it grows with this power of half the dimension.
_BY_DIMENSION = 3
# Turned this little, a vector would be carried on for more than a hundred edges, farther than paths
# go; constant curvature alone does that on a few hundred points.
_LITTLE_TURN = 3e-5
# Of the edges at a point, what has to lie in its tangent plane if that is to say anything: all and
# nothing is believed above and below. Sheets and surfaces have 0.93 and more, tables of images,
# cells and sensors up to 0.72.
_NOTHING_EXPLAINED, _ALL_EXPLAINED = 0.65, 0.85
_LEAST_LOSS = 1e-3
_FEW, _SOME = 300, 150  # points
_EDGES_TOGETHER = 1 << 10


def with_coherence(
    connection: Connection, coherence: float | None = None, *, n_jobs: int | None = None
) -> Connection:
    """Tell how much of what was unfolded before is to be carried over each edge.

    A vector that is carried around a triangle comes back turned, by the curvature inside and by
    what is wrong with the tangent planes. Paths turn likewise: they stray from the geodesic by
    about a triangle an edge. Turned at random, unfolded paths curl up and distances come out too
    short, by the more the longer the path. So with the mean square ω² of the turns around the
    triangles at an edge, the share exp(-ω²/β) is carried on; beyond a length of β/ω² edges paths
    are taken for straight. A curvature that is the same everywhere does no harm, because paths
    stray to either side; its turns are left out of ω. Tangent planes that hold little of the edges
    say nothing, even if they agree with each other: nothing is carried where they explain less
    than two thirds.

    Parameters
    ----------
    connection : Connection
        As `connect` has laid it.
    coherence : float, optional
        The same share for all edges; by default as the data are.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.

    Returns
    -------
    connection : Connection
        With its coherence; None where everything is carried, or next to everything.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, connect, estimate_frames
    >>> from ptunfold.datasets import swiss_roll
    >>> def mean_coherence(points):
    ...     graph = build_graph(points)
    ...     laid = with_coherence(connect(points, graph, estimate_frames(points, graph)))
    ...     return 1.0 if laid.coherence is None else round(float(laid.coherence.mean()), 2)
    >>> mean_coherence(swiss_roll(1000).points)
    1.0
    >>> mean_coherence(np.random.default_rng(0).normal(size=(1000, 10)))
    0.0
    """
    connection = check_connection(connection)
    graph = connection.graph
    if coherence is not None:
        check_coherence(coherence)
        found = None if coherence == 1 else np.full(graph.n_edges, float(coherence))
        return replace(connection, coherence=found)
    if graph.n_points > _FEW and connection.points is not None:
        # Some points tell whether there is anything to lose; on most sheets there is not.
        some = edges_from(graph, sample(connection.points, _SOME))
        if 1 - carried_shares(connection, some, n_jobs).mean() < 0.5 * _LEAST_LOSS:
            return replace(connection, coherence=None)
    shares = on_both_ways(graph, lambda edges: carried_shares(connection, edges, n_jobs))
    if not graph.n_edges or 1 - shares.mean() < _LEAST_LOSS:
        return replace(connection, coherence=None)
    return replace(connection, coherence=shares)


def carried_shares(connection: Connection, edges: IntArray, n_jobs: int | None) -> FloatArray:
    """Tell what is carried over some edges, (m,), by the triangles that they belong to."""
    graph = connection.graph
    turned = _turns(connection, edges, n_jobs)
    allowed = _TURN * (connection.intrinsic_dim / 2) ** _BY_DIMENSION
    shares: FloatArray = np.exp(-np.square(turned) / (turned + _LITTLE_TURN) / allowed)
    if connection.explained is not None:
        ends = graph.tails[edges], graph.indices[edges]
        least = np.minimum(*(connection.explained[end] for end in ends))
        reach = _ALL_EXPLAINED - _NOTHING_EXPLAINED
        shares *= np.clip((least - _NOTHING_EXPLAINED) / reach, 0, 1)
    shares[graph.lengths[edges] == 0] = 1  # copies of a point see what it sees
    return shares


def around_triangles(connection: Connection, edges: IntArray, n_jobs: int | None) -> FloatArray:
    """Measure turns around the triangles of some edges, (m, 4) as `turn_around_triangles`."""
    arrays, sums = connection_arrays(connection), np.empty((len(edges), 4))

    def handle(block: slice) -> None:
        turn_around_triangles(arrays, edges[block], sums[block])

    run_blocks(handle, cut(len(edges), max(_EDGES_TOGETHER, len(edges) // 64)), Run(n_jobs))
    return sums


def on_both_ways(graph: Graph, measure: Callable[[IntArray], FloatArray]) -> FloatArray:
    """Measure each edge once, and have it for both directions, (n_edges, ...)."""
    once = np.flatnonzero(graph.tails < graph.indices)
    found = measure(once)
    whole = np.empty((graph.n_edges, *found.shape[1:]))
    whole[once] = whole[graph.reverse[once]] = found
    return whole


def _turns(connection: Connection, edges: IntArray, n_jobs: int | None) -> FloatArray:
    """Measure the mean square of the turns around the triangles of some edges."""
    graph = connection.graph
    sums = around_triangles(connection, edges, n_jobs)
    _, along, areas, counts = sums.T
    has_area = areas > 0
    curvature = np.median(along[has_area] / areas[has_area]) if has_area.any() else 0.0
    turns, is_lost = _without(sums, curvature), counts == 0
    if is_lost.any():
        # An edge without a triangle fares like all those around it.
        ends = np.stack((graph.tails[edges[is_lost]], graph.indices[edges[is_lost]]))
        beside = edges_from(graph, np.unique(ends))
        sums = around_triangles(connection, beside, n_jobs)
        known = sums[:, 3] > 0
        tails = graph.tails[beside[known]]
        total = np.bincount(tails, _without(sums[known], curvature), graph.n_points)
        around = np.bincount(tails, minlength=graph.n_points)[ends].sum(axis=0)
        turns[is_lost] = total[ends].sum(axis=0) / np.maximum(around, 1)
    return turns


def _without(sums: FloatArray, curvature: float) -> FloatArray:
    """Take the turns that a curvature makes from those around triangles, if they are less so."""
    turns, along, areas, _ = sums.T
    left: FloatArray = np.minimum(turns, turns - 2 * curvature * along + curvature**2 * areas)
    return np.maximum(left, 0)
