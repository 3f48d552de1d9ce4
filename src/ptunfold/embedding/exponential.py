"""The way back from what a point sees to the points of the data space."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ptunfold.embedding.extension import FAR, first_embedded, proper_edges
from ptunfold.geometry.neighbors import distinct_places, query_tree
from ptunfold.kernels.blending import Ways, blend, local_moments
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import BoolArray, Extrapolation, FloatArray, Geometry, IntArray, kernel_ready

_LEAST = 1e-6
_QUERIES_TOGETHER = 4096
_POINTS_TOGETHER = 1 << 16
# Times the length of an edge: what is farther apart in the eyes of a point is seen around something
# on both sides, and says nothing about what is between.
_MOST_APART = 4.0
_MOST_STRETCH = 4.0  # of the way back: more is chance, next to where ways meet


def points_at(
    geometry: Geometry, seen: FloatArray, vectors: FloatArray, n_jobs: int | None = None
) -> tuple[FloatArray, Extrapolation]:
    """Find what is at ``vectors`` (m, d) for a point that sees the others at ``seen`` (n, d).

    All in the order and in the coordinates of the geometry. The point that is seen nearest to a
    vector and its neighbours each carry it into space by their tangent frames.
    """
    surface = kernel_ready(geometry.surface, geometry.surface.dtype)
    frames = np.nan_to_num(geometry.frames.vectors)  # points without an edge have none
    is_seen: BoolArray = np.isfinite(seen.sum(axis=1))
    places = first_embedded(distinct_places(geometry.points), is_seen)
    anchors = np.where(is_seen[:, None], seen, 0.0)
    indptr, indices, steps, apart = _edges(geometry, places, is_seen, anchors, n_jobs)
    inverses = _fit_inverses(indptr, indices, steps, anchors)
    known = np.flatnonzero(is_seen & (places == np.arange(len(places))))
    points, gaps = np.full((len(vectors), surface.shape[1]), np.nan), np.full(len(vectors), np.inf)
    if not len(known):  # from a point that was left out
        return points, Extrapolation(gaps, np.ones(len(vectors), dtype=bool))
    _, found = query_tree(cKDTree(anchors[known]), vectors, 1, n_jobs)
    nearest = known[found[:, 0]]
    ways = Ways(indptr, indices, anchors, inverses, frames, surface)

    def handle(block: slice) -> None:
        blend(ways, nearest[block], vectors[block], points[block], gaps[block])

    run_blocks(handle, cut(len(vectors), _QUERIES_TOGETHER), Run(n_jobs))
    degrees = np.diff(indptr)
    tails = np.repeat(np.arange(len(anchors)), degrees)
    reach = np.bincount(tails, apart, len(anchors)) / np.maximum(degrees, 1)
    is_outside = (gaps > FAR * reach[nearest]) & (gaps > 0)
    return points, Extrapolation(gaps, is_outside)


def _edges(
    geometry: Geometry,
    places: IntArray,
    is_seen: BoolArray,
    anchors: FloatArray,
    n_jobs: int | None,
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return the edges between points that are seen next to each other, and how far apart."""
    graph = geometry.graph
    kept = proper_edges(geometry, places, n_jobs)
    kept = kept[is_seen[graph.tails[kept]] & is_seen[graph.indices[kept]]]
    steps = geometry.connection.steps[kept]
    apart = np.linalg.norm(anchors[graph.tails[kept]] - anchors[graph.indices[kept]], axis=1)
    is_next = apart <= _MOST_APART * np.linalg.norm(steps, axis=1)
    kept, steps, apart = kept[is_next], steps[is_next], apart[is_next]
    degrees = np.bincount(graph.tails[kept], minlength=graph.n_points)
    return np.concatenate(([0], np.cumsum(degrees))), graph.indices[kept], steps, apart


def _fit_inverses(
    indptr: IntArray, indices: IntArray, steps: FloatArray, anchors: FloatArray
) -> FloatArray:
    """Fit what takes ways as they are seen to tangent coordinates at each point, (n, d, d).

    As `blend` wants it, transposed. Unlike an embedding, what a point sees may be stretched by
    curvature as much as it likes, and squeezed a good deal.
    """
    n_points, dim = anchors.shape
    moments, products = np.empty((2, n_points, dim, dim))
    local_moments(indptr, indices, kernel_ready(steps, np.float64), anchors, moments, products)
    inverses = np.empty((n_points, dim, dim))
    for block in cut(n_points, _POINTS_TOGETHER):
        # Directions that the neighbours leave open go nowhere.
        maps = np.linalg.pinv(moments[block], rcond=1e-6, hermitian=True) @ products[block]
        left, values, right = np.linalg.svd(maps)
        held = np.maximum(values, 1 / _MOST_STRETCH)
        inverse = np.where(values > _LEAST, 1 / held, 0)[:, None, :]
        inverses[block] = (right.transpose(0, 2, 1) * inverse) @ left.transpose(0, 2, 1)
    return inverses
