"""The way out of noise: points moved to the surface that their neighbours make."""

from __future__ import annotations

import numpy as np

from ptunfold.geometry.copies import distinct_places
from ptunfold.geometry.frames import fit_frames
from ptunfold.threads import Run
from ptunfold.types import FloatArray, Graph


def move_to_surface(
    points: FloatArray,
    graph: Graph,
    n_neighbors: int,
    dim: int,
    *,
    tangent: str = "robust",
    run: Run = Run(),
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
    run : Run
        Threads and progress bars.

    Returns
    -------
    points : (n_points, n_features)
        In the dtype of ``points``; copies of a point stay together.
    """
    nodes = np.arange(len(points))
    frames = fit_frames(nodes, points, graph, n_neighbors, dim, tangent, run, must_span=False)
    assert frames.lift is not None
    moved = points + frames.lift.astype(points.dtype)
    return np.ascontiguousarray(moved[distinct_places(points)])
