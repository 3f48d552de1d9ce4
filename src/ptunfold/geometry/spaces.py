"""Points that are known by distances: a matrix, a sparse one, or a metric that is evaluated."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.metrics import DistanceMetric
from sklearn.neighbors import BallTree, NearestNeighbors

from ptunfold.geometry.graph import pattern_of
from ptunfold.geometry.neighbors import distinct_places
from ptunfold.kernels.pairs import look_up
from ptunfold.threads import cut, openmp_threads
from ptunfold.types import FloatArray, Graph, IntArray, Points, Space, kernel_ready
from ptunfold.validation.distances import (
    as_euclidean,
    check_called,
    check_distance_matrix,
    check_metric,
    check_value,
)
from ptunfold.validation.points import check_points

_MOST_DIMENSIONS = 64  # of tangent spaces, where no coordinates bound them
_PIVOTS, _MOST_AXES = 16, 10
_PIVOTS_TRUST = 3  # candidates for each point that is looked for by distances to pivots
_PAIRS_TRIED = 2000
_VALUES_TOGETHER = 1 << 24
# A callable is asked for all distances where neighbourhoods of so many points ask for as many.
LEAST_NEIGHBORS = 15
# Candidates for each neighbour that a callable is asked about, a part at a time.
_PARTS_ASKED = (2, 4, 6)
# Of a sparse matrix, completed by paths: as far as so many times the usual row reaches, and so many
# at each point.
_FARTHER, _MOST_COMPLETED = 5.0, 1000
_ROWS_TOGETHER = 256


def metric_space(X: Any, metric: Any = "euclidean") -> Points:
    """Take points by their distances, for the stages of the method.

    What it returns goes wherever points do: to :func:`build_graph`, :func:`estimate_frames`,
    :func:`connect`, :func:`widen_graph` and :func:`estimate_dimension`.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features) or (n_points, n_points)
        The points or, with ``metric="precomputed"``, their distances.
    metric : str or callable
        As in :class:`ptunfold.PTU`.

    Returns
    -------
    points : Space or array
        The points; an array where the metric is that of a Euclidean space.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, connect, estimate_frames, metric_space
    >>> places = np.random.default_rng(0).uniform(0, 1, (100, 2))  # latitudes and longitudes
    >>> space = metric_space(places, "haversine")
    >>> graph = build_graph(space)
    >>> connection = connect(space, graph, estimate_frames(space, graph))
    >>> connection.steps.shape[1]
    2
    """
    return taken(X if _is_precomputed(metric) else check_points(X), metric)


def _is_precomputed(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def taken(X: Any, metric: Any) -> Points:
    """Do what `metric_space` does, for points that are checked, or a matrix that is not."""
    metric = check_metric(metric)
    if _is_precomputed(metric):
        matrix = check_distance_matrix(X)
        return Known(matrix) if sparse.issparse(matrix) else Matrix(matrix)
    if callable(metric):
        called = Called(X, metric)
        # As many as neighbourhoods need anyway.
        return called if len(X) > 2 * LEAST_NEIGHBORS**2 else called.whole()
    mapped = as_euclidean(X, metric)
    return Evaluated(X, Measure(metric, X)) if mapped is None else mapped


class _Given(Space):
    """What all kinds have in common; ``row`` has the distances from a point to all others."""

    dtype: Any = np.dtype(np.float64)

    def __init__(self, n_points: int) -> None:
        self.shape = n_points, min(n_points - 1, _MOST_DIMENSIONS)
        self.moves = np.zeros(n_points)

    @abstractmethod
    def row(self, point: int) -> FloatArray:
        """Return the distances from a point to all, (n_points,)."""

    @cached_property
    def pivots(self) -> tuple[IntArray, FloatArray]:
        """Points far from each other, (n_pivots,), and the distances to them, (n_points, p)."""
        chosen, rows = [0], [self.row(0)]
        nearest = np.where(np.isfinite(rows[0]), rows[0], np.inf)
        while len(chosen) < min(_PIVOTS, len(self)) and nearest.max() > 0:
            chosen.append(int(nearest.argmax()))
            rows.append(self.row(chosen[-1]))
            nearest = np.minimum(nearest, rows[-1])
        table = np.array(rows).T
        if not np.isfinite(table).all():  # between parts of a sparse matrix
            table[~np.isfinite(table)] = 2 * table[np.isfinite(table)].max()
        return np.array(chosen), table

    @cached_property
    def view(self) -> FloatArray:  # type: ignore[override]
        """Classical scaling of the distances to pivots, in as many axes as these show."""
        chosen, table = self.pivots
        squares = np.square(table)
        among = squares[chosen]
        centred = -0.5 * (among - among.mean(axis=0) - among.mean(axis=1)[:, None] + among.mean())
        values, vectors = np.linalg.eigh(centred)
        values, vectors = values[::-1][:_MOST_AXES], vectors[:, ::-1][:, :_MOST_AXES]
        kept = values > self._rounding * values[0]
        axes = vectors[:, kept] / np.sqrt(values[kept])
        found = -0.5 * (squares - among.mean(axis=0)) @ axes
        return np.ascontiguousarray(found.astype(self.dtype))

    @cached_property
    def bound(self) -> FloatArray:  # type: ignore[override]
        """The view, if no distance in it is too long; or distances to pivots."""
        chosen, table = self.pivots
        if self._has_true_view:
            return self.view.astype(np.float64) * (1 - 1e-1 * self._rounding)
        # By the triangle inequality; no distance between rows is more than the largest difference.
        return table / np.sqrt(len(chosen))

    @property
    def _has_true_view(self) -> bool:
        pairs = np.random.default_rng(0).integers(len(self), size=(2, _PAIRS_TRIED))
        apart = np.linalg.norm(self.view[pairs[0]] - self.view[pairs[1]], axis=1)
        longest = self.lengths(*pairs) * (1 + self._rounding) + 1e-3 * self._rounding * apart.max()
        return bool((apart <= longest).all())

    @property
    def _rounding(self) -> float:
        return 1e-5 if self.dtype == np.float32 else 1e-9

    def nearest(self, among: IntArray, queries: IntArray, count: int) -> IntArray:
        """Find them among those whose distances to pivots are the most alike."""
        table, n_near = self.pivots[1], min(_PIVOTS_TRUST * count, len(among))
        _, found = cKDTree(table[among]).query(table[queries], n_near, p=np.inf)
        found = found.reshape(len(queries), n_near)
        apart = self.squares(queries[:, None], among[found])[:, 0]
        order = np.argsort(apart, axis=1, kind="stable")[:, :count]
        return np.take_along_axis(found, order, axis=1)

    def within(self, radius: float) -> IntArray:
        """Find them among those that the distances to pivots do not rule out."""
        pairs = cKDTree(self.pivots[1]).query_pairs(radius * (1 + 1e-6), p=np.inf)
        found = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        return found[self.lengths(*found.T) <= radius * (1 + 1e-6)]


class Matrix(_Given):
    """All distances between points, (n_points, n_points), perhaps mapped into memory from a file.

    ``moves`` (n_points,) is how far each point was moved from where it was given, and ``cross``
    (n_points, n_points) the squared distances of moved points from all as they were given.
    """

    def __init__(
        self,
        matrix: FloatArray,
        moves: FloatArray | None = None,
        cross: FloatArray | None = None,
    ) -> None:
        super().__init__(len(matrix))
        self.matrix, self.nbytes = matrix, int(matrix.nbytes)
        self.dtype = matrix.dtype
        self._cross = cross
        if moves is not None:
            self.moves = moves

    def row(self, point: int) -> FloatArray:  # noqa: D102
        return np.asarray(self.matrix[point], dtype=np.float64)

    def squares(self, rows: IntArray, columns: IntArray) -> FloatArray:  # noqa: D102
        found = self.matrix[rows[:, :, None], columns[:, None, :]]
        return np.square(found, dtype=np.float64)

    def lengths(self, tails: IntArray, heads: IntArray) -> FloatArray:  # noqa: D102
        low, high = np.minimum(tails, heads), np.maximum(tails, heads)
        return np.asarray(self.matrix[low, high], dtype=np.float64)

    def candidates(self, block: slice, count: int) -> IntArray:  # noqa: D102
        found = np.empty((block.stop - block.start, count), dtype=np.int64)
        for some in self._blocks(block):
            here = slice(some.start - block.start, some.stop - block.start)
            found[here] = np.argpartition(self.matrix[some], count - 1, axis=1)[:, :count]
        return found

    def within(self, radius: float) -> IntArray:  # noqa: D102
        pairs = []
        for some in self._blocks(slice(0, len(self))):
            tails, heads = np.nonzero(self.matrix[some] <= radius)
            pairs.append(np.column_stack((tails + some.start, heads)))
        found = np.concatenate(pairs)
        return found[found[:, 0] < found[:, 1]]

    def nearest(self, among: IntArray, queries: IntArray, count: int) -> IntArray:  # noqa: D102
        found = np.empty((len(queries), count), dtype=np.int64)
        for some in cut(len(queries), max(_VALUES_TOGETHER // len(among), 1)):
            found[some] = _smallest(self.matrix[np.ix_(queries[some], among)], count)
        return found

    def among(self, nodes: IntArray) -> Matrix:  # noqa: D102
        return Matrix(self.matrix[np.ix_(nodes, nodes)])

    @cached_property
    def places(self) -> IntArray:  # type: ignore[override]
        """The first point at distance 0 of each."""
        found = [(self.matrix[some] <= 0).argmax(axis=1) for some in self._blocks()]
        return np.concatenate(found)

    def movable(self, n_neighbors: int) -> Matrix:  # noqa: D102
        return self

    @cached_property
    def extent(self) -> float:  # type: ignore[override]
        """The root mean square distance from the middle."""
        sums = [np.square(self.matrix[some], dtype=np.float64).sum() for some in self._blocks()]
        return float(np.sqrt(sum(sums) / 2) / len(self))

    def moved(self, members: IntArray, weights: FloatArray) -> Matrix:
        """Move points; the distances follow from those that there are.

        A point moved to the mean of others with the weights w is at w·r² - ½ w·D²w from one that is
        at the distances r from these, D² being the squared distances between them.
        """
        n_points, width = members.shape
        tails = np.repeat(np.arange(n_points), width)
        entries = weights.ravel(), (tails, members.ravel())
        mean = sparse.csr_array(entries, shape=self.matrix.shape) + sparse.eye_array(n_points)
        mean = sparse.csr_array(mean)[self.places]  # copies stay together
        squares = np.square(self.matrix, dtype=np.float64)
        cross = squares if self._cross is None else self._cross
        from_moved = mean @ squares
        between = (mean @ from_moved.T).T
        own = 0.5 * np.diagonal(between).copy()
        between -= own
        between -= own[:, None]
        between = 0.5 * (between + between.T)
        np.fill_diagonal(between, 0)
        distances = np.sqrt(np.maximum(between, 0, out=between), out=between)
        cross = mean @ cross - own[:, None]
        moves = np.sqrt(np.maximum(np.diagonal(cross), 0))
        return Matrix(distances.astype(self.dtype, copy=False), moves, cross)

    def _blocks(self, block: slice | None = None) -> list[slice]:
        start, stop = (0, len(self)) if block is None else (block.start, block.stop)
        parts = cut(stop - start, max(_VALUES_TOGETHER // len(self), 1))
        return [slice(start + part.start, start + part.stop) for part in parts]


class _Store(_Given):
    """Distances that are kept once they are known, each pair once."""

    def __init__(self, n_points: int) -> None:
        super().__init__(n_points)
        self._keys: IntArray = np.empty(0, dtype=np.int64)  # n times the lower + the higher point
        self._values: FloatArray = np.empty(0)
        self._lock = Lock()
        self._keep(self._keys, self._values)

    @abstractmethod
    def find(self, tails: IntArray, heads: IntArray) -> FloatArray:
        """Find distances that are not kept yet, of points with tails < heads, in their order."""

    def lengths(self, tails: IntArray, heads: IntArray) -> FloatArray:
        return self._look_up(tails[:, None], heads[:, None])[:, 0, 0]

    def squares(self, rows: IntArray, columns: IntArray) -> FloatArray:
        found = self._look_up(rows, columns)
        return np.square(found, out=found)

    def _look_up(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return distances between ``rows`` (m, a) and ``columns`` (m, b): (m, a, b)."""
        rows, columns = kernel_ready(rows, np.int64), kernel_ready(columns, np.int64)
        found = np.empty((*rows.shape, columns.shape[1]))
        with self._lock:
            look_up(*self._lists, rows, columns, found)
            where = np.nonzero(np.isnan(found))
            if len(where[0]):
                ends = rows[where[0], where[1]], columns[where[0], where[2]]
                keys = np.unique(np.minimum(*ends) * np.int64(len(self)) + np.maximum(*ends))
                self._keep(keys, self.find(*np.divmod(keys, len(self))))
                look_up(*self._lists, rows, columns, found)
        return found

    def _keep(self, keys: IntArray, values: FloatArray) -> None:
        keys, values = np.concatenate((self._keys, keys)), np.concatenate((self._values, values))
        order = np.argsort(keys, kind="stable")
        self._keys, self._values = keys[order], values[order]
        lows, heads = np.divmod(self._keys, len(self))
        indptr = np.concatenate(([0], np.cumsum(np.bincount(lows, minlength=len(self)))))
        self._lists = indptr, heads, self._values


class _Measured(_Store):
    """Points (n_points, n_features) that a metric is asked about, each pair once."""

    def __init__(self, points: FloatArray) -> None:
        super().__init__(len(points))
        self.view, self.nbytes, self.dtype = points, int(points.nbytes), points.dtype

    def movable(self, n_neighbors: int) -> Matrix | None:
        # Where neighbourhoods ask for as many.
        return self.whole() if len(self) <= 2 * n_neighbors**2 else None

    def whole(self) -> Matrix:
        """Ask for all distances."""
        tails, heads = np.triu_indices(len(self), 1)
        matrix = np.zeros((len(self), len(self)))
        matrix[tails, heads] = matrix[heads, tails] = self.lengths(tails, heads)
        found = Matrix(matrix.astype(self.dtype))
        found.__dict__.update(view=self.view, places=self.places)
        return found

    @cached_property
    def places(self) -> IntArray:  # type: ignore[override]
        """Copies of a point are told by their coordinates."""
        return distinct_places(self.view)

    @property
    def _has_true_view(self) -> bool:
        return False  # coordinates have units of their own


class Evaluated(_Measured):
    """Points under a metric that a library knows."""

    def __init__(self, points: FloatArray, measure: Measure) -> None:
        super().__init__(points)
        self.measure = measure
        self._rows = measure.values(points)

    def row(self, point: int) -> FloatArray:  # noqa: D102
        return self.measure(self._rows[[point]], self._rows)[0]

    def find(self, tails: IntArray, heads: IntArray) -> FloatArray:  # noqa: D102
        found = np.empty(len(tails))
        starts = np.flatnonzero(np.diff(tails, prepend=-1))
        for start, stop in itertools.pairwise([*starts.tolist(), len(tails)]):
            others = self._rows[heads[start:stop]]
            found[start:stop] = self.measure(self._rows[tails[start], None], others)[0]
        return found

    def among(self, nodes: IntArray) -> Evaluated:  # noqa: D102
        return Evaluated(self.view[nodes], self.measure)

    def candidates(self, block: slice, count: int) -> IntArray:  # noqa: D102
        return self.search(self._rows[block], count)

    def nearest(self, among: IntArray, queries: IntArray, count: int) -> IntArray:  # noqa: D102
        return self.measure.search(self._rows[among])(self._rows[queries], count)

    @cached_property
    def search(self) -> Callable[[FloatArray, int], IntArray]:
        """What finds the nearest points of others, as `Measure.values` returns them."""
        return self.measure.search(self._rows)


class Measure:
    """A metric that a library knows, as it was when points were fitted."""

    def __init__(self, metric: str, fitted: FloatArray) -> None:
        self.metric, self._axes = metric, None
        if metric in ("seuclidean", "mahalanobis"):  # distances between points that are whitened
            self.metric, self._axes = "euclidean", _whitening(metric, fitted.astype(np.float64))
        if self.metric == "haversine":
            self._measure = DistanceMetric.get_metric("haversine").pairwise
        else:
            self._measure = partial(cdist, metric=self.metric)

    def __call__(self, one: FloatArray, other: FloatArray) -> FloatArray:
        """Return the distances between rows of ``values``, (n, m)."""
        found: FloatArray = self._measure(one, other)
        return found

    def values(self, points: FloatArray) -> FloatArray:
        """Return points as they are measured."""
        values = points.astype(np.float64)
        return values if self._axes is None else np.einsum("ij,jk->ik", values, self._axes)

    def search(self, values: FloatArray) -> Callable[[FloatArray, int], IntArray]:
        """Make what finds the nearest of ``values`` to others."""
        if self.metric in BallTree.valid_metrics:
            known = NearestNeighbors(algorithm="auto", metric=self.metric).fit(values)

            def by_tree(queries: FloatArray, count: int) -> IntArray:
                with openmp_threads(None):
                    return known.kneighbors(queries, count, return_distance=False)

            return by_tree

        def one_by_one(queries: FloatArray, count: int) -> IntArray:
            found = np.empty((len(queries), count), dtype=np.int64)
            for some in cut(len(queries), max(_VALUES_TOGETHER // len(values), 1)):
                found[some] = _smallest(self(queries[some], values), count)
            return found

        return one_by_one


def _smallest(apart: FloatArray, count: int) -> IntArray:
    """Find the places of the smallest numbers of each row, in their order, (n_rows, count)."""
    best = np.argpartition(apart, count - 1, axis=1)[:, :count]
    order = np.argsort(np.take_along_axis(apart, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)


def _whitening(metric: str, points: FloatArray) -> FloatArray:
    """Return what takes points to others, whose Euclidean distances are those of the metric."""
    if metric == "seuclidean":
        variance = points.var(axis=0, ddof=1)
        return np.diag(1 / np.sqrt(np.where(variance > 0, variance, 1)))
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(points.T)))
    kept = values > 1e-12 * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept])


class Called(_Measured):
    """Points under a callable."""

    def __init__(self, points: FloatArray, metric: Callable[[Any, Any], Any]) -> None:
        super().__init__(points)
        check_called(metric, points)
        self.metric = metric

    def find(self, tails: IntArray, heads: IntArray) -> FloatArray:  # noqa: D102
        points, pairs = self.view, zip(tails.tolist(), heads.tolist(), strict=True)
        found = [self.metric(points[tail], points[head]) for tail, head in pairs]
        return check_value(np.array(found, dtype=np.float64))

    def row(self, point: int) -> FloatArray:  # noqa: D102
        return self.lengths(np.full(len(self), point), np.arange(len(self)))

    def among(self, nodes: IntArray) -> Called:  # noqa: D102
        return Called(self.view[nodes], self.metric)

    def plan(self, members: IntArray, graph: Graph) -> None:
        """Keep within as many calls as all neighbourhoods have pairs, members squared.

        On sheets neighbourhoods overlap, and that is plenty; in many dimensions they do not.
        """
        shape, width = (len(self), len(self)), members.shape[1]
        tails = np.repeat(np.arange(len(self)), width)
        mark = np.ones(members.size, dtype=np.int32)
        owned = sparse.csr_array((mark, (tails, members.ravel())), shape=shape)
        joined = pattern_of(graph.indptr, graph.indices).astype(np.int32)
        n_asked = (owned.T @ (joined @ owned)).nnz / 2 + len(self._keys)
        self.is_frugal = n_asked > len(self) * (width - 1) ** 2

    def candidates(self, block: slice, count: int) -> IntArray:
        """Find them by the distances to pivots, which rule most points out.

        No point is nearer than its distances to pivots differ. Those that differ least are asked
        about first, and more as long as nearer ones may be left, up to a limit.
        """
        table, rows = self.pivots[1], np.arange(block.start, block.stop)
        most = min(_PARTS_ASKED[-1] * count, len(self))
        least, near = cKDTree(table).query(table[block], most, p=np.inf)
        apart, done = np.full(near.shape, np.inf), 0
        open_ones = np.arange(len(rows))
        for part in _PARTS_ASKED:
            some = slice(done, min(part * count, most))
            ends = rows[open_ones].repeat(some.stop - done), near[open_ones, some].ravel()
            apart[open_ones, some] = self.lengths(*ends).reshape(len(open_ones), -1)
            farthest = np.partition(apart[open_ones], count - 1, axis=1)[:, count - 1]
            done = some.stop
            open_ones = open_ones[least[open_ones, min(done, most - 1)] < farthest]
            if done == most or not len(open_ones):
                break
        best = np.argpartition(apart, count - 1, axis=1)[:, :count]
        return np.take_along_axis(near, best, axis=1)


class Known(_Store):
    """Some of the distances between points, in a sparse matrix that is symmetric.

    Others are completed by the shortest paths along those that are known.
    """

    def __init__(self, matrix: sparse.csr_array) -> None:
        super().__init__(matrix.shape[0])
        self.matrix, self.nbytes = matrix, int(matrix.data.nbytes)
        self.n_asked = self.n_missing = 0
        upper = sparse.triu(matrix, 1).tocoo()
        rows, columns = upper.coords
        self._keep(rows * np.int64(len(self)) + columns, upper.data.astype(np.float64))
        self._given = self._keys
        # SciPy takes a stored 0 for no edge.
        self._ways = matrix.copy()
        positive = matrix.data[matrix.data > 0]
        self._ways.data = np.maximum(matrix.data, 1e-12 * positive.min(initial=1.0))
        self._complete()

    def _complete(self) -> None:
        """Complete what is near, all at once: what neighbourhoods ask for."""
        degrees = np.diff(self.matrix.indptr)
        longest = np.maximum.reduceat(self.matrix.data, self.matrix.indptr[:-1][degrees > 0])
        limit = _FARTHER * float(np.quantile(longest, 0.9))
        keys, values = [], []
        for block in cut(len(self), _ROWS_TOGETHER):
            rows = np.arange(block.start, block.stop)
            found = csgraph.dijkstra(self._ways, indices=rows, limit=limit)
            found[:, : block.start] = np.inf
            if found.shape[1] > _MOST_COMPLETED:
                last = np.partition(found, _MOST_COMPLETED, axis=1)[:, _MOST_COMPLETED]
                found[found > last[:, None]] = np.inf
            tails, heads = np.nonzero(np.isfinite(found))
            later = heads > rows[tails]
            tails, heads = tails[later], heads[later]
            keys.append(rows[tails] * np.int64(len(self)) + heads)
            values.append(found[tails, heads])
        new = np.concatenate(keys)
        is_new = ~np.isin(new, self._given, assume_unique=True)
        self._keep(new[is_new], np.concatenate(values)[is_new])

    def find(self, tails: IntArray, heads: IntArray) -> FloatArray:  # noqa: D102
        found = np.empty(len(tails))
        sources, which = np.unique(tails, return_inverse=True)
        for block in cut(len(sources), _ROWS_TOGETHER):
            rows = csgraph.dijkstra(self._ways, indices=sources[block])
            some = np.flatnonzero((which >= block.start) & (which < block.stop))
            found[some] = rows[which[some] - block.start, heads[some]]
        return found

    def row(self, point: int) -> FloatArray:  # noqa: D102
        return csgraph.dijkstra(self._ways, indices=point)

    def among(self, nodes: IntArray) -> Known:  # noqa: D102
        return Known(self.matrix[nodes][:, nodes])

    def squares(self, rows: IntArray, columns: IntArray) -> FloatArray:  # noqa: D102
        if rows is columns:  # inside neighbourhoods
            tails, heads = np.broadcast_arrays(rows[:, :, None], columns[:, None, :])
            keys = (tails * np.int64(len(self)) + heads)[tails < heads]
            places = np.minimum(np.searchsorted(self._given, keys), len(self._given) - 1)
            self.n_asked += len(keys)
            self.n_missing += int(np.count_nonzero(self._given[places] != keys))
        return super().squares(rows, columns)

    def candidates(self, block: slice, count: int) -> IntArray:
        """List the nearest of the points that distances are known to; itself where they are few."""
        found = np.repeat(np.arange(block.start, block.stop)[:, None], count, axis=1)
        for row in range(block.start, block.stop):
            stored = slice(*self.matrix.indptr[row : row + 2])
            heads, apart = self.matrix.indices[stored], self.matrix.data[stored]
            near = heads[np.argsort(apart, kind="stable")[: count - 1]]
            found[row - block.start, : len(near)] = near
        return found

    def within(self, radius: float) -> IntArray:  # noqa: D102
        near = self._values <= radius
        keys = self._keys[near & np.isin(self._keys, self._given, assume_unique=True)]
        return np.column_stack(np.divmod(keys, len(self)))

    def nearest(self, among: IntArray, queries: IntArray, count: int) -> IntArray:  # noqa: D102
        n_parts = int(csgraph.connected_components(self._ways, directed=False)[0])
        if n_parts > 1:
            raise ValueError(
                f"the matrix falls into {n_parts} parts with no distance known between them; add "
                'some, or pass disconnected="largest" or disconnected="separate"'
            )
        return super().nearest(among, queries, count)

    @cached_property
    def places(self) -> IntArray:  # type: ignore[override]
        """The first point at distance 0 of each, where that is stored."""
        zero = self.matrix.copy()
        zero.data = (self.matrix.data == 0).astype(np.int8)
        zero.eliminate_zeros()
        _, labels = csgraph.connected_components(zero, directed=False)
        _, first = np.unique(labels, return_index=True)
        return first[labels]

    @property
    def _has_true_view(self) -> bool:
        return False  # paths are longer than distances

    def said(self) -> list[str]:
        """Tell how many distances were completed."""
        if not self.n_missing:
            return []
        return [
            f"{self.n_missing / self.n_asked:.0%} of the distances inside neighbourhoods are not "
            "in the matrix, and were completed by the shortest paths along those that are; store "
            "more of them for truer tangent spaces"
        ]
