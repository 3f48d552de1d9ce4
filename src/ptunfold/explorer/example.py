"""The path that a page opens with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptunfold.diagnostics.voids import Void
from ptunfold.geodesics.rows import MeanRows
from ptunfold.types import BoolArray, FloatArray, Geometry, IntArray
from ptunfold.validation import check_connection

_N_SOURCES = 6


def example_pair(
    geometry: Geometry, embedding: FloatArray, voids: Sequence[Void] = ()
) -> tuple[int, int] | None:
    """Choose two points between which the graph is longest, compared with the sheet.

    Paths around the largest void bend most, so they are tried from points around it; without one,
    from points that are far from each other. Returns None where no path is seen.
    """
    connection = check_connection(geometry.connection)
    is_there = np.isfinite(embedding).all(axis=1) & (np.diff(geometry.graph.indptr) > 0)
    if not is_there.any():
        return None
    rows_of = MeanRows(connection)
    room, row = rows_of.room(), np.empty(len(embedding))
    best, pair = 0.0, None
    for source in _sources(embedding, is_there, voids[0].rim if voids else None):
        rows_of.measure(int(source), room, row)
        reached = np.flatnonzero(is_there & np.isfinite(row))
        longer = room.tree.distance[reached] - row[reached]
        end = int(longer.argmax())
        if longer[end] > best:
            best, pair = float(longer[end]), (int(source), int(reached[end]))
    return pair


def _sources(embedding: FloatArray, is_there: BoolArray, around: IntArray | None) -> IntArray:
    """Choose points that are far from each other, among those around a void if there is one."""
    among: IntArray = np.flatnonzero(is_there)
    if around is not None and is_there[around].any():
        among = around[is_there[around]]
    places = embedding[among].astype(np.float64)
    off = np.linalg.norm(places - places.mean(axis=0), axis=1)
    chosen = [int(off.argmax())]
    apart = np.full(len(places), np.inf)
    while len(chosen) < min(_N_SOURCES, len(among)):
        apart = np.minimum(apart, np.linalg.norm(places - places[chosen[-1]], axis=1))
        chosen.append(int(apart.argmax()))
    return among[chosen]
