"""Which surfaces have two sides."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from ptunfold import PTU, build_graph, connect, estimate_frames, orient, transport_distances
from ptunfold.datasets import flat_square, s_with_hole, swiss_roll


def band(n_twists, n_points=2000, seed=0):
    rng = np.random.default_rng(seed)
    around, across = rng.uniform(0, 2 * np.pi, n_points), rng.uniform(-0.4, 0.4, n_points)
    turn = n_twists * around / 2
    radius = 1 + across * np.cos(turn)
    return np.column_stack(
        (radius * np.cos(around), radius * np.sin(around), across * np.sin(turn))
    ), around


def klein_bottle(n_points=4000):
    u, v = np.random.default_rng(0).uniform(0, 2 * np.pi, (2, n_points))
    ring = 2 + 0.8 * np.cos(v)
    return np.column_stack(
        (
            ring * np.cos(u),
            ring * np.sin(u),
            0.8 * np.sin(v) * np.cos(u / 2),
            0.8 * np.sin(v) * np.sin(u / 2),
        )
    )


def sphere(n_points=1500):
    points = np.random.default_rng(0).standard_normal((n_points, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def torus(n_points=2500):
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, (n_points, 2))
    return np.hstack((np.cos(angles), np.sin(angles)))


TWO_SIDED = {
    "square": flat_square(500).points,
    "S": s_with_hole(1000).points,
    "roll": swiss_roll(1500, noise=0.01).points,
    "sphere": sphere(),
    "torus": torus(),
    "full twist": band(2)[0],
}


@pytest.mark.parametrize("name", TWO_SIDED)
def test_two_sided_surfaces(name):
    points = TWO_SIDED[name]
    graph = build_graph(points)
    frames, orientation = orient(graph, estimate_frames(points, graph))
    assert orientation.is_orientable
    assert orientation.loop is None
    assert orientation.n_conflicts == 0
    rotations = connect(points, graph, frames).rotations
    assert (np.linalg.det(rotations) > 0).mean() > 0.999


@pytest.mark.parametrize("points", [band(1)[0], klein_bottle()], ids=["Möbius", "Klein"])
def test_one_sided_surfaces(points):
    graph = build_graph(points)
    frames = estimate_frames(points, graph)
    oriented, orientation = orient(graph, frames)
    assert not orientation.is_orientable
    loop = orientation.loop
    assert loop[0] == loop[-1]
    assert len(np.unique(loop)) == len(loop) - 1
    # The loop runs along edges, and carrying a frame around it mirrors the frame.
    carried = np.eye(2)
    connection = connect(points, graph, oriented)
    for tail, head in itertools.pairwise(loop):
        edge = np.flatnonzero((graph.tails == tail) & (graph.indices == head))
        assert len(edge) == 1
        carried = carried @ connection.rotations[edge[0]]
    assert np.linalg.det(carried) == pytest.approx(-1)


def test_the_loop_of_a_moebius_band_goes_around():
    points, around = band(1)
    graph = build_graph(points)
    loop = orient(graph, estimate_frames(points, graph))[1].loop
    steps = np.angle(np.exp(1j * np.diff(around[loop])))
    assert abs(abs(steps.sum()) - 2 * np.pi) < 1e-9


def test_distances_do_not_change():
    points = s_with_hole(400).points
    graph = build_graph(points)
    frames = estimate_frames(points, graph)
    before, after = (
        transport_distances(connect(points, graph, some))
        for some in (frames, orient(graph, frames)[0])
    )
    np.testing.assert_allclose(after, before, atol=1e-12)


def test_components_are_oriented_by_themselves():
    square, moebius = flat_square(500).points, band(1)[0] + 10
    points = np.concatenate((square, moebius))
    graph = build_graph(points)
    _, orientation = orient(graph, estimate_frames(points, graph))
    assert not orientation.is_orientable
    assert (orientation.loop >= 500).all()


def test_points_whose_planes_agree_with_no_other():
    """Where planes lie at random, some points have no edge that tells which way they turn."""
    points = np.random.default_rng(0).normal(size=(300, 10))
    graph = build_graph(points)
    frames = estimate_frames(points, graph)
    oriented, orientation = orient(graph, frames)
    assert orientation.is_orientable == (orientation.n_conflicts == 0)
    np.testing.assert_array_equal(np.abs(oriented.vectors), np.abs(frames.vectors))
    # Planes at right angles to each other: no edge at all.
    vectors = np.zeros((300, 10, 2))
    vectors[np.arange(300), np.arange(300) % 10, 0] = 1
    vectors[np.arange(300), (np.arange(300) + 1) % 10, 1] = 1
    line = np.arange(300.0)[:, None] * np.ones(10)
    apart, said = orient(build_graph(line, 2), replace(frames, vectors=vectors))
    assert (said.is_orientable, said.n_conflicts, said.loop) == (True, 0, None)
    np.testing.assert_array_equal(apart.vectors, vectors)


def test_other_pieces_have_no_say():
    """Beside a sheet lies a curve, whose planes turn as they like."""
    angle, height = np.random.default_rng(0).uniform(0, [[np.pi], [2]], (2, 600))
    sheet = np.column_stack((np.cos(angle), np.sin(angle), height))
    along = np.random.default_rng(1).uniform(0, 6, 200)
    curve = np.column_stack((np.cos(along) + 6, np.sin(along), 0.3 * along))
    with pytest.warns(UserWarning, match="2 components"):
        model = PTU().fit(np.concatenate((sheet, curve)))
    assert model.orientation_.is_orientable
    whole = orient(model.graph_, model.frames_, model.connection_.rotations)[1]
    assert not whole.is_orientable
