"""How far the picture can be trusted, point by point: what it did to edges, what paths say."""

from __future__ import annotations

import numpy as np

from ptunfold.geodesics.paths import both_directions
from ptunfold.kernels.development import ways_agree
from ptunfold.kernels.inputs import connection_arrays, kept_of
from ptunfold.threads import Run, check_not_stopped, cut, run_blocks
from ptunfold.types import Connection, FloatArray, IntArray
from ptunfold.validation.records import check_connection

_EDGES_TOGETHER = 1 << 20  # bounds memory
_N_SOURCES = 12
_ROUNDING = 1e-12


def point_scores(
    connection: Connection, embedding: FloatArray, *, n_jobs: int | None = None
) -> dict[str, FloatArray]:
    """Return all scores of single points by their names, as :meth:`ptunfold.PTU.scores` does."""
    connection = check_connection(connection)
    return {
        "local distortion": local_distortion(connection, embedding),
        "disagreement": disagreement(connection, n_jobs=n_jobs),
        "coherence": coherence(connection),
    }


def coherence(connection: Connection) -> FloatArray:
    """Tell how far the unfolding can be believed around each point, (n_points,) from 0 to 1.

    The mean of what is carried over the edges at the point. NaN at points without an edge.
    """
    graph = connection.graph
    degrees = np.diff(graph.indptr)
    kept = np.bincount(graph.tails, kept_of(connection), minlength=graph.n_points)
    return np.divide(kept, degrees, out=np.full(graph.n_points, np.nan), where=degrees > 0)


def local_distortion(connection: Connection, embedding: FloatArray) -> FloatArray:
    """Measure how much the embedding stretches or squeezes the edges at each point, (n_points,).

    The root mean square of relative errors: 0.1 means that the ways to the neighbours are about
    10 % too long or too short. NaN at points without a place, or without an edge that leads to
    another place.
    """
    graph = connection.graph
    total = np.zeros(graph.n_points)
    count = np.zeros(graph.n_points)
    for start in range(0, graph.n_edges, _EDGES_TOGETHER):
        check_not_stopped()
        edges = slice(start, start + _EDGES_TOGETHER)
        tails, heads = graph.tails[edges], graph.indices[edges]
        lengths = np.linalg.norm(connection.steps[edges], axis=1)
        shown = np.linalg.norm(embedding[tails] - embedding[heads], axis=1)
        is_long = lengths > 0  # copies of a point say nothing
        errors = (shown[is_long] / lengths[is_long] - 1) ** 2
        total += np.bincount(tails[is_long], errors, minlength=graph.n_points)
        count += np.bincount(tails[is_long], minlength=graph.n_points)
    mean = np.divide(total, count, out=np.full(graph.n_points, np.nan), where=count > 0)
    # A copy of a point is joined with nothing else, and fares like it.
    copies = np.flatnonzero((count == 0) & (np.diff(graph.indptr) > 0))
    mean[copies] = mean[graph.indices[graph.indptr[copies]]]
    return np.sqrt(mean)


def disagreement(
    connection: Connection, sources: IntArray | None = None, *, n_jobs: int | None = None
) -> FloatArray:
    """Measure how much the two directions of paths to each point disagree, (n_points,).

    A path is unfolded from either end. On flat data both give the same distance; where they
    differ, the frames on the way do not fit together, because of noise, curvature or shortcuts.
    With arcs as steps they always agree, seen from one of them; where coherence is below 1, paths
    that begin at the other end may still be a little longer or shorter. The mean relative
    difference over paths from ``sources``, a dozen points by default; NaN where no path leads.
    """
    n_points = connection.graph.n_points
    has_edge = np.diff(connection.graph.indptr) > 0
    do_agree = ways_agree(connection_arrays(connection))
    if sources is None and do_agree:
        return np.where(has_edge, 0.0, np.nan)
    if sources is None:
        nodes = np.flatnonzero(has_edge)
        wanted = min(_N_SOURCES, len(nodes))
        sources = np.random.default_rng(0).choice(nodes, wanted, replace=False)
    if do_agree:
        labels = connection.graph.component_labels
        return np.where(np.isin(labels, labels[sources]), 0.0, np.nan)
    found = np.full((len(sources), n_points), np.nan)

    def handle(block: slice) -> None:
        for row in range(block.start, block.stop):
            forward, backward = both_directions(connection, int(sources[row]))
            mean = 0.5 * (forward + backward)
            is_there = np.isfinite(mean) & (mean > 0)
            gap = np.abs(forward[is_there] - backward[is_there]) / mean[is_there]
            found[row, is_there] = np.where(gap < _ROUNDING, 0, gap)

    run_blocks(handle, cut(len(sources), 1), Run(n_jobs))
    n_found = np.isfinite(found).sum(axis=0)
    total = np.nansum(found, axis=0)
    return np.divide(total, n_found, out=np.full(n_points, np.nan), where=n_found > 0)
