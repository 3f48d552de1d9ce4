"""How many dimensions the data have: three estimates and what they agree on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, psi

from ptunfold.geometry.intrinsic import scaled
from ptunfold.geometry.isotropic import leading_coordinates
from ptunfold.geometry.neighbors import distinct_places, nearest_among
from ptunfold.types import Dimension, FloatArray, IntArray, Points, Space
from ptunfold.validation.points import check_points

_SAMPLE, _WIDE_SAMPLE = 2000, 20_000  # points; points times neighbours
_NEIGHBORS = 10  # whose distances are compared
# Neighbourhoods for planes: the usual one, and wider ones for the case of noise, as long as this
# many of them fit into the data.
_PLANE_NEIGHBORS, _WIDER = 20, (40, 80, 160, 320)
_LEAST_NEIGHBORHOODS = 8
# An eigenvalue below this share of the one before it belongs to curvature or noise. With more
# neighbours chance makes less of a difference between the others.
_DROP, _WIDE_DROP = 0.35, 0.45
# A sharper drop than this tells nothing more; one that is less sharp by chance only is no reason
# for a wider neighbourhood.
_SHARPEST, _SHARPER = 0.01, 0.8
_IN_NOISE = 0.88  # of the likelihood's estimate from near points to that from far ones


@dataclass(frozen=True, eq=False)
class _View:
    """What neighbourhoods of one size look like.

    Their points (n_sample,), the number of principal components before the first drop at each, how
    much is left after the first drop in the mean spectrum (1 if there is none), and the distances
    (n_sample, n_ranks) to the neighbours of some ranks.
    """

    sample: IntArray
    local: IntArray
    drop: float
    ranks: IntArray
    distances: FloatArray

    @property
    def likelihood(self) -> float:
        return _likelihood(self.ranks, self.distances)


def estimate_dimension(points: Points, *, n_jobs: int | None = None) -> Dimension:
    """Estimate the intrinsic dimension of points.

    Three methods that err in different ways: the gap in the spectrum of local principal
    components counts too many dimensions where neighbourhoods are curved; maximum likelihood
    (Levina and Bickel) and the growth of the distance to the k-th neighbour with k (Pettis et al.)
    count too few near rims. The median of the three is what they agree on, but no more than the
    number of components before a gap that is clear: what is behind it is noise.

    All of them take noise for dimensions in neighbourhoods that are not much wider than it. Noise
    that is alike in many directions is left out first. Wider neighbourhoods are taken as long as
    the gap in their spectrum becomes clearer: noise does not grow with them, tangents do. Where
    there is no noise the gap closes, because curvature grows faster than both.

    Parameters
    ----------
    points : (n_points, n_features)
        The points, or what :func:`metric_space` made of their distances. With many, a sample of
        2000 is looked at, among all of them; fewer where noise asks for wider neighbourhoods.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.

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
    points = points if isinstance(points, Space) else check_points(points)
    firsts = np.unique(distinct_places(points))
    if isinstance(points, Space):
        points = points if len(firsts) == len(points) else points.among(firsts)
    else:
        points = points[firsts]
    if len(points) == 2:  # nothing to compare, and no more than a line
        return Dimension(1, 1.0, 1.0, 1.0, np.ones(2, dtype=np.int64), np.arange(2))
    if not isinstance(points, Space):
        points = leading_coordinates(points)
    nearest_view, view = _clearest_view(points, n_jobs)
    planes = float(np.median(view.local))
    # Far neighbours say too little in many dimensions; noise alone makes a difference to near ones.
    compared = view if view.likelihood < _IN_NOISE * nearest_view.likelihood else nearest_view
    likelihood, growth = compared.likelihood, _growth(compared.ranks, compared.distances)
    middle = float(np.median([planes, likelihood, growth]))
    if view.drop < 1:  # what is left after a gap is noise to the other two
        middle = min(middle, planes)
    consensus = int(np.clip(round(middle), 1, points.shape[1]))
    return Dimension(consensus, planes, likelihood, growth, view.local, view.sample)


def _clearest_view(points: Points, n_jobs: int | None) -> tuple[_View, _View]:
    """Widen neighbourhoods as long as the drop in their spectrum becomes sharper.

    Returns the smallest of them and the clearest.
    """
    n_points = len(points)
    n_sample = min(_SAMPLE, n_points)
    sample = np.random.default_rng(0).choice(n_points, n_sample, replace=False)
    n_near = min(_PLANE_NEIGHBORS, n_points - 1)
    ranks = np.arange(1, min(_NEIGHBORS, n_near) + 1)
    first = best = _look(points, sample, n_near, ranks, _DROP, n_jobs)
    for n_near in _WIDER:
        if _LEAST_NEIGHBORHOODS * n_near > n_points or best.drop <= _SHARPEST:
            break
        # The outer half, where noise is smallest beside the distances.
        ranks = np.linspace(n_near / 2, n_near, _NEIGHBORS).astype(np.int64)
        some = sample[: _WIDE_SAMPLE // n_near]
        view = _look(points, some, n_near, ranks, _WIDE_DROP, n_jobs)
        if view.likelihood > best.likelihood:
            break  # without noise, wider ones only meet more curvature
        if view.drop < _SHARPER * best.drop:
            best = view
    return first, best


def _look(
    points: Points,
    sample: IntArray,
    n_near: int,
    ranks: IntArray,
    drop: float,
    n_jobs: int | None,
) -> _View:
    found = nearest_among(points, np.arange(len(points)), sample, n_near + 1, n_jobs)
    distances, spectra = [], []
    n_together = max(1, (1 << 22) // (found.shape[1] * points.shape[1]))
    for start in range(0, len(sample), n_together):
        block = slice(start, start + n_together)
        if isinstance(points, Space):
            near = found[block]
            squares = points.squares(sample[block, None], near)[:, 0]
            distances.append(np.sort(np.sqrt(squares), axis=1)[:, ranks])
            values, _ = scaled(points, near, np.full(len(near), near.shape[1] - 1))
            spectra.append(np.maximum(values, 0))
            continue
        offsets = points[found[block]].astype(np.float64) - points[sample[block], None]
        distances.append(np.sort(np.linalg.norm(offsets, axis=2), axis=1)[:, ranks])
        spectra.append(_spectra(offsets))
    squares = np.concatenate(spectra)
    squares = np.column_stack((squares, np.zeros(len(squares))))
    local = (squares[:, 1:] < drop * squares[:, :-1]).argmax(axis=1) + 1
    mean = squares.mean(axis=0)
    # Towards the end spectra fall because there are no more neighbours or features.
    n_open = min(points.shape[1] - 1, n_near // 4)
    shares = mean[1 : n_open + 1] / np.maximum(mean[:n_open], np.finfo(float).tiny)
    sharp = shares[shares < drop]
    return _View(
        sample, local, float(sharp[0]) if len(sharp) else 1.0, ranks, np.concatenate(distances)
    )


def _spectra(offsets: FloatArray) -> FloatArray:
    """Return squared singular values of neighbourhoods, (n_sample, n_values), largest first."""
    centred = offsets - offsets.mean(axis=1, keepdims=True)
    if centred.shape[1] < centred.shape[2]:
        products = centred @ centred.transpose(0, 2, 1)
    else:
        products = centred.transpose(0, 2, 1) @ centred
    return np.maximum(np.linalg.eigvalsh(products)[:, ::-1], 0)


def _likelihood(ranks: IntArray, distances: FloatArray) -> float:
    """Estimate by maximum likelihood, the inverse averaged over points (MacKay and Ghahramani).

    The logarithm of the ratio of two distances has the mean (ψ(k) - ψ(j)) / d, k and j their ranks.
    """
    ratios = np.log(distances[:, -1:] / distances[:, :-1])
    mean = float(ratios.mean())
    return float(np.mean(psi(ranks[-1]) - psi(ranks[:-1]))) / mean if mean > 0 else np.inf


def _growth(rank: IntArray, distances: FloatArray) -> float:
    """Estimate by the mean distance to the k-th neighbour, which grows as k to the power 1/d."""
    growth = np.log(distances.mean(axis=0))
    dim = 1 / np.polyfit(np.log(rank), growth, 1)[0]
    for _ in range(50):
        # The expected logarithm is not that of the expectation; the correction depends on d.
        correction = np.log(rank) / dim + gammaln(rank) - gammaln(rank + 1 / dim)
        before, dim = dim, 1 / np.polyfit(np.log(rank), growth + correction, 1)[0]
        if abs(dim - before) < 1e-6 * dim:
            break
    return float(dim)
