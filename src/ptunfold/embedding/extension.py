"""New points into the embedding, and points of the embedding back into space."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from scipy.spatial import cKDTree

from ptunfold.geometry.neighbors import exact_search
from ptunfold.geometry.span import into_span, out_of_span
from ptunfold.kernels.extension import blend, local_moments
from ptunfold.threads import cut, run_blocks
from ptunfold.types import FloatArray, Geometry, IntArray, Placement

_QUERIES_TOGETHER = 4096
_MOST_STRETCH = 1.25
_FAR = 2.0  # times the way from the nearest point to its farthest neighbour


class Extension:
    """Carry points between space and embedding by the frames of the fitted points.

    At each fitted point the frame gives tangent coordinates, and a linear map, fitted to the steps
    to its neighbours, takes these to the embedding. A new point is placed by the fitted point that
    is nearest to it and by the neighbours of that one on the graph, each as it sees it.

    Parameters
    ----------
    geometry : Geometry
        The fitted points with their graph, frames and connection.
    coordinates : (n_points, n_components)
        Their embedding, in the order of ``geometry``.
    given : (n_points, n_features)
        The points as they were given, where ``geometry`` has them in coordinates of their span.
    n_jobs : int, optional
        Number of threads of the search for neighbours, as in scikit-learn.
    """

    def __init__(
        self,
        geometry: Geometry,
        coordinates: FloatArray,
        given: FloatArray,
        n_jobs: int | None = None,
    ) -> None:
        self.geometry = geometry
        self.points, self.given = geometry.points, given
        self.is_spanned = self.points.shape[1] < given.shape[1]
        self.coordinates = coordinates.astype(np.float64)
        self.is_embedded = geometry.labels >= 0
        self.search, _ = exact_search(self.points, len(self.points), 1, effective_n_jobs(n_jobs))
        self.maps, self.inverses = _local_maps(geometry, self.coordinates)
        self.embedded = np.flatnonzero(self.is_embedded)
        self.tree = cKDTree(self.coordinates[self.embedded])

    def place(self, new: FloatArray, n_jobs: int | None = None) -> Placement:
        """Place new points (n_new, n_features) in the embedding."""
        off_span: FloatArray = np.zeros(len(new))
        queries: FloatArray = new.astype(np.float64)
        if self.is_spanned:
            queries, off_span = into_span(self.given, self.points, queries)
        nearest = self.search(queries.astype(self.points.dtype), 1)[:, 0]
        frames = self.geometry.frames.vectors
        placed = self._blend(
            nearest, queries, self.points, frames, self.maps, self.coordinates, n_jobs
        )
        residual = np.hypot(placed.residual, off_span)
        is_outside = placed.is_outside | ~self.is_embedded[nearest]
        return Placement(placed.coordinates.astype(self.points.dtype), residual, is_outside)

    def place_back(self, places: FloatArray, n_jobs: int | None = None) -> Placement:
        """Bring points of the embedding (n_places, n_components) back into space."""
        queries = places.astype(np.float64)
        gaps, nearest = self.tree.query(queries, workers=effective_n_jobs(n_jobs))
        frames = self.geometry.frames.vectors
        placed = self._blend(
            self.embedded[nearest],
            queries,
            self.coordinates,
            self.inverses,
            frames,
            self.geometry.surface,
            n_jobs,
        )
        points = placed.coordinates
        if self.is_spanned:
            points = out_of_span(self.given, self.points, points)
        return Placement(points.astype(self.points.dtype), gaps, placed.is_outside)

    def _blend(
        self,
        nearest: IntArray,
        queries: FloatArray,
        anchors: FloatArray,
        inner: FloatArray,
        outer: FloatArray,
        others: FloatArray,
        n_jobs: int | None,
    ) -> Placement:
        graph = self.geometry.graph
        results = np.empty((len(queries), others.shape[1]))
        gaps, reaches, off = (np.empty(len(queries)) for _ in range(3))

        def handle(block: slice) -> None:
            blend(
                graph.indptr,
                graph.indices,
                nearest[block],
                queries[block],
                anchors,
                inner,
                outer,
                others,
                results[block],
                gaps[block],
                reaches[block],
                off[block],
            )

        run_blocks(handle, cut(len(queries), _QUERIES_TOGETHER), n_jobs=n_jobs)
        return Placement(results, off, gaps > _FAR * reaches)


def _local_maps(geometry: Geometry, coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit the linear map from tangent coordinates to the embedding at each point, (n, c, d).

    The embedding keeps lengths but for what curvature makes unavoidable. A fit that stretches or
    shortens a direction more than that follows noise, and is held back. Also returns the inverse
    maps, in the sense of least squares, transposed: (n, c, d).
    """
    connection, graph = geometry.connection, geometry.graph
    coordinates = np.nan_to_num(coordinates)  # of points that are left out
    n_points, n_components = coordinates.shape
    dim = connection.intrinsic_dim
    moments = np.empty((n_points, dim, dim))
    products = np.empty((n_points, dim, n_components))
    local_moments(graph.indptr, graph.indices, connection.steps, coordinates, moments, products)
    traces = np.trace(moments, axis1=1, axis2=2)
    # A little bent towards 0 where the neighbours leave directions open.
    bend = np.where(traces > 0, 1e-9 * traces, 1)
    fitted = np.linalg.solve(moments + bend[:, None, None] * np.eye(dim), products)
    left, values, right = np.linalg.svd(fitted.transpose(0, 2, 1), full_matrices=False)
    # A coordinate that is 0 everywhere has no direction.
    is_used = values > 1e-6
    values = np.where(is_used, np.clip(values, 1 / _MOST_STRETCH, _MOST_STRETCH), 0)
    inverse = np.where(is_used, 1 / np.where(is_used, values, 1), 0)
    return (left * values[:, None, :]) @ right, (left * inverse[:, None, :]) @ right
