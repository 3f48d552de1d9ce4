"""Fewer points than features: the same points in coordinates of their own span."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ptunfold.geometry.copies import distinct_places
from ptunfold.types import FloatArray


def span_coordinates(points: FloatArray) -> FloatArray:
    """Write points in an orthonormal basis of their affine span, where that is smaller.

    n points of R^D lie in n - 1 dimensions. Their frames in R^D would fill ``n * D * d`` numbers
    without telling more, so for D > n an exact isometry comes first: with the centred points as
    the columns of QR, the columns of R are the same points in the basis Q.

    Parameters
    ----------
    points : (n_points, n_features)
        The points.

    Returns
    -------
    coordinates : (n_points, min(n_points, n_features))
        In the dtype of ``points``; ``points`` itself if there are no more features than points.
    """
    n_points, n_features = points.shape
    if n_features <= n_points:
        return points
    # QR and not the Gram matrix, whose square root has only half the digits.
    columns = np.array(points.T, dtype=np.float64, order="F")
    columns -= columns.mean(axis=1, keepdims=True)
    # LAPACK itself, because scipy.linalg.qr would copy the whole matrix for its upper part.
    n_work, _ = linalg.lapack.dgeqrf_lwork(n_features, n_points)
    factored, _, _, _ = linalg.lapack.dgeqrf(columns, lwork=int(n_work), overwrite_a=True)
    coordinates = np.triu(factored[:n_points]).T.astype(points.dtype)
    # Rounding must not drive copies of a point apart.
    return np.ascontiguousarray(coordinates[distinct_places(points)])


def into_span(
    points: FloatArray, coordinates: FloatArray, new: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Write other points in the basis of `span_coordinates`, or of principal coordinates.

    Parameters
    ----------
    points, coordinates : (n_points, n_features) and (n_points, n_coordinates)
        The points, and what `span_coordinates` or `leading_coordinates` made of them.
    new : (n_new, n_features)
        Other points.

    Returns
    -------
    coordinates : (n_new, n_coordinates) float64
        Those of the nearest point in the span.
    off : (n_new,) float64
        The distance to it.
    """
    center = points.mean(axis=0, dtype=np.float64)
    offsets = new - center
    # The basis Q is not kept; as points @ Q = C, new @ Q is the y with C y = points @ new. Where
    # points are many, Q is the smaller one to solve for: C Qᵗ is nearest to the points.
    if points.shape[1] < len(points):
        # Not by @, whose rounding depends on how many points there are.
        basis = _solve(coordinates, points - center)
        found = np.einsum("ij,kj->ik", offsets, basis)
    else:
        found = _solve(coordinates, (points - center) @ offsets.T).T
    squares = np.square(offsets).sum(axis=1) - np.square(found).sum(axis=1)
    return found, np.sqrt(np.maximum(squares, 0))


def out_of_span(points: FloatArray, coordinates: FloatArray, places: FloatArray) -> FloatArray:
    """Return from the span to R^n_features: the inverse of `into_span`, (n_places, n_features)."""
    center = points.mean(axis=0, dtype=np.float64)
    if points.shape[1] < len(points):
        basis = _solve(coordinates, points - center)
        return center + np.einsum("ij,jk->ik", places, basis)
    weights = _solve(coordinates.T, places.T)
    return center + weights.T @ (points - center)


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Find the smallest least-squares solution; n points span at most n - 1 dimensions."""
    precision = 1e-10 if matrix.dtype == np.float64 else 1e-5
    solution, *_ = linalg.lstsq(
        matrix.astype(np.float64), right, cond=precision, lapack_driver="gelsy"
    )
    return solution
