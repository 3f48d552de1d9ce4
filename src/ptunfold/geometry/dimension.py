"""How many dimensions the data have: three estimates and what they agree on."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ptunfold.geometry.copies import distinct_places
from ptunfold.geometry.neighbors import nearest
from ptunfold.types import Dimension, FloatArray, IntArray
from ptunfold.validation import check_points

_SAMPLE = 2000
_NEIGHBORS = 10
_PLANE_NEIGHBORS = 20
# An eigenvalue below this share of the one before it belongs to curvature or noise.
_DROP = 0.35


def estimate_dimension(points: FloatArray, *, n_jobs: int | None = None) -> Dimension:
    """Estimate the intrinsic dimension of points.

    Three methods that err in different ways: the gap in the spectrum of local principal
    components counts too many dimensions where neighbourhoods are curved; maximum likelihood
    (Levina and Bickel) and the growth of the distance to the k-th neighbour with k (Pettis et al.)
    count too few near rims. The median of the three is what they agree on.

    Parameters
    ----------
    points : (n_points, n_features)
        The points. With many, a sample of 2000 is looked at, among all of them.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    dimension : Dimension
        The estimates, their consensus, and estimates at single points.

    Examples
    --------
    >>> from ptunfold import estimate_dimension
    >>> from ptunfold.datasets import swiss_roll
    >>> estimate_dimension(swiss_roll(1000, n_features=20).points).consensus
    2
    """
    points = check_points(points)
    points = points[np.unique(distinct_places(points))]
    n_points, n_features = points.shape
    if n_points == 2:  # nothing to compare, and no more than a line
        return Dimension(1, 1.0, 1.0, 1.0, np.ones(2, dtype=np.int64), np.arange(2))
    n_sample = min(_SAMPLE, n_points)
    sample = np.random.default_rng(0).choice(n_points, n_sample, replace=False)
    n_near = min(_PLANE_NEIGHBORS, n_points - 1)
    found = nearest(points, points[sample], n_near + 1, n_jobs)
    offsets = points[found].astype(np.float64) - points[sample, None]
    distances = np.sort(np.linalg.norm(offsets, axis=2), axis=1)[:, 1:]
    distances = distances[:, : min(_NEIGHBORS, n_near)]
    local = _dimensions_of_planes(offsets)
    planes, likelihood = float(np.median(local)), _likelihood(distances)
    growth = _growth(distances)
    middle = float(np.median([planes, likelihood, growth]))
    consensus = int(np.clip(round(middle), 1, n_features))
    return Dimension(consensus, planes, likelihood, growth, local, sample)


def _dimensions_of_planes(offsets: FloatArray) -> IntArray:
    """Count the principal components before the first drop in each neighbourhood, (n_sample,)."""
    centred = offsets - offsets.mean(axis=1, keepdims=True)
    squares = np.square(np.linalg.svd(centred, compute_uv=False))
    squares = np.column_stack((squares, np.zeros(len(squares))))
    return (squares[:, 1:] < _DROP * squares[:, :-1]).argmax(axis=1) + 1


def _likelihood(distances: FloatArray) -> float:
    """Estimate by maximum likelihood, the inverse averaged over points (MacKay and Ghahramani)."""
    ratios = np.log(distances[:, -1:] / distances[:, :-1])
    mean = float(ratios.mean())
    return 1 / mean if mean > 0 else np.inf


def _growth(distances: FloatArray) -> float:
    """Estimate by the mean distance to the k-th neighbour, which grows as k to the power 1/d."""
    rank = np.arange(1, distances.shape[1] + 1)
    growth = np.log(distances.mean(axis=0))
    dim = 1 / np.polyfit(np.log(rank), growth, 1)[0]
    for _ in range(50):
        # The expected logarithm is not that of the expectation; the correction depends on d.
        correction = np.log(rank) / dim + gammaln(rank) - gammaln(rank + 1 / dim)
        before, dim = dim, 1 / np.polyfit(np.log(rank), growth + correction, 1)[0]
        if abs(dim - before) < 1e-6 * dim:
            break
    return float(dim)
