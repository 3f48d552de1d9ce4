"""What every data set returns, and how the truth is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ptunfold.types import BoolArray, FloatArray, IntArray
from ptunfold.validation.values import check_count, check_sources


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with what is known about them.

    Attributes
    ----------
    points : (n_points, n_features)
        The points.
    color : (n_points,)
        A value to colour them by.
    true_rows : callable or None
        Returns the true geodesic distances from a list of points to all, (n_sources, n_points),
        where they are known.
    coordinates : (n_points, intrinsic_dim) or None
        The true flat coordinates, where the sheet has them.
    graph : sparse array or None
        Edge lengths of the sampling's own graph, where it has one.
    is_outlier : (n_points,) bool or None
        Which points were displaced on purpose, where that is a question.
    parameters : (n_points, n_parameters) or None
        What an image was made with.
    kept : (n_points,) int or None
        Which images these are, where some were removed.
    shape : tuple of int or None
        The shape of an image, whose pixels make a row of ``points``.

    Examples
    --------
    >>> from ptunfold.datasets import swiss_roll
    >>> roll = swiss_roll(200)
    >>> roll.points.shape, roll.coordinates.shape, roll.color.shape
    ((200, 3), (200, 2), (200,))
    """

    points: FloatArray
    color: FloatArray
    true_rows: Callable[[IntArray], FloatArray] | None
    coordinates: FloatArray | None = None
    graph: Any = None
    is_outlier: BoolArray | None = None
    parameters: FloatArray | None = None
    kept: IntArray | None = None
    shape: tuple[int, ...] | None = None

    def distances(self, sources: Any = None) -> FloatArray:
        """Return true geodesic distances from ``sources`` (all by default) to all points.

        ``sources`` is a list of indices, or a mask with one entry a point.

        Examples
        --------
        >>> from ptunfold.datasets import swiss_roll
        >>> swiss_roll(200).distances([0, 1]).shape
        (2, 200)
        """
        if self.true_rows is None:
            raise ValueError(
                "the true distances of these points are not known; take a set that has true_rows"
            )
        n_points = len(self.points)
        chosen = np.arange(n_points) if sources is None else check_sources(sources, n_points)
        return self.true_rows(chosen) if len(chosen) else np.empty((0, n_points))


def generator(n_points: Any, seed: Any, name: str = "n_points") -> np.random.Generator:
    """Return what random numbers come from, if so many points and this seed can be asked for."""
    check_count(name, n_points)
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"seed={seed!r} is no seed; pass a whole number from 0 on, or a numpy.random.Generator"
        ) from error


def flat_dataset(points: FloatArray, coordinates: FloatArray, color: FloatArray) -> Dataset:
    """Describe a sheet that can be unrolled without stretching."""

    def rows(sources: IntArray) -> FloatArray:
        return cdist(coordinates[sources], coordinates)

    return Dataset(points, color, rows, coordinates=coordinates)


def spherical_dataset(
    directions: FloatArray, points: FloatArray, color: FloatArray, graph: Any = None
) -> Dataset:
    """Describe a part of the unit sphere; geodesics are arcs of great circles.

    ``directions`` (n_points, 3) are the points before they were lifted or made noisy.
    """

    def rows(sources: IntArray) -> FloatArray:
        chords = cdist(directions[sources], directions)
        return 2 * np.arcsin(np.minimum(0.5 * chords, 1.0))

    return Dataset(points, color, rows, graph=graph)


def on_sphere(polar: FloatArray, azimuth: FloatArray) -> FloatArray:
    """Return the points of the unit sphere at angles from the pole and around it, (n_points, 3)."""
    return np.column_stack(
        (np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar))
    )


def lift(points: FloatArray, n_features: int, rng: np.random.Generator) -> FloatArray:
    """Rotate points into a space of more dimensions, all distances kept."""
    check_count("n_features", n_features)
    n_own = points.shape[1]
    if n_features < n_own:
        raise ValueError(f"n_features={n_features} is too few; pass {n_own} or more")
    if n_features == n_own:
        return points
    basis, _ = np.linalg.qr(rng.standard_normal((n_features, n_own)))
    return points @ basis.T
