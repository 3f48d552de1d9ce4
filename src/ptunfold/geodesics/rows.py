"""Rows of distances: by blocks of sources, the unit of all work, and from single sources.

The latter have both directions from one shortest-path tree.
"""

from __future__ import annotations

from typing import Any, Protocol

from ptunfold.kernels.development import (
    Sight,
    Unfolding,
    inward_row,
    mean_row,
    new_sight,
    new_unfolding,
    ways_agree,
)
from ptunfold.kernels.inputs import connection_arrays
from ptunfold.kernels.lanes import LANES
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import Connection, FloatArray, IntArray

_MOST_SOURCES = 32
_MOST_BATCHES = 8
_MOST_VALUES, _LEAST_VALUES = 1 << 22, 1 << 12


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
        self.arrays = connection_arrays(connection)
        self._is_even = ways_agree(self.arrays)
        self._idle: list[Sight | Unfolding] = []  # room for each thread, made once

    def room(self) -> Sight | Unfolding:
        """Make room for the work of one thread."""
        return new_sight(self.arrays) if self._is_even else new_unfolding(self.arrays)

    def measure(self, source: int, room: Sight | Unfolding, row: FloatArray) -> int:
        """Write the distances from ``source`` into ``row`` (n_points,).

        The tree is left in the room; returns how many nodes are in it.
        """
        work = inward_row if self._is_even else mean_row
        n_reached: int = work(self.arrays, source, room, row)
        return n_reached

    def write(self, source: int, row: FloatArray) -> None:
        """Write the distances from ``source`` into ``row`` (n_points,)."""
        try:
            room = self._idle.pop()
        except IndexError:
            room = self.room()
        self.measure(source, room, row)
        self._idle.append(room)

    def fill(self, sources: IntArray, rows: FloatArray, run: Run = Run()) -> None:
        """Write the distances from all ``sources`` into ``rows`` (n_sources, n_points)."""

        def handle(block: slice) -> None:
            for index in range(block.start, block.stop):
                self.write(sources[index], rows[index])

        # What is done in half a millisecond is done before other threads have started.
        size = max(_LEAST_VALUES // self.connection.graph.n_points, 1)
        run_blocks(handle, cut(len(sources), size), run, "distances", "sources")
