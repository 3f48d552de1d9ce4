"""Landmarks, and the distances from each of them to every point."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.geodesics.rows import MeanRows, Rows
from ptunfold.kernels.trees import lengths_from
from ptunfold.progress import stage
from ptunfold.threads import Run
from ptunfold.types import Connection, FloatArray, Graph, IntArray

_MOST_TOGETHER = 128
_WITNESSES = 6
_MOST_CANDIDATES = 1 << 17  # points that landmarks are chosen among


def landmark_distances(
    connection: Connection,
    landmarks: IntArray,
    dtype: DTypeLike = np.float64,
    run: Run = Run(),
    *,
    rows_of: Rows | None = None,
) -> FloatArray:
    """Estimate the distances from given landmarks, (n_landmarks, n_points).

    Parameters are those of :func:`farthest_landmarks`.
    """
    rows_of = MeanRows(connection) if rows_of is None else rows_of
    rows = np.empty((len(landmarks), connection.graph.n_points), dtype=dtype)
    rows_of.fill(landmarks, rows, run)
    return rows


def _outermost(graph: Graph) -> int:
    """Choose a point at an end of the data, the same one in whatever order points are."""
    start = np.bincount(graph.tails, graph.lengths, minlength=graph.n_points).argmax()
    return int(lengths_from(graph, int(start)).argmax())


def farthest_landmarks(
    connection: Connection,
    n_landmarks: int,
    dtype: DTypeLike = np.float64,
    run: Run = Run(),
    *,
    rows_of: Rows | None = None,
) -> tuple[IntArray, FloatArray]:
    """Choose landmarks, each as far as possible from those before, and measure from them.

    The rows that the choice needs are those that are wanted. They are chosen as many at a time
    as are known, so that threads can share the work: the distance to one that is chosen but not
    yet measured is taken from below, by the triangle inequality. Chosen one by one they cover the
    data no better (measured: within 2 %). The choice does not depend on the number of threads.

    Of more than a hundred thousand points, every second, third, ... can be chosen: enough for any
    number of landmarks, and few enough to look at. So many points have been put in the order of a
    tree, where those next to each other are neighbours.

    The connection is connected. There are fewer landmarks if there are fewer distinct points to
    choose from; distances (n_landmarks, n_points) are means of both directions.
    """
    graph = connection.graph
    landmarks = np.empty(n_landmarks, dtype=np.int64)
    rows_of = MeanRows(connection) if rows_of is None else rows_of
    rows = np.empty((n_landmarks, graph.n_points), dtype=dtype)
    step = -(-graph.n_points // _MOST_CANDIDATES)
    some = rows[:, ::step]
    n_known, chosen = 0, [_outermost(graph)]
    least = np.full_like(some[0], np.inf)
    with stage("distances", n_landmarks, "landmarks", run.verbose) as bar:
        while chosen:
            together = slice(n_known, n_known + len(chosen))
            landmarks[together] = chosen
            rows_of.fill(landmarks[together], rows[together], run.quiet)
            for row in some[together]:
                np.minimum(least, row, out=least)
            n_known = together.stop
            bar.update(len(chosen))
            n_next = min(n_known, _MOST_TOGETHER, n_landmarks - n_known)
            chosen = [step * place for place in _farthest(least, some[:n_known], n_next)]
    return landmarks[:n_known], rows[:n_known]


def _farthest(least: FloatArray, rows: FloatArray, n_wanted: int) -> list[int]:
    """List the columns farthest from all landmarks and, as far as is known, from each other."""
    chosen: list[int] = []
    if n_wanted > 1:
        least = least.copy()
    while len(chosen) < n_wanted:
        farthest = int(least.argmax())
        if least[farthest] <= 0:
            break  # every place has its landmark
        chosen.append(farthest)
        if len(chosen) < n_wanted:
            known = rows[np.argsort(rows[:, farthest])[:_WITNESSES]]
            known -= known[:, [farthest]]
            np.minimum(least, np.abs(known, out=known).max(axis=0), out=least)
    return chosen
