"""Creases: where a surface is bent too sharply for one plane, take that of one side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptunfold.geometry.copies import distinct_places
from ptunfold.geometry.neighborhoods import find_members
from ptunfold.threads import cut, run_blocks
from ptunfold.types import BoolArray, FloatArray, Frames, Graph

# Off its surface by this much of its width, a neighbourhood is no piece of a smooth surface; one
# nearby has to fit this many times better.
_MISFIT = 0.05
_TIMES_BETTER = 3.0
_CHUNK_VALUES = 1 << 20


def take_one_side(
    points: FloatArray,
    graph: Graph,
    frames: Frames,
    n_neighbors: int,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Frames:
    """Give points next to a crease the tangent plane of the side that they lie on.

    A neighbourhood that reaches over a crease has a plane halfway between those of the two sides,
    and a surface that fits neither. Among its points some are farther from the crease, with a
    surface that fits well; if the point lies on the tangent plane of one of them, it is on that
    side.

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    graph : Graph
        The proximity graph.
    frames : Frames
        The tangent frames of all points.
    n_neighbors : int
        The number of nearest points on the graph to look at.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    progress : bool
        Show a progress bar.

    Returns
    -------
    frames : Frames
        As they were, or with other bases at the points that ``is_one_sided`` marks.
    """
    n_members = min(n_neighbors, graph.n_points - 1) + 1
    widths = frames.singular_values[:, -1] / np.sqrt(n_members)
    lifts = np.zeros(len(points)) if frames.lift is None else np.linalg.norm(frames.lift, axis=1)
    own = np.hypot(frames.residual, lifts)
    nodes = np.flatnonzero((own > _MISFIT * widths) & (np.diff(graph.indptr) > 0))
    places = distinct_places(points)
    chosen = nodes.copy()

    def handle(block: slice) -> None:
        here = nodes[block]
        members, _ = find_members(graph, places, here, n_members - 1)
        offsets = points[here, None].astype(np.float64) - points[members]
        shadows = np.einsum("imfd,imf->imd", frames.vectors[members], offsets)
        off = np.square(offsets).sum(axis=2) - np.square(shadows).sum(axis=2)
        misfits = np.sqrt(np.maximum(off, 0) + np.square(frames.residual[members]))
        best = misfits.argmin(axis=1)
        rows = np.arange(len(here))
        is_better = _TIMES_BETTER * misfits[rows, best] < own[here]
        chosen[block] = np.where(is_better, members[rows, best], here)

    run_blocks(
        handle,
        cut(len(nodes), max(_CHUNK_VALUES // (n_members * frames.vectors[0].size), 1)),
        n_jobs=n_jobs,
        description="creases",
        unit="points",
        progress=progress,
    )
    is_one_sided: BoolArray = np.zeros(len(points), dtype=bool)
    is_one_sided[nodes] = chosen != nodes
    if not is_one_sided.any():
        return frames
    vectors = frames.vectors.copy()
    vectors[nodes] = frames.vectors[chosen]
    return replace(frames, vectors=vectors, is_one_sided=is_one_sided)
