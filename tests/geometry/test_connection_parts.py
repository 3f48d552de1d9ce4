"""The parts of a connection, by themselves."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import build_graph, connect, estimate_frames
from ptunfold.datasets import s_with_hole
from ptunfold.geometry.connection import ARC, _stretch, leading_axes, nearest_rotations
from ptunfold.geometry.given import Matrix


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_alignments_are_the_nearest_rotations(dim):
    overlaps = np.random.default_rng(0).normal(size=(20, dim, dim))
    overlaps[0] = 0  # any will do
    before = overlaps.copy()
    found = nearest_rotations(overlaps)
    left, _, right = np.linalg.svd(overlaps)
    np.testing.assert_allclose(found[1:], (left @ right)[1:], atol=1e-9)
    np.testing.assert_allclose(found[0] @ found[0].T, np.eye(dim), atol=1e-12)
    np.testing.assert_array_equal(overlaps, before)


def test_the_nearest_rotation():
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    stretch = np.diag([1.0, 2, 3])
    np.testing.assert_allclose(nearest_rotations((turn @ stretch)[None])[0], turn, atol=1e-12)


def test_steps_get_the_lengths_of_their_edges():
    steps = np.array([[3.0, 4], [0, 0], [1e-20, 0], [0, -2]])
    _stretch(steps, np.array([10.0, 1, 1, 1]))
    np.testing.assert_allclose(steps, [[6, 8], [0, 0], [0, 0], [0, -1]])


def test_arcs_by_their_shadows():
    angles = np.array([0.1, 0.5, 1.0])
    found = np.polynomial.polynomial.polyval(1 - np.cos(angles), ARC)
    np.testing.assert_allclose(found, angles / np.sin(angles), rtol=1e-4)


def test_axes_bound_distances_from_below():
    points = np.random.default_rng(0).normal(size=(50, 30)) * np.linspace(1, 9, 30)
    axes, apart = leading_axes(points), cdist(points, points)
    assert axes.shape == (50, 16)
    shadows = cdist(axes, axes)
    assert (shadows <= apart).all()
    assert shadows.sum() > 0.85 * apart.sum()  # the longest axes
    np.testing.assert_array_equal(leading_axes(points[:, :16]), points[:, :16])
    space = Matrix(apart)
    assert leading_axes(space) is space.bound


@pytest.mark.parametrize("step", ["projection", "chord", "arc"])
def test_what_planes_explain_of_the_edges(step):
    points = s_with_hole(150).points
    graph = build_graph(points, 8)
    frames = estimate_frames(points, graph)
    laid = connect(points, graph, frames, step)
    expected = np.empty(150)
    for node in range(150):
        ways = points[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]] - points[node]
        expected[node] = np.square(ways @ frames.vectors[node]).sum() / np.square(ways).sum()
    np.testing.assert_allclose(laid.explained, expected)
    np.testing.assert_allclose(laid.rotations[graph.reverse], laid.rotations.transpose(0, 2, 1))
    lengths = np.linalg.norm(laid.steps, axis=1)
    if step == "projection":
        tails = graph.tails
        offsets = points[graph.indices] - points[tails]
        shadows = np.einsum("efd,ef->ed", frames.vectors[tails], offsets)
        np.testing.assert_allclose(laid.steps, shadows, atol=1e-12)
    elif step == "chord":
        np.testing.assert_allclose(lengths, graph.lengths)
    else:
        back = -np.einsum("eij,ej->ei", laid.rotations[graph.reverse], laid.steps)
        np.testing.assert_allclose(laid.steps[graph.reverse], back, atol=1e-12)
        assert (lengths >= graph.lengths * (1 - 1e-12)).all()
        assert (lengths <= np.pi / 2 * graph.lengths * (1 + 1e-12)).all()
        np.testing.assert_allclose(laid.graph.lengths, lengths)
