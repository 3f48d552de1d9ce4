"""Surfaces without a rim, or with one side only: no flat map of them keeps all distances."""

from __future__ import annotations

import numpy as np

from ptunfold.datasets.record import Dataset, generator, lift, on_sphere, spherical_dataset
from ptunfold.types import FloatArray, IntArray
from ptunfold.validation.values import check_number


def sphere(n_points: int = 1000, *, n_features: int = 3, seed: int = 0) -> Dataset:
    """Sample the unit sphere, uniformly by area.

    Examples
    --------
    >>> from ptunfold.datasets import sphere
    >>> sphere(100).points.shape
    (100, 3)
    """
    rng = generator(n_points, seed)
    polar = np.arccos(rng.uniform(-1, 1, n_points))
    directions = on_sphere(polar, rng.uniform(0, 2 * np.pi, n_points))
    return spherical_dataset(directions, lift(directions, n_features, rng), polar)


def flat_torus(n_points: int = 1000, *, n_features: int = 4, seed: int = 0) -> Dataset:
    """Sample the product of two unit circles in R⁴: flat everywhere, closed both ways.

    Examples
    --------
    >>> from ptunfold.datasets import flat_torus
    >>> flat_torus(100).points.shape
    (100, 4)
    """
    rng = generator(n_points, seed)
    angles = rng.uniform(0, 2 * np.pi, (n_points, 2))
    points = np.column_stack((np.cos(angles), np.sin(angles)))

    def rows(sources: IntArray) -> FloatArray:
        apart = np.abs(angles[sources, None] - angles[None])
        return np.linalg.norm(np.minimum(apart, 2 * np.pi - apart), axis=2)

    return Dataset(lift(points, n_features, rng), angles[:, 0], rows)


def moebius_band(
    n_points: int = 1500, *, width: float = 0.6, n_features: int = 3, seed: int = 0
) -> Dataset:
    """Sample a Möbius band of radius 1: a surface with one side.

    Examples
    --------
    >>> from ptunfold.datasets import moebius_band
    >>> moebius_band(100).points.shape
    (100, 3)
    """
    rng = generator(n_points, seed)
    check_number("width", width, least=0)
    around = rng.uniform(0, 2 * np.pi, n_points)
    across = rng.uniform(-width / 2, width / 2, n_points)
    radius = 1 + across * np.cos(around / 2)
    height = across * np.sin(around / 2)
    points = np.column_stack((radius * np.cos(around), radius * np.sin(around), height))
    return Dataset(lift(points, n_features, rng), around, None)


def klein_bottle(
    n_points: int = 2000, *, thickness: float = 0.5, n_features: int = 4, seed: int = 0
) -> Dataset:
    """Sample a Klein bottle in R⁴, where it does not meet itself: closed, with one side.

    Examples
    --------
    >>> from ptunfold.datasets import klein_bottle
    >>> klein_bottle(100).points.shape
    (100, 4)
    """
    rng = generator(n_points, seed)
    check_number("thickness", thickness, least=0)
    around, along = rng.uniform(0, 2 * np.pi, (2, n_points))
    radius, offset = 1 + thickness * np.cos(along), thickness * np.sin(along)
    points = np.column_stack(
        (
            radius * np.cos(around),
            radius * np.sin(around),
            offset * np.cos(around / 2),
            offset * np.sin(around / 2),
        )
    )
    return Dataset(lift(points, n_features, rng), around, None)
