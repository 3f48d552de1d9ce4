"""Points of which some distances are known."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ptunfold.forks import Lock, cached_property
from ptunfold.geometry.measured import Store
from ptunfold.threads import cut
from ptunfold.types import FloatArray, IntArray

# Completed by paths: as far as so many times the usual row reaches, and so many at each point.
_FARTHER, _MOST_COMPLETED = 5.0, 1000
_ROWS_TOGETHER = 256
_counting = Lock()


class Known(Store):
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
        self._given = self._kept.keys
        # SciPy takes a stored 0 for no edge; before version 1.15 paths need numbers of 32 bits.
        positive = matrix.data[matrix.data > 0]
        ways = np.maximum(matrix.data, 1e-12 * positive.min(initial=1.0))
        places = (array.astype(np.int32) for array in (matrix.indices, matrix.indptr))
        self._ways = sparse.csr_array((ways, *places), shape=matrix.shape)
        self._complete()

    def _complete(self) -> None:
        """Complete what is near, all at once: what neighbourhoods ask for."""
        if self.matrix.nnz == len(self) * (len(self) - 1):
            return
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

    def find(self, tails: IntArray, heads: IntArray) -> FloatArray:
        found = np.empty(len(tails))
        sources, which = np.unique(tails, return_inverse=True)
        for block in cut(len(sources), _ROWS_TOGETHER):
            rows = csgraph.dijkstra(self._ways, indices=sources[block])
            some = np.flatnonzero((which >= block.start) & (which < block.stop))
            found[some] = rows[which[some] - block.start, heads[some]]
        return found

    def row(self, point: int) -> FloatArray:
        return csgraph.dijkstra(self._ways, indices=point)

    def among(self, nodes: IntArray) -> Known:
        return Known(self.matrix[nodes][:, nodes])

    def squares(self, rows: IntArray, columns: IntArray) -> FloatArray:
        if rows is columns:  # inside neighbourhoods
            tails, heads = np.broadcast_arrays(rows[:, :, None], columns[:, None, :])
            keys = (tails * np.int64(len(self)) + heads)[tails < heads]
            places = np.minimum(np.searchsorted(self._given, keys), len(self._given) - 1)
            n_missing = int(np.count_nonzero(self._given[places] != keys))
            with _counting:  # neighbourhoods are looked at by several threads
                self.n_asked += len(keys)
                self.n_missing += n_missing
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

    def within(self, radius: float) -> IntArray:
        keys, values, _ = self._kept
        keys = keys[(values <= radius) & np.isin(keys, self._given, assume_unique=True)]
        return np.column_stack(np.divmod(keys, len(self)))

    def nearest(self, among: IntArray, queries: IntArray, count: int) -> IntArray:
        n_parts = int(csgraph.connected_components(self._ways, directed=False)[0])
        if n_parts > 1:
            raise ValueError(
                f"the matrix falls into {n_parts} parts with no distance known between them; add "
                'some, or pass disconnected="largest" or disconnected="separate"'
            )
        return super().nearest(among, queries, count)

    @cached_property
    def places(self) -> IntArray:  # type: ignore[override]  # made when asked for
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
            f"{self.n_missing:,} of {self.n_asked:,} distances inside neighbourhoods "
            f"({self.n_missing / self.n_asked:.0%}) are not in the matrix, and were completed by "
            "the shortest paths along those that are; store more of them for truer tangent spaces"
        ]
