"""Arrays, and how kernels want them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]


def pair_keys(n_points: int, tails: IntArray, heads: IntArray) -> IntArray:
    """Return numbers of ordered pairs of points: they sort as pairs do, and have 64 bits.

    Ends of edges have 32, and before NumPy 2 so would their product with any number have.

    Examples
    --------
    >>> pair_keys(100_000, np.array([0, 1], dtype=np.int32), np.array([1, 0]))
    array([     1, 100000])
    """
    return np.multiply(tails, n_points, dtype=np.int64) + heads


def kernel_ready(array: Any, dtype: Any) -> NDArray[Any]:
    """Return an array as the kernels are compiled for it, itself if it is so already.

    For one that is read-only, has another order in memory or another type, kernels would be
    compiled once more, which takes longer than most fits.
    """
    return np.require(array, dtype, ("C", "A", "W", "E"))
