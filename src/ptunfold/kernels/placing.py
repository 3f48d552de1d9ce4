"""Points moved to where their distances from others are as they should be."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled

_MOST_ROUNDS = 30
_SETTLED = 1e-3  # of the mean distance, for a round


@compiled()
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
    anchors : (n_anchors, n_components) float64
        Where the anchors are.
    places : (n_points, n_components) float64
        Where the points are; overwritten.
    """
    n_anchors, n_components = anchors.shape
    moved = np.empty(n_components)
    for point in range(len(places)):
        place, wanted = places[point], distances[point]
        settled = _SETTLED * wanted.mean()
        for _ in range(_MOST_ROUNDS):
            moved[:] = 0
            total = 0.0
            for anchor in range(n_anchors):
                square = 0.0
                for axis in range(n_components):
                    square += (place[axis] - anchors[anchor, axis]) ** 2
                ratio = wanted[anchor] / np.sqrt(square) if square > 0 else 0.0
                weight = reach / wanted[anchor] if wanted[anchor] > reach else 1.0
                total += weight
                for axis in range(n_components):
                    center = anchors[anchor, axis]
                    moved[axis] += weight * (center + ratio * (place[axis] - center))
            way = 0.0
            for axis in range(n_components):
                moved[axis] /= total
                way += (moved[axis] - place[axis]) ** 2
                place[axis] = moved[axis]
            if way <= settled**2:
                break
