"""Graphs and connections as kernels take them: tuples of arrays, which cost nothing to make.

Named here and not with the records, so that code compiled for other fields is never taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.types import Connection, FloatArray, Graph


class GraphArrays(NamedTuple):
    """The arrays of a `Graph`."""

    indptr: Any
    indices: Any
    lengths: Any


class ConnectionArrays(NamedTuple):
    """The arrays of a `Connection`.

    ``kept`` (E,) is the share that is carried over each edge, empty if that is all; ``points``
    (n, n_axes) bound distances from below; there may be no axes. ``curvature`` (n,) is empty where
    there is none.
    """

    graph: GraphArrays
    tails: Any
    reverse: Any
    rotations: Any
    steps: Any
    kept: Any
    points: Any
    curvature: Any


class BatchArrays(NamedTuple):
    """The arrays of a connected `Connection` without copies, as batches take them.

    ``back`` (E,) uint16 is the place of each edge's tail in the list of its head's neighbours,
    ``per_width`` how many buckets there are to a unit of length; ``steps``, flat ``rotations`` and
    ``lost`` are what is carried over edges and what is not. ``curvature`` (n,) is empty where
    there is none.
    """

    graph: GraphArrays
    back: Any
    per_width: Any
    steps: Any
    rotations: Any
    lost: Any
    points: Any
    curvature: Any


class Owners(NamedTuple):
    """Whose a matrix is: column c stands for the node ``position[c]``.

    The rows of node s are ``owners[owned[s]:owned[s + 1]]``, more than one if it has copies.
    """

    position: Any
    owners: Any
    owned: Any


def graph_arrays(graph: Graph) -> GraphArrays:
    """Spread a graph out."""
    return GraphArrays(graph.indptr, graph.indices, graph.lengths)


def connection_arrays(connection: Connection) -> ConnectionArrays:
    """Spread a connection out."""
    graph = connection.graph
    return ConnectionArrays(
        graph_arrays(graph),
        graph.tails,
        graph.reverse,
        connection.rotations,
        connection.steps,
        np.empty(0) if connection.coherence is None else connection.coherence,
        chords_of(connection),
        curvature_of(connection),
    )


def kept_of(connection: Connection) -> FloatArray:
    """Tell what share is carried over each edge, (n_edges,)."""
    if connection.coherence is None:
        return np.ones(connection.graph.n_edges)
    return connection.coherence


def curvature_of(connection: Connection) -> FloatArray:
    """Return the curvature that paths are unfolded with, (n_points,), or nothing."""
    return np.empty(0) if connection.curvature is None else connection.curvature


def chords_of(connection: Connection) -> FloatArray:
    """Return the coordinates that bound distances from below, (n_points, n_axes), or none."""
    if connection.points is None:
        return np.empty((connection.graph.n_points, 0))
    return connection.points
