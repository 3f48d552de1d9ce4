"""Rotations and steps of single edges."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from ptunfold import Frames, build_graph, connect, estimate_frames, graph_from_matrix
from ptunfold.geometry.connection import nearest_rotations
from tests.oracle import as_sparse, random_connection


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_rotations_are_orthogonal(dim):
    *_, connection = random_connection(dim, seed=dim)
    products = connection.rotations.swapaxes(1, 2) @ connection.rotations
    np.testing.assert_allclose(products - np.eye(dim), 0, atol=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_no_orthogonal_matrix_aligns_better(dim):
    """Proposition 1: R_ji minimises ‖T_i - T_j R‖ over O(d)."""
    rng = np.random.default_rng(0)
    _, graph, frames, connection = random_connection(dim, seed=dim)
    for edge in rng.choice(graph.n_edges, 40, replace=False):
        tail = frames.vectors[graph.tails[edge]]
        head = frames.vectors[graph.indices[edge]]
        best = connection.rotations[edge].T
        found = np.linalg.norm(tail - head @ best)
        for size in (1e-3, 1e-1, 10.0):
            turned, _ = np.linalg.qr(best + size * rng.normal(size=(dim, dim)))
            assert np.linalg.norm(tail - head @ turned) >= found - 1e-12
        other = ortho_group.rvs(dim, random_state=rng) if dim > 1 else -best
        assert np.linalg.norm(tail - head @ other) >= found - 1e-12


def test_the_way_back_is_the_transpose():
    _, graph, _, connection = random_connection(3, seed=0)
    np.testing.assert_array_equal(
        connection.rotations[graph.reverse], connection.rotations.swapaxes(1, 2)
    )


def test_projection_steps_are_projections():
    points, graph, frames, connection = random_connection(2, seed=0)
    offsets = points[graph.indices] - points[graph.tails]
    expected = np.einsum("eDi,eD->ei", frames.vectors[graph.tails], offsets)
    np.testing.assert_allclose(connection.steps, expected, rtol=1e-12, atol=1e-14)


def test_chord_steps_point_along_the_projection_and_keep_the_length():
    points, graph, frames, projected = random_connection(2, seed=0)
    chord = connect(points, graph, frames, "chord")
    lengths = np.linalg.norm(points[graph.indices] - points[graph.tails], axis=1)
    np.testing.assert_allclose(np.linalg.norm(chord.steps, axis=1), lengths, rtol=1e-12)
    unit = projected.steps / np.linalg.norm(projected.steps, axis=1, keepdims=True)
    np.testing.assert_allclose(chord.steps, unit * lengths[:, None], rtol=1e-12, atol=1e-14)


def test_an_upright_edge_has_a_step_of_zero():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]])
    matrix = np.zeros((4, 4))
    matrix[0, 1:] = 1
    graph = graph_from_matrix(as_sparse(matrix), 4)
    flat = np.broadcast_to(np.eye(3)[:, :2], (4, 3, 2)).copy()
    frames = Frames(flat, np.ones((4, 2)), np.zeros(4))
    for step in ("projection", "chord"):
        steps = connect(points, graph, frames, step).steps
        up = (graph.tails == 0) & (graph.indices == 3)
        np.testing.assert_array_equal(steps[up], [[0, 0]])
        assert np.isfinite(steps).all()


def test_steps_between_copies_are_zero():
    points = np.repeat(np.random.default_rng(0).random((40, 3)), 2, axis=0)
    graph = build_graph(points, 6)
    connection = connect(points, graph, estimate_frames(points, graph, 10, 2), "chord")
    copies = graph.lengths == 0
    assert copies.any()
    np.testing.assert_array_equal(connection.steps[copies], 0)
    assert np.isfinite(connection.rotations).all()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_rotations_of_small_dimension_are_those_of_the_svd(dim):
    rng = np.random.default_rng(0)
    turns, _ = np.linalg.qr(rng.normal(size=(500, dim, dim)))
    overlaps = turns + rng.choice([1e-3, 0.1, 2.0], size=(500, 1, 1)) * rng.normal(
        size=(500, dim, dim)
    )
    if dim == 3:
        overlaps[0] = np.diag([1.0, 1.0, 1e-9])  # nearly singular: left to the SVD
    first, values, second = np.linalg.svd(overlaps)
    found = nearest_rotations(overlaps)
    assert values.min() < 1e-2
    np.testing.assert_allclose(found, first @ second, atol=1e-11)


def test_arcs_of_a_circle_have_its_length():
    angle = np.sort(np.random.default_rng(0).uniform(0, 2, 80))
    circle = np.column_stack((np.cos(angle), np.sin(angle)))
    graph = build_graph(circle, 6)
    tangents = np.column_stack((-np.sin(angle), np.cos(angle)))[:, :, None]
    frames = Frames(tangents, np.ones((80, 1)), np.zeros(80))
    connection = connect(circle, graph, frames, "arc")
    along = np.abs(angle[graph.indices] - angle[graph.tails])
    np.testing.assert_allclose(np.abs(connection.steps[:, 0]), along, rtol=1e-9)


def test_what_bends_to_both_sides_is_no_shorter_than_its_arcs():
    """The angle between the ends tells of the bend, not that both rise above the edge alike."""
    along = np.linspace(-1, 1, 4001)
    direction = 0.75 * along**2  # bent to the left, straight, to the right
    tangents = np.column_stack((np.cos(direction), np.sin(direction)))
    curve = np.cumsum(tangents, axis=0) * (along[1] - along[0])
    some = np.sort(np.random.default_rng(0).choice(4001, 40, replace=False))
    graph = build_graph(curve[some], 6)
    frames = Frames(tangents[some, :, None], np.ones((40, 1)), np.zeros(40))
    laid = connect(curve[some], graph, frames, "arc")
    exact = np.abs(along[some][graph.indices] - along[some][graph.tails])
    arcs, chords = np.abs(laid.steps[:, 0]), graph.lengths
    is_across = along[some][graph.indices] * along[some][graph.tails] < 0
    for edges, share in ((slice(None), 0.005), (is_across, 0.2)):
        assert abs((arcs - exact)[edges].mean()) < share * abs((chords - exact)[edges].mean())


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_arcs_are_the_same_from_both_ends(dim):
    _, graph, _, connection = random_connection(dim, seed=dim, step="arc")
    back = -np.einsum("eij,ej->ei", connection.rotations, connection.steps[graph.reverse])
    np.testing.assert_allclose(back, connection.steps, atol=1e-12)
    lengths = np.linalg.norm(connection.steps, axis=1)
    chords = np.linalg.norm(random_connection(dim, seed=dim, step="chord")[3].steps, axis=1)
    assert (lengths >= chords * (1 - 1e-12)).all()
    assert (lengths <= chords * (np.pi / 2 + 1e-12)).all()


def test_arcs_on_a_flat_sheet_are_chords():
    points = np.random.default_rng(0).random((60, 2)) @ [[1.0, 0, 2], [0, 3, 1]]
    graph = build_graph(points)
    frames = estimate_frames(points, graph)
    chord, arc = (connect(points, graph, frames, step) for step in ("chord", "arc"))
    np.testing.assert_allclose(arc.steps, chord.steps, atol=1e-7)


def test_unknown_steps_are_refused():
    points = np.random.default_rng(0).random((30, 2))
    graph = build_graph(points)
    with pytest.raises(ValueError, match="step='arch' is not known"):
        connect(points, graph, estimate_frames(points, graph), "arch")


def test_what_planes_explain_of_the_edges():
    points, graph, frames, connection = random_connection(2, seed=0)
    for node in range(len(points)):
        heads = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        offsets = points[heads] - points[node]
        share = np.square(offsets @ frames.vectors[node]).sum() / np.square(offsets).sum()
        assert connection.explained[node] == pytest.approx(share)
