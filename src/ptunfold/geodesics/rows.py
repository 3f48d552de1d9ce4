"""Rows of distances: by blocks of sources, the unit of all work, and from single sources.

The latter have both directions from one shortest-path tree.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ptunfold.kernels.development import mean_row
from ptunfold.kernels.lanes import LANES
from ptunfold.kernels.trees import new_tree
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import Connection, FloatArray, IntArray

_MOST_SOURCES = 32
_MOST_BATCHES = 8
_MOST_VALUES = 1 << 22


class Blocks(Protocol):
    """One-way distances in an arranged component, block by block of sources: what engines deliver.

    The nodes ``start:stop`` have the rows ``owned[start]:owned[stop]``; ``dtype`` is the only one
    that rows can have, None for any.
    """

    blocks: list[slice]
    owned: IntArray
    dtype: Any

    def n_threads(self, n_jobs: int | None) -> int:
        """Tell how many threads may write blocks at a time."""

    def write(self, block: slice, rows: FloatArray, first_row: int) -> None:
        """Write the rows of a block of nodes into ``rows``, which begins at ``first_row``."""


def plan_blocks(n_sources: int, n_points: int) -> list[slice]:
    """Cut a list of sources into blocks, each small enough to take well under a second."""
    return cut(n_sources, min(max(_MOST_VALUES // n_points, 1), _MOST_SOURCES))


def sources_together(n_points: int) -> int:
    """Tell how many sources are in a block of whole batches."""
    return LANES * min(max(_MOST_VALUES // (n_points * LANES), 1), _MOST_BATCHES)


def plan_batches(n_points: int) -> list[slice]:
    """Cut all points into blocks of whole batches."""
    return cut(n_points, sources_together(n_points))


class Rows(Protocol):
    """Distances from single sources to all points, the mean of both directions."""

    def fill(self, sources: IntArray, rows: FloatArray, run: Run) -> None:
        """Write the distances from all ``sources`` into ``rows`` (n_sources, n_points)."""


class MeanRows:
    """`Rows` by this process, for sources that are few or far apart."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._arrays = arrays_of(connection)
        self._idle: list[tuple[Any, ...]] = []  # a workspace for each thread, made once

    def write(self, source: int, row: FloatArray) -> None:
        """Write the distances from ``source`` into ``row`` (n_points,)."""
        try:
            workspace = self._idle.pop()
        except IndexError:
            workspace = self._new_workspace()
        mean_row(*self._arrays, source, *workspace, row)
        self._idle.append(workspace)

    def fill(self, sources: IntArray, rows: FloatArray, run: Run = Run()) -> None:
        """Write the distances from all ``sources`` into ``rows`` (n_sources, n_points)."""

        def handle(block: slice) -> None:
            for index in range(block.start, block.stop):
                self.write(sources[index], rows[index])

        run_blocks(handle, cut(len(sources), 1), run, "distances", "sources")

    def _new_workspace(self) -> tuple[Any, ...]:
        n_points, dim = self.connection.graph.n_points, self.connection.intrinsic_dim
        vectors = (np.empty((n_points, dim)) for _ in range(2))
        turns, lost = np.empty((n_points, dim, dim)), np.empty((n_points, 2))
        return (new_tree(n_points), *vectors, turns, lost)


def arrays_of(connection: Connection) -> tuple[Any, ...]:
    """Spread a connection out as the kernels want it."""
    graph = connection.graph
    return (
        *graph.arrays,
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
