"""Distances looked up in lists of pairs."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled


@compiled()
def look_up(indptr, heads, values, tails, others, found):
    """Look up the value of each pair; NaN where there is none, 0 for a point and itself.

    The pairs of point i with later points are ``heads[indptr[i] : indptr[i + 1]]``, ascending.
    ``tails`` (m, a) and ``others`` (m, b) are points, ``found`` (m, a, b) gets the values.
    """
    for row in range(len(tails)):
        for first in range(tails.shape[1]):
            for second in range(others.shape[1]):
                one, other = tails[row, first], others[row, second]
                if one == other:
                    found[row, first, second] = 0.0
                    continue
                low, high = min(one, other), max(one, other)
                start, stop = indptr[low], indptr[low + 1]
                while start < stop:
                    middle = (start + stop) // 2
                    if heads[middle] < high:
                        start = middle + 1
                    else:
                        stop = middle
                if start < indptr[low + 1] and heads[start] == high:
                    found[row, first, second] = values[start]
                else:
                    found[row, first, second] = np.nan
