"""Plan blocks of sources; one block is the unit of all work."""

from __future__ import annotations

from ptunfold.kernels.lanes import LANES
from ptunfold.threads import cut

_MOST_SOURCES = 32
_MOST_BATCHES = 8
_MOST_VALUES = 1 << 22


def plan_blocks(n_sources: int, n_points: int) -> list[slice]:
    """Cut a list of sources into blocks, each small enough to take well under a second."""
    return cut(n_sources, min(max(_MOST_VALUES // n_points, 1), _MOST_SOURCES))


def sources_together(n_points: int) -> int:
    """Tell how many sources are in a block of whole batches."""
    return LANES * min(max(_MOST_VALUES // (n_points * LANES), 1), _MOST_BATCHES)


def plan_batches(n_points: int) -> list[slice]:
    """Cut all points into blocks of whole batches."""
    return cut(n_points, sources_together(n_points))
