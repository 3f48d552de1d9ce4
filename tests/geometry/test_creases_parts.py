"""Creases of a folded sheet: who is changed, and by distances as by coordinates."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import build_graph
from ptunfold.geometry.creases import (
    _edges_at,
    _misfits,
    _off_planes,
    cross_creases,
    take_one_side,
)
from ptunfold.geometry.frames import frames_at
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.graph import graph_from_edges
from tests.geometry.test_creases import folded_sheet

POINTS, FLAT = folded_sheet(500)
SPACE = Matrix(cdist(POINTS, POINTS))
GRAPH = build_graph(POINTS)


def frames_of(points, tangent="quadratic"):
    return frames_at(np.arange(500), points, GRAPH, 18, 2, tangent=tangent)


def vectors_of(frames):
    """Write frames of distances in coordinates."""
    return np.einsum("nmf,nmd->nfd", POINTS[frames.members], frames.vectors)


def test_only_points_that_are_marked_get_another_frame():
    frames = frames_of(POINTS)
    before = frames.vectors.copy()
    taken = take_one_side(POINTS, GRAPH, frames, 18)
    assert 0.02 < taken.is_one_sided.mean() < 0.5
    same = (taken.vectors == before).all(axis=(1, 2))
    np.testing.assert_array_equal(same, ~taken.is_one_sided)
    np.testing.assert_array_equal(frames.vectors, before)
    assert frames.is_one_sided is None
    flat = np.random.default_rng(0).uniform(size=(500, 2)) @ np.eye(2, 3)
    assert (
        take_one_side(
            flat,
            build_graph(flat),
            frames_at(np.arange(500), flat, build_graph(flat), 18, 2, tangent="quadratic"),
            18,
        ).is_one_sided
        is None
    )


def test_distances_find_the_same_sides():
    taken = take_one_side(POINTS, GRAPH, frames_of(POINTS), 18)
    found = take_one_side(SPACE, GRAPH, frames_of(SPACE), 18)
    np.testing.assert_array_equal(found.is_one_sided, taken.is_one_sided)
    vectors = vectors_of(found)
    overlaps = np.einsum("nfi,nfj->nij", vectors, taken.vectors)
    cosines = np.linalg.svd(overlaps, compute_uv=False)[:, -1]
    np.testing.assert_allclose(cosines, 1, atol=1e-6)


def test_how_far_points_are_from_planes():
    frames = frames_of(POINTS)
    nodes, members = np.array([3, 9]), np.array([[4, 5, 6], [10, 11, 9]])
    found = _off_planes(POINTS, frames, nodes, members)
    for row, node in enumerate(nodes):
        for column, member in enumerate(members[row]):
            way = POINTS[node] - POINTS[member]
            off = way - frames.vectors[member] @ (frames.vectors[member].T @ way)
            assert found[row, column] == pytest.approx(off @ off, abs=1e-12)
    by_distances = frames_of(SPACE)
    np.testing.assert_allclose(_off_planes(SPACE, by_distances, nodes, members), found, atol=1e-7)


def test_misfits_count_the_way_to_the_surface():
    frames = frames_of(POINTS)
    expected = np.sqrt(frames.residual**2 + np.square(frames.lift).sum(axis=1))
    np.testing.assert_allclose(_misfits(POINTS, frames), expected)
    np.testing.assert_allclose(_misfits(SPACE, frames_of(SPACE)), expected, atol=1e-6)
    planes = frames_of(POINTS, "pca")
    np.testing.assert_array_equal(_misfits(POINTS, planes), planes.residual)


def test_edges_at_points_that_are_marked():
    lengths = np.array([1.0, 0, 1, 1])
    graph = graph_from_edges(5, np.array([0, 0, 1, 3]), np.array([1, 2, 2, 4]), lengths)
    marked = np.array([True, False, False, False, False])
    edges = _edges_at(graph, marked)
    assert [(graph.tails[edge], graph.indices[edge]) for edge in edges] == [(0, 1)]
    edges = _edges_at(graph, marked[::-1])
    assert [(graph.tails[edge], graph.indices[edge]) for edge in edges] == [(3, 4)]


def wedge(angle):
    """Two points on the two planes of a wedge, each with the frame of its plane."""
    points = np.array([[0.0, -0.3, 0], [0.1, 0.2 * np.cos(angle), 0.2 * np.sin(angle)]])
    graph = graph_from_edges(
        2, np.array([0]), np.array([1]), np.linalg.norm(np.diff(points, axis=0), axis=1)
    )
    here = np.array([[1.0, 0], [0, 1], [0, 0]])
    there = np.array([[1.0, 0], [0, np.cos(angle)], [0, np.sin(angle)]])
    frames = replace(
        frames_of(POINTS), vectors=np.stack((here, there)), is_one_sided=np.array([True, False])
    )
    return points, graph, frames


@pytest.mark.parametrize("angle", [0.8, 1.4, -2.0, 2.3])
def test_the_way_over_a_wedge_is_exact(angle):
    points, graph, frames = wedge(angle)
    rotations, steps, longer = np.zeros((2, 2, 2)), np.zeros((2, 2)), np.zeros(2)
    cross_creases(points, graph, frames, 9.0, rotations, steps, longer)
    np.testing.assert_allclose(steps, [[0.1, 0.5], [-0.1, -0.5]], atol=1e-9)
    np.testing.assert_allclose(rotations, [np.eye(2)] * 2, atol=1e-9)
    np.testing.assert_allclose(longer, np.hypot(0.1, 0.5) / graph.lengths)
    # No longer than it may be.
    cross_creases(points, graph, frames, 1.01, rotations, steps, longer)
    limit = min(1.01, np.hypot(0.1, 0.5) / graph.lengths[0])
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), limit * graph.lengths)
    np.testing.assert_allclose(longer, limit)


def test_what_is_no_crease_stays():
    points, graph, frames = wedge(0.5)  # of a cosine above 0.8
    rotations, steps, longer = np.full((2, 2, 2), 7.0), np.full((2, 2), 7.0), np.full(2, 7.0)
    cross_creases(points, graph, frames, 9.0, rotations, steps, longer)
    cross_creases(points, graph, replace(frames, is_one_sided=None), 9.0, rotations, steps, longer)
    for array in (rotations, steps, longer):
        assert (array == 7).all()


def test_a_copy_across_a_crease_has_no_way_to_go():
    """An edge between copies may have a length in a graph of one's own: 0 / 0."""
    points = np.concatenate((POINTS, POINTS[:1]))
    graph = build_graph(points)
    graph = graph.with_lengths(np.where(graph.lengths == 0, 0.01, graph.lengths))
    frames = frames_at(np.arange(501), points, graph, 18, 2, tangent="quadratic")
    vectors = frames.vectors.copy()
    vectors[0], vectors[500] = np.eye(3)[:, :2], np.eye(3)[:, 1:]
    frames = replace(frames, vectors=vectors, is_one_sided=np.ones(501, dtype=bool))
    turns, steps = np.zeros((graph.n_edges, 2, 2)), np.zeros((graph.n_edges, 2))
    longer = np.ones(graph.n_edges)
    cross_creases(points, graph, frames, 2.0, turns, steps, longer)
    assert (longer > 1).any()
    assert np.isfinite(longer).all()
    assert np.isfinite(steps).all()


def test_what_lifts_a_point_belongs_to_its_members():
    taken = take_one_side(SPACE, GRAPH, frames_of(SPACE), 18)
    one_sided = np.flatnonzero(taken.is_one_sided)
    lifts = np.einsum("nmf,nm->nf", POINTS[taken.members[one_sided]], taken.lift[one_sided])
    by_points = frames_of(POINTS).lift
    assert np.linalg.norm(lifts, axis=1).max() < 0.2 * np.linalg.norm(by_points, axis=1).max()
