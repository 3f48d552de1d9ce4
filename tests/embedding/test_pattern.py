"""Motions of tiles, against motions that are known."""

import numpy as np
import pytest

from ptunfold.embedding.pattern import angles_along, motion_of, products
from ptunfold.types import Connection, Graph, Seam


def turned(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def across(turn, shift, n_components, kind):
    """Make a seam of four edges in the embedding, whose heads are seen moved by turn and shift."""
    rng = np.random.default_rng(0)
    graph = Graph(
        np.array([0, 1, 2, 3, 4, 5, 6, 7, 8]),
        np.array([4, 5, 6, 7, 0, 1, 2, 3], dtype=np.int32),
        np.ones(8),
    )
    embedding = np.zeros((8, n_components))
    embedding[:, :2] = rng.normal(size=(8, 2))
    frames = np.stack([turned(angle) for angle in rng.uniform(0, 6, 8)])
    maps = np.zeros((8, n_components, 2))
    maps[:, :2] = frames
    tails, heads = np.arange(4), np.arange(4, 8)
    seen = embedding[heads, :2] @ turn.T + shift
    steps, rotations = np.zeros((8, 2)), np.zeros((8, 2, 2))
    steps[:4] = np.einsum("eji,ej->ei", frames[tails], seen - embedding[tails, :2])
    rotations[:4] = np.einsum("eji,jk,ekl->eil", frames[tails], turn, frames[heads])
    edges = np.column_stack((tails, heads))[[2, 0, 3, 1]]
    seam = Seam(kind, edges, turn, shift, 1.0, 0.0, tails, 1.0, 1.0, 1.0)
    return seam, Connection(graph, rotations, steps), embedding, maps


@pytest.mark.parametrize("n_components", [2, 3])
@pytest.mark.parametrize("kind", ["glide", "turn", "period"])
def test_a_seam_moves_the_embedding(n_components, kind):
    turn = {"glide": np.diag([1.0, -1]), "turn": turned(2.0), "period": np.eye(2)}[kind]
    shift = np.array([3.0, -1])
    found = motion_of(*across(turn, shift, n_components, kind))
    expected = np.eye(n_components)  # what the embedding does not use stays as it is
    expected[:2, :2] = turn
    np.testing.assert_allclose(found[0], expected, atol=1e-5)
    np.testing.assert_allclose(found[1][:2], shift, atol=1e-5)
    np.testing.assert_allclose(found[1][2:], 0, atol=1e-9)


def test_a_period_does_not_turn():
    seam, *others = across(turned(0.1), np.ones(2), 2, "period")
    np.testing.assert_array_equal(motion_of(seam, *others)[0], np.eye(2))


def test_the_tiles_around():
    one, other = (turned(0.3), np.array([2.0, 0])), (np.diag([1.0, -1]), np.array([0, 3.0]))
    assert len(products([one])) == 2
    found = products([one, other])
    assert len(found) == 8

    def matrix(motion):
        whole = np.eye(3)
        whole[:2, :2], whole[:2, 2] = motion
        return whole

    powers = [(0, 1), (0, -1), (1, 0), (1, 1), (1, -1), (-1, 0), (-1, 1), (-1, -1)]
    for motion, (first, second) in zip(found, powers, strict=True):
        expected = np.linalg.matrix_power(matrix(other), second)
        expected = expected @ np.linalg.matrix_power(matrix(one), first)
        np.testing.assert_allclose(matrix(motion), expected, atol=1e-12)


def test_angles_are_shares_of_periods():
    rng = np.random.default_rng(0)
    shift, still = np.array([3.0, 4]), (np.eye(2), np.zeros(2))
    coordinates = rng.normal(size=(20, 2))
    found = angles_along(coordinates, [still, (np.eye(2), shift)])
    along, aside = coordinates @ shift / 25, coordinates @ [-0.8, 0.6]
    np.testing.assert_allclose(found[:, 0], 2 * np.pi * (along % 1))
    np.testing.assert_allclose(np.abs(found[:, 1]), np.abs(aside))
    # Both directions; a glide goes along its axis, by all of what it does twice, halved.
    glide = (np.diag([1.0, -1]), np.array([2.0, 5]))
    found = angles_along(coordinates, [glide, (np.eye(2), np.array([0, 3.0]))])
    np.testing.assert_allclose(found, 2 * np.pi * (coordinates / [2, 3] % 1))
    np.testing.assert_allclose(np.abs(angles_along(coordinates, [still])), np.abs(coordinates))
