"""Graphs, and cuts, judged by the pictures that they lead to."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh
from scipy.spatial import cKDTree

from ptunfold.embedding.landmark_scaling import landmark_mds
from ptunfold.embedding.relaxation import relax
from ptunfold.geodesics.rows import MeanRows
from ptunfold.geometry.components import join_components
from ptunfold.geometry.order import sample
from ptunfold.kernels.compiling import loading
from ptunfold.kernels.inputs import graph_arrays
from ptunfold.kernels.lanes import LANES
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import BoolArray, Connection, FloatArray, Graph, IntArray, Points, Space
from ptunfold.validation.records import known_good

Teller = Callable[[Graph], float]

_SHOWN, _LANDMARKS = 2000, 200
_NEAREST = 10
# Of the variance, more that is told: less is chance, of few points two and a half times as much.
_CLEARLY, _CLEARLY_OF_FEW = 0.005, 0.0125
# What decides between numbers of neighbours, neither of which opens a ring; 0.005 chose worse.
BARELY = 0.0005
# Of lengths, less that is wrong: noisy cylinders and tori that are cut open have 0.2 and more,
# molecules 0.1, tori of revolution and Klein bottles nothing.
_MUCH_FLATTER, _SOURCES = 0.15, 100
# Of all lengths, by how much less those along the graph are off, and of what is unfolded, how much:
# sheets of most kinds have 0.93 and more, petals of few points 0.036 less and 0.4 at least; knots
# and helices that are taken for sheets 0.04 to 0.2 less and 0.01 to 0.2, solids of three torsions
# mostly 0.05 less and half as much.
_FLATTER_BY, _FAR_FLATTER = 0.04, 0.6
_FEW_POINTS, _POINTS_A_NEIGHBOR = 150, 15
# Numbers of neighbours that are tried instead of ten.
FEWER = (7, 5)


def fewer_neighbors(n_points: int) -> int:
    """Return how many neighbours are tried at least, instead of ten."""
    if are_few(n_points):
        return min(max(n_points // _POINTS_A_NEIGHBOR, FEWER[-1]), n_points - 1)
    return FEWER[-1]


def is_truer(
    ones: Sequence[Graph],
    others: Sequence[Graph],
    tell: Teller,
    by: float | None = None,
) -> bool:
    """Tell whether the best picture of some graphs tells more of the data: `teller`.

    Clearly more, unless it is said by how much of the variance.
    """
    by = _clearly(ones[0].n_points) if by is None else by
    return max(map(tell, ones)) > max(map(tell, others)) + by


def _clearly(n_points: int) -> float:
    """Return how much more of the variance is no chance."""
    return _CLEARLY_OF_FEW if are_few(n_points) else _CLEARLY


def are_few(n_points: int) -> bool:
    """Tell whether points are too few for a look at their picture."""
    return n_points < _FEW_POINTS


def teller(points: Points, dim: int, n_jobs: int | None = None) -> Teller:
    """Return what measures the share of the variance that the picture of a graph tells.

    Edges that jump, or are missing, lead to a picture in which points are next to each other that
    are not alike. So the better graph is the one whose picture, of ``dim`` dimensions, tells more
    of the data: from the nearest in the picture, what a point itself is like. Each graph is
    measured once.
    """
    shown = sample(points, _SHOWN)
    exact = _centred(points, shown)

    @cache
    def told(graph: Graph) -> float:
        return _share(exact, _picture_of_lengths(points, graph, shown, dim, n_jobs))

    return told


def judge_of_places(points: Points) -> Callable[[FloatArray, FloatArray], bool]:
    """Return what tells whether places (n_points, c) tell clearly more of the data than others."""
    shown = sample(points, _SHOWN)
    exact, by = _centred(points, shown), _clearly(len(shown))

    def is_truer_picture(places: FloatArray, others: FloatArray) -> bool:
        return _share(exact, places[shown]) > _share(exact, others[shown]) + by

    return is_truer_picture


def _picture_of_lengths(
    points: Points, graph: Graph, shown: IntArray, dim: int, n_jobs: int | None
) -> FloatArray:
    """Draw some points, by lengths along a graph from a few of them, (n_shown, dim)."""
    with loading:  # they are tried when imported
        from ptunfold.kernels.batches import new_batch, shortest_paths

    # Who takes the graph is told about its components.
    graph, _ = join_components(points, graph, "bridge", n_jobs, say=lambda _: None)
    landmarks = np.arange(0, len(shown), -(-len(shown) // _LANDMARKS))
    lengths = np.empty((len(landmarks), len(shown)))
    places = np.zeros(graph.n_edges, dtype=np.uint16)  # nobody asks for the paths
    per_width = 1 / max(float(np.median(graph.lengths)), np.finfo(float).tiny)

    def measure(block: slice) -> None:
        batch = new_batch(graph.n_points, 0, 0)
        batch.sources[:] = np.resize(shown[landmarks[block]], LANES)
        shortest_paths(graph_arrays(graph), places, per_width, batch)
        lengths[block] = batch.labels[shown, : block.stop - block.start].T

    run_blocks(measure, cut(len(landmarks), LANES), Run(n_jobs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        picture = landmark_mds(lengths, landmarks, dim).coordinates
        return relax(lengths, landmarks, picture, n_jobs=n_jobs)


def is_flatter(whole: Connection, cut: Connection, *, dim: int, n_jobs: int | None = None) -> bool:
    """Tell whether a sheet that is cut has a picture whose lengths are much less wrong."""
    strains = [_strain(connection, dim, n_jobs) for connection in (whole, cut)]
    return strains[0] > strains[1] + _MUCH_FLATTER


def is_strained_by_turns(
    connection: Connection, n_sources: int, *, n_jobs: int | None = None
) -> bool:
    """Tell whether lengths along the same edges are far flatter than those that are unfolded.

    A sheet has the same strain by both, or more by lengths, which bend around holes. Planes that
    turn at random, as along a thick curve that is taken for a sheet, wind the paths up.
    """
    dim = connection.intrinsic_dim
    unfolded = _strain(connection, dim, n_jobs, n_sources)
    if unfolded <= _FLATTER_BY:
        return False
    along = _strain(_without_turns(connection), dim, n_jobs, n_sources)
    return along < min(unfolded - _FLATTER_BY, _FAR_FLATTER * unfolded)


def _without_turns(connection: Connection) -> Connection:
    """Return the connection with nothing carried on, so that distances are lengths of paths."""
    nothing = np.zeros(connection.graph.n_edges)
    return known_good(replace(connection, coherence=nothing, curvature=None))


def tells_less(
    points: Points, connection: Connection, graphs: Iterable[Graph], dim: int, n_jobs: int | None
) -> bool:
    """Tell whether what is unfolded tells clearly less of the data than one of some graphs."""
    shown, _, _, picture = _picture(connection, dim, _LANDMARKS, n_jobs)
    unfolded = _share(_centred(points, shown), picture)
    tell = teller(points, dim, n_jobs)
    return any(tell(graph) > unfolded + _CLEARLY for graph in graphs)


def is_less_flat(connection: Connection, *, dim: int, n_jobs: int | None = None) -> bool:
    """Tell whether unfolded lengths are less flat than those along the same edges.

    Unfolding takes away what bends around holes add to lengths, and so lays sheets flat. Of what is
    no sheet, as a thick ring in many dimensions, it winds up what goes around.
    """
    both = connection, _without_turns(connection)
    unfolded, along = (_flatness(one, dim, n_jobs) for one in both)
    return unfolded < along


def _flatness(connection: Connection, dim: int, n_jobs: int | None) -> float:
    """Measure which share of the spectrum the first eigenvalues have, of some distances."""
    _, sources, lengths = _lengths(connection, _LANDMARKS, n_jobs)
    if len(sources) <= dim:
        return 0.0
    inner = lengths[:, sources] ** 2
    inner += inner.T
    for axis in (0, 1):
        inner -= inner.mean(axis=axis, keepdims=True)
    eigenvalues = eigvalsh(-inner)
    return float(eigenvalues[-dim:].sum() / np.abs(eigenvalues).sum())


def _strain(
    connection: Connection, dim: int, n_jobs: int | None, n_sources: int = _SOURCES
) -> float:
    """Measure how far lengths in a picture of some points are off, relative to all of them."""
    _, sources, lengths, picture = _picture(connection, dim, n_sources, n_jobs)
    if not len(sources):
        return np.inf
    off = np.linalg.norm(picture[sources][:, None] - picture, axis=2) - lengths
    return float(np.linalg.norm(off) / np.linalg.norm(lengths))


def _picture(
    connection: Connection, dim: int, n_sources: int, n_jobs: int | None
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Draw some points, by unfolded lengths from a few of them: `_lengths`, and places."""
    shown, sources, lengths = _lengths(connection, n_sources, n_jobs)
    if len(sources) <= dim:
        return shown[:0], sources[:0], lengths, np.empty((0, dim))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        picture = landmark_mds(lengths, sources, dim).coordinates
    return shown, sources, lengths, picture


def _lengths(
    connection: Connection, n_sources: int, n_jobs: int | None
) -> tuple[IntArray, IntArray, FloatArray]:
    """Unfold paths to some points from a few of them.

    Returns the points, which of them are sources, and the lengths (n_sources, n_shown).
    """
    graph, n_points = connection.graph, connection.graph.n_points
    # Whatever the order of the points is.
    order = np.argsort(np.bincount(graph.tails, graph.lengths, n_points), kind="stable")
    shown = order[np.linspace(0, n_points - 1, min(_SHOWN, n_points)).astype(np.int64)]
    sources = np.linspace(0, len(shown) - 1, min(n_sources, len(shown))).astype(np.int64)
    rows = np.empty((len(sources), n_points))
    MeanRows(connection).fill(shown[sources], rows, Run(n_jobs))
    # Single points may be alone, as after a cut.
    is_far: BoolArray = np.asarray(np.isinf(rows).mean(axis=1) > 0.5)
    sources, rows = sources[~is_far], rows[~is_far]
    is_there: BoolArray = np.asarray(np.isfinite(rows[:, shown]).all(axis=0))
    return shown[is_there], np.cumsum(is_there)[sources] - 1, rows[:, shown[is_there]]


def _centred(points: Points, shown: IntArray) -> FloatArray:
    """Return some points, from their middle."""
    exact = (points.view if isinstance(points, Space) else points)[shown].astype(np.float64)
    exact -= exact.mean(axis=0)
    return exact


def _share(exact: FloatArray, picture: FloatArray) -> float:
    """Measure the share of the variance of points from their middle that places tell."""
    if len(exact) <= _NEAREST:
        return 0.0
    n_shown, near = len(exact), cKDTree(picture).query(picture, _NEAREST + 1)[1]
    indptr, shares = np.arange(n_shown + 1) * _NEAREST, np.full(n_shown * _NEAREST, 1 / _NEAREST)
    means = sparse.csr_array((shares, near[:, 1:].ravel(), indptr), shape=(n_shown, n_shown))
    off = means @ exact
    off -= exact
    return float(1 - np.vdot(off, off) / np.vdot(exact, exact))
