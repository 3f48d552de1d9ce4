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

    The surface is robust, with outliers left out of account, or by least squares. Outliers are
    moved like all others; copies of a point stay together.
    """
    nodes = np.arange(len(points))
    frames = fit_frames(nodes, points, graph, n_neighbors, dim, tangent, run, must_span=False)
    assert frames.lift is not None
    moved = points + frames.lift.astype(points.dtype)
    return np.ascontiguousarray(moved[distinct_places(points)])
