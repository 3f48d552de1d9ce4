"""Points of which some distances are known."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ptunfold.forks import Lock, cached_property
from ptunfold.geometry.measured import Store
from ptunfold.memory import free_bytes
from ptunfold.threads import cut
from ptunfold.types import FloatArray, IntArray, pair_keys

# Completed by paths: as far as so many times the usual row reaches, and so many at each point.
_FARTHER, _MOST_COMPLETED = 5.0, 1000
# Rows of all points that are found at once, and what a pair takes while pairs are put in order.
_ROWS_TOGETHER, _MOST_TOGETHER, _A_PAIR = 256, 1 << 24, 100
_SHARE_OF_ROOM = 0.25
_counting = Lock()


def _rows_together(n_points: int) -> int:
    return max(min(_ROWS_TOGETHER, _MOST_TOGETHER // n_points), 1)


def _arrays(matrix: sparse.csr_array) -> tuple[FloatArray, IntArray, IntArray]:
    return matrix.data, matrix.indices, matrix.indptr


class Known(Store):
    """Some of the distances between points, in a sparse matrix that is symmetric.

    Others are completed by the shortest paths along those that are known.
    """

    def __init__(self, matrix: sparse.csr_array) -> None:
        super().__init__(matrix.shape[0])
        self.matrix = matrix
        self.n_asked = self.n_missing = 0
        upper = sparse.triu(matrix, 1).tocoo()
        rows, columns = upper.coords
        self._keep(pair_keys(len(self), rows, columns), upper.data.astype(np.float64))
        self._given = self._kept.keys
        # SciPy takes a stored 0 for no edge; before version 1.15 paths need numbers of 32 bits.
        positive = matrix.data[matrix.data > 0]
        ways = np.maximum(matrix.data, 1e-12 * positive.min(initial=1.0))
        places = (array.astype(np.int32) for array in (matrix.indices, matrix.indptr))
        self._ways = sparse.csr_array((ways, *places), shape=matrix.shape)
        self._complete()
        held = (*self._kept[:2], self._kept.lists[1], *(_arrays(self.matrix)), *_arrays(self._ways))
        self.nbytes = sum(int(array.nbytes) for array in held)

    def _complete(self) -> None:
        """Complete what is near, all at once: what neighbourhoods ask for.

        What is not, for lack of memory, is found when it is asked for, which takes longer.
        """
        if self.matrix.nnz in (0, len(self) * (len(self) - 1)):
            return
        room = _SHARE_OF_ROOM * free_bytes() / (_A_PAIR * len(self))
        most = min(int(room), _MOST_COMPLETED)
        degrees = np.diff(self.matrix.indptr)
        longest = np.maximum.reduceat(self.matrix.data, self.matrix.indptr[:-1][degrees > 0])
        limit = _FARTHER * float(np.quantile(longest, 0.9))
        keys, values = [], []
        for block in cut(len(self), _rows_together(len(self))):
            rows = np.arange(block.start, block.stop)
            found = csgraph.dijkstra(self._ways, indices=rows, limit=limit)
            found[:, : block.start] = np.inf
            if found.shape[1] > most:
                last = np.partition(found, most, axis=1)[:, most]
                found[found > last[:, None]] = np.inf
            tails, heads = np.nonzero(np.isfinite(found))
            later = heads > rows[tails]
            tails, heads = tails[later], heads[later]
            keys.append(pair_keys(len(self), rows[tails], heads))
            values.append(found[tails, heads])
        new, apart = np.concatenate(keys), np.concatenate(values)
        del keys, values
        is_new = ~np.isin(new, self._given, assume_unique=True)
        new, apart = new[is_new], apart[is_new]
        self._keep(new, apart)

    def find(self, tails: IntArray, heads: IntArray) -> FloatArray:
        found = np.empty(len(tails))
        sources, which = np.unique(tails, return_inverse=True)
        for block in cut(len(sources), _rows_together(len(self))):
            rows = csgraph.dijkstra(self._ways, indices=sources[block])
            some = np.flatnonzero((which >= block.start) & (which < block.stop))
            found[some] = rows[which[some] - block.start, heads[some]]
        return found

    def row(self, point: int) -> FloatArray:
        return csgraph.dijkstra(self._ways, indices=point)

    def among(self, nodes: IntArray) -> Known:
        # What is known of a copy is known of the point that stands for it.
        number = np.full(len(self), -1)
        number[nodes] = np.arange(len(nodes))
        number = np.where(number < 0, number[self.places], number)
        stored = self.matrix.tocoo()
        rows, columns = (number[ends] for ends in stored.coords)
        is_meant = (rows >= 0) & (columns >= 0) & (rows != columns)
        rows, columns, apart = rows[is_meant], columns[is_meant], stored.data[is_meant]
        keys = pair_keys(len(nodes), rows, columns)
        order = np.lexsort((apart, keys))
        keys, first = np.unique(keys[order], return_index=True)  # of several the shortest
        ends = np.divmod(keys, len(nodes))
        return Known(sparse.csr_array((apart[order][first], ends), shape=(len(nodes),) * 2))

    def squares(self, rows: IntArray, columns: IntArray) -> FloatArray:
        if rows is columns:  # inside neighbourhoods
            tails, heads = np.broadcast_arrays(rows[:, :, None], columns[:, None, :])
            keys = pair_keys(len(self), tails, heads)[tails < heads]
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
