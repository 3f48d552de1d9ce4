"""What a point sees of all others: ways and directions of geodesics, in its tangent space."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ptunfold.geodesics.distances import transport_distances
from ptunfold.geodesics.paths import unfold
from ptunfold.threads import Run, cut
from ptunfold.types import Connection, FloatArray, Geometry, IntArray

# The points around one whose distances tell directions: for each coefficient of a quadratic
# function, and at most. Measured on spheres: 5 for each leave 4 % of the vectors off by more than
# 1 %, 12 leave 0.5 %, 20 hardly any.
_FOR_EACH, _MOST_AROUND = 20, 100
# Few points are far apart: a fifth of them, if that is enough for the coefficients.
_MOST_SHARE, _ENOUGH_FOR_EACH, _LEAST_FOR_EACH = 0.2, 4, 2
_ROWS_TOGETHER = 16
# By how much the gradient of a distance may miss its length, which is 1. It does where ways lead
# around something on both sides, and where tangent planes say little.
_MOST_OFF = 0.05


def log_vectors(geometry: Geometry, point: int, run: Run = Run()) -> FloatArray:
    """Return the caller's points as his point sees them, in his order, (n_points, d).

    Their lengths are the distances from the point; NaN where no path leads, and for points that
    are left out.
    """
    source = int(geometry.place[point])
    vectors = _seen_from(geometry.connection, source, run.quiet)
    left_out = geometry.labels == -1
    vectors[slice(None) if left_out[source] else left_out] = np.nan
    return vectors[geometry.place]


def _seen_from(connection: Connection, source: int, run: Run) -> FloatArray:
    """Return the points as one of them sees them, (n_points, d)."""
    lengths = _rows(connection, np.array([source]), run)[0]
    # All of it, as for a single path: the first steps tell most of the direction, and would be the
    # first to be given up where little is believed.
    unfolding = unfold(replace(connection, coherence=None), source)
    tree, vectors = unfolding.tree, unfolding.outward
    is_near = np.isfinite(tree.distance)
    vectors = _with_lengths(vectors, lengths)
    turned = vectors + _correction(connection, tree, vectors, lengths, run)
    found = np.linalg.norm(turned, axis=1)
    is_gradient = np.abs(found - lengths) <= _MOST_OFF * lengths
    is_open = (vectors == 0).all(axis=1)
    vectors = np.where((is_gradient | is_open)[:, None], turned, vectors)
    vectors = _with_lengths(vectors, lengths)
    vectors[~is_near] = np.nan
    return vectors


def _correction(
    connection: Connection,
    tree: Any,
    vectors: FloatArray,
    lengths: FloatArray,
    run: Run,
) -> FloatArray:
    """Find what the unfolded paths miss of the gradients of squared distances, (n_points, d).

    A shortest path on the graph strays from the geodesic. Its length hardly notices, being the
    least of all, but where the sheet is curved its direction turns by the area in between. So the
    direction is taken from lengths: the point at v from the source is at D² - 2 s·v + s·Hs from
    one next to the source, at s, with a matrix H that is not known; a quadratic function is fitted
    to what several of them say.
    """
    dim = connection.intrinsic_dim
    around = _around(tree, dim)
    steps = vectors[around]
    weights = _gradient_weights(steps, dim)
    found = np.zeros_like(vectors)
    for block in cut(len(around), _ROWS_TOGETHER):
        rows, some = _rows(connection, around[block], run), steps[block]
        squares = lengths**2 - rows**2 + np.square(some).sum(axis=1)[:, None]
        found += (0.5 * squares - some @ vectors.T).T @ weights[:, block].T
    return found


def _around(tree: Any, dim: int) -> IntArray:
    """List the points nearest to the root of a tree, without the root."""
    n_coefficients = dim + dim * (dim + 1) // 2
    n_settled = int(np.isfinite(tree.distance).sum())
    share = max(int(_MOST_SHARE * n_settled), _ENOUGH_FOR_EACH * n_coefficients)
    count = min(_FOR_EACH * n_coefficients, _MOST_AROUND, share)
    return np.argsort(tree.distance, kind="stable")[1 : min(count + 1, n_settled)]


def _gradient_weights(steps: FloatArray, dim: int) -> FloatArray:
    """Return what takes values at ``steps`` (k, d) to the gradient at the origin, (d, k)."""
    size = np.sqrt(np.square(steps).sum(axis=1).mean()) if len(steps) else 0.0
    if size == 0:
        return np.zeros((dim, len(steps)))
    terms = steps / size
    rows, columns = np.triu_indices(dim)
    if len(steps) >= _LEAST_FOR_EACH * (dim + len(rows)):
        terms = np.concatenate((terms, terms[:, rows] * terms[:, columns]), axis=1)
    # Directions that the points leave open are left as they are.
    weights: FloatArray = np.linalg.pinv(terms, rcond=1e-6)[:dim] / size
    return weights


def _rows(connection: Connection, sources: IntArray, run: Run) -> FloatArray:
    """Return distances from some nodes, 0 where no path leads."""
    rows = transport_distances(connection, sources, n_jobs=run.n_jobs)
    rows[~np.isfinite(rows)] = 0
    return rows


def _with_lengths(vectors: FloatArray, lengths: FloatArray) -> FloatArray:
    """Make vectors as long as they have to be; those without a direction stay 0."""
    found = np.linalg.norm(vectors, axis=1)
    scale = np.divide(lengths, found, out=np.zeros_like(found), where=found > 0)
    scaled: FloatArray = vectors * scale[:, None]
    return scaled
