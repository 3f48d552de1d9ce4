"""Curvature: what surfaces say of it, where it is told, and what unfolding with it is worth."""

from dataclasses import replace

import numpy as np
import pytest

from ptunfold import PTU, Connection, build_graph, estimate_frames, transport_distances
from ptunfold.datasets import petals, s_with_hole, spherical_cap, swiss_roll, two_hills
from ptunfold.geometry.curvature import medians_around, with_curvature


def curvature_of(points, dim=2, **options):
    graph = build_graph(points, 12)
    frames = estimate_frames(points, graph, 30, dim, tangent="quadratic", **options)
    return medians_around(graph, frames.curvature)


def on_a_sphere(n_points, dim, radius, seed=0):
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(n_points, dim + 1))
    return radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)


@pytest.mark.parametrize(("dim", "radius"), [(2, 1.0), (2, 5.0), (3, 2.0)])
def test_spheres_have_the_inverse_square_of_their_radius(dim, radius):
    found = curvature_of(on_a_sphere(2000, dim, radius), dim)
    assert np.median(found) == pytest.approx(radius**-2, rel=0.12)
    assert found.min() > 0


def test_a_saddle_is_negative_and_a_roll_is_flat():
    plane = np.random.default_rng(0).uniform(-1, 1, (2000, 2))
    saddle = np.column_stack((plane, 0.5 * (plane[:, 0] ** 2 - plane[:, 1] ** 2)))
    # K = -1 / (1 + x² + y²)² for z = (x² - y²) / 2.
    truth = -((1 + np.square(plane).sum(axis=1)) ** -2)
    found = curvature_of(saddle)
    assert np.median(np.abs(found - truth)) < 0.03
    roll = swiss_roll(2000).points
    assert np.median(np.abs(curvature_of(roll))) * np.ptp(roll) ** 2 < 0.1


def test_turning_the_axes_changes_nothing():
    """Slopes against the principal plane are taken into account."""
    points = spherical_cap(800, angle=60, sampling="random").points
    wide = np.column_stack((points, np.zeros((800, 4))))
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(7, 7)))[0]
    np.testing.assert_allclose(curvature_of(wide @ turn), curvature_of(points), atol=1e-8)


def test_medians_around():
    points = np.random.default_rng(0).random((60, 2))
    graph, values = build_graph(points, 5), np.random.default_rng(1).normal(size=60)
    for node, found in enumerate(medians_around(graph, values)):
        around = np.sort(values[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]])
        assert found == around[len(around) // 2]


@pytest.mark.parametrize(
    ("make", "is_curved"),
    [
        (swiss_roll, False),
        (s_with_hole, False),
        (petals, True),
        (two_hills, True),
        (lambda n, seed: spherical_cap(n, angle=30, sampling="random", seed=seed), True),
    ],
)
def test_it_is_told_where_there_is_one(make, is_curved):
    for seed in range(3):
        connection = PTU().fit(make(700, seed=seed).points).connection_
        assert (connection.curvature is not None) == is_curved


@pytest.mark.parametrize("make", [swiss_roll, s_with_hole])
def test_waves_that_noise_leaves_are_none(make):
    for seed in range(3):
        data = make(1000, seed=seed)
        shift = np.random.default_rng(seed).normal(size=data.points.shape)
        model = PTU().fit(data.points + 0.01 * np.ptp(data.points) * shift)
        assert model.texture_ in ("noisy", "very noisy")
        assert model.connection_.curvature is None


def test_it_is_left_out_where_anything_was_asked_for_or_planes_do_not_agree():
    points = petals(600).points
    for options in ({"coherence": 1.0}, {"step": "chord"}, {"tangent": "pca"}):
        assert PTU(**options).fit(points).connection_.curvature is None
    model = PTU().fit(points)
    partly = replace(
        model.connection_, curvature=None, coherence=np.full(model.graph_.n_edges, 0.8)
    )
    assert with_curvature(partly, model.frames_).curvature is None


def errors(data, **changes):
    sources = np.arange(0, len(data.points), 50)
    truth = data.distances(sources)
    connection = PTU().fit(data.points).connection_
    rows = transport_distances(replace(connection, **changes), sources)
    is_apart = truth > 0
    return float((np.abs(rows - truth)[is_apart] / truth[is_apart]).mean())


@pytest.mark.parametrize(
    ("make", "times"),
    [
        (lambda seed: petals(1000, seed=seed), 8),
        (lambda seed: petals(1000, noise=0.01, seed=seed), 2),
        (lambda seed: spherical_cap(1000, angle=60, sampling="random", seed=seed), 6),
        (lambda seed: spherical_cap(1000, angle=100, sampling="random", seed=seed), 2.5),
    ],
)
def test_distances_are_several_times_as_true(make, times):
    for seed in range(2):
        data = make(seed)
        assert errors(data) < errors(data, curvature=None) / times


def test_all_distances_are_rows_from_both_ends():
    connection = PTU().fit(petals(500).points).connection_
    rows = transport_distances(connection, np.arange(500))
    means = 0.5 * (rows + rows.T)
    np.testing.assert_allclose(transport_distances(connection), means, rtol=1e-9, atol=1e-12)


def test_paths_and_files_know_it(tmp_path):
    model = PTU().fit(petals(400).points)
    row = model.distances([7])[0]
    path = model.path(7, 300)
    assert path.distance == pytest.approx(row[300], rel=1e-12)
    model.save(tmp_path / "model.safetensors")
    loaded = PTU.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.distances([7])[0], row)
    np.testing.assert_array_equal(loaded.frames_.curvature, model.frames_.curvature)


def test_both_kinds_of_doubt_are_refused():
    connection = PTU().fit(petals(200).points).connection_
    assert isinstance(connection, Connection)
    with pytest.raises(ValueError, match="coherence and curvature"):
        transport_distances(replace(connection, coherence=np.ones(connection.graph.n_edges)))


def test_a_regular_cap_is_next_to_exact():
    assert errors(spherical_cap(700, angle=40)) < 2e-6
    assert errors(spherical_cap(700, angle=40), curvature=None) > 2e-5
