"""One path at a time: its nodes and its unfolding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptunfold.geodesics.rows import chords_of, kept_of
from ptunfold.kernels.development import develop_both_ways
from ptunfold.kernels.trees import grow_whole_tree, new_tree
from ptunfold.types import Connection, FloatArray, IntArray, Path
from ptunfold.validation import check_connection, check_index


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
    tree, seen_from_start, _, _ = develop(connection, start, is_whole=True)
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
        points=seen_from_start[nodes],
        graph_length=float(tree.distance[end]),
        forward=forward,
        backward=backward,
        coherence=kept_of(connection)[edges],
    )


def both_directions(connection: Connection, source: int) -> tuple[FloatArray, FloatArray]:
    """Estimate the distances from one point to all, from its own end and from theirs, (n_points,).

    Infinite where no path leads.
    """
    tree, seen_from_source, source_seen, lost = develop(connection, source)
    is_far = ~np.isfinite(tree.distance)
    points = chords_of(connection)
    chords = np.linalg.norm(points - points[source], axis=1)
    found = []
    for places, more in ((seen_from_source, lost[:, 1]), (source_seen, lost[:, 0])):
        lengths = np.maximum(np.linalg.norm(places, axis=1) + more, chords)
        lengths[is_far] = np.inf
        found.append(lengths)
    return found[0], found[1]


def develop(
    connection: Connection, source: int, *, is_whole: bool = False
) -> tuple[Any, FloatArray, FloatArray, FloatArray]:
    """Unfold all paths from a point: the tree, what the point sees, and how the others see it.

    With ``is_whole`` everything is carried on, whatever the coherence; else the last array (n, 2)
    has the lengths that were not, as the others see it and as the point sees it.
    """
    graph, dim = connection.graph, connection.intrinsic_dim
    tree = new_tree(graph.n_points)
    n_settled, _ = grow_whole_tree(*graph.arrays, source, tree)
    seen_from_source, source_seen = np.zeros((2, graph.n_points, dim))
    lost = np.zeros((graph.n_points, 2))
    edges = (graph.tails, graph.reverse, connection.rotations, connection.steps)
    kept = np.ones(graph.n_edges) if is_whole else kept_of(connection)
    turns = np.empty((graph.n_points, dim, dim))
    develop_both_ways(*edges, kept, tree, n_settled, source_seen, seen_from_source, turns, lost)
    return tree, seen_from_source, source_seen, lost
