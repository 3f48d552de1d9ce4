"""Nearest neighbours: exact, by tree or brute force, or approximate where that takes too long."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from joblib import cpu_count
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from ptunfold.caller import warn
from ptunfold.kernels.compiling import most_threads
from ptunfold.kernels.lengths import squared_lengths
from ptunfold.progress import stage
from ptunfold.threads import (
    Run,
    cut,
    effective_n_jobs,
    openmp_threads,
    run_blocks,
    single_threaded_blas,
)
from ptunfold.types import FloatArray, IntArray, Points, Space
from ptunfold.validation.values import SEARCHES, check_choice

# From queries (n_queries, n_features) and a number to indices (n_queries, number).
Search = Callable[[FloatArray, int], IntArray]

# Up to this many features a tree is quicker than brute force on whatever data.
_MOST_TREE_FEATURES = 15
# Up to this many products of coordinates plain matrix products are quicker than the start of
# scikit-learn's brute force on threads.
_MOST_PLAIN_PRODUCTS = 1_000_000_000
_MOST_TIES = 8
_CENTER = 65  # points whose median is in the middle of all, but for outliers
_PROBES = 256
# Products of coordinates of all pairs: about ten minutes on two cores. A tree needs few of them,
# if the data are of few dimensions.
_MOST_PRODUCTS, _FEW_DIMENSIONS = 1e13, 8
_SAMPLE, _SAMPLE_NEIGHBORS = 2000, 10
_LEAST_RECALL = 0.99
_ROWS_TOGETHER = 1 << 17
_FEW_ROWS = 1 << 12
_EDGES_TOGETHER = 1 << 17
_CHUNK_VALUES = 1 << 20
_COMPILES = "the first search of a process compiles for up to a minute"
_log = logging.getLogger("ptunfold")
# Queries of a block, which Ctrl-C has to wait for.
_VALUES_TOGETHER = 1 << 30
_PRODUCTS_TOGETHER = 1 << 34
# For each core: with fewer, scikit-learn's brute force takes half as long again.
_QUICK_QUERIES = 1280
_FEWEST_QUERIES = 64
_MOST_QUERIES = 512


def neighbor_lists(
    points: Points,
    n_neighbors: int,
    *,
    search: str = "auto",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> tuple[IntArray, IntArray]:
    """List the nearest other points of each point.

    Returns indptr and indices: the neighbours of point i are ``indices[indptr[i]:indptr[i + 1]]``,
    ``n_neighbors`` of them, and some more where neighbours tie with the last. Duplicates of a point
    are among its neighbours, itself never.
    """
    check_choice("search", search, SEARCHES)
    n_points = len(points)
    # A few more candidates than needed, measured again exactly: brute force rounds, trees break
    # ties as they come, and neither may decide who is a neighbour.
    n_candidates = min(n_neighbors + 1 + _MOST_TIES, n_points)
    n_jobs = effective_n_jobs(n_jobs)
    find = _search_among(points, n_candidates, search, n_jobs, verbose)
    counts = np.empty(n_points, dtype=np.int64)
    nearest: dict[int, IntArray] = {}  # by the first row of a block

    def choose(first: int, candidates: IntArray, part: slice) -> None:
        rows, some = np.arange(first + part.start, first + part.stop), candidates[part]
        squares = _squared_lengths(points, rows.repeat(n_candidates), some.ravel(), 1)
        squares = squares.reshape(some.shape)
        squares[some == rows[:, None]] = np.inf
        last = np.partition(squares, n_neighbors - 1, axis=1)[:, n_neighbors - 1 : n_neighbors]
        is_near = (squares <= last * (1 + 1e-12)) & (squares < np.inf)
        nearest[first + part.start] = some[is_near].astype(np.int32)
        counts[rows] = is_near.sum(axis=1)

    n_together = n_points if isinstance(points, Space) else _FEW_ROWS  # a metric is asked once
    for block in cut(n_points, _ROWS_TOGETHER):
        candidates = find(block)
        parts = cut(len(candidates), n_together)
        run_blocks(partial(choose, block.start, candidates), parts, Run(n_jobs))
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return indptr, np.concatenate([nearest[start] for start in sorted(nearest)])


def _search_among(
    points: Points, n_candidates: int, search: str, n_jobs: int, verbose: bool
) -> Callable[[slice], IntArray]:
    """Choose how to find candidates for a block of the points themselves."""
    if isinstance(points, Space):
        if search == "approximate":
            raise ValueError(
                'search="approximate" is for Euclidean distances; pass search="auto", or '
                "neighbours that were found elsewhere as graph=(indices, distances)"
            )
        space = points
        return lambda block: space.candidates(block, n_candidates)
    if search != "approximate":
        exact = exact_search(points, len(points), n_candidates, n_jobs)
        if search == "exact" or not _is_hard(points):
            return lambda block: exact(points[block], n_candidates)
        predicted = (
            f"exact neighbours of {len(points)} points in {points.shape[1]} dimensions take long"
        )
        try:
            found = _approximate_neighbors(points, n_candidates, n_jobs, verbose)
        except ImportError:
            warn(
                f"{predicted}; for approximate ones install pynndescent: "
                "pip install 'ptunfold[approximate]'"
            )
            return lambda block: exact(points[block], n_candidates)
        warn(f'{predicted}, so they are approximate; pass search="exact" to wait for them')
    else:
        found = _approximate_neighbors(points, n_candidates, n_jobs, verbose)
    return lambda block: found[block]


def _is_hard(points: FloatArray) -> bool:
    """Tell whether an exact search takes long, whatever the machine: of size and dimension alone.

    The dimension is that of the data, by maximum likelihood (Levina and Bickel), not of the space.
    """
    n_points, n_features = points.shape
    if n_features <= _MOST_TREE_FEATURES or float(n_points) ** 2 * n_features <= _MOST_PRODUCTS:
        return False
    chosen = np.random.default_rng(0).choice(n_points, min(_SAMPLE, n_points), replace=False)
    some = points[chosen].astype(np.float64)
    apart = np.sort(cdist(some, some), axis=1)[:, : _SAMPLE_NEIGHBORS + 1]
    apart = np.maximum(apart[:, 1:], np.finfo(float).tiny)
    slopes = np.log(apart[:, -1:] / apart[:, :-1]).mean(axis=1)
    return bool(np.median(slopes) * _FEW_DIMENSIONS < 1)


def _approximate_neighbors(
    points: FloatArray, n_candidates: int, n_jobs: int, verbose: bool = False
) -> IntArray:
    """Find candidates by neighbour descent, (n_points, n_candidates), and check a sample."""
    _log.info("approximate neighbours of %d points; %s", len(points), _COMPILES)
    with stage(f"neighbours ({_COMPILES})", None, "searches", verbose) as bar:
        found = _by_descent(points, n_candidates, n_jobs)
        bar.update()
    return found


def _by_descent(points: FloatArray, n_candidates: int, n_jobs: int) -> IntArray:
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise ImportError(
            "approximate neighbours need pynndescent: pip install 'ptunfold[approximate]'"
        ) from error
    # Three times as many as needed: near the end of the list it guesses.
    n_wide = min(3 * n_candidates, len(points))
    centred = points - np.median(points, axis=0)  # it computes in float32
    # It refuses more than Numba began with, which a process may be given later.
    threads = min(n_jobs, cpu_count(), most_threads())
    index = NNDescent(centred, n_neighbors=n_wide, random_state=0, n_jobs=threads)
    wide: IntArray = index.neighbor_graph[0].astype(np.int64)
    found = np.empty((len(points), n_candidates), dtype=np.int64)
    for block in cut(len(points), _ROWS_TOGETHER):
        rows = np.arange(block.start, block.stop)
        heads = np.maximum(wide[block], 0).ravel()
        squares = _squared_lengths(points, rows.repeat(n_wide), heads, n_jobs)
        squares = np.where(wide[block] < 0, np.inf, squares.reshape(-1, n_wide))
        best = np.argpartition(squares, n_candidates - 1, axis=1)[:, :n_candidates]
        found[block] = np.take_along_axis(wide[block], best, axis=1)
    sample = np.random.default_rng(0).choice(len(points), min(_PROBES, len(points)), replace=False)
    lost = np.flatnonzero((found < 0).any(axis=1))
    exact = _brute_force_search(points, n_jobs)
    if len(lost):
        found[lost] = exact(points[lost], n_candidates)
    # The last few candidates are a reserve; what counts are the nearest.
    n_nearest = max(n_candidates - _MOST_TIES, 2)
    true = exact(points[sample], n_nearest)
    n_found = sum(
        len(np.intersect1d(row, known)) for row, known in zip(found[sample], true, strict=True)
    )
    recall = n_found / true.size
    if recall < _LEAST_RECALL:
        warn(
            f"approximate search found only {recall:.1%} of the nearest neighbours of "
            f'{len(sample)} points of the data; pass search="exact", or a graph of your own'
        )
    return found


def nearest(
    points: FloatArray, queries: FloatArray, n_nearest: int, n_jobs: int | None = None
) -> IntArray:
    """Find the points nearest to each query, as indices (n_queries, n_nearest)."""
    search = exact_search(points, len(queries), n_nearest, effective_n_jobs(n_jobs))
    return search(queries, n_nearest)


def exact_search(
    points: FloatArray, n_queries: int, n_nearest: int, n_jobs: int, *, are_new: bool = False
) -> Search:
    """Choose the quicker exact search; the answers are the same.

    How hard a search is depends on the shape of the data more than on the number of features, so
    for many features both ways are tried on a few points, or between them if the queries will be
    new points: a tree finds a point that it knows at once.
    """
    n_features = points.shape[1]
    if n_features <= _MOST_TREE_FEATURES:
        return _tree_search(points, n_jobs)
    if len(points) * n_queries * n_features <= _MOST_PLAIN_PRODUCTS:
        return _brute_force_search(points, n_jobs, is_plain=True)
    rng = np.random.default_rng(0)
    sample = points[rng.integers(len(points), size=_PROBES)]
    if are_new:
        sample = 0.5 * (sample + points[rng.integers(len(points), size=_PROBES)])
    ways = _brute_force_search(points, n_jobs), _tree_search(points, n_jobs)
    ways[0](sample[:1], n_nearest)  # brute force starts its threads
    seconds = []
    for search in ways:
        start = time.perf_counter()
        search(sample, n_nearest)
        seconds.append(time.perf_counter() - start)
    return ways[int(np.argmin(seconds))]


def _tree_search(points: FloatArray, n_jobs: int) -> Search:
    tree = _tree(points)

    def search(queries: FloatArray, n_nearest: int) -> IntArray:
        return query_tree(tree, queries, n_nearest, n_jobs)[1]

    return search


def query_tree(
    tree: cKDTree, queries: FloatArray, n_nearest: int, n_jobs: int | None = None
) -> tuple[FloatArray, IntArray]:
    """Find the points of a tree nearest to each query: distances and indices, both (n, n_nearest).

    Not by SciPy's own threads, which after Ctrl-C go on with arrays that are no longer there.
    """
    distances = np.empty((len(queries), n_nearest))
    found = np.empty((len(queries), n_nearest), dtype=np.int64)

    def handle(block: slice) -> None:
        near = tree.query(queries[block], n_nearest)
        shape = found[block].shape
        distances[block], found[block] = near[0].reshape(shape), near[1].reshape(shape)

    # At worst a query looks at all points.
    size = min(max(_VALUES_TOGETHER // max(tree.n * tree.m, 1), _FEWEST_QUERIES), _MOST_QUERIES)
    run_blocks(handle, cut(len(queries), size), Run(n_jobs))
    return distances, found


def _brute_force_search(points: FloatArray, n_jobs: int, *, is_plain: bool = False) -> Search:
    # Brute force expands |x - y|², which far from the origin cancels all digits. The median stays
    # with the data where the mean follows an outlier.
    sample = points[np.random.default_rng(0).integers(len(points), size=min(_CENTER, len(points)))]
    center = np.median(sample.astype(np.float64), axis=0)
    centred = points - center
    if is_plain:
        find = _by_products(centred, n_jobs)
    else:
        engine = NearestNeighbors(algorithm="brute", n_jobs=n_jobs).fit(centred)
        find = partial(_by_brute_force, engine, n_jobs)

    def search(queries: FloatArray, n_nearest: int) -> IntArray:
        from_center = queries - center
        # Some more than needed: the expansion rounds.
        n_found = min(n_nearest + _MOST_TIES, len(centred))
        found, squares = find(from_center, n_found)
        order = np.argsort(squares, axis=1, kind="stable")
        found = np.take_along_axis(found, order, axis=1)
        squares = np.take_along_axis(squares, order, axis=1)
        rounding = 1e3 * np.finfo(np.float64).eps * np.square(from_center).sum(axis=1)
        rounding += 1e3 * np.finfo(np.float64).eps * squares[:, -1]
        # Those are measured again that rounding may have put in another order.
        apart = np.diff(squares[:, : n_nearest + 1], axis=1)
        unsure = np.flatnonzero((apart <= rounding[:, None]).any(axis=1))
        for block in cut(len(unsure), max(1, _CHUNK_VALUES // (n_found * centred.shape[1]))):
            some = unsure[block]
            offsets = centred[found[some]] - from_center[some, None]
            exact = np.einsum("ijk,ijk->ij", offsets, offsets)
            order = np.argsort(exact, axis=1, kind="stable")
            found[some] = np.take_along_axis(found[some], order, axis=1)
            # Where nothing but rounding tells them apart: all points, digit by digit.
            for query in some[exact.max(axis=1) <= rounding[some]]:
                all_squares = np.square(centred - from_center[query]).sum(axis=1)
                found[query] = np.argsort(all_squares, kind="stable")[:n_found]
        return found[:, :n_nearest]

    return search


def _by_brute_force(
    engine: NearestNeighbors, n_jobs: int, queries: FloatArray, n_found: int
) -> tuple[IntArray, FloatArray]:
    found = np.empty((len(queries), n_found), dtype=np.int64)
    lengths = np.empty((len(queries), n_found))
    for block in _brute_force_blocks(len(queries), engine.n_samples_fit_ * queries.shape[1]):
        with openmp_threads(n_jobs):
            lengths[block], found[block] = engine.kneighbors(queries[block], n_found)
    return found, np.square(lengths)


def _by_products(
    points: FloatArray, n_jobs: int
) -> Callable[[FloatArray, int], tuple[IntArray, FloatArray]]:
    """Search by matrix products, for points so few that threads of libraries take longer."""
    lengths = np.einsum("ij,ij->i", points, points)

    def search(queries: FloatArray, n_found: int) -> tuple[IntArray, FloatArray]:
        found = np.empty((len(queries), n_found), dtype=np.int64)
        squares = np.empty((len(queries), n_found))

        def handle(block: slice) -> None:
            apart = lengths - 2 * (queries[block] @ points.T)  # but for the length of the query
            if n_found < len(points):
                found[block] = np.argpartition(apart, n_found - 1, axis=1)[:, :n_found]
            else:
                found[block] = np.arange(n_found)
            squares[block] = np.take_along_axis(apart, found[block], axis=1)

        with single_threaded_blas():
            run_blocks(handle, cut(len(queries), _FEWEST_QUERIES), Run(n_jobs))
        return found, squares + np.einsum("ij,ij->i", queries, queries)[:, None]

    return search


def _brute_force_blocks(n_queries: int, n_values: int) -> list[slice]:
    """Cut queries into blocks of about a second, which Ctrl-C has to wait for."""
    size = max(_PRODUCTS_TOGETHER // max(n_values, 1), _FEWEST_QUERIES)
    if _QUICK_QUERIES * n_values <= 2 * _PRODUCTS_TOGETHER:
        size = max(size, _QUICK_QUERIES * cpu_count())
    n_blocks = max(n_queries // size, 1)
    return cut(n_queries, max(-(-n_queries // n_blocks), 1))


def nearest_among(
    points: Points, among: IntArray, queries: IntArray, count: int, n_jobs: int | None = None
) -> IntArray:
    """Find which of the points ``among`` are nearest to the points ``queries``, by their places."""
    if isinstance(points, Space):
        return points.nearest(among, queries, count)
    return nearest(points[among], points[queries], count, n_jobs)


def pairs_within(points: Points, radius: float, n_jobs: int | None = None) -> IntArray:
    """Find all pairs of points at most ``radius`` apart, give or take rounding, (n_pairs, 2)."""
    if isinstance(points, Space):
        return points.within(radius)
    radius = radius * (1 + 1e-6)
    if points.shape[1] <= _MOST_TREE_FEATURES:
        return _tree(points).query_pairs(radius, output_type="ndarray")
    centred = points.astype(np.float64) - np.median(points, axis=0)
    # Brute force rounds squares of the size of the data.
    rounding = 1e3 * np.finfo(np.float64).eps * np.square(centred).sum(axis=1).max()
    wide = float(np.sqrt(radius**2 + rounding))
    engine = NearestNeighbors(algorithm="brute", radius=wide, n_jobs=effective_n_jobs(n_jobs))
    with openmp_threads(n_jobs):
        matrix = engine.fit(centred).radius_neighbors_graph().tocoo()
    return np.column_stack((matrix.row, matrix.col))


def edge_lengths(
    points: Points, tails: IntArray, heads: IntArray, *, n_jobs: int | None = None
) -> FloatArray:
    """Measure the length of each edge in float64, (n_edges,)."""
    return np.sqrt(_squared_lengths(points, tails, heads, n_jobs))


def _squared_lengths(
    points: Points, tails: IntArray, heads: IntArray, n_jobs: int | None
) -> FloatArray:
    if isinstance(points, Space):
        return np.square(points.lengths(tails, heads))
    squares = np.empty(len(tails))

    def handle(block: slice) -> None:
        ends = (np.ascontiguousarray(end[block], dtype=np.int64) for end in (tails, heads))
        squared_lengths(points, *ends, squares[block])

    run_blocks(handle, cut(len(tails), _EDGES_TOGETHER), Run(n_jobs))
    return squares


def _tree(points: FloatArray) -> cKDTree:
    # Median splits degenerate where many values are equal; midpoint splits do not.
    return cKDTree(points, balanced_tree=False)


def distinct_places(points: Points) -> IntArray:
    """Tell the place of each point, (n_points,); copies of a point share a place.

    A place has the index of the first point in it.

    Examples
    --------
    >>> distinct_places(np.array([[0.0], [1.0], [0.0], [2.0], [1.0]]))
    array([0, 1, 0, 3, 1])
    """
    if isinstance(points, Space):
        return points.places
    places = np.arange(len(points))
    # Copies have the same projection on any direction; sorting numbers is cheaper than rows.
    direction = np.random.default_rng(0).standard_normal((1, points.shape[1]))
    projection = np.concatenate([(chunk * direction).sum(axis=1) for chunk in _chunks(points)])
    ranked = np.sort(projection)
    twice = ranked[1:][ranked[1:] == ranked[:-1]]
    if len(twice) == 0:
        return places
    suspects = np.flatnonzero(np.isin(projection, twice))
    _, first, which = np.unique(points[suspects], axis=0, return_index=True, return_inverse=True)
    places[suspects] = suspects[first[which.ravel()]]
    return places


def _chunks(points: FloatArray) -> list[FloatArray]:
    n_rows = max(1, (1 << 22) // points.shape[1])
    return [points[start : start + n_rows] for start in range(0, len(points), n_rows)]
