"""Fewer points than features: the same points in coordinates of their own span."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ptunfold.geometry.neighbors import distinct_places
from ptunfold.threads import Run, cut, run_blocks, single_threaded_blas
from ptunfold.types import FloatArray

_POINTS_TOGETHER = 256


def span_coordinates(points: FloatArray) -> FloatArray:
    """Write points in an orthonormal basis of their affine span, where that is smaller.

    n points of R^D lie in n - 1 dimensions. Their frames in R^D would fill ``n * D * d`` numbers
    without telling more, so for D > n an exact isometry comes first: with the centred points as
    the columns of QR, the columns of R are the same points in the basis Q. Returns ``points``
    itself if there are no more features than points.
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


class Span:
    """The way from points of R^n_features into coordinates of fewer, and back.

    Each point goes by itself: its bits do not depend on what else is passed. ``coordinates`` are
    what `span_coordinates` or `leading_coordinates` made of ``points``.
    """

    def __init__(self, points: FloatArray, coordinates: FloatArray) -> None:
        self.center = points.mean(axis=0, dtype=np.float64)
        # As (points - center) @ Q = C, Qᵗ is what brings C nearest to the points. The bits of other
        # processes, which may have fewer threads, have to be the same.
        with single_threaded_blas():
            self.basis = _solve(coordinates, points - self.center)

    def into(self, new: FloatArray, n_jobs: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Write other points in the coordinates of the nearest in the span; also how far it is."""
        found, off = np.empty((len(new), len(self.basis))), np.empty(len(new))

        def handle(block: slice) -> None:
            offsets = new[block] - self.center
            # Not by @, whose rounding depends on how many points there are.
            found[block] = np.einsum("ij,kj->ik", offsets, self.basis)
            squares = np.square(offsets).sum(axis=1) - np.square(found[block]).sum(axis=1)
            off[block] = np.sqrt(np.maximum(squares, 0))

        run_blocks(handle, cut(len(new), _POINTS_TOGETHER), Run(n_jobs))
        return found, off

    def out(self, places: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Return from the coordinates to R^n_features, (n_places, n_features)."""
        points = np.empty((len(places), len(self.center)))

        def handle(block: slice) -> None:
            points[block] = self.center + np.einsum("ij,jk->ik", places[block], self.basis)

        run_blocks(handle, cut(len(places), _POINTS_TOGETHER), Run(n_jobs))
        return points


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Find the smallest least-squares solution; n points span at most n - 1 dimensions."""
    precision = 1e-10 if matrix.dtype == np.float64 else 1e-5
    solution, *_ = linalg.lstsq(
        matrix.astype(np.float64), right, cond=precision, lapack_driver="gelsy"
    )
    return solution
