"""Points that span less than there are features: the same points in coordinates of their span."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ptunfold.geometry.neighbors import distinct_places
from ptunfold.threads import Run, cut, run_blocks, single_threaded_blas
from ptunfold.types import FloatArray

_POINTS_TOGETHER, _FEATURES_TOGETHER, _VALUES_TOGETHER = 256, 1 << 12, 1 << 21
_ROWS = 4  # times a triangle, at least: it is factored with each of them
_MANY_FEATURES = 8  # fewer cost nothing
_SOME_POINTS = 64  # which tell a span of less than half as many dimensions
_ROUNDINGS = 4.0  # by which points may be off the span, and squares of lengths off each other


def span_coordinates(points: FloatArray, least: int = 1) -> FloatArray:
    """Write points in an orthonormal basis of their affine span, where that is smaller.

    Their frames in R^D would fill ``n * D * d`` numbers without telling more, so an exact isometry
    comes first. Few directions that hold all points but for the rounding of their coordinates are
    found from some of the points. And n points of R^D lie in n - 1 dimensions: with the centred
    points as the columns of QR, the columns of R are the same points in the basis Q. Returns
    ``least`` coordinates or more, and ``points`` itself if their span is no smaller.
    """
    n_points, n_features = points.shape
    coordinates = _along_few_directions(points, least)
    if coordinates is None and n_features <= n_points:
        return points
    if coordinates is None:
        coordinates = _by_triangle(points)
    # Rounding must not drive copies of a point apart.
    return np.ascontiguousarray(coordinates[distinct_places(points)].astype(points.dtype))


def _blocks(n_points: int, n_features: int) -> list[slice]:
    """Cut points into blocks, of few points where each is large."""
    return cut(n_points, max(1, min(_POINTS_TOGETHER, _VALUES_TOGETHER // n_features)))


def _along_few_directions(points: FloatArray, least: int) -> FloatArray | None:
    n_points, n_features = points.shape
    if n_features < _MANY_FEATURES:
        return None
    center = points.mean(axis=0, dtype=np.float64)
    some = np.linspace(0, n_points - 1, min(n_points, _SOME_POINTS)).astype(np.int64)
    largest = max(abs(float(points.max())), abs(float(points.min())))
    rounding = _ROUNDINGS * float(np.finfo(points.dtype).eps) * largest
    with single_threaded_blas():
        _, lengths, directions = linalg.svd(points[some] - center, full_matrices=False)
        n_found = int((lengths > rounding * np.sqrt(len(some) * n_features)).sum())
        n_found = max(n_found, least)
        if n_found > len(directions) // 2:
            return None
        basis = directions[:n_found]
        coordinates = np.empty((n_points, n_found))
        for block in _blocks(n_points, n_features):
            coordinates[block] = (points[block] - center) @ basis.T
        most = rounding * np.sqrt(n_features)
        for columns in cut(n_features, _FEATURES_TOGETHER):
            for block in cut(n_points, _POINTS_TOGETHER):
                off = points[block, columns] - center[columns]
                off -= coordinates[block] @ basis[:, columns]
                if max(off.max(), -off.min()) > most:
                    return None
    return coordinates


def _by_triangle(points: FloatArray) -> FloatArray:
    n_points, n_features = points.shape
    # QR and not the Gram matrix, whose square root has only half the digits. Of some rows after the
    # other: the triangle of those before stands for them, and all of them never are in float64.
    triangle = np.empty((0, n_points))
    for rows in cut(n_features, max(_ROWS * n_points, _VALUES_TOGETHER // n_points)):
        n_before = len(triangle)
        columns = np.empty((n_before + rows.stop - rows.start, n_points), order="F")
        columns[:n_before] = triangle
        columns[n_before:] = points[:, rows].T
        columns[n_before:] -= columns[n_before:].mean(axis=1, keepdims=True)
        # LAPACK itself, because scipy.linalg.qr would copy the whole matrix for its upper part.
        n_work, _ = linalg.lapack.dgeqrf_lwork(*columns.shape)
        factored, _, _, _ = linalg.lapack.dgeqrf(columns, lwork=int(n_work), overwrite_a=True)
        triangle = np.triu(factored[:n_points])
    return triangle.T


class Span:
    """The way from points of R^n_features into coordinates of fewer, and back.

    Each point goes by itself: its bits do not depend on what else is passed. ``coordinates`` are
    what `span_coordinates` or `leading_coordinates` made of ``points``.
    """

    def __init__(self, points: FloatArray, coordinates: FloatArray) -> None:
        self.center = points.mean(axis=0, dtype=np.float64)
        # The bits of other processes, which may have fewer threads, have to be the same.
        with single_threaded_blas():
            self.basis = _basis(coordinates, points, self.center)

    def into(self, new: FloatArray, n_jobs: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Write other points in the coordinates of the nearest in the span; also how far it is."""
        found, off = np.empty((len(new), len(self.basis))), np.empty(len(new))
        rounding = _ROUNDINGS * np.finfo(np.float64).eps * np.sqrt(new.shape[1])

        def handle(block: slice) -> None:
            offsets = new[block] - self.center
            # Not by @, whose rounding depends on how many points there are.
            found[block] = np.einsum("ij,kj->ik", offsets, self.basis)
            whole = np.square(offsets).sum(axis=1)
            squares = whole - np.square(found[block]).sum(axis=1)
            # Of a difference of squares so little is rounding, and its root is not little.
            off[block] = np.sqrt(np.where(squares > rounding * whole, squares, 0))

        run_blocks(handle, _blocks(*new.shape), Run(n_jobs))
        return found, off

    def out(self, places: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Return from the coordinates to R^n_features, (n_places, n_features)."""
        points = np.empty((len(places), len(self.center)))

        def handle(block: slice) -> None:
            points[block] = self.center + np.einsum("ij,jk->ik", places[block], self.basis)

        run_blocks(handle, _blocks(*points.shape), Run(n_jobs))
        return points


def _basis(coordinates: FloatArray, points: FloatArray, center: FloatArray) -> FloatArray:
    """Find directions W, (n_coordinates, n_features): ``points - center = coordinates @ W``.

    Least squares would divide the rounding of points by the little that the weakest combinations of
    coordinates hold, which are those between near copies. But W is orthonormal: with C P = Q R the
    rows of Qᵗ offsets = R Pᵗ W come with the strongest first, and each is made orthogonal to those
    before it, here and in R alike. What rounds in the weak ones then stays in the weak ones. There
    is one table of the size of W, and parts of others.
    """
    precision = 1e-13 if coordinates.dtype == np.float64 else 1e-5
    turn, triangle, order = linalg.qr(
        coordinates.astype(np.float64), mode="economic", pivoting=True
    )
    sizes = np.abs(np.diag(triangle))
    n_held = int((sizes > precision * sizes.max(initial=0)).sum())
    unit = 1 / sizes[:n_held]
    weights = np.zeros((n_held, len(order)))
    weights[:, order] = unit[:, None] * triangle[:n_held]
    back = _orthonormal(weights).T
    turn = turn[:, :n_held] * unit
    basis = np.empty((len(back), points.shape[1]))
    held: FloatArray = basis[:n_held]
    parts = cut(points.shape[1], _FEATURES_TOGETHER)
    for part in parts:
        held[:, part] = turn.T @ (points[:, part] - center[part])
    held = _orthonormal(held)
    for part in parts:  # the same memory again
        basis[:, part] = back @ held[:, part]
    return basis


def _orthonormal(rows: FloatArray) -> FloatArray:
    """Make each row orthogonal to those before it, of length one, and towards where it was."""
    columns, triangle = linalg.qr(rows.T, mode="economic", overwrite_a=True, check_finite=False)
    columns *= np.where(np.diag(triangle) < 0, -1.0, 1.0)
    held: FloatArray = columns.T
    # Off by what LAPACK rounds, which is more in some of its builds; then by what one product does.
    toward = 1.5 * np.eye(len(held)) - 0.5 * (held @ held.T)
    for part in cut(held.shape[1], _FEATURES_TOGETHER):
        held[:, part] = toward @ held[:, part]
    return held
