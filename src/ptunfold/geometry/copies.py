"""Points that stand in the same place."""

from __future__ import annotations

import numpy as np

from ptunfold.types import FloatArray, IntArray


def distinct_places(points: FloatArray) -> IntArray:
    """Tell the place of each point, (n_points,); copies of a point share a place.

    A place has the index of the first point in it.

    Examples
    --------
    >>> distinct_places(np.array([[0.0], [1.0], [0.0], [2.0], [1.0]]))
    array([0, 1, 0, 3, 1])
    """
    places = np.arange(len(points))
    # Copies have the same projection on any direction; sorting numbers is cheaper than rows.
    direction = np.random.default_rng(0).standard_normal((1, points.shape[1])).astype(points.dtype)
    projection = np.concatenate([(chunk * direction).sum(axis=1) for chunk in _chunks(points)])
    order = np.argsort(projection, kind="stable")
    is_like_next = np.diff(projection[order]) == 0
    suspects = order[np.append(is_like_next, False) | np.insert(is_like_next, 0, False)]
    if len(suspects) == 0:
        return places
    suspects.sort()
    _, first, which = np.unique(points[suspects], axis=0, return_index=True, return_inverse=True)
    places[suspects] = suspects[first[which.ravel()]]
    return places


def _chunks(points: FloatArray) -> list[FloatArray]:
    n_rows = max(1, (1 << 22) // points.shape[1])
    return [points[start : start + n_rows] for start in range(0, len(points), n_rows)]
