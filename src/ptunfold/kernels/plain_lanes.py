"""Operations on lanes as plain loops, with the bits of those in `vector_lanes`."""

from __future__ import annotations

import math

import numpy as np

from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.lanes import LANES


@compiled()
def improved(labels, tail, head, length):
    """Return the mask of lanes in which ``labels[tail] + length < labels[head]``."""
    mask = 0
    for lane in range(LANES):
        if labels[tail, lane] + length < labels[head, lane]:
            mask |= 1 << lane
    return mask


@compiled()
def improve(labels, tail, head, length, parents, parent):
    """Lower ``labels[head]`` to ``labels[tail] + length`` and return the least of the lowered.

    ``parents[head]`` becomes ``parent`` in the lowered lanes.
    """
    least = np.inf
    for lane in range(LANES):
        offer = labels[tail, lane] + length
        if offer < labels[head, lane]:
            labels[head, lane] = offer
            parents[head, lane] = parent
            least = min(least, offer)
    return least


@compiled()
def lowest(mask):
    """Return the first lane of a mask that is not empty."""
    lane = 0
    while not mask >> lane & 1:
        lane += 1
    return lane


@compiled()
def sharing(parents, node, parent):
    """Return the mask of lanes in which ``parents[node]`` is ``parent``."""
    mask = 0
    for lane in range(LANES):
        if parents[node, lane] == parent:
            mask |= 1 << lane
    return mask


@compiled()
def combine(rows, row, value, factors, offset, other, count, mask):
    """Set lanes of a row to ``value + Σ factors[offset + i] * rows[other + i]``, i < ``count``."""
    for lane in range(LANES):
        if mask >> lane & 1:
            total = value
            for i in range(count):
                total += factors[offset + i] * rows[other + i, lane]
            rows[row, lane] = total


@compiled()
def norm(rows, row, others, other, count):
    """Set ``rows[row]`` to the root of the sum of squares of ``count`` rows from ``other`` on."""
    for lane in range(LANES):
        total = 0.0
        for i in range(count):
            total += others[other + i, lane] * others[other + i, lane]
        rows[row, lane] = math.sqrt(total)


@compiled()
def norm_above(rows, row, others, other, count, values, offset, bounds, n_values):
    """Do as `norm`, but go no lower than the distance between ``values`` and ``bounds``.

    ``values[offset:offset + n_values]`` is a point, ``bounds`` (n_values, LANES) one in each lane.
    """
    for lane in range(LANES):
        total, least = 0.0, 0.0
        for i in range(count):
            total += others[other + i, lane] * others[other + i, lane]
        for i in range(n_values):
            apart = values[offset + i] - bounds[i, lane]
            least += apart * apart
        rows[row, lane] = math.sqrt(least if total < least else total)
