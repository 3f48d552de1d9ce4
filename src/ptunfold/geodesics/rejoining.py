"""Edges that were dropped and should not have been: the way around them comes back."""

from __future__ import annotations

import numpy as np

from ptunfold.geodesics.rows import MeanRows
from ptunfold.kernels.development import Sight
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import BoolArray, FloatArray, Geometry, IntArray

# Of the length of the way around an edge: how far its end is seen beyond that of the edge, and how
# far it may be in all, with what was not carried on. Between windings both are 0.5 and more, along
# strips with noise up to 0.2 and 0.7.
_BEYOND, _MOST_APART = 0.25, 0.75
_LONG = 8.0  # of an edge: around a hole, and not over another edge like it
_MOST_VALUES = 1 << 18  # sources times points: of more points, strips of few are not the trouble
_SOURCES_TOGETHER = 8


def edges_led_back_to(geometry: Geometry, lengths: FloatArray, run: Run = Run()) -> IntArray:
    """List dropped edges whose ends meet as a long way around them is unfolded, (n_edges, 2).

    From one winding of a roll to another the unfolded path leads far away. Where only a few points
    lie between a hole and the rim, edges look like shortcuts too, because few paths lead around
    them but those around the hole; these come back to where the edge leads. ``lengths`` (m,) are
    those of all edges that were dropped.
    """
    shortcuts = geometry.shortcuts
    sources, rank = np.unique(shortcuts[:, 0], return_inverse=True)
    connection = geometry.connection
    n_points = connection.graph.n_points
    if not len(sources) or len(sources) * n_points > _MOST_VALUES:
        return shortcuts[:0]
    rows_of = MeanRows(connection)
    is_led_back: BoolArray = np.zeros(len(shortcuts), dtype=bool)

    def look(block: slice) -> None:
        room, row = rows_of.room(), np.empty(n_points, dtype=geometry.points.dtype)
        for place in range(block.start, block.stop):
            rows_of.measure(int(sources[place]), room, row)
            edges = np.flatnonzero(rank == place)
            heads = shortcuts[edges, 1]
            way = room.tree.distance[heads]
            seen = room.vectors if isinstance(room, Sight) else room.inward
            beyond = np.linalg.norm(seen[heads], axis=1) - lengths[edges]
            is_led_back[edges] = (
                (way > _LONG * lengths[edges])
                & (beyond < _BEYOND * way)
                & (row[heads] < _MOST_APART * way)
            )

    run_blocks(look, cut(len(sources), _SOURCES_TOGETHER), run.quiet)
    return shortcuts[is_led_back]
