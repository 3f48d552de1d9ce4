"""Points that are known by all distances between them, and what other kinds have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from ptunfold.forks import cached_property
from ptunfold.kernels.lengths import squares_among
from ptunfold.threads import cut
from ptunfold.types import FloatArray, IntArray, Space, kernel_ready

_MOST_DIMENSIONS = 64  # of tangent spaces, where no coordinates bound them
_PIVOTS, _MOST_AXES = 16, 10
_PIVOTS_TRUST = 3  # candidates for each point that is looked for by distances to pivots
_PAIRS_TRIED = 2000
VALUES_TOGETHER = 1 << 24


class Given(Space):
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
    def view(self) -> FloatArray:  # type: ignore[override]  # made when asked for
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
    def bound(self) -> FloatArray:  # type: ignore[override]  # made when asked for
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


class Matrix(Given):
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

    def row(self, point: int) -> FloatArray:
        return np.asarray(self.matrix[point], dtype=np.float64)

    def squares(self, rows: IntArray, columns: IntArray) -> FloatArray:
        found = np.empty((*rows.shape, columns.shape[1]))
        ends = (kernel_ready(each, np.int64) for each in (rows, columns))
        squares_among(self.matrix, *ends, found)
        return found

    def lengths(self, tails: IntArray, heads: IntArray) -> FloatArray:
        low, high = np.minimum(tails, heads), np.maximum(tails, heads)
        return np.asarray(self.matrix[low, high], dtype=np.float64)

    def candidates(self, block: slice, count: int) -> IntArray:
        found = np.empty((block.stop - block.start, count), dtype=np.int64)
        for some in self._blocks(block):
            here = slice(some.start - block.start, some.stop - block.start)
            found[here] = np.argpartition(self.matrix[some], count - 1, axis=1)[:, :count]
        return found

    def within(self, radius: float) -> IntArray:
        pairs = []
        for some in self._blocks(slice(0, len(self))):
            tails, heads = np.nonzero(self.matrix[some] <= radius)
            pairs.append(np.column_stack((tails + some.start, heads)))
        found = np.concatenate(pairs)
        return found[found[:, 0] < found[:, 1]]

    def nearest(self, among: IntArray, queries: IntArray, count: int) -> IntArray:
        found = np.empty((len(queries), count), dtype=np.int64)
        for some in cut(len(queries), max(VALUES_TOGETHER // len(among), 1)):
            found[some] = smallest(self.matrix[np.ix_(queries[some], among)], count)
        return found

    def among(self, nodes: IntArray) -> Matrix:
        return Matrix(self.matrix[np.ix_(nodes, nodes)])

    @cached_property
    def places(self) -> IntArray:  # type: ignore[override]  # made when asked for
        """The first point at distance 0 of each."""
        found = [(self.matrix[some] <= 0).argmax(axis=1) for some in self._blocks()]
        return np.concatenate(found)

    def movable(self, n_neighbors: int) -> Matrix:
        return self

    @cached_property
    def extent(self) -> float:  # type: ignore[override]  # made when asked for
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
        # Of matrices no more than five are there at once, that of a product's turned factor too.
        squares = np.square(self.matrix, dtype=np.float64)
        from_moved = mean @ squares
        cross = squares if self._cross is None else self._cross
        del squares
        between = (mean @ from_moved.T).T
        del from_moved
        own = 0.5 * np.diagonal(between).copy()
        between -= own
        between -= own[:, None]
        between = between + between.T
        between *= 0.5
        np.fill_diagonal(between, 0)
        distances = np.sqrt(np.maximum(between, 0, out=between), out=between)
        cross = mean @ cross
        cross -= own[:, None]
        moves = np.sqrt(np.maximum(np.diagonal(cross), 0))
        return Matrix(distances.astype(self.dtype, copy=False), moves, cross)

    def _blocks(self, block: slice | None = None) -> list[slice]:
        start, stop = (0, len(self)) if block is None else (block.start, block.stop)
        parts = cut(stop - start, max(VALUES_TOGETHER // len(self), 1))
        return [slice(start + part.start, start + part.stop) for part in parts]


def smallest(apart: FloatArray, count: int) -> IntArray:
    """Find the places of the smallest numbers of each row, in their order, (n_rows, count)."""
    best = np.argpartition(apart, count - 1, axis=1)[:, :count]
    order = np.argsort(np.take_along_axis(apart, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)
