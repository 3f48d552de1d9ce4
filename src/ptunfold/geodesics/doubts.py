"""Error bars: how sure each distance is, from how well frames, curvature and places are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ptunfold.geodesics.rows import MeanRows
from ptunfold.geometry.curvature import medians_around
from ptunfold.geometry.frames import edges_in_frames
from ptunfold.geometry.texture import noise_left
from ptunfold.kernels.spreading import Doubts, new_moments, spread
from ptunfold.threads import Run, check_not_stopped, cut, run_blocks
from ptunfold.types import FloatArray, Geometry, IntArray, kernel_ready
from ptunfold.validation.records import check_connection

# Chosen so that bars of one standard deviation hold two thirds of the errors, in the mean over
# sheets, spheres, hills and surfaces of three sizes with and without noise (benchmarks/bars.py).
# What neighbourhoods miss of the surface fitted to them, and the noise that was taken out, as parts
# of how wide they are: the squares of the angles by which frames are off.
_BY_RESIDUAL, _BY_NOISE = 1.9, 6.9
_BY_SCATTER = 2.8  # of the curvature of single neighbourhoods around the one that is used
_EDGES_TOGETHER = 1 << 18


def doubts_of(geometry: Geometry, n_jobs: int | None = None) -> Doubts:
    """Tell what is uncertain about a geometry, for the rows of distances."""
    frames, connection = geometry.frames, check_connection(geometry.connection)
    graph, surface = connection.graph, kernel_ready(geometry.surface, geometry.surface.dtype)
    frames = replace(frames, vectors=kernel_ready(frames.vectors, np.float64))
    noise = _noise(geometry, n_jobs)
    widths = frames.singular_values[:, -1]
    errors = _BY_RESIDUAL * np.square(frames.residual) + _BY_NOISE * noise**2
    tilts = np.divide(errors, np.square(widths), out=np.zeros_like(errors), where=widths > 0)
    tilts = np.nan_to_num(np.minimum(tilts, 1))  # points without an edge have none
    turned = np.empty(graph.n_edges) if geometry.seen is None else geometry.seen.turned
    for start in range(0, graph.n_edges if geometry.seen is None else 0, _EDGES_TOGETHER):
        some = slice(start, start + _EDGES_TOGETHER)
        overlaps, *_ = edges_in_frames(surface, frames, graph.tails[some], graph.indices[some])
        turned[some] = frames.intrinsic_dim - np.square(overlaps).sum(axis=(1, 2))
    both = 0.5 * (tilts[graph.tails] + tilts[graph.indices])
    if frames.n_members >= graph.n_points:  # one plane for all, which says nothing by its turns
        turned = np.maximum(turned, both)
    bends: FloatArray = np.zeros(graph.n_points)
    if frames.curvature is not None:
        used = 0 if connection.curvature is None else connection.curvature
        scatter = np.abs(np.nan_to_num(frames.curvature) - used)
        bends = _BY_SCATTER * medians_around(graph, scatter)
    along = 0.5 * (bends[graph.tails] + bends[graph.indices])
    return Doubts(both * np.maximum(np.nan_to_num(turned), 0), along, noise, 1.0, 1.0, 0.0)


def _noise(geometry: Geometry, n_jobs: int | None = None) -> float:
    """Estimate the noise along each axis: what points were moved by along those off the sheet.

    What surfaces miss of them where they were not moved.
    """
    if geometry.seen is not None:
        seen = geometry.seen
        return float(np.sqrt(np.square(seen.moved).mean() / seen.n_off))
    n_off = geometry.points.shape[1] - geometry.frames.intrinsic_dim
    if n_off < 1:
        return 0.0
    if geometry.surface is geometry.points:  # of few points noise may have been left
        if geometry.texture != "smooth":
            return 0.0
        dim = geometry.frames.intrinsic_dim
        return noise_left(geometry.points, geometry.graph, dim, n_jobs)
    moved = geometry.points.astype(np.float64) - geometry.surface
    return float(np.sqrt(np.square(moved).sum(axis=1).mean() / n_off))


def rows_with(
    doubts: Doubts, geometry: Geometry, sources: IntArray, run: Run = Run()
) -> tuple[FloatArray, FloatArray]:
    """Estimate distances from some nodes to all, and their standard deviations.

    Both are (n_sources, n_nodes), infinite where no path leads, in the order of the geometry.
    """
    connection = check_connection(geometry.connection)
    rows_of = MeanRows(connection)
    arrays = rows_of.arrays
    rows, std = np.empty((2, len(sources), connection.graph.n_points))
    idle: list[Any] = []  # room for each thread, made once

    def handle(block: slice) -> None:
        try:
            room, moments = idle.pop()
        except IndexError:
            room, moments = rows_of.room(), new_moments(arrays)
        for source, row, bars in zip(sources[block], rows[block], std[block], strict=True):
            n_reached = rows_of.measure(int(source), room, row)
            check_not_stopped()
            spread(arrays, doubts, room.tree, n_reached, moments, row, bars)
        idle.append((room, moments))

    run_blocks(handle, cut(len(sources), 1), run, "distances", "sources")
    return rows, std
