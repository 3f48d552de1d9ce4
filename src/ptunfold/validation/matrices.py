"""Metrics, and distances that are given by a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ptunfold.types import FloatArray
from ptunfold.validation.points import in_memory, refuse_mask

# Under another name: distances of Euclidean space, or what grows with them.
_EUCLIDEAN = ("euclidean", "l2", "minkowski", "sqeuclidean", "nan_euclidean")
_DIRECTIONS = ("cosine", "correlation")
_ALIASES = {"l1": "cityblock", "manhattan": "cityblock", "infinity": "chebyshev", "p": "minkowski"}
METRICS = (
    *_EUCLIDEAN,
    *_DIRECTIONS,
    *("seuclidean", "mahalanobis"),
    *("cityblock", "chebyshev", "canberra", "braycurtis", "jensenshannon", "haversine"),
    *("hamming", "jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"),
    *_ALIASES,
    "precomputed",
)
# Of the largest distance: so much may the two directions differ, and copies be apart.
_ROUNDING = 1e-5
_ROWS_TOGETHER = 1 << 24  # numbers


def check_metric(metric: Any) -> Any:
    """Return the name of a metric that is known, or a callable."""
    if callable(metric):
        return metric
    if not isinstance(metric, str) or metric not in METRICS:
        raise ValueError(
            f"metric={metric!r} is not known; pass a name that scipy.spatial.distance.cdist knows, "
            'a function of two points, or "precomputed" with their distances'
        )
    return _ALIASES.get(metric, metric)


def is_euclidean(metric: Any) -> bool:
    """Tell whether points are taken by coordinates, their own or those of their directions."""
    return isinstance(metric, str) and _ALIASES.get(metric, metric) in (*_EUCLIDEAN, *_DIRECTIONS)


def as_euclidean(points: FloatArray, metric: str) -> FloatArray | None:
    """Return points whose Euclidean distances are those of the metric, or None.

    The cosine of an angle is that between points of length 1; their distance grows with it. So is
    the correlation, of points less their own mean.
    """
    if metric in _EUCLIDEAN:
        return points
    if metric == "haversine" and points.shape[1] != 2:
        raise ValueError(
            f'metric="haversine" is for latitude and longitude, in radians, but X has '
            f"{points.shape[1]} features; pass these two columns"
        )
    if metric not in _DIRECTIONS:
        return None
    values = points.astype(np.float64)
    least = 1e-12 * np.linalg.norm(values, axis=1).max()
    if metric == "correlation":
        values -= values.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(values, axis=1)
    if (sizes <= least).any():
        wrong = np.flatnonzero(sizes <= least)
        what = "zero" if metric == "cosine" else "the same in all features"
        raise ValueError(
            f"X has {len(wrong)} of {len(points)} rows that are {what} (first row {wrong[0]}), and "
            f'have no direction for metric="{metric}"; leave them out'
        )
    return np.ascontiguousarray((values / sizes[:, None]).astype(points.dtype))


def check_called(metric: Callable[[Any, Any], Any], points: FloatArray) -> None:
    """Ask a callable about a pair of points, to see that it is a distance."""
    one, other = points[0], points[-1]
    try:
        there, back, same = (
            float(metric(*pair)) for pair in ((one, other), (other, one), (one, one))
        )
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the metric cannot be used on two points of X ({error}); pass a function of two rows "
            "that returns a number"
        ) from error
    check_value(np.array([there, back, same]))
    if not abs(there - back) <= _ROUNDING * max(there, back):
        raise ValueError(
            f"the metric is not symmetric: it is {there:.6g} one way and {back:.6g} the other; "
            "pass one that is, such as the mean of both"
        )
    if same > _ROUNDING * max(there, np.finfo(float).tiny):
        raise ValueError(
            f"the metric is {same:.6g} from a point to itself, not 0; pass distances, which "
            "similarities are not"
        )


def check_value(values: FloatArray) -> FloatArray:
    """Return what a callable has returned, if these are distances."""
    wrong = values[~(np.isfinite(values) & (values >= 0))]
    if len(wrong):
        raise ValueError(
            f"the metric returned {wrong[0]:.6g} for two points of X; distances are finite and 0 "
            "or more"
        )
    return values


def check_distance_matrix(X: Any) -> Any:
    """Return a matrix of distances, an array of floats or a sparse one, symmetric in any case."""
    X = in_memory(X)
    refuse_mask(X, "X")
    if sparse.issparse(X):
        return _check_sparse(sparse.csr_array(X))
    matrix = X if isinstance(X, np.ndarray) else np.asarray(X)
    _check_square(matrix.shape)
    if matrix.dtype.kind not in "fiub":
        raise ValueError(
            f"the matrix of distances holds values of type {matrix.dtype}; pass numbers"
        )
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    n_points = len(matrix)
    largest = 0.0
    for start in range(0, n_points, max(_ROWS_TOGETHER // n_points, 1)):
        rows = np.asarray(matrix[start : start + max(_ROWS_TOGETHER // n_points, 1)])
        _check_values(rows, start)
        largest = max(largest, float(rows.max()))
    if largest == 0:
        raise ValueError(
            f"all distances between the {n_points} points are 0, so there is nothing to unfold; "
            "check how the matrix was made"
        )
    _check_scale(largest, matrix.dtype)
    diagonal = np.abs(np.diagonal(matrix))
    if diagonal.max() > _ROUNDING * largest:
        wrong = int(diagonal.argmax())
        raise ValueError(
            f"the matrix of distances is {diagonal[wrong]:.6g} on its diagonal (row {wrong}), not "
            "0; pass distances, not similarities, or fill the diagonal with 0"
        )
    size = max(int(_ROWS_TOGETHER**0.5), 1)
    for start in range(0, n_points, size):
        for other in range(start, n_points, size):
            upper = matrix[start : start + size, other : other + size]
            lower = matrix[other : other + size, start : start + size].T
            off = np.abs(upper - lower)
            if off.max() > _ROUNDING * largest:
                row, column = np.unravel_index(off.argmax(), off.shape)
                raise _asymmetric(
                    start + row, other + column, upper[row, column], lower[row, column]
                )
    if diagonal.max() > 0:  # rounding, which must not drive a point from itself
        matrix = np.array(matrix)
        np.fill_diagonal(matrix, 0)
    return matrix


def check_distance_rows(X: Any, n_points: int) -> Any:
    """Return distances of new points to the fitted ones, (n_new, n_points), dense or sparse."""
    refuse_mask(X, "X")
    is_sparse = sparse.issparse(X)
    rows: Any = sparse.csr_array(X) if is_sparse else np.asarray(X)
    if rows.ndim != 2 or rows.shape[1] != n_points:
        raise ValueError(
            f"the distances of new points have shape {rows.shape}; pass one row for each of them, "
            f"with its distances to the {n_points} fitted points"
        )
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"the distances hold values of type {rows.dtype}; pass numbers")
    rows = rows.astype(np.float64)
    _check_values(rows.data[None] if is_sparse else rows, 0)
    if is_sparse and (np.diff(rows.indptr) == 0).any():
        wrong = int(np.flatnonzero(np.diff(rows.indptr) == 0)[0])
        raise ValueError(
            f"no distance of new point {wrong} is known; store those to the fitted points that "
            "are nearest to it"
        )
    return rows


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"the matrix of distances has shape {tuple(shape)}, and is not square; pass one row "
            'and one column for each point, or leave out metric="precomputed" for coordinates'
        )
    if shape[0] < 3:
        raise ValueError(f"the matrix of distances has {shape[0]} point(s); at least 3 are needed")


def _check_values(rows: FloatArray, start: int) -> None:
    if rows.size and np.isfinite(rows.sum()) and rows.min() >= 0:
        return
    for name, is_wrong in (
        ("NaN", np.isnan(rows)),
        ("infinite", np.isinf(rows)),
        ("negative", rows < 0),
    ):
        if is_wrong.any():
            row, column = (int(one[0]) for one in np.nonzero(is_wrong))
            remedy = {
                "NaN": "leave points out, or pass a sparse matrix of those that are known",
                "infinite": "pass a sparse matrix of those that are known",
                "negative": "pass distances, which are 0 or more",
            }[name]
            raise ValueError(
                f"the distances are {name} in {int(is_wrong.sum())} places (first in row "
                f"{start + row}, column {column}); {remedy}"
            )


def _check_scale(largest: float, dtype: Any) -> None:
    """Refuse distances whose squares overflow or vanish in their own dtype."""
    limit = 1e15 if dtype == np.float32 else 1e60
    if largest > 0 and not 1 / limit < largest < limit:
        raise ValueError(
            f"the largest distance is {largest:.3g}, too far from 1 for squares in {dtype}; divide "
            f"the matrix by {largest:.0e}"
        )


def _asymmetric(row: Any, column: Any, there: Any, back: Any) -> ValueError:
    return ValueError(
        f"the matrix of distances is not symmetric: {there:.6g} from point {row} to {column} and "
        f"{back:.6g} back; pass the mean of both, (D + D.T) / 2"
    )


def _check_sparse(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a sparse matrix with each entry on both sides of the diagonal."""
    _check_square(matrix.shape)
    matrix = matrix.astype(np.float64)
    matrix.sum_duplicates()
    _check_values(matrix.data[None], 0)
    entries = matrix.tocoo()
    rows, columns = entries.coords
    diagonal = rows == columns
    largest = float(entries.data.max(initial=0))
    _check_scale(largest, matrix.dtype)
    if (entries.data[diagonal] > _ROUNDING * largest).any():
        raise ValueError(
            f"the matrix of distances is {entries.data[diagonal].max():.6g} on its diagonal, not "
            "0; pass distances, not similarities"
        )
    rows, columns, values = rows[~diagonal], columns[~diagonal], entries.data[~diagonal]
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    order = np.lexsort((high, low))
    low, high, values = low[order], high[order], values[order]
    twice = np.flatnonzero((np.diff(low) == 0) & (np.diff(high) == 0))
    off = np.abs(values[twice + 1] - values[twice])
    if len(off) and off.max() > _ROUNDING * largest:
        first = twice[off.argmax()]
        raise _asymmetric(low[first], high[first], values[first], values[first + 1])
    keep = np.ones(len(low), dtype=bool)
    keep[twice + 1] = False
    low, high, values = low[keep], high[keep], values[keep]
    lost = np.setdiff1d(np.arange(matrix.shape[0]), np.concatenate((low, high)))
    if len(lost):
        raise ValueError(
            f"no distance is known of {len(lost)} of {matrix.shape[0]} points (first {lost[0]}); "
            "store some, or leave these points out"
        )
    both = np.concatenate((low, high)), np.concatenate((high, low))
    found = sparse.csr_array((np.tile(values, 2), both), shape=matrix.shape)
    found.sort_indices()
    return found
