"""Sheets that can be flattened without stretching, with and without holes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptunfold.datasets.record import Dataset, flat_dataset, generator, lift
from ptunfold.types import FloatArray
from ptunfold.validation.values import check_number

_FAR_OUT = 0.08  # of the longest side, for outliers


def flat_square(n_points: int = 1000, *, n_features: int = 3, seed: int = 0) -> Dataset:
    """Sample the unit square, placed at random in R^n_features.

    Examples
    --------
    >>> from ptunfold.datasets import flat_square
    >>> flat_square(100).points.shape
    (100, 3)
    """
    rng = generator(n_points, seed)
    plane = rng.random((n_points, 2))
    return flat_dataset(lift(plane, n_features, rng), plane, plane[:, 0])


def annulus(
    n_points: int = 1000, *, inner: float = 0.5, n_features: int = 3, seed: int = 0
) -> Dataset:
    """Sample a disc of radius 1 without its middle, placed at random in R^n_features.

    Examples
    --------
    >>> from ptunfold.datasets import annulus
    >>> annulus(100).points.shape
    (100, 3)
    """
    rng = generator(n_points, seed)
    check_number("inner", inner, least=0, most=1)
    radius = np.sqrt(rng.uniform(inner**2, 1, n_points))
    angle = rng.uniform(0, 2 * np.pi, n_points)
    plane = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    return flat_dataset(lift(plane, n_features, rng), plane, angle)


def l_shape(n_points: int = 1000, *, n_features: int = 3, seed: int = 0) -> Dataset:
    """Sample three quarters of the unit square, placed at random in R^n_features.

    Examples
    --------
    >>> from ptunfold.datasets import l_shape
    >>> l_shape(100).points.shape
    (100, 3)
    """
    rng = generator(n_points, seed)
    plane = rng.random((n_points, 2))
    missing = (plane > 0.5).all(axis=1)
    # Points of the missing quarter go to one of the others, at the same place in it.
    quarter = rng.integers(3, size=n_points)
    plane[missing] -= np.array([[0.5, 0.0], [0.0, 0.5], [0.5, 0.5]])[quarter[missing]]
    return flat_dataset(lift(plane, n_features, rng), plane, plane[:, 0] - plane[:, 1])


def filled_torus(
    n_points: int = 3000, *, inner: float = 0.4, n_features: int = 4, seed: int = 0
) -> Dataset:
    """Sample a solid ring of radius 1 and thickness ``inner``, a flat part of R³, in R^n_features.

    The paper puts it into R⁴ with a constant coordinate; a rotation on top changes nothing.

    Examples
    --------
    >>> from ptunfold.datasets import filled_torus
    >>> filled_torus(100).points.shape
    (100, 4)
    """
    rng = generator(n_points, seed)
    solid = solid_ring(n_points, inner, rng)
    return flat_dataset(lift(solid, n_features, rng), solid, np.arctan2(solid[:, 1], solid[:, 0]))


def solid_ring(n_points: int, inner: float, rng: np.random.Generator) -> FloatArray:
    """Sample a solid ring of radius 1 around the z axis, uniformly by volume, (n_points, 3)."""
    check_number("inner", inner, above=0)  # an empty ring would never be full
    solid = np.empty((0, 3))
    while len(solid) < n_points:
        cube = rng.uniform(-1, 1, (4 * n_points, 3)) * [1 + inner, 1 + inner, inner]
        from_ring = np.hypot(np.hypot(cube[:, 0], cube[:, 1]) - 1, cube[:, 2])
        solid = np.concatenate((solid, cube[from_ring <= inner]))
    return solid[:n_points]


def s_with_hole(
    n_points: int = 2000, *, hole: float = 0.4, n_features: int = 3, seed: int = 0
) -> Dataset:
    """Sample a sheet bent to an S, uniformly, with a rectangular hole in its middle.

    Parameters
    ----------
    n_points : int
        The number of points.
    hole : float
        The width and height of the hole, as a fraction of the sheet's.
    n_features : int
        The dimension of the space that the sheet is placed in, at random from 4 on.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> from ptunfold.datasets import s_with_hole
    >>> s_with_hole(100).points.shape
    (100, 3)
    """
    rng = generator(n_points, seed)
    plane = _rectangle_with_hole(n_points, hole, rng)
    return _bent_to_s(plane, n_features, rng)


def s_uneven(
    n_points: int = 2000, *, ratio: float = 30.0, n_features: int = 3, seed: int = 0
) -> Dataset:
    """Sample a sheet bent to an S, densely at one end and thinly at the other.

    Parameters
    ----------
    n_points : int
        The number of points.
    ratio : float
        How many times as dense the points are at one end as at the other, above 1; for even
        sampling there is :func:`s_with_hole`.
    n_features : int
        The dimension of the space that the sheet is placed in, at random from 4 on.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> from ptunfold.datasets import s_uneven
    >>> s_uneven(100).points.shape
    (100, 3)
    """
    rng = generator(n_points, seed)
    check_number("ratio", ratio, above=1)
    plane = rng.random((n_points, 2))
    # The density grows exponentially along the sheet.
    plane[:, 0] = np.log1p(plane[:, 0] * (ratio - 1)) / np.log(ratio)
    return _bent_to_s(plane, n_features, rng)


def _bent_to_s(plane: FloatArray, n_features: int, rng: np.random.Generator) -> Dataset:
    """Bend the unit square to an S of two arcs of radius 1, 3π long and 2 wide."""
    along = (plane[:, 0] - 0.5) * 3 * np.pi  # the arc length
    across = plane[:, 1] * 2
    points = np.column_stack((np.sin(along), across, np.sign(along) * (np.cos(along) - 1)))
    return flat_dataset(lift(points, n_features, rng), np.column_stack((along, across)), along)


def swiss_roll(
    n_points: int = 2000,
    *,
    hole: float = 0.0,
    noise: float = 0.0,
    outliers: float = 0.0,
    n_features: int = 3,
    seed: int = 0,
) -> Dataset:
    """Sample a rolled-up sheet, uniformly by area.

    Parameters
    ----------
    n_points : int
        The number of points.
    hole : float
        The width and height of a rectangular hole, as a fraction of the sheet's; 0 for none.
    noise : float
        Standard deviation of Gaussian noise along the normal, as a fraction of the longest side
        of the roll's bounding box.
    outliers : float
        The share of points that are displaced by up to 8 % of that side along each axis instead;
        ``is_outlier`` tells which.
    n_features : int
        The dimension of the space that the roll is placed in, at random from 4 on.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> from ptunfold.datasets import swiss_roll
    >>> roll = swiss_roll(100, hole=0.3, noise=0.01)
    >>> roll.points.shape, roll.coordinates.shape
    ((100, 3), (100, 2))
    """
    rng = generator(n_points, seed)
    check_number("noise", noise, least=0)
    check_number("outliers", outliers, least=0, most=1)
    plane = _rectangle_with_hole(n_points, hole, rng)
    first, last = _spiral_length(np.array([1.5 * np.pi, 4.5 * np.pi]))
    along, across = plane[:, 0] * (last - first), plane[:, 1] * 21
    t = _spiral_angle(first + along)
    points = np.column_stack((t * np.cos(t), across, t * np.sin(t)))
    tangent = np.column_stack((np.cos(t) - t * np.sin(t), np.sin(t) + t * np.cos(t)))
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    side = np.ptp(points, axis=0).max()
    shift = noise * side * rng.standard_normal(n_points)
    is_outlier = np.zeros(n_points, dtype=bool)
    is_outlier[rng.choice(n_points, round(outliers * n_points), replace=False)] = True
    shift[is_outlier] = 0
    points[:, 0] += shift * tangent[:, 1]
    points[:, 2] -= shift * tangent[:, 0]
    points[is_outlier] += _FAR_OUT * side * rng.uniform(-1, 1, (is_outlier.sum(), 3))
    flat = np.column_stack((along, across))
    roll = flat_dataset(lift(points, n_features, rng), flat, along)
    return replace(roll, is_outlier=is_outlier)


def _spiral_length(angle: FloatArray) -> FloatArray:
    """Measure the spiral r = t from t = 0 to ``angle``."""
    return 0.5 * (angle * np.hypot(1, angle) + np.arcsinh(angle))


def _spiral_angle(length: FloatArray) -> FloatArray:
    """Invert `_spiral_length` by Newton's method; it converges from above, quadratically."""
    angle = np.sqrt(2 * length)
    for _ in range(8):
        angle -= (_spiral_length(angle) - length) / np.hypot(1, angle)
    return angle


def _rectangle_with_hole(n_points: int, hole: float, rng: np.random.Generator) -> FloatArray:
    """Sample the unit square without the middle square of side ``hole``, (n_points, 2)."""
    check_number("hole", hole, least=0, below=1)
    plane = np.empty((0, 2))
    while len(plane) < n_points:
        square = rng.random((int(1.2 * n_points / (1 - hole**2)), 2))
        in_hole = (np.abs(square - 0.5) < hole / 2).all(axis=1)
        plane = np.concatenate((plane, square[~in_hole]))
    return plane[:n_points]
