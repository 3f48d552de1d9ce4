"""New points into the embedding by their distances to the fitted ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree

from ptunfold.embedding.extension import FAR, first_embedded, fit_maps, proper_edges
from ptunfold.embedding.regression import LocalRegression
from ptunfold.forks import cached_property
from ptunfold.geometry.measured import Called, Measure
from ptunfold.geometry.neighbors import distinct_places, query_tree
from ptunfold.types import Extrapolation, FloatArray, Geometry, IntArray
from ptunfold.validation.matrices import check_value

_CANDIDATES = 20  # that a callable is asked about, to find the nearest


class SeenExtension:
    """Place points by how the tangent spaces of fitted points see them.

    The same as `Extension`, where points are known by their distances: to the members of a
    neighbourhood, which tell where its tangent space sees a point. Back into space leads a plane
    that is fitted to the coordinates of the points around.

    ``coordinates`` are in the order of ``geometry``, ``metric`` is what the points were fitted by.
    """

    def __init__(
        self,
        geometry: Geometry,
        coordinates: FloatArray,
        metric: Any,
        n_jobs: int | None = None,
    ) -> None:
        assert geometry.seen is not None
        self.seen, self.points, self.metric = geometry.seen, geometry.points, metric
        self.coordinates = coordinates.astype(np.float64)
        self.n_jobs = n_jobs
        self.is_embedded = geometry.labels >= 0
        self.places = first_embedded(distinct_places(self.points), self.is_embedded)
        self.graph = geometry.graph
        chart = geometry.chart  # neighbours across a seam are elsewhere in the embedding
        graph = geometry.graph if chart is geometry.connection else chart.graph
        cut_open = replace(geometry, graph=graph, connection=chart, torn=None)
        kept = proper_edges(cut_open, self.places, n_jobs)
        degrees = np.bincount(graph.tails[kept], minlength=len(self.points))
        self.indptr = np.concatenate(([0], np.cumsum(degrees)))
        self.indices = graph.indices[kept]
        steps = np.ascontiguousarray(chart.steps[kept])
        self.maps, _ = fit_maps(self.indptr, self.indices, steps, self.coordinates)
        sums = np.bincount(graph.tails[kept], graph.lengths[kept], len(self.points))
        self.reach = sums / np.maximum(degrees, 1)
        self.embedded = np.flatnonzero(
            self.is_embedded & (self.places == np.arange(len(self.points)))
        )
        self.around = LocalRegression(
            self.coordinates[self.embedded],
            self.points[self.embedded],
            geometry.labels[self.embedded],
        )

    def into_embedding(
        self, new: Any, n_jobs: int | None = None
    ) -> tuple[FloatArray, Extrapolation]:
        """Place new points (n_new, n_features), or by distances (n_new, n_points)."""
        look = self._looker(new)
        found = np.empty((new.shape[0], self.coordinates.shape[1]))
        gaps, nearest = np.empty(len(found)), np.empty(len(found), dtype=np.int64)
        for query in range(len(found)):  # each by itself
            nearest[query], lengths_to = look(query)
            found[query], gaps[query] = self._place(int(nearest[query]), lengths_to)
        is_far = (gaps > FAR * self.reach[nearest]) & (gaps > 0)
        is_outside = is_far | ~self.is_embedded[nearest]
        return found.astype(self.points.dtype), Extrapolation(gaps, is_outside)

    def into_space(
        self, places: FloatArray, n_jobs: int | None = None
    ) -> tuple[FloatArray, Extrapolation]:
        """Bring points of the embedding back to the coordinates that points were given by."""
        queries = places.astype(np.float64)
        ways, found = query_tree(self.around.tree, queries, 1, n_jobs)
        gaps, nearest = ways[:, 0], self.embedded[found[:, 0]]
        points = self.around.predict(queries, self.n_around, n_jobs=n_jobs)
        points = np.where(gaps[:, None] == 0, self.points[nearest], points)
        apart, _ = query_tree(self.around.tree, self.coordinates[nearest], 2, n_jobs)
        is_far = gaps > FAR * np.maximum(self.reach[nearest], apart[:, 1])
        return points.astype(self.points.dtype), Extrapolation(gaps, is_far & (gaps > 0))

    @cached_property
    def n_around(self) -> int:
        """How many points a plane of the way back is fitted to: what is best for some left out."""
        exact = self.points[self.embedded[self.around.sample]].astype(np.float64)
        return self.around.best_size(exact)[0]

    def _place(self, nearest: int, lengths_to: Any) -> tuple[FloatArray, float]:
        """Blend what the nearest point and its neighbours say, as `blend` does."""
        around = self.indices[self.indptr[nearest] : self.indptr[nearest + 1]]
        used = np.concatenate(([nearest], around)).astype(np.int64)
        members = self.seen.members[used]
        squares = np.square(lengths_to(members.ravel())).reshape(members.shape)
        ways = squares - self.seen.squares[used]
        tangent = -0.5 * np.einsum("um,umd->ud", ways, self.seen.shares[used])
        apart = lengths_to(used)
        if apart[0] == 0:
            return self.coordinates[nearest], 0.0
        farthest = apart.max()
        weights = np.square(1.001 * farthest - apart) / np.maximum(apart, 1e-12 * farthest)
        said = self.coordinates[used] + np.einsum("ucd,ud->uc", self.maps[used], tangent)
        return np.einsum("u,uc->c", weights, said) / weights.sum(), float(apart[0])

    def _looker(self, new: Any) -> Any:
        """Return what tells the nearest point of a query, and its distances to any."""
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return self._in_sparse(new) if sparse.issparse(new) else self._in_rows(new)
        return self._called(new) if callable(self.metric) else self._measured(new)

    def _in_rows(self, rows: FloatArray) -> Any:
        def look(query: int) -> tuple[int, Any]:
            row = rows[query]
            return int(self.places[row.argmin()]), row.__getitem__

        return look

    def _in_sparse(self, rows: sparse.csr_array) -> Any:
        """Complete what is not known by paths along the graph."""
        ways = self.graph.to_sparse()
        positive = ways.data[ways.data > 0]
        ways.data = np.maximum(ways.data, 1e-12 * positive.min(initial=1.0))
        n_points = len(self.points)

        def look(query: int) -> tuple[int, Any]:
            stored = slice(*rows.indptr[query : query + 2])
            heads, apart = rows.indices[stored].astype(np.int32), rows.data[stored]
            first = sparse.csr_array(
                (np.maximum(apart, 1e-300), (np.zeros_like(heads), heads)), shape=(1, n_points)
            )
            linked = sparse.vstack((ways, first), format="csr")
            linked.resize((n_points + 1, n_points + 1))
            row = csgraph.dijkstra(linked, indices=n_points)[:n_points]
            row[heads] = apart
            return int(self.places[heads[apart.argmin()]]), row.__getitem__

        return look

    @cached_property
    def _measure(self) -> tuple[Measure, FloatArray, Any]:
        measure = Measure(self.metric, self.points)
        values = measure.values(self.points)
        return measure, values, measure.search(values)

    def _measured(self, new: FloatArray) -> Any:
        measure, values, search = self._measure
        queries = measure.values(new)
        nearest = self.places[search(queries, 1)[:, 0]] if len(queries) else ()

        def look(query: int) -> tuple[int, Any]:
            one = queries[[query]]
            return int(nearest[query]), lambda nodes: measure(one, values[nodes])[0]

        return look

    @cached_property
    def _pivots(self) -> tuple[IntArray, FloatArray, cKDTree]:
        chosen, table = Called(self.points, self.metric).pivots
        return chosen, table, cKDTree(table)

    def _called(self, new: FloatArray) -> Any:
        """Ask the callable about each fitted point at most once for each new one."""
        chosen, table, tree = self._pivots

        def look(query: int) -> tuple[int, Any]:
            known: dict[int, float] = {}

            def lengths_to(nodes: IntArray) -> FloatArray:
                for node in nodes.tolist():
                    if node not in known:
                        known[node] = float(self.metric(new[query], self.points[node]))
                return check_value(np.array([known[node] for node in nodes.tolist()]))

            from_pivots = lengths_to(chosen)
            _, near = tree.query(from_pivots, min(_CANDIDATES, len(table)), p=np.inf)
            near = np.unique(np.concatenate((np.atleast_1d(near), chosen)))
            return int(self.places[near[lengths_to(near).argmin()]]), lengths_to

        return look
