"""Points in an order in which neighbours are near each other in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from ptunfold.geometry.graph import graph_from_edges
from ptunfold.threads import cut
from ptunfold.types import (
    Connection,
    FloatArray,
    Frames,
    Geometry,
    Graph,
    IntArray,
    Points,
    Space,
    pair_keys,
)

# Up to this many points everything that is looked up at random fits into the caches.
MOST_UNORDERED = 20_000
_MOST_AXES = 3
_VALUES_TOGETHER = 1 << 21


def spatial_order(points: FloatArray) -> IntArray:
    """List the points leaf by leaf of a k-d tree, (n_points,).

    With many points every stage is 2 to 3 times as fast in this order as in a random one.
    """
    if points.shape[1] > _MOST_AXES:
        # The directions in which the data extend farthest; a sample shows them.
        chosen = np.random.default_rng(0).choice(len(points), min(len(points), 5000), replace=False)
        sample = points[chosen].astype(np.float64)
        _, _, axes = np.linalg.svd(sample - sample.mean(axis=0), full_matrices=False)
        points = points @ axes[:_MOST_AXES].T.astype(points.dtype)
    return cKDTree(points, leafsize=8, balanced_tree=False).indices


def sample(points: Points, count: int) -> IntArray:
    """Choose some points, whatever their order: by their distance from the middle."""
    if isinstance(points, Space):
        points = points.view
    middle, from_middle = points.mean(axis=0, dtype=np.float64), np.empty(len(points))
    for block in cut(len(points), max(1, _VALUES_TOGETHER // points.shape[1])):
        from_middle[block] = np.linalg.norm(points[block] - middle, axis=1)
    quantiles = np.linspace(0, len(points) - 1, min(count, len(points))).astype(np.int64)
    return np.argsort(from_middle, kind="stable")[quantiles]


def in_given_order(geometry: Geometry) -> Geometry:
    """Give every point the number that it has among the caller's."""
    order = geometry.order
    if order is None:
        return geometry
    here, frames = np.argsort(order), geometry.frames
    return Geometry(
        renumber_graph(geometry.graph, order),
        Frames(
            frames.vectors[here],
            frames.singular_values[here],
            frames.residual[here],
            None if frames.lift is None else frames.lift[here],
            None if frames.is_one_sided is None else frames.is_one_sided[here],
            frames.n_members,
            None if frames.curvature is None else frames.curvature[here],
        ),
        renumber(geometry.connection, order),
        geometry.labels[here],
        geometry.points[here],
        geometry.surface[here],
        geometry.to_input(geometry.shortcuts),
        geometry.texture,
        torn=None if geometry.torn is None else geometry.to_input(geometry.torn),
        overlapping=geometry.overlapping,
    )


def renumber(connection: Connection, number: IntArray) -> Connection:
    """Give each node the number ``number[node]``."""
    graph, order = connection.graph, np.argsort(number)
    points, explained, curvature = (
        None if values is None else values[order]
        for values in (connection.points, connection.explained, connection.curvature)
    )
    renumbered = connection_from_edges(
        graph.n_points,
        number[graph.tails],
        number[graph.indices],
        graph.lengths,
        connection.rotations,
        connection.steps,
        connection.coherence,
        points,
        curvature,
    )
    bridged = replace(renumbered.graph, bridges=_bridges(graph, number))
    return replace(renumbered, explained=explained, graph=bridged)


def renumber_graph(graph: Graph, number: IntArray) -> Graph:
    """Give each node of a graph the number ``number[node]``."""
    once = graph.tails < graph.indices
    renumbered = graph_from_edges(
        graph.n_points, number[graph.tails[once]], number[graph.indices[once]], graph.lengths[once]
    )
    return replace(renumbered, bridges=_bridges(graph, number))


def _bridges(graph: Graph, number: IntArray) -> IntArray | None:
    return None if graph.bridges is None else number[graph.bridges]


def connection_from_edges(
    n_points: int,
    tails: IntArray,
    heads: IntArray,
    lengths: FloatArray,
    rotations: FloatArray,
    steps: FloatArray,
    coherence: FloatArray | None,
    points: FloatArray | None,
    curvature: FloatArray | None,
) -> Connection:
    """Sort directed edges into a connection; the last two are those of the sorted nodes."""
    order = np.argsort(pair_keys(n_points, tails, heads), kind="stable")
    indptr = np.concatenate(([0], np.cumsum(np.bincount(tails, minlength=n_points))))
    graph = Graph(indptr.astype(np.int64), heads[order].astype(np.int32), lengths[order])
    coherence = None if coherence is None else coherence[order]
    return Connection(graph, rotations[order], steps[order], coherence, points, curvature=curvature)
