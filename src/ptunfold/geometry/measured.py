"""Points under a metric that is asked for distances when they are needed."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import BallTree, NearestNeighbors

from ptunfold.forks import Lock, cached_property
from ptunfold.geometry.given import VALUES_TOGETHER, Given, Matrix, smallest
from ptunfold.geometry.graph import pattern_of
from ptunfold.geometry.neighbors import distinct_places
from ptunfold.kernels.pairs import look_up
from ptunfold.threads import cut, openmp_threads
from ptunfold.types import FloatArray, Graph, IntArray, kernel_ready, pair_keys
from ptunfold.validation.matrices import check_called, check_value

# Candidates for each neighbour that a callable is asked about, a part at a time.
_PARTS_ASKED = (2, 4, 6)


class _Kept(NamedTuple):
    """Distances that are known: replaced as a whole, so that no thread or fork sees a half."""

    keys: IntArray  # n times the lower + the higher point, in order
    values: FloatArray
    lists: tuple[IntArray, IntArray, FloatArray]  # of higher points for each lower one


def _kept(n_points: int, keys: IntArray, values: FloatArray) -> _Kept:
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    lows, heads = np.divmod(keys, n_points)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(lows, minlength=n_points))))
    return _Kept(keys, values, (indptr, heads, values))


class Store(Given):
    """Distances that are kept once they are known, each pair once."""

    def __init__(self, n_points: int) -> None:
        super().__init__(n_points)
        self._lock = Lock()
        self._kept = _kept(n_points, np.empty(0, dtype=np.int64), np.empty(0))

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
            look_up(*self._kept.lists, rows, columns, found)
            where = np.nonzero(np.isnan(found))
            if len(where[0]):
                ends = rows[where[0], where[1]], columns[where[0], where[2]]
                keys = np.unique(pair_keys(len(self), np.minimum(*ends), np.maximum(*ends)))
                self._keep(keys, self.find(*np.divmod(keys, len(self))))
                look_up(*self._kept.lists, rows, columns, found)
        return found

    def _keep(self, keys: IntArray, values: FloatArray) -> None:
        pairs = zip(self._kept[:2], (keys, values), strict=True)
        self._kept = _kept(len(self), *(np.concatenate(pair) for pair in pairs))


class Measured(Store):
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
    def places(self) -> IntArray:  # type: ignore[override]  # made when asked for
        """Copies of a point are told by their coordinates."""
        return distinct_places(self.view)

    @property
    def _has_true_view(self) -> bool:
        return False  # coordinates have units of their own


class Evaluated(Measured):
    """Points under a metric that a library knows."""

    def __init__(self, points: FloatArray, measure: Measure) -> None:
        super().__init__(points)
        self.measure = measure
        self._rows = measure.values(points)

    def row(self, point: int) -> FloatArray:
        return self.measure(self._rows[[point]], self._rows)[0]

    def find(self, tails: IntArray, heads: IntArray) -> FloatArray:
        found = np.empty(len(tails))
        starts = np.flatnonzero(np.diff(tails, prepend=-1))
        for start, stop in itertools.pairwise([*starts.tolist(), len(tails)]):
            others = self._rows[heads[start:stop]]
            found[start:stop] = self.measure(self._rows[tails[start], None], others)[0]
        return found

    def among(self, nodes: IntArray) -> Evaluated:
        return Evaluated(self.view[nodes], self.measure)

    def candidates(self, block: slice, count: int) -> IntArray:
        return self.search(self._rows[block], count)

    def nearest(self, among: IntArray, queries: IntArray, count: int) -> IntArray:
        return self.measure.search(self._rows[among])(self._rows[queries], count)

    @cached_property
    def search(self) -> Callable[[FloatArray, int], IntArray]:
        """What finds the nearest points of others, as `Measure.values` returns them."""
        return self.measure.search(self._rows)


class Called(Measured):
    """Points under a callable."""

    def __init__(self, points: FloatArray, metric: Callable[[Any, Any], Any]) -> None:
        super().__init__(points)
        check_called(metric, points)
        self.metric = metric

    def find(self, tails: IntArray, heads: IntArray) -> FloatArray:
        points, pairs = self.view, zip(tails.tolist(), heads.tolist(), strict=True)
        found = [self.metric(points[tail], points[head]) for tail, head in pairs]
        return check_value(np.array(found, dtype=np.float64))

    def row(self, point: int) -> FloatArray:
        return self.lengths(np.full(len(self), point), np.arange(len(self)))

    def among(self, nodes: IntArray) -> Called:
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
        n_asked = (owned.T @ (joined @ owned)).nnz / 2 + len(self._kept.keys)
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


class Measure:
    """A metric that a library knows, as it was when points were fitted."""

    def __init__(self, metric: str, fitted: FloatArray) -> None:
        self.metric, self._axes = metric, None
        if metric in ("seuclidean", "mahalanobis"):  # distances between points that are whitened
            self.metric, self._axes = "euclidean", _whitening(metric, fitted.astype(np.float64))
        self._measure: Callable[[FloatArray, FloatArray], FloatArray] = _arcs
        if self.metric != "haversine":  # which SciPy does not know
            self._measure = partial(cdist, metric=self.metric)

    def __call__(self, one: FloatArray, other: FloatArray) -> FloatArray:
        """Return the distances between rows of ``values``, (n, m)."""
        return self._measure(one, other)

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
            for some in cut(len(queries), max(VALUES_TOGETHER // len(values), 1)):
                found[some] = smallest(self(queries[some], values), count)
            return found

        return one_by_one


def _arcs(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the arcs between latitudes and longitudes (n, 2) and (m, 2), in radians, (n, m)."""
    halves = 0.5 * (one[:, None] - other)
    rise, turn = np.moveaxis(np.square(np.sin(halves)), 2, 0)
    squares = rise + np.cos(one[:, :1]) * np.cos(other[:, 0]) * turn
    return 2 * np.arcsin(np.sqrt(np.minimum(squares, 1)))


def _whitening(metric: str, points: FloatArray) -> FloatArray:
    """Return what takes points to others, whose Euclidean distances are those of the metric."""
    if metric == "seuclidean":
        variance = points.var(axis=0, ddof=1)
        return np.diag(1 / np.sqrt(np.where(variance > 0, variance, 1)))
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(points.T)))
    kept = values > 1e-12 * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept])
