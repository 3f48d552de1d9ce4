"""Development with curvature: how a step across a geodesic turns it, and how long it becomes.

Where geodesics from a source spread, a step across them turns their direction by less than in the
plane, by the factor r cot r with r² = κa² at the distance a; where the curvature differs on the
way, κ is its mean over the way, weighted by the square of the distance (the equation of Jacobi to
first order). The step s = s∥ + s⊥ then leads from the distance a to that of the square
(a + s∥)² + f s⊥², which is exact in the plane, where f = 1. The direction turns by what f is on the
way, to second order at a quarter of it: less by κas∥/6.
"""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled

# Of κa²: just before geodesics meet again, and where they have spread to three times.
_MOST, _LEAST = 6.0, -10.0


@compiled()
def spread_of(square):
    """Return r cot r for r² = ``square``, by a quotient that is within 0.02 of it."""
    square = min(max(square, _LEAST), _MOST)
    return (945 - (420 - 15 * square) * square) / (945 - (105 - square) * square)


@compiled(error_model="numpy")
def curve(vectors, node, step, before, curvature):
    """Turn and shorten what ``node`` sees, the sum of ``step`` (d,) and what was seen before it.

    It is in ``vectors`` (n, d). ``before`` is κ of what was seen, ``curvature`` that around the
    step. Returns the new κ.
    """
    squares, along, whole = 0.0, 0.0, 0.0
    for axis in range(len(step)):
        seen = vectors[node, axis] - step[axis]
        squares += seen * seen
        along += seen * step[axis]
        whole += step[axis] * step[axis]
    if squares <= 0.0:
        return curvature
    spread = spread_of(before * squares)
    straight = squares + 2 * along + along * along / squares  # (a + s∥)²
    across = max(whole - along * along / squares, 0.0)
    new = max(straight + spread * across, 0.0)
    spread -= before * along / 6
    turned = straight + spread * spread * across
    scale = np.sqrt(new / turned) if turned > 0 else 1.0
    share = scale * (1 + along * (1 - spread) / squares)
    for axis in range(len(step)):
        turned = share * vectors[node, axis] + (scale * spread - share) * step[axis]
        vectors[node, axis] = turned
    ratio = squares / new if new > squares else 1.0
    return curvature + (before - curvature) * ratio * np.sqrt(ratio)


@compiled(error_model="numpy")
def curve_lanes(vectors, own, seen, steps, edge, curvature, mask, room, n_lanes):
    """Do as `curve` in those lanes of a node's rows from ``own`` on that ``mask`` names.

    The row after the vector has κ, that of what was seen is ``vectors[seen]``; ``room`` (4, LANES)
    is workspace. Loops over lanes become vector instructions, because their length is not known
    before, nothing branches, and nothing is raised where a lane divides by zero.
    """
    dim = steps.shape[1]
    squares, along, share, part = room[0], room[1], room[2], room[3]
    for lane in range(n_lanes):
        squares[lane] = 0.0
        along[lane] = 0.0
    whole = 0.0
    for axis in range(dim):
        step = steps[edge, axis]
        whole += step * step
        vector = vectors[own + axis]
        for lane in range(n_lanes):
            before = vector[lane] - step
            squares[lane] += before * before
            along[lane] += before * step
    own_kappa, seen_kappa = vectors[own + dim], vectors[seen]
    for lane in range(n_lanes):
        far, forth, kappa = squares[lane], along[lane], seen_kappa[lane]
        square = kappa * far
        square = square if square > _LEAST else _LEAST
        square = square if square < _MOST else _MOST
        spread = (945 - (420 - 15 * square) * square) / (945 - (105 - square) * square)
        back = forth * forth / far
        straight = far + 2 * forth + back
        across = whole - back
        across = across if across > 0.0 else 0.0
        new = straight + spread * across
        new = new if new > 0.0 else 0.0
        spread -= kappa * forth / 6
        turned = straight + spread * spread * across
        scale = np.sqrt(new / turned)
        scale = scale if turned > 0.0 else 1.0
        kept = scale * (1 + forth * (1 - spread) / far)
        ratio = far / new
        ratio = ratio if new > far else 1.0
        found = curvature + (kappa - curvature) * ratio * np.sqrt(ratio)
        is_chosen = mask >> lane & 1 != 0
        is_bent = is_chosen & (far > 0.0)  # else what was seen is the source itself
        share[lane] = kept if is_bent else 1.0
        part[lane] = scale * spread - kept if is_bent else 0.0
        found = found if is_bent else curvature
        own_kappa[lane] = found if is_chosen else own_kappa[lane]
    for axis in range(dim):
        step = steps[edge, axis]
        vector = vectors[own + axis]
        for lane in range(n_lanes):
            vector[lane] = share[lane] * vector[lane] + part[lane] * step
