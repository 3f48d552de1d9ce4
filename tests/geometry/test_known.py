"""Points of which some distances are known, against shortest paths along them."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist

from ptunfold import build_graph, metric_space
from ptunfold.geometry import known
from ptunfold.geometry.known import Known

N = 50
POINTS = np.random.default_rng(0).uniform(size=(N, 2))
APART = cdist(POINTS, POINTS)
IS_KNOWN = np.sort(APART, axis=1)[:, [6]] >= APART
IS_KNOWN = (IS_KNOWN | IS_KNOWN.T) & ~np.eye(N, dtype=bool)
SOME = sparse.csr_array(np.where(IS_KNOWN, APART, 0))
PATHS = csgraph.dijkstra(SOME)
PAIRS = np.triu_indices(N, 1)


@pytest.fixture(params=[256, 1, 7])
def rows_together(request, monkeypatch):
    monkeypatch.setattr(known, "_ROWS_TOGETHER", request.param)


def kept(space):
    """Return all distances that are kept, NaN where none is."""
    found = np.full((N, N), np.nan)
    found[np.divmod(space._kept.keys, N)] = space._kept.values
    return found


def test_what_is_not_known_is_the_shortest_path(rows_together):
    space = Known(SOME)
    np.testing.assert_allclose(space.lengths(*PAIRS), PATHS[PAIRS])
    np.testing.assert_allclose(space.lengths(*PAIRS[::-1]), PATHS[PAIRS])
    np.testing.assert_allclose(space.row(3), PATHS[3])
    found = space.find(np.array([4, 1, 4, 9]), np.array([5, 30, 49, 10]))  # in their order
    np.testing.assert_allclose(found, PATHS[[4, 1, 4, 9], [5, 30, 49, 10]])
    # Distances, their keys and heads, and the matrix and its ways, each with its indices.
    held = 3 * 8 * len(space._kept.keys)
    assert held + 2 * SOME.data.nbytes < space.nbytes < held + 5 * SOME.data.nbytes


def test_what_is_known_stays_where_a_path_is_shorter():
    matrix = SOME.toarray()
    tail, head = np.argwhere(IS_KNOWN)[0]
    matrix[tail, head] = matrix[head, tail] = 9.0
    space = Known(sparse.csr_array(matrix))
    assert space.lengths(np.array([tail]), np.array([head])) == 9.0
    assert len(np.unique(space._kept.keys)) == len(space._kept.keys)  # each once


def test_what_is_near_is_completed_at_once(monkeypatch, rows_together):
    monkeypatch.setattr(known, "_FARTHER", 2.0)
    space = Known(SOME)
    limit = 2 * np.quantile(np.where(IS_KNOWN, APART, 0).max(axis=1), 0.9)
    expected = np.where(np.triu(IS_KNOWN | (limit >= PATHS), 1), PATHS, np.nan)
    assert np.isnan(expected[PAIRS]).any()
    np.testing.assert_allclose(kept(space), expected)
    # And the rest when it is asked for, once.
    asked, find = [], space.find
    monkeypatch.setattr(space, "find", lambda *ends: asked.append(ends) or find(*ends))
    for _ in range(2):
        np.testing.assert_allclose(space.lengths(*PAIRS), PATHS[PAIRS])
    assert len(asked) == 1
    is_far = np.isnan(expected[PAIRS])
    np.testing.assert_array_equal(asked[0], np.array(PAIRS)[:, is_far])


def test_so_many_are_completed_at_each_point(monkeypatch):
    monkeypatch.setattr(known, "_ROWS_TOGETHER", 1)
    monkeypatch.setattr(known, "_MOST_COMPLETED", 12)
    found = kept(Known(SOME))
    for row in range(N):
        later = np.arange(row + 1, N)
        nearest = later[np.argsort(PATHS[row, later])[:12]]
        expected = {*nearest.tolist(), *later[IS_KNOWN[row, later]].tolist()}
        assert set(np.flatnonzero(np.isfinite(found[row])).tolist()) == expected


def test_nothing_is_completed_of_a_whole_matrix(monkeypatch):
    monkeypatch.setattr(known.csgraph, "dijkstra", None)
    space = Known(sparse.csr_array(APART))
    np.testing.assert_array_equal(space.lengths(*PAIRS), APART[PAIRS])


def test_points_without_any_distance():
    matrix = SOME.toarray()
    matrix[[5, N - 1]] = 0
    matrix[:, [5, N - 1]] = 0
    space = Known(sparse.csr_array(matrix))
    assert np.isinf(space.lengths(np.array([5]), np.array([6])))
    found = space.candidates(slice(4, 7), 3)
    np.testing.assert_array_equal(found[1], [5, 5, 5])


def test_a_stored_zero_is_a_distance():
    line = sparse.csr_array(
        (np.array([2.0, 0, 3, 2, 0, 3]), ([0, 1, 2, 1, 2, 3], [1, 2, 3, 0, 1, 2])), shape=(4, 4)
    )
    space = Known(line)
    expected = cdist(*2 * [np.array([[0.0], [2], [2], [5]])])
    tails, heads = np.triu_indices(4, 1)
    np.testing.assert_allclose(space.lengths(tails, heads), expected[tails, heads], atol=1e-9)
    np.testing.assert_allclose(space.row(0), expected[0], atol=1e-9)
    np.testing.assert_array_equal(space.places, [0, 1, 1, 3])
    np.testing.assert_array_equal(Known(SOME).places, np.arange(N))


def test_neighbours_are_among_what_is_known():
    space = Known(SOME)
    found = space.candidates(slice(10, 20), 5)
    assert found.shape == (10, 5)
    distances = np.where(IS_KNOWN, APART, np.inf)
    for row, node in zip(found, range(10, 20), strict=True):
        assert {*row.tolist()} == {node, *np.argsort(distances[node])[:4].tolist()}
    # Itself where they are fewer.
    wide = space.candidates(slice(10, 12), N)
    for row, node in zip(wide, (10, 11), strict=True):
        near = np.argsort(distances[node])[: IS_KNOWN[node].sum()]
        np.testing.assert_array_equal(row, [*near, *(N - len(near)) * [node]])


def test_pairs_within_a_radius_are_known_ones():
    radius = np.sort(SOME.data)[SOME.nnz // 2]  # itself a distance
    expected = np.argwhere(np.triu(IS_KNOWN & (radius >= APART), 1))
    assert 0 < len(expected) < IS_KNOWN.sum() / 2
    np.testing.assert_array_equal(Known(SOME).within(radius), expected)


def test_neighbours_on_the_other_side_go_along_paths():
    space, among, queries = Known(SOME), np.arange(0, N, 2), np.arange(1, 20, 2)
    found = space.nearest(among, queries, 1)[:, 0]
    np.testing.assert_array_equal(found, PATHS[np.ix_(queries, among)].argmin(axis=1))
    two = Known(sparse.csr_array(sparse.block_diag((SOME, SOME))))
    with pytest.raises(ValueError, match="2 parts with no distance known"):
        two.nearest(among, queries, 1)


def test_no_bound_is_longer_than_a_path():
    space = Known(SOME)
    assert (cdist(space.bound, space.bound) <= PATHS + 1e-12).all()
    assert not space._has_true_view
    assert not Known(sparse.csr_array(APART))._has_true_view


def test_some_of_the_points_know_what_is_between_them():
    nodes = np.array([9, 2, 30, 17])
    part = Known(SOME).among(nodes)
    np.testing.assert_array_equal(part.matrix.toarray(), SOME.toarray()[np.ix_(nodes, nodes)])
    assert len(part) == 4


def test_what_is_missing_inside_neighbourhoods_is_counted():
    space = Known(SOME)
    assert space.said() == []
    rows = np.random.default_rng(0).permuted(np.tile(np.arange(N), (6, 1)), axis=1)[:, :5]
    squares = space.squares(rows, rows)
    expected = np.square(PATHS[rows[:, :, None], rows[:, None, :]])
    np.testing.assert_allclose(squares, expected)
    pairs = [(one, other) for row in rows for one in row for other in row if one < other]
    missing = sum(not IS_KNOWN[pair] for pair in pairs)
    assert (space.n_asked, space.n_missing) == (60, missing)
    share = round(100 * missing / 60)
    assert space.said()[0].startswith(f"{missing} of 60 distances inside neighbourhoods ({share}%)")
    # Between neighbourhoods nothing is said.
    np.testing.assert_allclose(space.squares(rows, rows.copy()), expected)
    assert space.n_asked == 60
    whole = Known(sparse.csr_array(APART))
    whole.squares(rows, rows)
    assert whole.said() == []


def test_few_are_completed_where_memory_is_short(monkeypatch):
    """The others are found when they are asked for: the same distances."""
    monkeypatch.setattr(known, "_FARTHER", 1e9)
    whole = Known(SOME)
    monkeypatch.setattr(known, "free_bytes", lambda: 20 * N * known._A_PAIR)  # a quarter is taken
    short = Known(SOME)
    assert len(short._kept.keys) <= 6 * N + len(short._given) < len(whole._kept.keys)
    np.testing.assert_array_equal(short.lengths(*PAIRS), whole.lengths(*PAIRS))


def test_nothing_known_at_all():
    space = Known(sparse.csr_array((3, 3)))
    assert np.isinf(space.lengths(np.array([0]), np.array([1])))


def test_what_is_known_of_a_copy_is_known_of_its_place():
    # A star whose middle is there twice, and everything known from the second.
    ends, apart = [(0, 1)] + [(1, leaf) for leaf in range(2, 8)], [0.0, *range(1, 7)]
    rows, columns = np.array(ends).T
    once = sparse.coo_array((np.array(apart), (rows, columns)), shape=(8, 8))
    both = sparse.coo_array(
        (np.tile(apart, 2), (np.append(rows, columns), np.append(columns, rows))), shape=(8, 8)
    )
    space = Known(both.tocsr())
    assert space.places.tolist() == [0, 0, *range(2, 8)]
    some = space.among(np.array([0, *range(2, 8)]))
    assert some.matrix.nnz == 12
    np.testing.assert_array_equal(some.matrix[[0]].toarray()[0], range(7))
    graph = build_graph(metric_space(once, "precomputed"), 3)
    assert not graph.component_labels.any()


def test_of_several_distances_between_places_the_shortest_holds():
    near = np.array([[0, 0, 3.0], [0, 0, 2.0], [3.0, 2.0, 0]])
    rows, columns = np.nonzero(~np.eye(3, dtype=bool))
    space = Known(sparse.csr_array((near[rows, columns], (rows, columns)), shape=(3, 3)))
    assert space.among(np.array([0, 2])).matrix.toarray().tolist() == [[0, 2], [2, 0]]
