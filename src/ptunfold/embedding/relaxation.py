"""A picture that classical scaling folds, relaxed until its distances are right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from ptunfold.embedding.landmark_scaling import along_principal_axes
from ptunfold.embedding.stress import majorize, off_zero, weighted_pull
from ptunfold.kernels.placing import pull_into_place
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import FloatArray, Geometry, IntArray

# Of distances in the picture: sheets with any curvature or noise that the method is made for have
# up to 0.04, images, cells and tables 0.05 to 0.45, loops and other closed surfaces 0.15.
_TOLERABLE, _TOLERABLE_IF_ROUGH = 0.05, 0.03
# Curvature strains any flat picture, everywhere alike: half a sphere by 0.08, three quarters of it,
# where a projection folds, by 0.15.
_TOLERABLE_IF_CURVED = 0.12
# Rows that tell the stress, a few for all.
N_LOOKED_AT, _MOST_LOOKED_AT = 4, 1 << 16
N_ANCHORS = 400
_SHARE = 0.75
_SETTLED = 3e-4  # of the size of the picture, for a round
_COLUMNS = 1 << 12
_NEAREST = 0.01  # of all distances: among these none counts more than another


def tolerable_strain(geometry: Geometry) -> float:
    """Return how far distances in a picture may be off, relative to all of them."""
    if geometry.connection.curvature is not None:
        return _TOLERABLE_IF_CURVED
    return _TOLERABLE_IF_ROUGH if geometry.texture == "rough" else _TOLERABLE


def is_strained(
    rows: FloatArray, sources: IntArray, coordinates: FloatArray, tolerable: float = _TOLERABLE
) -> bool:
    """Tell whether distances in a picture are far from ``rows``, those from some points to all."""
    some = slice(None, None, -(-len(sources) // N_LOOKED_AT))
    shown = slice(None, None, -(-len(coordinates) // _MOST_LOOKED_AT))
    exact = rows[some, shown].astype(np.float64)
    found = cdist(coordinates[sources[some]], coordinates[shown])
    return bool(np.linalg.norm(found - exact) > tolerable * np.linalg.norm(exact))


def relax(
    rows: FloatArray,
    anchors: IntArray,
    coordinates: FloatArray,
    is_truer: Callable[[FloatArray, FloatArray], bool] | None = None,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Move points until their distances from some of them, the anchors, are right.

    Classical scaling projects: of data that need more dimensions than are shown, it lays what is
    far apart on top of each other. Stress, the sum of squared differences of distances, keeps it
    apart, but does not average noise out as a projection does. Between the two, three quarters of
    the way to the least stress, pictures of data with a known truth are the truest. Where data are
    closed, their longest distances are too short for any flat space; what the picture has more, in
    the mean of squares, is added to all distances, so that loops stay round. Anchors are moved
    first, among themselves; the others follow, each by its distances from the anchors, ``rows``
    (n_anchors, n_points). The result is centred, along its principal axes.

    Where no flat picture has room for all distances, the long ones push what is near out of place.
    So they are then made to count the less the longer they are, and if ``is_truer`` says so of that
    picture and the one before, it is taken.

    Examples
    --------
    Five dimensions in two:

    >>> import numpy as np
    >>> from ptunfold import classical_mds
    >>> points = np.random.default_rng(0).normal(size=(300, 5))
    >>> exact = cdist(points, points)
    >>> def stress(places):
    ...     return np.linalg.norm(cdist(places, places) - exact) / np.linalg.norm(exact)
    >>> flat = classical_mds(exact).coordinates
    >>> print(f"{stress(flat):.2f}, {stress(relax(exact, np.arange(300), flat)):.2f}")
    0.42, 0.29
    """
    start: FloatArray = coordinates.astype(np.float64)
    before = start[anchors]
    among = _both_ways(rows[:, anchors])
    lack = max(float(np.mean(cdist(before, before) ** 2) - np.mean(among**2)), 0.0)
    places = least_stress(rows, anchors, start, lack=lack, n_jobs=n_jobs)
    relaxed = (1 - _SHARE) * start + _SHARE * places
    if is_truer is not None:
        nearer = least_stress(rows, anchors, relaxed, is_near=True, n_jobs=n_jobs)
        relaxed = nearer if is_truer(nearer, relaxed) else relaxed
    return along_principal_axes(relaxed).astype(coordinates.dtype)


def least_stress(
    rows: FloatArray,
    anchors: IntArray,
    start: FloatArray,
    *,
    lack: float = 0.0,
    is_near: bool = False,
    n_jobs: int | None = None,
) -> FloatArray:
    """Move points (n, c) from ``start`` to where the stress is least, anchors first.

    ``lack`` is added to the squares of all distances that are not 0. With ``is_near`` they count
    as 1 / max(d, reach), else all alike. ``rows`` and ``anchors`` are those of `relax`.
    """
    before = start[anchors]
    among = _both_ways(rows[:, anchors])
    among = np.where(among > 0, np.sqrt(among**2 + lack), 0)  # copies stay in one place
    reach, weights, solve = np.inf, None, None
    if is_near and among.any():
        reach = float(np.quantile(among[among > 0], _NEAREST))
        weights = reach / np.maximum(among, reach)
        solve = weighted_pull(weights, len(among))
    after = majorize(among, off_zero(before), weights, solve, settled=_SETTLED)
    after += before.mean(axis=0) - after.mean(axis=0)
    moved, sides = np.empty_like(start), np.ascontiguousarray(after.T)

    def follow(block: slice) -> None:
        wanted = np.ascontiguousarray(rows[:, block].T, dtype=np.float64)
        nearest = wanted.argmin(axis=1)
        wanted *= wanted  # in place: threads have one such block each
        wanted += np.where(wanted > 0, lack, 0)
        np.sqrt(wanted, out=wanted)
        places = start[block] + (after - before)[nearest]
        pull_into_place(wanted, reach, sides, places)
        moved[block] = places

    run_blocks(follow, cut(len(start), _COLUMNS), Run(n_jobs))
    return moved


def _both_ways(one_way: FloatArray) -> FloatArray:
    """Take the mean of the two directions of distances (n, n), in 64 bits."""
    among = one_way.astype(np.float64)
    mean: FloatArray = 0.5 * (among + among.T)
    return mean
