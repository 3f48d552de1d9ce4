"""Medians over the neighbours of each node."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled


@compiled()
def _select(values, count, place):
    """Return what would be at ``place`` if the first ``count`` values were sorted; moves them.

    Hoare's algorithm. Numba's sort takes three seconds to compile.
    """
    low, high = 0, count - 1
    while low < high:
        pivot, left, right = values[place], low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while pivot < values[right]:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if right < place:
            low = left
        if place < left:
            high = right
    return values[place]


@compiled()
def neighbor_medians(indptr, indices, values, found):
    """Fill ``found`` (n,) with the upper median of the neighbours' ``values``, if there are any.

    The neighbours of each are ``indices`` from one of ``indptr`` (n + 1,) to the next.
    """
    n_points = len(found)
    n_most = 0
    for node in range(n_points):
        n_most = max(n_most, indptr[node + 1] - indptr[node])
    near = np.empty(n_most)
    for node in range(n_points):
        start = indptr[node]
        count = indptr[node + 1] - start
        if count == 0:
            continue
        for place in range(count):
            near[place] = values[indices[start + place]]
        found[node] = _select(near, count, count // 2)
