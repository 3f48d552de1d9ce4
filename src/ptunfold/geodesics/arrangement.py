"""A component made ready for batches: its own nodes, no copies, neighbours next to each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree

from ptunfold.geometry.order import connection_from_edges, renumber
from ptunfold.kernels.trees import lengths_from
from ptunfold.types import Connection, FloatArray, Graph, IntArray

_N_BEACONS = 6


@dataclass(frozen=True, eq=False)
class Arrangement:
    """A connected connection in a good order: neighbours at neighbouring indices, no copies.

    ``position`` (n_nodes,) is the node in it that stands for each of the caller's nodes.
    """

    connection: Connection
    position: IntArray


def arrange(connection: Connection, nodes: IntArray) -> Arrangement:
    """Take a component, by all of its nodes, out of a connection and lay it out for the batches."""
    part, copy_of = merge_copies(restrict(connection, nodes))
    place = np.argsort(_neighborly_order(part.graph))
    return Arrangement(renumber(part, place), place[copy_of])


def merge_copies(connection: Connection) -> tuple[Connection, IntArray]:
    """Make one node of those that lie at the same place, in a connected graph.

    Returns the merged connection and the node in it that stands for each node.
    """
    graph = connection.graph
    # No length may vanish when it is added to a distance; such edges join copies of a point.
    if graph.n_edges:
        longest_path = graph.n_points * graph.lengths.max()
        if graph.lengths.min() > 4 * np.finfo(np.float64).eps * longest_path:
            return connection, np.arange(graph.n_points)
    farthest = lengths_from(graph, 0).max()
    return _merge_copies(connection, 4 * np.finfo(np.float64).eps * farthest)


def restrict(connection: Connection, nodes: IntArray) -> Connection:
    """Keep some nodes, numbered as listed, and the edges between them; perhaps all of them."""
    graph = connection.graph
    if np.array_equal(nodes, np.arange(graph.n_points)):
        return connection
    place = np.full(graph.n_points, -1)
    place[nodes] = np.arange(len(nodes))
    kept = (place[graph.tails] >= 0) & (place[graph.indices] >= 0)
    points, explained, curvature = (
        None if values is None else values[nodes]
        for values in (connection.points, connection.explained, connection.curvature)
    )
    part = connection_from_edges(
        len(nodes),
        place[graph.tails[kept]],
        place[graph.indices[kept]],
        graph.lengths[kept],
        connection.rotations[kept],
        connection.steps[kept],
        None if connection.coherence is None else connection.coherence[kept],
        points,
        curvature,
    )
    return replace(part, explained=explained)


def _neighborly_order(graph: Graph) -> IntArray:
    """Order the nodes so that those near on the graph are near in the list, (n_points,)."""
    return order_by_beacons(lambda source: lengths_from(graph, source), graph.n_points)


def order_by_beacons(lengths_from: Callable[[int], FloatArray], n_points: int) -> IntArray:
    """Order nodes by their distances to a few far-apart beacons, which are coordinates.

    ``lengths_from`` measures from a node to all; the order is leaf by leaf of a k-d tree.
    """
    beacon = int(lengths_from(0).argmax())
    coordinates: list[FloatArray] = []
    for _ in range(min(_N_BEACONS, n_points)):
        coordinates.append(lengths_from(beacon))
        beacon = int(np.min(coordinates, axis=0).argmax())
    return cKDTree(np.column_stack(coordinates), leafsize=8).indices


def _merge_copies(connection: Connection, tiny: float) -> tuple[Connection, IntArray]:
    """Merge nodes that are joined by edges no longer than ``tiny``.

    Their edges are carried to one of them, the representative. Returns the merged connection and
    the node in it that stands for each node.
    """
    graph = connection.graph
    joins = graph.lengths <= tiny
    if not joins.any():
        return connection, np.arange(graph.n_points)
    pairs = (np.ones(joins.sum()), (graph.tails[joins], graph.indices[joins]))
    matrix = sparse.coo_array(pairs, shape=(graph.n_points, graph.n_points))
    n_places, copy_of = csgraph.connected_components(matrix, directed=False)
    turns = _turns_to_representative(connection, np.flatnonzero(joins), copy_of)

    tails, heads = copy_of[graph.tails], copy_of[graph.indices]
    kept = np.flatnonzero(tails != heads)
    # Of parallel edges the shortest stays, in both directions the same one.
    low, high = np.minimum(tails[kept], heads[kept]), np.maximum(tails[kept], heads[kept])
    twin = np.minimum(kept, graph.reverse[kept])
    order = np.lexsort((twin, graph.lengths[kept], tails[kept] > heads[kept], high, low))
    key = np.stack((low, high, tails[kept] > heads[kept]))[:, order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (np.diff(key, axis=1) != 0).any(axis=0)
    kept = kept[order[is_first]]
    turn = turns[graph.tails[kept]]
    turn_back = turns[graph.indices[kept]].transpose(0, 2, 1)
    merged = connection_from_edges(
        n_places,
        tails[kept],
        heads[kept],
        graph.lengths[kept],
        turn @ connection.rotations[kept] @ turn_back,
        np.einsum("eij,ej->ei", turn, connection.steps[kept]),
        None if connection.coherence is None else connection.coherence[kept],
        None if connection.points is None else connection.points[_first_of(copy_of)],
        None if connection.curvature is None else connection.curvature[_first_of(copy_of)],
    )
    return merged, copy_of.astype(np.int64)


def _first_of(copy_of: IntArray) -> IntArray:
    """List a node for each place, the first of its copies."""
    return np.unique(copy_of, return_index=True)[1]


def _turns_to_representative(
    connection: Connection, joins: IntArray, copy_of: IntArray
) -> FloatArray:
    """Find the rotation from the frame of each node to that of its representative, (n, d, d)."""
    graph = connection.graph
    turns = np.zeros((graph.n_points, connection.intrinsic_dim, connection.intrinsic_dim))
    representatives = _first_of(copy_of)
    turns[representatives] = np.eye(connection.intrinsic_dim)
    is_known = np.zeros(graph.n_points, dtype=bool)
    is_known[representatives] = True
    while not is_known.all():
        edges = joins[is_known[graph.tails[joins]] & ~is_known[graph.indices[joins]]]
        reached, first = np.unique(graph.indices[edges], return_index=True)
        edges = edges[first]
        turns[reached] = turns[graph.tails[edges]] @ connection.rotations[edges]
        is_known[reached] = True
    return turns
