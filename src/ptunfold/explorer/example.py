"""The path that a page opens with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptunfold.diagnostics.voids import Void
from ptunfold.geodesics.rows import MeanRows
from ptunfold.types import BoolArray, FloatArray, Geometry, IntArray
from ptunfold.validation.records import check_connection

_N_SOURCES = 6
_ROUNDING = 1e-9


def example_pair(
    geometry: Geometry, embedding: FloatArray, voids: Sequence[Void] = ()
) -> tuple[int, int] | None:
    """Choose two points between which the graph is longest, compared with the sheet.

    Paths around the largest void bend most, so they are tried from points around it; without one,
    from points that are far from each other. Where graph and sheet are equally long everywhere, it
    is the longest path; None where there is none.
    """
    connection = check_connection(geometry.connection)
    is_there = np.isfinite(embedding).all(axis=1) & (np.diff(geometry.graph.indptr) > 0)
    if not is_there.any():
        return None
    rows_of = MeanRows(connection)
    within = MeanRows(geometry.chart) if geometry.torn is not None and len(geometry.torn) else None
    room, row, inner_row = rows_of.room(), *np.empty((2, len(embedding)))
    best, pair = (0.0, 0.0), None
    for source in _sources(embedding, is_there, voids[0].rim if voids else None):
        rows_of.measure(int(source), room, row)
        along = room.tree.distance.copy()
        is_fit = is_there & np.isfinite(row)
        if within is not None:  # a path that is not torn shows best
            within.measure(int(source), room, inner_row)
            is_fit &= room.tree.distance <= along * (1 + _ROUNDING)
        ends = np.flatnonzero(is_fit)
        longer = along[ends] - row[ends]
        longer[longer <= _ROUNDING * along[ends]] = 0
        end = np.lexsort((row[ends], longer))[-1]
        found = (float(longer[end]), float(row[ends[end]]))
        if found > best:
            best, pair = found, (int(source), int(ends[end]))
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
