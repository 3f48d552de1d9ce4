"""Points moved to where their distances from others are as they should be."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import SUMS, compiled

_MOST_ROUNDS = 30
_SETTLED = 1e-3  # of the mean distance, for a round


@compiled(fastmath=SUMS, error_model="numpy")
def pull_into_place(distances, reach, anchors, places):
    """Lower the stress of each point against fixed anchors, by majorisation.

    Every anchor draws the point onto the circle around itself that has the right radius; the point
    goes to the mean of where they want it, round by round. Those farther than ``reach`` count the
    less the farther they should be.

    Parameters
    ----------
    distances : (n_points, n_anchors) float64
        What the distances should be.
    reach : float
        May be infinite.
    anchors : (n_components, n_anchors) float64
        Where the anchors are, side by side, for vector instructions.
    places : (n_points, n_components) float64
        Where the points are; overwritten.
    """
    n_components, n_anchors = anchors.shape
    weights, squares = np.empty(n_anchors), np.empty(n_anchors)
    middle, moved = np.empty(n_components), np.empty(n_components)
    for point in range(len(places)):
        place, wanted = places[point], distances[point]
        total, mean = 0.0, 0.0
        for anchor in range(n_anchors):
            weights[anchor] = reach / wanted[anchor] if wanted[anchor] > reach else 1.0
        for anchor in range(n_anchors):
            total += weights[anchor]
            mean += wanted[anchor]
        settled = _SETTLED * mean / n_anchors
        for axis in range(n_components):
            middle[axis] = _product(weights, anchors[axis])
        for _ in range(_MOST_ROUNDS):
            squares[:] = 0.0
            for axis in range(n_components):
                for anchor in range(n_anchors):
                    squares[anchor] += (place[axis] - anchors[axis, anchor]) ** 2
            # From now on by how much each anchor pushes the point away.
            for anchor in range(n_anchors):
                away = weights[anchor] * wanted[anchor] / np.sqrt(squares[anchor])
                squares[anchor] = away if squares[anchor] > 0.0 else 0.0
            pushed, way = 0.0, 0.0
            for anchor in range(n_anchors):
                pushed += squares[anchor]
            for axis in range(n_components):
                drawn = middle[axis] - _product(squares, anchors[axis])
                moved[axis] = (drawn + pushed * place[axis]) / total
            for axis in range(n_components):
                way += (moved[axis] - place[axis]) ** 2
            for axis in range(n_components):
                place[axis] = moved[axis]
            if way <= settled**2:
                break


@compiled(fastmath=SUMS)
def _product(ones, others):
    total = 0.0
    for i in range(len(ones)):
        total += ones[i] * others[i]
    return total
