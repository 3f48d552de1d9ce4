"""Is there noise, and the way out of it: points moved to the surface that their neighbours make."""

from __future__ import annotations

import numpy as np

from ptunfold.geometry.copies import distinct_places
from ptunfold.geometry.frames import estimate_frames
from ptunfold.types import FloatArray, Graph
from ptunfold.validation import n_coefficients

_SAMPLE = 500
_FEW, _MANY = 4, 8  # neighbours for each coefficient of a surface
# Measured: at most 0.3 on clean curved data, at least 0.9 with any noise that matters.
_NOISY_RATIO = 0.6


def is_noisy(points: FloatArray, graph: Graph, dim: int, *, n_jobs: int | None = None) -> bool:
    """Tell noise from curvature.

    Quadratic surfaces are fitted to small and to large neighbourhoods of some points. What they
    leave over grows fast with the neighbourhood where it comes from curvature, and not at all where
    it is noise.

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    graph : Graph
        The proximity graph.
    dim : int
        The dimension of the tangent spaces.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Examples
    --------
    >>> from ptunfold import build_graph
    >>> from ptunfold.datasets import swiss_roll
    >>> for noise in (0, 0.001):
    ...     points = swiss_roll(1000, noise=noise).points
    ...     print(is_noisy(points, build_graph(points), 2))
    False
    True
    """
    n_points = len(points)
    sizes = [share * n_coefficients(dim) for share in (_FEW, _MANY)]
    if sizes[1] >= n_points:
        return False
    nodes = np.random.default_rng(0).choice(n_points, min(_SAMPLE, n_points), replace=False)
    small, large = (
        np.median(
            estimate_frames(
                points,
                graph,
                size,
                dim,
                tangent="quadratic",
                nodes=nodes,
                must_span=False,
                n_jobs=n_jobs,
            ).residual
        )
        for size in sizes
    )
    rounding = 1e3 * np.finfo(points.dtype).eps * np.abs(points).max()
    return bool(large > rounding and small > _NOISY_RATIO * large)


def noise_neighbors(dim: int, n_points: int) -> int:
    """Return how many neighbours average out noise and still determine a surface."""
    return min(_MANY * n_coefficients(dim), n_points - 1)


def move_to_surface(
    points: FloatArray,
    graph: Graph,
    dim: int,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> FloatArray:
    """Move each point along the normal to the quadratic surface fitted to its neighbours.

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    graph : Graph
        The proximity graph.
    dim : int
        The dimension of the tangent spaces.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : bool
        Show a progress bar.

    Returns
    -------
    points : (n_points, n_features)
        In the dtype of ``points``; copies of a point stay together.
    """
    size = noise_neighbors(dim, len(points))
    frames = estimate_frames(
        points,
        graph,
        size,
        dim,
        tangent="quadratic",
        must_span=False,
        n_jobs=n_jobs,
        progress=progress,
    )
    assert frames.lift is not None
    moved = points + frames.lift.astype(points.dtype)
    return np.ascontiguousarray(moved[distinct_places(points)])
