"""Plan blocks of sources; one block is the unit of all work."""

from __future__ import annotations

from typing import Any, Protocol

from ptunfold.kernels.lanes import LANES
from ptunfold.threads import cut
from ptunfold.types import FloatArray, IntArray

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
