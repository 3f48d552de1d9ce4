"""New points into the embedding, and points of the embedding back into space."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptunfold.embedding.regression import LocalRegression
from ptunfold.forks import cached_property
from ptunfold.geometry.neighbors import (
    Search,
    distinct_places,
    edge_lengths,
    exact_search,
    query_tree,
)
from ptunfold.geometry.span import Span
from ptunfold.kernels.blending import Ways, blend, local_moments
from ptunfold.threads import Run, cut, effective_n_jobs, run_blocks
from ptunfold.types import BoolArray, Extrapolation, FloatArray, Geometry, IntArray, kernel_ready

_QUERIES_TOGETHER = 4096
_POINTS_TOGETHER = 1 << 16
_MOST_STRETCH = 1.25
_NEAREST = 10
_USUAL = 1.1  # times the farthest that fitted points are from the span of their coordinates
FAR = 3.0  # times the mean way from the nearest point to its neighbours
# Times the median: a longer edge is a bridge, and says nothing about what is between its ends.
_LONGEST_EDGE = 5.0
# The way back where data do not keep to a sheet: by planes through points around in the embedding,
# if there are so many, and if they do better than the frames.
_LEAST_AROUND = 21
_LEAST_GAIN = 0.9  # times the squared error by the frames
# Times the way to the next fitted point: so near a fitted point has a say of its own.
_OWN_SAY = 0.1


class Extension:
    """Carry points between space and embedding by the frames of the fitted points.

    At each fitted point the frame gives tangent coordinates, and a linear map, fitted to the steps
    to its neighbours, takes these to the embedding. A new point is placed by the fitted point that
    is nearest to it and by the neighbours of that one on the graph, each as it sees it.

    Back into space it goes the same way, unless the data do not keep to a sheet, because of noise
    or of more dimensions than are shown: frames would carry the chance of a single point on then,
    and a plane fitted to the data of more points around the place does better. Which it is, is
    found out once, by leaving points out.

    ``coordinates`` are in the order of ``geometry``; ``given`` are the points as they were given,
    where ``geometry`` has them in fewer coordinates.
    """

    def __init__(
        self,
        geometry: Geometry,
        coordinates: FloatArray,
        given: FloatArray | None = None,
        n_jobs: int | None = None,
    ) -> None:
        # A model may have come from a file that is mapped into memory, read-only.
        points, surface = (
            kernel_ready(array, array.dtype) for array in (geometry.points, geometry.surface)
        )
        geometry = replace(geometry, points=points, surface=surface)
        self.points, self.surface = points, surface
        self.span = None if given is None else Span(given, points)
        self.coordinates = coordinates.astype(np.float64)
        self.n_jobs = n_jobs
        # Points without an edge have no frame; next to them nothing moves.
        self.frames = np.nan_to_num(geometry.frames.vectors)
        self.is_embedded = geometry.labels >= 0
        # Copies of a point speak with one voice, that of the first of them that is embedded.
        self.places = first_embedded(distinct_places(self.points), self.is_embedded)
        # Neighbours across a seam are elsewhere in the embedding.
        chart = geometry.chart
        geometry = replace(geometry, graph=chart.graph, connection=chart, torn=None)
        kept = proper_edges(geometry, self.places, n_jobs)
        degrees = np.bincount(geometry.graph.tails[kept], minlength=len(self.points))
        self.indptr = np.concatenate(([0], np.cumsum(degrees)))
        self.indices = geometry.graph.indices[kept]
        edges = self.indptr, self.indices
        maps, inverses = fit_maps(*edges, geometry.connection.steps[kept], self.coordinates)
        self.ways = Ways(*edges, points, self.frames, maps, self.coordinates)
        self.ways_back = Ways(*edges, self.coordinates, inverses, self.frames, surface)
        self.search = exact_search(
            self.points, len(self.points), 1, effective_n_jobs(n_jobs), are_new=True
        )
        # On a clean sheet a mean over places where it lies on itself would lead off it.
        self.is_sheet = (
            geometry.texture in ("flat", "smooth")
            and geometry.frames.intrinsic_dim <= coordinates.shape[1]
        )
        self.embedded = np.flatnonzero(
            self.is_embedded & (self.places == np.arange(len(self.points)))
        )
        self.around = LocalRegression(
            self.coordinates[self.embedded],
            self.points[self.embedded],
            geometry.labels[self.embedded],
        )
        self.reach_in_space = self._reaches(self.points)
        self.reach_in_embedding = self._reaches(np.nan_to_num(self.coordinates))
        # Noise that was left out when coordinates were taken is nothing to wonder about.
        self.usual_off_span = 0.0
        if given is not None and self.span is not None and points.shape[1] < min(given.shape):
            self.usual_off_span = float(self.span.into(given, n_jobs)[1].max())

    def into_embedding(
        self, new: FloatArray, n_jobs: int | None = None
    ) -> tuple[FloatArray, Extrapolation]:
        """Place new points (n_new, n_features) in the embedding."""
        off_span: FloatArray = np.zeros(len(new))
        queries: FloatArray = new.astype(np.float64)
        if self.span is not None:
            queries, off_span = self.span.into(queries, n_jobs)
        nearest = self._nearest(queries)
        coordinates, gaps = self._blend(nearest, queries, self.ways, n_jobs)
        way = np.hypot(gaps, np.maximum(off_span - _USUAL * self.usual_off_span, 0))
        is_far = way > FAR * self.reach_in_space[nearest]
        is_fitted = way <= self._rounding
        is_outside = (is_far & ~is_fitted) | ~self.is_embedded[nearest]
        return coordinates.astype(self.points.dtype), Extrapolation(way, is_outside)

    def into_space(
        self, places: FloatArray, n_jobs: int | None = None
    ) -> tuple[FloatArray, Extrapolation]:
        """Bring points of the embedding (n_places, n_components) back into space."""
        queries = places.astype(np.float64)
        ways, found = query_tree(self.around.tree, queries, 1, n_jobs)
        gaps, nearest = ways[:, 0], self.embedded[found[:, 0]]
        if self.n_around:
            smooth = self.around.predict(queries, self.n_around, n_jobs=n_jobs)
            ways, _ = query_tree(self.around.tree, self.coordinates[nearest], 2, n_jobs)
            reach = np.maximum(_OWN_SAY * ways[:, 1], np.finfo(np.float64).tiny)
            own = 1 - (np.minimum(gaps, reach) / reach)[:, None]
            points = own * self.surface[nearest] + (1 - own) * smooth
        else:
            points, gaps = self._blend(nearest, queries, self.ways_back, n_jobs)
        if self.span is not None:
            points = self.span.out(points, n_jobs)
        is_far = (gaps > FAR * self.reach_in_embedding[nearest]) & (gaps > 0)
        return points.astype(self.points.dtype), Extrapolation(gaps, is_far)

    @cached_property
    def n_around(self) -> int:
        """How many points a plane of the way back is fitted to; 0 where frames do better."""
        if self.is_sheet or len(self.embedded) < _LEAST_AROUND:
            return 0
        exact = self.points[self.embedded[self.around.sample]].astype(np.float64)
        size, error = self.around.best_size(exact, self.n_jobs)
        by_frames = np.square(self._without_itself(self.around.sample) - exact).sum()
        return size if error < _LEAST_GAIN * by_frames else 0

    def _without_itself(self, sample: IntArray) -> FloatArray:
        """Bring embedded points back by the frames of others alone, (n_sample, n_features)."""
        nodes = self.embedded[sample]
        _, found = self.around.tree.query(self.coordinates[nodes], 2)
        others = self.embedded[np.where(found[:, 0] == sample, found[:, 1], found[:, 0])]
        results = np.empty((len(sample), self.surface.shape[1]))
        unused = np.empty(1)
        for row, (node, nearest) in enumerate(zip(nodes, others, strict=True)):
            near = self.indices[self.indptr[nearest] : self.indptr[nearest + 1]]
            used = np.concatenate(([nearest], near[near != node]))
            star = np.array([0, len(used) - 1]), np.arange(1, len(used), dtype=near.dtype)
            ways = Ways(*star, *(way[used] for way in self.ways_back[2:]))
            query = self.coordinates[[node]]
            blend(ways, np.zeros(1, dtype=np.int64), query, results[row : row + 1], unused)
        return results

    def _nearest(self, queries: FloatArray) -> IntArray:
        """Find the fitted point next to each, (n_queries,).

        Of points that only rounding tells apart, one that is embedded is taken.
        """
        nearest: IntArray = self.places[self.search(queries.astype(self.points.dtype), 1)[:, 0]]
        lost = np.flatnonzero(~self.is_embedded[nearest])
        if len(lost) and self._rounding > 0:
            others = self.embedded[self._search_embedded(queries[lost], 1)[:, 0]]
            gaps = np.linalg.norm(self.points[others] - queries[lost], axis=1)
            nearest[lost] = np.where(gaps <= self._rounding, others, nearest[lost])
        return nearest

    @cached_property
    def _search_embedded(self) -> Search:
        points = self.points[self.embedded].astype(np.float64)
        return exact_search(points, len(points), 1, effective_n_jobs(self.n_jobs), are_new=True)

    @property
    def _rounding(self) -> float:
        """How far rounding alone can take a fitted point from its place in the span."""
        if self.span is None:
            return 0.0
        return float(1e2 * np.finfo(self.points.dtype).eps * np.abs(self.points).max())

    def _reaches(self, anchors: FloatArray) -> FloatArray:
        """Measure the mean way from each point to its neighbours, (n_points,)."""
        degrees = np.diff(self.indptr)
        tails = np.repeat(np.arange(len(anchors)), degrees)
        lengths = edge_lengths(anchors, tails, self.indices, n_jobs=self.n_jobs)
        return np.bincount(tails, lengths, len(anchors)) / np.maximum(degrees, 1)

    def _blend(
        self, nearest: IntArray, queries: FloatArray, ways: Ways, n_jobs: int | None
    ) -> tuple[FloatArray, FloatArray]:
        """Carry places by fitted points."""
        results = np.empty((len(queries), ways.others.shape[1]))
        gaps = np.empty(len(queries))

        def handle(block: slice) -> None:
            blend(ways, nearest[block], queries[block], results[block], gaps[block])

        run_blocks(handle, cut(len(queries), _QUERIES_TOGETHER), Run(n_jobs))
        return results, gaps


def fit_maps(
    indptr: IntArray, indices: IntArray, steps: FloatArray, coordinates: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Fit the linear map from tangent coordinates to the embedding at each point, (n, c, d).

    The embedding keeps lengths but for what curvature makes unavoidable. A fit that stretches
    or shortens a direction more than that follows noise, and is held back. Also returns the
    inverse maps, in the sense of least squares, transposed: (n, c, d).
    """
    coordinates = np.nan_to_num(coordinates)  # of points that are left out
    n_points, n_components = coordinates.shape
    dim = steps.shape[1]
    moments = np.empty((n_points, dim, dim))
    products = np.empty((n_points, dim, n_components))
    local_moments(indptr, indices, steps, coordinates, moments, products)
    maps, inverses = (np.empty((n_points, n_components, dim)) for _ in range(2))
    for block in cut(n_points, _POINTS_TOGETHER):
        maps[block], inverses[block] = _fit_map(moments[block], products[block])
    return maps, inverses


def _fit_map(moments: FloatArray, products: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit maps and inverse maps to sums of products over the neighbours."""
    traces = np.trace(moments, axis1=1, axis2=2)
    # A little bent towards 0 where the neighbours leave directions open.
    bend = np.where(traces > 0, 1e-9 * traces, 1)
    eye = np.eye(moments.shape[1])
    fitted = np.linalg.solve(moments + bend[:, None, None] * eye, products)
    left, values, right = np.linalg.svd(fitted.transpose(0, 2, 1), full_matrices=False)
    # A coordinate that is 0 everywhere has no direction.
    is_used = values > 1e-6
    values = np.where(is_used, np.clip(values, 1 / _MOST_STRETCH, _MOST_STRETCH), 0)
    inverse = np.where(is_used, 1 / np.where(is_used, values, 1), 0)
    return (left * values[:, None, :]) @ right, (left * inverse[:, None, :]) @ right


def proper_edges(geometry: Geometry, places: IntArray, n_jobs: int | None) -> IntArray:
    """List the edges between different places that are no bridges."""
    graph = geometry.graph
    is_first = places == np.arange(len(places))
    lengths = graph.lengths
    if geometry.seen is None:
        lengths = edge_lengths(geometry.surface, graph.tails, graph.indices, n_jobs=n_jobs)
    between = is_first[graph.tails] & is_first[graph.indices] & (lengths > 0)
    edges = np.flatnonzero(between)
    # The median of each point's edges: sorted by (point, length), the middle one.
    # Some points at a time, which Ctrl-C has to wait for.
    firsts = range(0, graph.n_points + _POINTS_TOGETHER, _POINTS_TOGETHER)
    parts = np.split(edges, np.searchsorted(graph.tails[edges], firsts))
    order = np.concatenate([part[np.lexsort((lengths[part], graph.tails[part]))] for part in parts])
    degrees = np.bincount(graph.tails[order], minlength=graph.n_points)
    starts = np.cumsum(degrees) - degrees
    middle = np.minimum(starts + degrees // 2, max(len(order) - 1, 0))
    medians = lengths[order[middle]] if len(order) else np.zeros(graph.n_points)
    # Near ones say best where a point belongs.
    rank = np.arange(len(order)) - starts[graph.tails[order]]
    near = np.sort(order[rank < max(_NEAREST, 3 * geometry.frames.intrinsic_dim)])
    return near[lengths[near] <= _LONGEST_EDGE * medians[graph.tails[near]]]


def first_embedded(places: IntArray, is_embedded: BoolArray) -> IntArray:
    """Return the first embedded copy of each point, or the first one if none is.

    Examples
    --------
    >>> first_embedded(np.array([0, 1, 0, 1, 0]), np.array([False, True, True, True, True]))
    array([2, 1, 2, 1, 2])
    """
    speakers = np.arange(len(places))
    embedded = np.flatnonzero(is_embedded)
    there, first = np.unique(places[embedded], return_index=True)
    speakers[there] = embedded[first]
    return speakers[places]
