"""The way out of noise: points moved to the surface that their neighbours make."""

from __future__ import annotations

import numpy as np

from ptunfold.geometry.copies import distinct_places
from ptunfold.geometry.frames import estimate_frames
from ptunfold.types import FloatArray, Graph


def move_to_surface(
    points: FloatArray,
    graph: Graph,
    n_neighbors: int,
    dim: int,
    *,
    tangent: str = "robust",
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
    n_neighbors : int
        The number of neighbours that a surface is fitted to.
    dim : int
        The dimension of the tangent spaces.
    tangent : {"robust", "quadratic"}
        With outliers left out of account, or by least squares. Outliers are moved like all others.
    n_jobs : int, optional
        Number of threads, as in :class:`ptunfold.PTU`.
    progress : bool
        Show a progress bar.

    Returns
    -------
    points : (n_points, n_features)
        In the dtype of ``points``; copies of a point stay together.
    """
    frames = estimate_frames(
        points,
        graph,
        n_neighbors,
        dim,
        tangent=tangent,
        must_span=False,
        n_jobs=n_jobs,
        progress=progress,
    )
    assert frames.lift is not None
    moved = points + frames.lift.astype(points.dtype)
    return np.ascontiguousarray(moved[distinct_places(points)])
