"""Arrays, and how kernels want them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]


def kernel_ready(array: Any, dtype: Any) -> NDArray[Any]:
    """Return an array as the kernels are compiled for it, itself if it is so already.

    For one that is read-only, has another order in memory or another type, kernels would be
    compiled once more, which takes longer than most fits.
    """
    return np.require(array, dtype, ("C", "A", "W", "E"))
