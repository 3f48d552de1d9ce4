"""Blocks of queries, and pairs, by themselves."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold.geometry import neighbors
from ptunfold.geometry.neighbors import (
    _brute_force_blocks,
    distinct_places,
    edge_lengths,
    nearest_among,
    pairs_within,
)


@pytest.fixture
def small(monkeypatch):
    for name, value in (
        ("_PRODUCTS_TOGETHER", 1000),
        ("_FEWEST_QUERIES", 4),
        ("_QUICK_QUERIES", 10),
    ):
        monkeypatch.setattr(neighbors, name, value)
    monkeypatch.setattr(neighbors, "cpu_count", lambda: 2)


@pytest.mark.parametrize(
    ("n_queries", "n_values", "sizes"),
    [
        (25, 500, [13, 12]),  # 4 at a time at least: 6 blocks, all of about the same size
        (25, 100, [25]),
        (47, 100, [24, 23]),  # 20 at once, where that is quick
        (3, 10**6, [3]),
        (0, 10, []),
        (5, 0, [5]),
    ],
)
def test_queries_are_cut_evenly(small, n_queries, n_values, sizes):
    blocks = _brute_force_blocks(n_queries, n_values)
    covered = [query for block in blocks for query in range(block.start, block.stop)]
    assert covered == list(range(n_queries))
    if n_values != 500:
        assert [block.stop - block.start for block in blocks] == sizes
    else:
        assert max(block.stop - block.start for block in blocks) <= 2 * 4


@pytest.mark.parametrize("n_features", [2, 40])
def test_pairs_and_nearest_are_those_of_all_distances(n_features):
    points = np.random.default_rng(0).normal(size=(60, n_features)) + 50
    apart = cdist(points, points)
    radius = apart[3, 17]
    found = np.sort(pairs_within(points, radius), axis=1)
    found = np.unique(found[found[:, 0] < found[:, 1]], axis=0)
    np.testing.assert_array_equal(found, np.argwhere(np.triu(apart <= radius, 1)))
    among, queries = np.arange(0, 60, 2), np.arange(1, 30, 2)
    expected = np.argsort(apart[np.ix_(queries, among)], axis=1)[:, :3]
    np.testing.assert_array_equal(nearest_among(points, among, queries, 3), expected)
    tails, heads = np.triu_indices(60, 1)
    np.testing.assert_allclose(edge_lengths(points, tails, heads), apart[tails, heads])


def test_copies_among_points_with_the_same_projection():
    points = np.random.default_rng(0).normal(size=(40, 3))
    points[[7, 20, 39]] = points[3]
    points[11] = points[30]
    expected = np.arange(40)
    expected[[7, 20, 39]], expected[30] = 3, 11
    np.testing.assert_array_equal(distinct_places(points), expected)
