"""Sharp edges of surfaces, and edges that lead from one sheet to another."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import build_graph, connect, geodesic_distances, graph_distances
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.geometry.creases import take_one_side
from ptunfold.geometry.frames import frames_at
from ptunfold.geometry.shortcuts import find_jumps, keep_to_sheet


def folded_sheet(n_points=2000, seed=0):
    """A square of side 2, folded by a right angle along its middle, and its flat coordinates."""
    flat = np.random.default_rng(seed).uniform(-1, 1, (n_points, 2))
    along, across = flat.T
    return np.column_stack((along, np.minimum(across, 0), np.maximum(across, 0))), flat


def frames_of(points, graph):
    return frames_at(np.arange(len(points)), points, graph, 18, 2, tangent="quadratic")


def test_points_at_a_crease_get_the_plane_of_their_side():
    points, flat = folded_sheet()
    graph = build_graph(points)
    frames = frames_of(points, graph)
    taken = take_one_side(points, graph, frames, 18)
    near = np.abs(flat[:, 1]) < 0.04
    normals = np.where(flat[:, 1:] > 0, [[0, 1, 0]], [[0, 0, 1]])

    def tilt(some):
        shadows = np.einsum("nfd,nf->nd", some.vectors, normals)
        return np.degrees(np.arcsin(np.clip(np.linalg.norm(shadows, axis=1), 0, 1)))

    assert taken.is_one_sided[near].mean() > 0.6
    assert not taken.is_one_sided[np.abs(flat[:, 1]) > 0.4].any()
    assert np.median(tilt(frames)[near]) > 20
    assert np.median(tilt(taken)[near]) < 1


@pytest.mark.parametrize("points", [s_with_hole(1500).points, swiss_roll(1500).points])
def test_smooth_sheets_have_no_creases(points):
    graph = build_graph(points)
    taken = take_one_side(points, graph, frames_of(points, graph), 18)
    assert taken.is_one_sided is None or taken.is_one_sided.mean() < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_the_way_over_a_crease(seed):
    """Edges cut the corner, and graph distances with them; unfolded they do not."""
    points, flat = folded_sheet(seed=seed)
    sources = np.flatnonzero(flat[:, 1] < -0.3)[:20]
    exact = cdist(flat[sources], flat)
    is_across = flat[:, 1] > 0.2
    found = geodesic_distances(points, sources=sources)
    plain = geodesic_distances(
        points, sources=sources, n_neighbors=10, tangent="pca", step="chord", coherence=1
    )

    def error(distances):
        return np.abs(distances[:, is_across] / exact[:, is_across] - 1).mean()

    assert error(found) < 0.01
    assert error(found) < 0.4 * error(plain)
    assert error(found) < 0.5 * error(graph_distances(build_graph(points), sources))


def test_arcs_of_a_cylinder_are_exact_in_every_direction():
    """Along a helix the axis is not bent: only the share of the edge around it is."""
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(0, 2, 600), rng.uniform(0, 1, 600)
    points = np.column_stack((np.cos(angle), np.sin(angle), height))
    graph = build_graph(points)
    frames = frames_of(points, graph)
    exact = np.zeros((600, 3, 2))
    exact[:, :, 0] = np.column_stack((-np.sin(angle), np.cos(angle), 0 * angle))
    exact[:, 2, 1] = 1
    connection = connect(points, graph, replace(frames, vectors=exact), "arc")
    wanted = np.column_stack(
        (angle[graph.indices] - angle[graph.tails], height[graph.indices] - height[graph.tails])
    )
    np.testing.assert_allclose(connection.steps, wanted, atol=1e-9)
    np.testing.assert_allclose(connection.graph.lengths, np.linalg.norm(wanted, axis=1), atol=1e-9)


@pytest.mark.parametrize("angle", [50, 80, 100, 140])
def test_ways_over_a_crease_are_exact_also_in_a_groove(angle):
    """Two half planes at an angle below a right one: frames alone would fold the way back."""
    rng = np.random.default_rng(angle)
    flat = rng.uniform(-1, 1, (500, 2))
    turn = np.deg2rad(180 - angle)
    sides = np.array([[[1.0, 0, 0], [0, 0, 1]], [[np.cos(turn), np.sin(turn), 0], [0, 0, 1]]])
    frames = sides[(flat[:, 0] > 0).astype(int)].transpose(0, 2, 1)
    points = np.einsum("nfd,nd->nf", frames, flat)
    graph = build_graph(points)
    found = frames_of(points, graph)
    found = replace(found, vectors=frames, is_one_sided=np.ones(500, dtype=bool))
    laid = connect(points, graph, found, "arc")
    wanted = flat[graph.indices] - flat[graph.tails]
    far = np.linalg.norm(wanted, axis=1)
    is_near = far < 1.5 * graph.lengths  # ways that are much longer are cut
    crosses = np.ptp(np.sign(flat[np.stack((graph.tails, graph.indices)), 0]), axis=0) > 0
    assert (crosses & is_near).sum() > 40
    np.testing.assert_allclose(laid.steps[is_near], wanted[is_near], atol=1e-9)
    np.testing.assert_allclose(laid.graph.lengths[is_near], far[is_near], atol=1e-9)


def test_edges_between_parallel_sheets_are_jumps():
    rng = np.random.default_rng(0)
    sheets = rng.uniform(0, 1, (1600, 2))
    upper = rng.random(1600) < 0.5
    points = np.column_stack((sheets, np.where(upper, 0.02, 0)))
    # A third of the sheets is one only, so that they hang together.
    points[sheets[:, 0] < 0.3, 2] = 0.01
    graph = build_graph(points)
    frames = frames_at(np.arange(len(points)), points, graph, 6, 2)
    frames.vectors[:] = np.eye(3)[:, :2]
    jumps = find_jumps(points, graph, frames)
    is_apart = (upper[jumps[:, 0]] != upper[jumps[:, 1]]) & (sheets[jumps] > 0.3).any(axis=1)[:, 0]
    is_step = (sheets[jumps, 0] < 0.3).any(axis=1)
    assert len(jumps) > 50
    assert (is_apart | is_step).all()
    assert not keep_to_sheet(points, frames, jumps).any()


def test_edges_along_a_sheet_keep_to_it():
    points = swiss_roll(800).points
    graph = build_graph(points)
    edges = np.column_stack((graph.tails, graph.indices))[::7]
    assert keep_to_sheet(points, frames_of(points, graph), edges).mean() > 0.95
    assert len(find_jumps(points, graph, frames_of(points, graph))) == 0


def test_over_a_crease_edges_rise_and_do_not_jump():
    """Next to a crease of 64 degrees an edge may be as steep as that to the plane of its end."""
    _, flat = folded_sheet()
    turn = np.radians(64)
    there = flat[:, 1] > 0
    beyond = np.where(there[:, None], [0, np.cos(turn), np.sin(turn)], [0, 1.0, 0])
    points = flat[:, :1] * [1, 0, 0] + flat[:, 1:] * beyond
    graph = build_graph(points)
    planes = np.stack((np.broadcast_to([1.0, 0, 0], beyond.shape), beyond), axis=2)
    frames = replace(frames_of(points, graph), vectors=planes)
    assert len(find_jumps(points, graph, frames)) == 0
