"""Medians over the neighbours of each node."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled


@compiled()
def neighbor_medians(indptr, indices, values, found):
    """Fill ``found`` (n,) with the upper median of the neighbours' ``values`` (n,), or the own."""
    n_points = len(found)
    n_most = 0
    for node in range(n_points):
        n_most = max(n_most, indptr[node + 1] - indptr[node])
    near = np.empty(n_most)
    for node in range(n_points):
        start = indptr[node]
        count = indptr[node + 1] - start
        if count == 0:
            found[node] = values[node]
            continue
        for place in range(count):
            near[place] = values[indices[start + place]]
        some = near[:count]
        some.sort()
        found[node] = some[count // 2]
