"""Distances from single sources: both directions from one shortest-path tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.kernels.development import mean_row
from ptunfold.kernels.paths import new_tree
from ptunfold.threads import cut, run_blocks
from ptunfold.types import Connection, FloatArray, IntArray


class NearRows:
    """What rows offer that are an array of this process, in memory or on a device."""

    def some(self, rows: Any, step: int) -> Any:
        """Look at every ``step``-th column of rows that will be filled."""
        return rows[:, ::step]

    def use(self, rows: Any, n_rows: int, work: Callable[[Any], Any]) -> Any:
        """Call ``work`` with the first ``n_rows`` of rows that are filled."""
        return work(rows[:n_rows])


class MeanRows(NearRows):
    """Rows of distances, the mean of both directions, for sources that are few or far apart.

    Parameters
    ----------
    connection : Connection
        Rotations and steps on the edges of the graph.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._arrays = arrays_of(connection)
        self._idle: list[tuple[Any, ...]] = []  # a workspace for each thread, made once

    def new_rows(self, n_rows: int, dtype: DTypeLike) -> FloatArray:
        """Make room for rows (n_rows, n_points)."""
        return np.empty((n_rows, self.connection.graph.n_points), dtype=dtype)

    def write(self, source: int, row: FloatArray) -> None:
        """Write the distances from ``source`` into ``row`` (n_points,)."""
        try:
            workspace = self._idle.pop()
        except IndexError:
            workspace = self._new_workspace()
        mean_row(*self._arrays, source, *workspace, row)
        self._idle.append(workspace)

    def fill(
        self,
        sources: IntArray,
        rows: FloatArray,
        at: slice = slice(None),
        *,
        n_jobs: int | None,
        progress: bool,
    ) -> None:
        """Write the distances from all ``sources`` into ``rows[at]`` (n_sources, n_points)."""
        rows = rows[at]

        def handle(block: slice) -> None:
            for index in range(block.start, block.stop):
                self.write(sources[index], rows[index])

        run_blocks(
            handle,
            cut(len(sources), 1),
            n_jobs=n_jobs,
            description="distances",
            unit="sources",
            progress=progress,
        )

    def _new_workspace(self) -> tuple[Any, ...]:
        n_points, dim = self.connection.graph.n_points, self.connection.intrinsic_dim
        vectors = (np.empty((n_points, dim)) for _ in range(2))
        turns, lost = np.empty((n_points, dim, dim)), np.empty((n_points, 2))
        return (new_tree(n_points), *vectors, turns, lost)


def arrays_of(connection: Connection) -> tuple[Any, ...]:
    """Spread a connection out as the kernels want it."""
    graph = connection.graph
    return (
        graph.indptr,
        graph.indices,
        graph.lengths,
        graph.tails,
        graph.reverse,
        connection.rotations,
        connection.steps,
        kept_of(connection),
        chords_of(connection),
    )


def kept_of(connection: Connection) -> FloatArray:
    """Tell what share is carried over each edge, (n_edges,)."""
    if connection.coherence is None:
        return np.ones(connection.graph.n_edges)
    return connection.coherence


def chords_of(connection: Connection) -> FloatArray:
    """Return the coordinates that bound distances from below, (n_points, n_axes), or none."""
    if connection.points is None:
        return np.empty((connection.graph.n_points, 0))
    return connection.points
