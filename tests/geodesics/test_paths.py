"""Single paths."""

import numpy as np
import pytest

from ptunfold import transport_distances, unfold_path
from ptunfold.datasets import annulus
from tests.oracle import algorithm_2, random_connection


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_path_is_consistent_with_the_textbook(dim):
    points, graph, frames, connection = random_connection(dim, seed=7)
    both, one_way, lengths = algorithm_2(points, graph, frames)
    for start, end in ((0, 41), (33, 2), (8, 9)):
        path = unfold_path(connection, start, end)
        assert path.nodes[0] == start
        assert path.nodes[-1] == end
        assert path.graph_length == pytest.approx(lengths[start, end], rel=1e-12)
        assert path.forward == pytest.approx(one_way[start, end], rel=1e-10)
        assert path.backward == pytest.approx(one_way[end, start], rel=1e-10)
        assert path.distance == pytest.approx(both[start, end], rel=1e-10)
        assert path.chord == pytest.approx(path.forward, rel=1e-12)


def test_nodes_follow_edges_and_steps_keep_their_length():
    _, graph, _, connection = random_connection(2, seed=7)
    path = unfold_path(connection, 0, 41)
    assert path.points.shape == (len(path.nodes), 2)
    np.testing.assert_array_equal(path.points[0], 0)
    moves = np.linalg.norm(np.diff(path.points, axis=0), axis=1)
    for tail, head, move in zip(path.nodes, path.nodes[1:], moves, strict=False):
        (edge,) = np.flatnonzero((graph.tails == tail) & (graph.indices == head))
        assert move == pytest.approx(np.linalg.norm(connection.steps[edge]), rel=1e-10)


def test_a_flat_path_unfolds_to_itself():
    """Around the hole of a ring: the unfolded path is the path, the chord goes across."""
    from ptunfold import PTU

    data = annulus(600, inner=0.8)
    model = PTU().fit(data.points)
    left = int(data.coordinates[:, 0].argmin())
    right = int(data.coordinates[:, 0].argmax())
    path = model.path(left, right)
    from_start = data.coordinates[path.nodes] - data.coordinates[left]
    np.testing.assert_allclose(
        np.linalg.norm(path.points, axis=1), np.linalg.norm(from_start, axis=1), atol=1e-9
    )
    assert path.graph_length > 1.3 * path.distance


def test_a_path_to_oneself():
    *_, connection = random_connection(2, seed=7)
    path = unfold_path(connection, 4, 4)
    assert path.nodes.tolist() == [4]
    assert path.distance == path.graph_length == path.chord == 0


def test_negative_indices_count_from_the_end():
    *_, connection = random_connection(2, seed=7)
    assert unfold_path(connection, 0, -1).nodes[-1] == 59
    np.testing.assert_array_equal(
        transport_distances(connection, [-1]), transport_distances(connection, [59])
    )


@pytest.mark.parametrize("index", [60, -61, 1.5, True, "0", None])
def test_a_point_that_does_not_exist(index):
    *_, connection = random_connection(2, seed=7)
    with pytest.raises(ValueError, match=r"does not exist|not the index"):
        unfold_path(connection, 0, index)
