"""Graphs of functions, whose geodesics have no closed form but an equation to follow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from ptunfold.datasets.record import Dataset, generator, lift
from ptunfold.datasets.sheets import solid_ring
from ptunfold.types import FloatArray, IntArray
from ptunfold.validation.values import check_number

_HILLS = ((-0.9, -0.5, 0.8, 0.55), (0.8, 0.6, 0.6, 0.45))  # x, y, height, width
_RAYS, _STEPS = 1440, 240
_NEAREST = 48
_SHARP, _BY_FAR = 0.3, 100.0

Surface = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]]


def two_hills(
    n_points: int = 3000, *, noise: float = 0.0, n_features: int = 3, seed: int = 0
) -> Dataset:
    """Sample a landscape of two Gaussian hills over the square of side 4, uniformly in the plane.

    True distances are those of the whole landscape, which goes on beyond the square.

    Parameters
    ----------
    n_points : int
        The number of points.
    noise : float
        Standard deviation of Gaussian noise of the height.
    n_features : int
        The dimension of the space that the landscape is placed in, at random from 4 on.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> from ptunfold.datasets import two_hills
    >>> two_hills(100).points.shape
    (100, 3)
    """
    rng = generator(n_points, seed)
    check_number("noise", noise, least=0)
    plane = rng.uniform(-2, 2, (n_points, 2))
    height = _hills(*plane.T)[0]
    noisy = height + noise * rng.standard_normal(n_points)

    def rows(sources: IntArray) -> FloatArray:
        return np.stack([follow_geodesics(_hills, plane, source) for source in sources])

    return Dataset(lift(np.column_stack((plane, noisy)), n_features, rng), height, rows)


def curved_torus(
    n_points: int = 3000, *, inner: float = 0.4, n_features: int = 4, seed: int = 0
) -> Dataset:
    """Sample a solid ring of R³ bent in R⁴ to (x, y, z, (x² + y²) / 2).

    It is a part of the product of a paraboloid and a line, whose distances are the true ones; some
    of these lead through the middle of the ring.

    Parameters
    ----------
    n_points : int
        The number of points.
    inner : float
        The thickness of the ring, whose radius is 1.
    n_features : int
        The dimension of the space that the ring is placed in, at random from 5 on.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> from ptunfold.datasets import curved_torus
    >>> curved_torus(100).points.shape
    (100, 4)
    """
    rng = generator(n_points, seed)
    solid = solid_ring(n_points, inner, rng)
    plane, height = solid[:, :2], solid[:, 2]
    points = np.column_stack((solid, 0.5 * np.square(plane).sum(axis=1)))

    def rows(sources: IntArray) -> FloatArray:
        return np.stack(
            [
                np.hypot(follow_geodesics(_paraboloid, plane, source), height - height[source])
                for source in sources
            ]
        )

    return Dataset(lift(points, n_features, rng), np.arctan2(plane[:, 1], plane[:, 0]), rows)


def follow_geodesics(surface: Surface, plane: FloatArray, source: int) -> FloatArray:
    """Measure the graph of a function from one point to all.

    Geodesics are followed from the source in many directions (Runge and Kutta's method), and with
    each the width w of the gap to the next one, for an angle of 1 between them: w" = -K w (Jacobi).
    Circles around the source are bent by c = w' / w. So near a point of a geodesic, at the distance
    s, the distance to a point that lies a along it and b to its side is
    s + a + b² c / (1 + √(1 + b² c²)), up to the third order of a and b; in the plane exactly. Where
    several geodesics lead to a point the shortest counts.

    Parameters
    ----------
    surface : callable
        Takes x and y; returns the height, the gradient (2, ...) and the Hessian (3, ...) as xx, xy,
        yy.
    plane : (n_points, 2)
        x and y of all points.
    source : int
        The point to start from.

    Returns
    -------
    distances : (n_points,)
        Along the graph of the function.
    """
    heights, slopes, _ = surface(*plane.T)
    apart = np.linalg.norm(plane - plane[source], axis=1)
    rise = np.abs(heights - heights[source]).max()
    length = 1.15 * (apart.max() + rise) / _STEPS
    angle = np.arange(_RAYS) * 2 * np.pi / _RAYS
    heading = np.stack((np.cos(angle), np.sin(angle)))
    speed = np.sqrt(1 + np.square((slopes[:, source, None] * heading).sum(axis=0)))
    start = np.broadcast_to(plane[source][:, None], (2, _RAYS))
    state = np.concatenate((start, heading / speed, np.zeros((1, _RAYS)), np.ones((1, _RAYS))))
    track = np.empty((_STEPS + 1, 6, _RAYS))
    track[0] = state
    for step in range(_STEPS):
        one = _motion(surface, state)
        two = _motion(surface, state + 0.5 * length * one)
        three = _motion(surface, state + 0.5 * length * two)
        four = _motion(surface, state + length * three)
        state = state + length / 6 * (one + 2 * two + 2 * three + four)
        track[step + 1] = state
    passed = track[1:, :2].transpose(0, 2, 1).reshape(-1, 2)
    moving = track[1:, 2:4].transpose(0, 2, 1).reshape(-1, 2)
    width, growth = (track[1:, place].ravel() for place in (4, 5))
    so_far = np.repeat(length * np.arange(1, _STEPS + 1), _RAYS)
    _, nearest = cKDTree(passed).query(plane, k=_NEAREST)
    at_heights, at_slopes, _ = surface(*passed[nearest].transpose(2, 0, 1))
    offsets = plane[:, None] - passed[nearest]
    rises = heights[:, None] - at_heights
    headings = moving[nearest]
    climbs = (at_slopes.transpose(1, 2, 0) * headings).sum(axis=2)
    along = (offsets * headings).sum(axis=2) + rises * climbs
    square = np.square(offsets).sum(axis=2) + np.square(rises)
    aside = np.maximum(square - np.square(along), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = growth[nearest] / (width[nearest] + along * growth[nearest])
        around = aside * bend / (1 + np.sqrt(1 + aside * np.square(bend)))
        # Where geodesics have met they are no longer the shortest; next to it circles are no arcs.
        is_met = (width[nearest] <= 0) | (aside * np.square(bend) > _SHARP**2) & (bend < 0)
    found = np.where(is_met, np.inf, so_far[nearest] + along + around)
    # The shortest way counts, unless it seems shorter only because it was told from farther away.
    best = np.argmin(found + _BY_FAR * square**1.5, axis=1)
    distances = np.take_along_axis(found, best[:, None], axis=1)[:, 0]
    # Next to the source there is no geodesic to be near to: the chord will do.
    is_close = apart <= 2 * length
    chords = np.sqrt(np.square(apart) + np.square(heights - heights[source]))
    return np.where(is_close, chords, distances)


def _motion(surface: Surface, state: FloatArray) -> FloatArray:
    """Return how fast place, velocity, width and its growth change along a geodesic, (6, n)."""
    _, slopes, bends = surface(state[0], state[1])
    velocity = state[2:4]
    bend = bends[0] * velocity[0] ** 2 + bends[2] * velocity[1] ** 2
    bend = bend + 2 * bends[1] * velocity[0] * velocity[1]
    steep = 1 + np.square(slopes).sum(axis=0)
    curvature = (bends[0] * bends[2] - np.square(bends[1])) / np.square(steep)
    by_width = np.stack((state[5], -curvature * state[4]))
    return np.concatenate((velocity, -slopes * bend / steep, by_width))


def _hills(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    height, slopes, bends = np.zeros_like(x), np.zeros((2, *x.shape)), np.zeros((3, *x.shape))
    for centre_x, centre_y, top, width in _HILLS:
        u, v = (x - centre_x) / width, (y - centre_y) / width
        hill = top * np.exp(-0.5 * (u**2 + v**2))
        height = height + hill
        slopes = slopes - hill / width * np.stack((u, v))
        bends = bends + hill / width**2 * np.stack((u**2 - 1, u * v, v**2 - 1))
    return height, slopes, bends


def _paraboloid(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    one, zero = np.ones_like(x), np.zeros_like(x)
    return 0.5 * (x**2 + y**2), np.stack((x, y)), np.stack((one, zero, one))
