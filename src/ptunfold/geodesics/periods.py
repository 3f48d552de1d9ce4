"""Places and periods that fit all edges of a wrapped sheet best, by least squares.

A path from one point errs by all that errs on its way. On a flat sheet, where whoever goes around
comes back turned by nothing, the frames of all points can be turned into one, and then every edge
u → v tells of the places y_v = y_u + s_uv, across a seam of y_v + t = y_u + s_uv. All of them
together have the period t in the mean of all ways around.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import bmat, csr_array, diags_array
from scipy.sparse.linalg import cg

from ptunfold.geometry.connection import nearest_rotations
from ptunfold.kernels.development import Unfolding, add_turns
from ptunfold.kernels.inputs import connection_arrays
from ptunfold.types import Connection, FloatArray

_ROUNDS = 3  # of turning each frame to what its neighbours say
# The square of the noise over its own length makes an edge longer: by the fourth power of lengths,
# of the mean, long ones count more, but none for nothing or all.
_LEAST, _MOST = 0.1, 3.0
_ACCURACY = 1e-6


class Wrapped(NamedTuple):
    """A sheet that goes around, laid flat.

    ``places`` (n_points, d), ``turns`` (n_points, d, d) from the frame of each point to that of the
    places, ``periods`` (n_periods, d), and for each edge where its head is ``seen`` from its tail,
    (n_edges, d).
    """

    places: FloatArray
    turns: FloatArray
    periods: FloatArray
    seen: FloatArray


def fit_periods(
    connection: Connection, unrolled: Unfolding, windings: FloatArray, periods: FloatArray
) -> Wrapped:
    """Find the places and periods that fit all edges best.

    ``windings`` (n_edges, n_periods) tells how often an edge goes across each seam, NaN if nobody
    knows. ``unrolled`` and ``periods`` are where to begin.
    """
    graph = connection.graph
    turns = _average(connection, unrolled.turns)
    steps = np.einsum("eij,ej->ei", turns[graph.tails], connection.steps)
    is_known = ~np.isnan(windings.sum(axis=1))
    across = np.nan_to_num(windings)
    squares = np.square(np.clip(graph.lengths / graph.lengths.mean(), _LEAST, _MOST))
    weights = np.square(squares) * is_known

    def at_tails(values: FloatArray) -> FloatArray:
        """Sum the values of edges, (n_edges, m), at their tails, with weights."""
        return np.column_stack(
            [np.bincount(graph.tails, weights * column, graph.n_points) for column in values.T]
        )

    # The normal equations, each edge in both directions.
    ones = np.ones((graph.n_edges, 1))
    beside = csr_array((weights, graph.indices, graph.indptr), shape=(graph.n_points,) * 2)
    laplacian = diags_array(at_tails(ones)[:, 0]) - beside
    coupling = -at_tails(across)
    weighted = across * weights[:, None]
    matrix = bmat(
        [[laplacian, csr_array(coupling)], [csr_array(coupling.T), weighted.T @ across / 2]],
        format="csr",
    )
    sums = np.concatenate(
        (at_tails(steps[graph.reverse] - steps) / 2, weighted.T @ steps / 2), axis=0
    )
    begin = np.concatenate((unrolled.outward, periods), axis=0)
    diagonal = matrix.diagonal()
    scaled = diags_array(1 / np.where(diagonal > 0, diagonal, 1))
    found = np.column_stack(
        [
            cg(matrix, right, x0=left, rtol=_ACCURACY, M=scaled)[0]
            for right, left in zip(sums.T, begin.T, strict=True)
        ]
    )
    places, periods = np.split(found, [graph.n_points])
    return Wrapped(places, turns, periods, places[graph.tails] + steps)


def _average(connection: Connection, turns: FloatArray) -> FloatArray:
    """Turn each frame (n_points, d, d) to the mean of what its neighbours say, a few times."""
    arrays, sums = connection_arrays(connection), np.empty_like(turns)
    for _ in range(_ROUNDS):
        add_turns(arrays, turns, sums)
        turns = nearest_rotations(sums)
    return turns
