"""Noise that is alike in many directions: points projected on those where there is more than it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptunfold.geometry.neighbors import distinct_places
from ptunfold.geometry.order import sample
from ptunfold.threads import cut, single_threaded_blas
from ptunfold.types import FloatArray

_SAMPLE = 1000  # its spectrum tells whether there is such noise at all
_LEAST_FEATURES, _LEAST_DIRECTIONS = 20, 10
# Of the whole variance; less is rounding, or does no harm.
_LEAST_SHARE = 1e-6
# How far quantiles of the spectrum may be from those of noise: a little of the interval's length,
# and so many times the usual distance between two eigenvalues. Pure noise keeps to half of it in
# most cases, real tables exceed it by half and more.
_QUANTILES = np.linspace(0.05, 0.95, 19)
_MISFIT, _MISFIT_IN_GAPS = 0.03, 2.0
_MOST_ROUNDS = 50
_BLOCK = 1 << 22  # numbers


def leading_coordinates(points: FloatArray, least: int = 1) -> FloatArray:
    """Write points along the directions that stand out of isotropic noise, where there is such.

    Noise of the same size in every one of many directions spreads the eigenvalues of the
    covariance over an interval that is known (Marchenko and Pastur). It is taken for noise only if
    at least half of the spectrum, and ten directions, follow that law; spectra that decay do not.
    The directions above the interval hold what the data have to tell and only their own small part
    of the noise.

    Returns principal coordinates (n_points, n_directions), ``least`` directions or more, in the
    dtype of ``points``; ``points`` itself if there is no such noise.
    """
    n_points, n_features = points.shape
    if n_features < _LEAST_FEATURES:
        return points
    with single_threaded_blas():
        if n_points > _SAMPLE and not _look(points[sample(points, _SAMPLE)])[0]:
            return points
        n_leading, products = _look(points)
        if n_leading < max(least, 1):
            return points
        values, vectors = np.linalg.eigh(products)
        values, vectors = values[: -n_leading - 1 : -1], vectors[:, : -n_leading - 1 : -1]
        if n_points <= n_features:
            coordinates = vectors * np.sqrt(values)
        else:
            coordinates = np.concatenate([block @ vectors for block in _centred(points)])
    # Rounding must not drive copies of a point apart.
    coordinates = coordinates[distinct_places(points)].astype(points.dtype)
    return np.ascontiguousarray(coordinates)


def n_above_noise(eigenvalues: FloatArray, n_points: int, n_features: int) -> int:
    """Count the eigenvalues of a covariance above those of isotropic noise.

    They are those that are not 0 by the number of points, the largest first. Returns 0 if the
    others are not like noise.
    """
    n_above = 0
    for _ in range(_MOST_ROUNDS):
        rest = eigenvalues[n_above:]
        if len(rest) < max(_LEAST_DIRECTIONS, len(eigenvalues) / 2):
            return 0
        shape = (n_features - n_above) / max(n_points - 1 - n_above, 1)
        expected = noise_quantiles(shape, _QUANTILES)
        variance = np.median(rest) / expected[len(expected) // 2]
        # The largest one is above the end of the interval by about n^(-2/3) of it.
        end = variance * (1 + np.sqrt(shape)) ** 2 * (1 + 2 * len(eigenvalues) ** (-2 / 3))
        n_found = int(np.count_nonzero(eigenvalues > end))
        if n_found <= n_above:
            break
        n_above = n_found
    else:
        return 0
    if variance * n_features <= _LEAST_SHARE * eigenvalues.sum():
        return 0
    misfit = np.abs(np.quantile(rest, _QUANTILES) / variance - expected).max()
    length = 4 * np.sqrt(shape)
    return n_above if misfit <= (_MISFIT + _MISFIT_IN_GAPS / len(rest)) * length else 0


def noise_quantiles(shape: float, levels: FloatArray) -> FloatArray:
    """Return quantiles of the eigenvalues of noise of variance 1 that are not 0, (n_levels,).

    ``shape`` is the number of features for each point.
    """
    # With more features than points, the others are those of the transposed table.
    ratio, scale = (1 / shape, shape) if shape > 1 else (shape, 1.0)
    angle = (np.arange(2000) + 0.5) / 2000 * np.pi
    values = 1 + ratio - 2 * np.sqrt(ratio) * np.cos(angle)
    # The density √((b - x)(x - a)) / x, with dx from dangle.
    below = np.cumsum(np.square(np.sin(angle)) / values)
    return scale * np.interp(levels, below / below[-1], values)


def _look(points: FloatArray) -> tuple[int, FloatArray]:
    """Count the directions above noise; also return the products that have them for eigenvectors.

    These are the products of centred features or, where they are no more, of centred points.
    """
    n_points, n_features = points.shape
    if n_points <= n_features:
        products = np.zeros((n_points, n_points))
        for columns in cut(n_features, max(1, _BLOCK // n_points)):
            centred = points[:, columns] - points[:, columns].mean(axis=0, dtype=np.float64)
            products += centred @ centred.T
    else:
        products = np.zeros((n_features, n_features))
        for centred in _centred(points):
            products += centred.T @ centred
    values = np.maximum(np.linalg.eigvalsh(products)[::-1], 0)
    return n_above_noise(values[: n_points - 1], n_points, n_features), products


def _centred(points: FloatArray) -> Iterator[FloatArray]:
    """Go through points less their mean, in float64, block by block."""
    mean = points.mean(axis=0, dtype=np.float64)
    n_rows = max(1, _BLOCK // points.shape[1])
    for start in range(0, len(points), n_rows):
        yield points[start : start + n_rows] - mean
