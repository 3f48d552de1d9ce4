"""Parts of a sphere: curved, so that no flat picture is exact, with distances in closed form."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.spatial import Delaunay

from ptunfold.datasets.record import Dataset, generator, lift, on_sphere, spherical_dataset
from ptunfold.types import FloatArray
from ptunfold.validation.values import check_choice, check_number

_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def petals(
    n_points: int = 1600, *, noise: float = 0.0, n_features: int = 3, seed: int = 0
) -> Dataset:
    """Sample four petals that meet at the pole of the unit sphere, uniformly by area.

    Parameters
    ----------
    n_points : int
        The number of points.
    noise : float
        Standard deviation of Gaussian noise along the normal, as a fraction of the radius.
    n_features : int
        The dimension of the space that the sphere is placed in, at random from 4 on.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> from ptunfold.datasets import petals
    >>> flower = petals(100, noise=0.01, n_features=50)
    >>> flower.points.shape, flower.distances([0]).shape
    ((100, 50), (1, 100))
    """
    rng = generator(n_points, seed)
    check_number("noise", noise, least=0)
    longest = 0.45 * np.pi
    kept = np.empty((0, 2))
    while len(kept) < n_points:
        polar = np.arccos(rng.uniform(np.cos(longest), 1, 4 * n_points))
        azimuth = rng.uniform(0, 2 * np.pi, 4 * n_points)
        is_inside = polar <= longest * (0.2 + 0.8 * np.cos(2 * azimuth) ** 2)
        kept = np.concatenate((kept, np.column_stack((polar, azimuth))[is_inside]))
    polar, azimuth = kept[:n_points].T
    directions = on_sphere(polar, azimuth)
    points = directions * (1 + noise * rng.standard_normal((n_points, 1)))
    color = np.mod(azimuth + np.pi / 4, 2 * np.pi)  # starts between two petals, not inside one
    return spherical_dataset(directions, lift(points, n_features, rng), color)


def spherical_cap(
    n_points: int = 700,
    *,
    angle: float = 40.0,
    sampling: str = "regular",
    n_features: int = 3,
    seed: int = 0,
) -> Dataset:
    """Sample the cap of the unit sphere around its pole.

    Parameters
    ----------
    n_points : int
        The number of points.
    angle : float
        The angle between the pole and the rim, in degrees.
    sampling : {"regular", "random"}
        A triangulated spiral lattice of equal areas, its triangulation in ``graph``; or points at
        random.
    n_features : int
        The dimension of the space that the sphere is placed in, at random from 4 on.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> from ptunfold.datasets import spherical_cap
    >>> spherical_cap(100).points.shape
    (100, 3)
    """
    rng = generator(n_points, seed)
    check_number("angle", angle, above=0, most=180)
    check_choice("sampling", sampling, ("regular", "random"))
    if sampling == "regular" and n_points < 3:
        raise ValueError(
            f'n_points={n_points} make no triangle; pass 3 or more, or sampling="random"'
        )
    lowest = np.cos(np.radians(angle))
    if sampling == "random":
        polar = np.arccos(rng.uniform(lowest, 1, n_points))
        azimuth = rng.uniform(0, 2 * np.pi, n_points)
    else:
        place = np.arange(n_points) + 0.5
        polar = np.arccos(1 - (1 - lowest) * place / n_points)
        azimuth = np.mod(_GOLDEN_ANGLE * place, 2 * np.pi)
    directions = on_sphere(polar, azimuth)
    graph = _triangulation(polar, azimuth, directions) if sampling == "regular" else None
    return spherical_dataset(directions, lift(directions, n_features, rng), polar, graph)


def _triangulation(
    polar: FloatArray, azimuth: FloatArray, directions: FloatArray
) -> sparse.coo_array:
    """Triangulate points of a cap; stereographic projection keeps circles and so Delaunay's."""
    radius = np.tan(polar / 2)
    plane = np.column_stack((radius * np.cos(azimuth), radius * np.sin(azimuth)))
    triangles = Delaunay(plane).simplices
    edges = np.concatenate((triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]))
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    lengths = np.linalg.norm(directions[edges[:, 0]] - directions[edges[:, 1]], axis=1)
    # Slivers along the rim join points that are no neighbours.
    proper = lengths < 3 * np.median(lengths)
    shape = (len(directions), len(directions))
    return sparse.coo_array((lengths[proper], edges[proper].T), shape=shape)
