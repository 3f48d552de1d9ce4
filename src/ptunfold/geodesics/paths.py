"""One path at a time: its nodes and its unfolding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptunfold.kernels.development import Unfolding, develop_both_ways, new_unfolding
from ptunfold.kernels.inputs import chords_of, connection_arrays, kept_of
from ptunfold.kernels.trees import grow_tree
from ptunfold.types import Connection, FloatArray, IntArray, Path
from ptunfold.validation.records import check_connection
from ptunfold.validation.values import check_index


def unfold_path(
    connection: Connection, start: int, end: int, *, names: IntArray | None = None
) -> Path:
    """Unfold the shortest path between two points into the tangent space of the first.

    Parameters
    ----------
    connection : Connection
        Rotations and steps on the edges of the graph.
    start, end : int
        The two points.
    names : (n_points,) int, optional
        What messages call the points; their indices by default.

    Returns
    -------
    path : Path
        Nodes, unfolded points, length on the graph and the two one-way estimates.

    Raises
    ------
    ValueError
        If no path leads from one to the other.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, connect, estimate_frames, unfold_path
    >>> points = np.random.default_rng(0).random((100, 2))
    >>> graph = build_graph(points)
    >>> connection = connect(points, graph, estimate_frames(points, graph))
    >>> path = unfold_path(connection, 3, 60)
    >>> bool(np.isclose(path.distance, np.linalg.norm(points[3] - points[60])))
    True
    >>> path.graph_length > path.distance
    True
    """
    connection = check_connection(connection)
    graph = connection.graph
    start, end = check_index(start, graph.n_points), check_index(end, graph.n_points)
    # Drawn with everything carried on, whatever the coherence.
    unfolding = unfold(replace(connection, coherence=None), start)
    tree = unfolding.tree
    if not np.isfinite(tree.distance[end]):
        if names is not None:
            start, end = names[start], names[end]
        raise ValueError(
            f"no path leads from point {start} to point {end}: they lie in different components "
            'of the graph; use disconnected="bridge" or more neighbours'
        )
    backwards = [end]
    while backwards[-1] != start:
        backwards.append(graph.tails[tree.parent_edge[backwards[-1]]])
    nodes = np.array(backwards[::-1], dtype=np.int64)
    edges = tree.parent_edge[nodes[1:]]
    forward, backward = (float(lengths[end]) for lengths in both_directions(connection, start))
    return Path(
        nodes=nodes,
        points=unfolding.outward[nodes],
        graph_length=float(tree.distance[end]),
        forward=forward,
        backward=backward,
        coherence=kept_of(connection)[edges],
    )


def both_directions(connection: Connection, source: int) -> tuple[FloatArray, FloatArray]:
    """Estimate the distances from one point to all, from its own end and from theirs, (n_points,).

    Infinite where no path leads.
    """
    tree, inward, outward, _, lost, _ = unfold(connection, source)
    if connection.curvature is not None:
        outward = inward  # it is only known towards the source
    is_far = ~np.isfinite(tree.distance)
    points = chords_of(connection)
    chords = np.linalg.norm(points - points[source], axis=1)
    found = []
    for places, more in ((outward, lost[:, 1]), (inward, lost[:, 0])):
        lengths = np.maximum(np.linalg.norm(places, axis=1) + more, chords)
        lengths[is_far] = np.inf
        found.append(lengths)
    return found[0], found[1]


def unfold(connection: Connection, source: int) -> Unfolding:
    """Unfold all paths from a point."""
    arrays = connection_arrays(connection)
    unfolding = new_unfolding(arrays)
    n_reached = grow_tree(arrays.graph, source, unfolding.tree)
    develop_both_ways(arrays, n_reached, unfolding)
    return unfolding
