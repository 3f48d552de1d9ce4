"""The curvature that paths are unfolded with, where it can be told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptunfold.kernels.medians import neighbor_medians
from ptunfold.threads import POINTS_TOGETHER, Run, cut, run_blocks
from ptunfold.types import Connection, FloatArray, Frames, Graph, kernel_ready

# Of the curvature to how far that of single points is from it, the median over points: 0.2 to 0.3
# on rolls and sheets that have none, 2 to 10 on hills, 100 and more on spheres.
_CLEAR = 1.5
# Of coherence, the mean over edges. Sheets have 0.93 and more. On the surfaces of things, 0.7 to
# 0.9, paths are not near the geodesics, and cannot be brought there by the curvature around.
_COHERENT = 0.92


def with_curvature(
    connection: Connection, frames: Frames, run: Run = Run(), *, is_noisy: bool = False
) -> Connection:
    """Let paths be unfolded with the curvature of the sheet, if it has one that can be told.

    That around a point is the median of those that surfaces have which are fitted to its
    neighbours. What is coherent but for its curvature is carried on whole. A surface that noise was
    taken from waves a little, and neighbours agree about that: there the curvature has to be about
    the same everywhere, as that of a sphere is, and its median is taken for all points.
    """
    kept = connection.coherence
    if frames.curvature is None or (kept is not None and kept.mean() < _COHERENT):
        return connection
    around = medians_around(connection.graph, frames.curvature, run)
    scatter = float(np.median(np.abs(frames.curvature - around)))
    if float(np.median(np.abs(around))) <= _CLEAR * scatter:
        return connection
    if is_noisy:
        middle = np.median(around)
        if abs(middle) < 1.4826 * np.median(np.abs(around - middle)):
            return connection
        around = np.full_like(around, middle)
    return replace(connection, curvature=around, coherence=None)


def medians_around(graph: Graph, values: FloatArray, run: Run = Run(1)) -> FloatArray:
    """Take the median of the values (n_points,) of the neighbours of each point, or its own."""
    values = kernel_ready(values, np.float64)
    found = values.copy()  # which those keep that have no neighbour

    def look(block: slice) -> None:
        starts = graph.indptr[block.start : block.stop + 1]
        neighbor_medians(starts, graph.indices, values, found[block])

    run_blocks(look, cut(graph.n_points, POINTS_TOGETHER), run)
    return found
