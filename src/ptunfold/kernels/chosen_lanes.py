"""Operations on lanes: vector instructions where they work, else plain loops.

`vector_lanes` are written against the insides of Numba and LLVM, which any version of theirs may
change. They are tried here, once a process; if they fail, `plain_lanes` take their place, which
give the same bits and take longer. ``PTUNFOLD_LANES=plain`` in the environment asks for these.
"""

from __future__ import annotations

import os
from types import FunctionType

import numba
import numpy as np

from ptunfold.caller import warn
from ptunfold.kernels import plain_lanes
from ptunfold.kernels.lanes import LANES


def _chosen():
    if os.environ.get("PTUNFOLD_LANES") == "plain" or numba.config.DISABLE_JIT:
        return plain_lanes
    try:
        from ptunfold.kernels import vector_lanes

        if _agree(vector_lanes):
            return vector_lanes
        reason = "give wrong results"
    except Exception as error:  # of any kind: it comes from the insides of libraries
        reason = f"fail ({type(error).__name__})"
    warn(
        f"vector instructions {reason} with numba {numba.__version__}; distances are the same to "
        "the bit and take two to three times as long without them"
    )
    return plain_lanes


def _agree(vector_lanes):
    """Tell whether vector instructions have the bits of plain loops, which Python runs here."""
    loops = {name: getattr(plain_lanes, name).py_func for name in OPERATIONS}
    results = []
    for use in (vector_lanes.use_all, FunctionType(vector_lanes.use_all.py_func.__code__, loops)):
        numbers = np.sqrt(np.arange(1.0, 6 * LANES + 1))
        labels, rows = np.cos(numbers[: 2 * LANES]).reshape(2, LANES), numbers[2 * LANES :]
        rows = rows.reshape(4, LANES)
        parents = np.zeros((2, LANES), dtype=np.uint16)
        answers = use(labels, parents, rows, numbers)
        results.append((*answers, labels.tobytes(), parents.tobytes(), rows.tobytes()))
    return results[0] == results[1]


OPERATIONS = ("combine", "improve", "improved", "lowest", "norm", "norm_above", "sharing")
_lanes = _chosen()
VARIANT = "" if _lanes is not plain_lanes else "_plain"
combine = _lanes.combine
improve = _lanes.improve
improved = _lanes.improved
lowest = _lanes.lowest
norm = _lanes.norm
norm_above = _lanes.norm_above
sharing = _lanes.sharing
