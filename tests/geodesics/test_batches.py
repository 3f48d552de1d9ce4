"""Batches of sources against one tree at a time."""

import numpy as np
import pytest
from scipy import sparse

from ptunfold import (
    Connection,
    build_graph,
    connect,
    estimate_frames,
    geodesic_distances,
    graph_from_matrix,
    transport_distances,
)
from ptunfold.datasets import flat_square, s_with_hole
from ptunfold.geodesics import distances as distances_module
from ptunfold.geodesics import rows as rows_module
from ptunfold.geodesics.arrangement import arrange
from ptunfold.geodesics.distances import OneWayRows, fold_directions
from ptunfold.geodesics.squares import BAND, new_bands
from ptunfold.threads import Run
from tests.oracle import random_connection


def one_by_one(connection):
    """All distances from trees of single sources, both directions from the tree of the row."""
    return transport_distances(connection, np.arange(connection.graph.n_points))


def sheet_connection(points, n_neighbors=10, dim=2):
    graph = build_graph(points, n_neighbors)
    return connect(points, graph, estimate_frames(points, graph, 12, dim))


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n_points", [17, 60, 130])
def test_equal_to_single_trees_on_random_graphs(dim, n_points):
    *_, connection = random_connection(dim, seed=n_points, n_points=n_points)
    np.testing.assert_allclose(
        transport_distances(connection), one_by_one(connection), rtol=1e-11, atol=1e-14
    )


def test_equal_to_single_trees_on_a_sheet():
    connection = sheet_connection(s_with_hole(500, seed=2).points)
    np.testing.assert_allclose(
        transport_distances(connection), one_by_one(connection), rtol=1e-11, atol=1e-14
    )


def test_one_way_rows_lead_to_the_source():
    """Row i holds what every other point sees of i: the transpose of the textbook's one-way."""
    from tests.oracle import algorithm_2

    points, graph, frames, connection = random_connection(2, seed=3)
    _, one_way, _ = algorithm_2(points, graph, frames)
    arrangement = arrange(connection, np.arange(60))
    rows_of = OneWayRows(arrangement.connection, arrangement.position)
    rows = np.empty((60, 60))
    for block in rows_of.blocks:
        rows_of.write(block, rows, 0)
    np.testing.assert_allclose(rows, one_way.T, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("n_batches", [1, 2, 5])
def test_block_size_does_not_change_a_bit(monkeypatch, n_batches):
    connection = sheet_connection(s_with_hole(300).points)
    expected = transport_distances(connection)
    monkeypatch.setattr(rows_module, "_MOST_BATCHES", n_batches)
    np.testing.assert_array_equal(transport_distances(connection, n_jobs=2), expected)


def test_block_size_does_not_change_a_bit_where_paths_tie(monkeypatch):
    grid = np.stack(np.meshgrid(np.arange(15.0), np.arange(15.0)), axis=-1).reshape(-1, 2)
    bent = np.column_stack((grid, 0.02 * grid[:, 0] ** 2))
    connection = sheet_connection(bent, n_neighbors=6)
    expected = transport_distances(connection)
    monkeypatch.setattr(rows_module, "_MOST_BATCHES", 1)
    np.testing.assert_array_equal(transport_distances(connection, n_jobs=3), expected)


def test_ties_on_a_flat_grid_are_exact():
    grid = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=-1).reshape(-1, 2)
    exact = np.linalg.norm(grid[:, None] - grid[None], axis=2)
    connection = sheet_connection(grid, n_neighbors=4)
    np.testing.assert_allclose(transport_distances(connection), exact, atol=1e-9)


def test_lengths_of_very_different_size():
    """Edges beyond the last bucket wait; bridges a million times the median are no problem."""
    points = np.random.default_rng(0).random((120, 2))
    points[40:80] += 1e6
    points[80:] += [0, 3e9]
    with pytest.warns(UserWarning, match="joined by 3 edges"):
        distances = geodesic_distances(points, n_neighbors=6)
    exact = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.testing.assert_allclose(distances, exact, rtol=0, atol=1e-9 * exact.max())


def test_copies_of_points_are_merged_and_come_back():
    data = s_with_hole(200, seed=1)
    copies = np.concatenate((data.points, data.points[:30], data.points[:10]))
    connection = sheet_connection(copies)
    arrangement = arrange(connection, np.arange(240))
    assert arrangement.connection.graph.n_points == 200
    assert (arrangement.connection.graph.lengths > 0).all()
    distances = transport_distances(connection)
    np.testing.assert_array_equal(distances[:30], distances[200:230])
    np.testing.assert_array_equal(distances[:10], distances[230:])
    assert (np.diagonal(distances[:30, 200:230]) == 0).all()
    single = one_by_one(connection)
    # Single trees go through the copies, in frames of their own; the sheet is the same.
    np.testing.assert_allclose(distances, single, atol=0.01 * single.max())


def test_copies_on_a_flat_sheet_are_exact():
    data = flat_square(150, n_features=4)
    points = np.concatenate([data.points] * 3)
    exact = np.tile(data.distances(), (3, 3))
    np.testing.assert_allclose(transport_distances(sheet_connection(points, 12)), exact, atol=1e-9)


def test_merging_carries_edges_through_the_frames_of_the_copies():
    """Frames turned at random at one of two copies must not matter after merging."""
    rng = np.random.default_rng(0)
    plane = rng.random((40, 2))
    points = np.concatenate((plane, plane[:8]))
    connection = sheet_connection(points, 6)
    graph = connection.graph
    turns = np.array([np.linalg.qr(rng.normal(size=(2, 2)))[0] for _ in range(48)])
    turned = Connection(
        graph,
        turns[graph.tails].swapaxes(1, 2) @ connection.rotations @ turns[graph.indices],
        np.einsum("eji,ej->ei", turns[graph.tails], connection.steps),
    )
    exact = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.testing.assert_allclose(transport_distances(turned), exact, atol=1e-12)


def test_neighbours_are_next_to_each_other():
    data = s_with_hole(2000)
    connection = sheet_connection(data.points)
    arrangement = arrange(connection, np.arange(2000))
    in_order = np.argsort(arrangement.position)
    spread = [
        np.ptp(data.coordinates[in_order[start : start + 16]], axis=0).max()
        for start in range(0, 2000, 16)
    ]
    # Sixteen points of a sheet of 3π × 2 fill about 0.4 × 0.4.
    assert np.median(spread) < 1.2


def test_a_hub_with_many_neighbours():
    n = 700
    rng = np.random.default_rng(0)
    points = rng.random((n, 2))
    star = sparse.coo_array(
        (np.linalg.norm(points[1:] - points[0], axis=1), (np.zeros(n - 1, int), np.arange(1, n))),
        shape=(n, n),
    )
    graph = graph_from_matrix(star, n)
    connection = connect(points, graph, estimate_frames(points, graph, 10, 2))
    exact = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.testing.assert_allclose(transport_distances(connection), exact, atol=1e-9)


def test_more_neighbours_than_a_batch_can_number(monkeypatch):
    points = np.concatenate([s_with_hole(150).points] * 2)
    connection = sheet_connection(points)
    expected = transport_distances(connection)
    monkeypatch.setattr(distances_module, "MOST_NEIGHBORS", 3)
    np.testing.assert_allclose(transport_distances(connection), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n_points", [3, 5, 15, 16, 18])
def test_fewer_points_than_lanes(n_points):
    points = np.random.default_rng(n_points).random((n_points, 2))
    graph = build_graph(points, 2)
    connection = connect(points, graph, estimate_frames(points, graph, 2, 1))
    np.testing.assert_allclose(
        transport_distances(connection), one_by_one(connection), rtol=1e-11, atol=1e-14
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_points", [40, BAND, 700])
def test_squares_in_bands_equal_the_matrix(dtype, n_points):
    points = s_with_hole(n_points).points
    points = np.concatenate((points, points[: n_points // 7]))  # copies own rows of their own
    connection = sheet_connection(points)
    everyone = np.arange(len(points))
    arrangement = arrange(connection, everyone)
    order = np.argsort(arrangement.position, kind="stable")
    expected = transport_distances(connection, dtype=dtype)[np.ix_(order, order)]
    for n_jobs in (1, 2, 4):
        rows_of = OneWayRows(arrangement.connection, arrangement.position[order])
        squares = fold_directions(rows_of, dtype, Run(n_jobs))
        assert all(band.dtype == dtype for band in squares.bands)
        np.testing.assert_array_equal(squares.whole(), np.square(expected).astype(np.float64))
        some = np.array([len(expected) - 1, 0, len(expected) // 2])
        np.testing.assert_array_equal(squares.rows(some), np.square(expected)[some])


def test_bands_take_half_the_memory():
    n_points = 40 * BAND
    assert sum(band.nbytes for band in new_bands(n_points, np.float32)) <= 0.52 * 4 * n_points**2
