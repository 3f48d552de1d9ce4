"""How sure the places of an embedding are."""

from __future__ import annotations

import numpy as np

from ptunfold.types import FloatArray, IntArray

_POINTS_TOGETHER = 1 << 14


def ellipses(places: FloatArray, anchors: IntArray, std: FloatArray) -> FloatArray:
    """Turn standard deviations of distances into ellipses of one standard deviation of places.

    Half of the variance of a distance is that of either end along the line between them. In all
    directions together the mean over anchors, times the number of directions, is the covariance of
    a place, and its root the ellipse.

    Parameters
    ----------
    places : (n_points, c)
        Where the points are; NaN for those that are left out.
    anchors : (n_anchors,) int
        Some of the points.
    std : (n_anchors, n_points)
        The standard deviations of the distances from these.

    Returns
    -------
    ellipses : (n_points, c, c)
        Symmetric; NaN where nothing is known.
    """
    n_points, n_components = places.shape
    found = np.full((n_points, n_components, n_components), np.nan)
    for start in range(0, n_points, _POINTS_TOGETHER):
        some = slice(start, start + _POINTS_TOGETHER)
        ways = places[some][:, None].astype(np.float64) - places[anchors]
        lengths = np.linalg.norm(ways, axis=2)
        variances = np.square(std[:, some].T)
        is_used = (lengths > 0) & np.isfinite(lengths) & np.isfinite(variances)
        shares = np.where(is_used, variances / np.where(is_used, np.square(lengths), 1), 0)
        ways = np.where(is_used[:, :, None], ways, 0)
        sums = np.einsum("ij,ija,ijb->iab", shares, ways, ways)
        counts = is_used.sum(axis=1)
        known = np.flatnonzero(counts)
        covariances = sums[known] * (0.5 * n_components / counts[known])[:, None, None]
        squares, axes = np.linalg.eigh(covariances)
        roots = np.sqrt(np.maximum(squares, 0))[:, None, :] * axes
        found[start + known] = roots @ axes.transpose(0, 2, 1)
    return found
