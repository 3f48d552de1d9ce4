"""Log and exponential map against great circles and flat sheets; vectors pushed and pulled."""

import warnings

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from ptunfold import PTU
from ptunfold.datasets import (
    flat_square,
    flat_torus,
    s_with_hole,
    sphere,
    spherical_cap,
    swiss_roll,
)
from ptunfold.geometry import stages


def fitted(points, **parameters):
    with warnings.catch_warnings(action="ignore"):  # about closed data and components
        return PTU(**parameters).fit(points)


@pytest.fixture(scope="module")
def globe():
    """A sphere that is not cut open."""
    points = sphere(3000, seed=0).points
    return points, fitted(points, seams="leave")


@pytest.fixture(scope="module")
def roll():
    data = swiss_roll(1500, seed=1)
    return data, fitted(data.points)


def true_log(points, i):
    """The vectors along great circles from a point of the unit sphere, in space."""
    cosines = points @ points[i]
    tangents = points - np.outer(cosines, points[i])
    sines = np.linalg.norm(tangents, axis=1)
    return tangents * (np.arctan2(sines, cosines) / np.where(sines > 0, sines, 1))[:, None]


def true_exp(point, vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.cos(lengths) * point + np.sin(lengths) * vectors / lengths


def relative_errors(found, exact):
    turn, _ = orthogonal_procrustes(found, exact)
    return np.linalg.norm(found @ turn - exact, axis=1) / np.linalg.norm(exact, axis=1)


@pytest.mark.parametrize("i", [0, 5])
def test_log_map_follows_great_circles(globe, i):
    points, model = globe
    exact = true_log(points, i) @ model.frames_.vectors[i]
    lengths = np.linalg.norm(true_log(points, i), axis=1)
    is_near = (lengths > 0) & (lengths < np.pi / 2)
    errors = relative_errors(model.log_map(i)[is_near], exact[is_near])
    # The unfolded paths alone: 0.009 and 0.04.
    assert np.median(errors) < 0.0015
    assert np.quantile(errors, 0.99) < 0.01


def test_log_map_of_few_points_keeps_to_those_around():
    errors = []
    for seed in range(3):
        points = sphere(300, seed=seed).points
        model = fitted(points, seams="leave")
        exact = true_log(points, 0) @ model.frames_.vectors[0]
        lengths = np.linalg.norm(exact, axis=1)
        is_near = (lengths > 0) & (lengths < np.pi / 2)
        errors.append(np.quantile(relative_errors(model.log_map(0)[is_near], exact[is_near]), 0.95))
    assert np.mean(errors) < 0.013  # 0.02 from 100 of the 300 points, 0.05 from unfolded paths


def test_log_map_is_written_in_the_frame_of_its_point(globe):
    points, model = globe
    found = model.log_map(7) @ model.frames_.vectors[7].T
    exact = true_log(points, 7)
    lengths = np.linalg.norm(exact, axis=1)
    is_near = (lengths > 0) & (lengths < 1)
    errors = np.linalg.norm(found - exact, axis=1)[is_near] / lengths[is_near]
    assert np.median(errors) < 0.005


def test_log_map_is_as_long_as_distances():
    for points, parameters in (
        (sphere(400).points, {"seams": "leave"}),
        (swiss_roll(400, noise=0.02).points, {}),
        (np.random.default_rng(0).normal(size=(200, 8)), {"coherence": 0.5}),
        (np.random.default_rng(0).normal(size=(200, 8)), {"coherence": 0.0}),
        (s_with_hole(400).points.astype(np.float32), {"step": "projection", "tangent": "pca"}),
    ):
        model = fitted(points, **parameters)
        for i in (0, 11):
            lengths = np.linalg.norm(model.log_map(i), axis=1)
            np.testing.assert_allclose(lengths, model.distances([i])[0], rtol=1e-6)


def test_log_map_of_a_flat_sheet_is_the_sheet():
    square = flat_square(500, n_features=4)
    model = fitted(square.points)
    exact = square.coordinates - square.coordinates[3]
    turn, _ = orthogonal_procrustes(model.log_map(3), exact)
    np.testing.assert_allclose(model.log_map(3) @ turn, exact, atol=1e-9)


def test_log_map_of_a_curve_has_signs():
    angle = np.sort(np.random.default_rng(0).uniform(0, 3, 200))
    points = np.column_stack((np.cos(angle), np.sin(angle)))
    found = fitted(points, n_components=1).log_map(100)[:, 0]
    sign = np.sign(found[-1])
    np.testing.assert_allclose(sign * found, angle - angle[100], atol=1e-3)


@pytest.fixture(scope="module")
def tube():
    """A tube that is not cut open, with its angles and heights; point 0 is at angle 0."""
    angles, heights = np.random.default_rng(0).uniform(-1, 1, (2, 1500)) * [[np.pi], [1.5]]
    angles[0] = heights[0] = 0
    model = fitted(on_tube(angles, heights), seams="leave")
    return angles, heights, model


def on_tube(angles, heights):
    return np.column_stack((np.cos(angles), np.sin(angles), heights))


def test_opposite_points_are_seen_around_one_side_and_not_in_between(tube):
    angles, heights, model = tube
    found = model.log_map(0) @ model.frames_.vectors[0].T
    is_opposite = np.abs(angles) > 3
    exact = np.column_stack((angles, heights))
    others = np.column_stack((angles - 2 * np.pi * np.sign(angles), heights))
    errors = np.minimum(
        *(np.linalg.norm(found[:, 1:] - place, axis=1) for place in (exact, others))
    )
    assert is_opposite.sum() > 50
    assert errors[is_opposite].max() < 0.1


def test_exp_map_goes_around_a_tube_to_the_opposite_side(tube):
    _, _, model = tube
    rng = np.random.default_rng(1)
    angles = rng.uniform(3, np.pi, 300) * rng.choice([-1, 1], 300)
    heights = rng.uniform(-1.3, 1.3, 300)
    flat = np.column_stack((np.zeros(300), angles, heights))
    found = model.exp_map(0, flat @ model.frames_.vectors[0])
    errors = np.linalg.norm(found - on_tube(angles, heights), axis=1)
    assert errors.max() < 0.03  # half of the median distance from the nearest neighbour


def test_parts_without_a_path_are_not_seen():
    points = np.concatenate((flat_square(60).points, flat_square(40).points + 50))
    apart = fitted(points, disconnected="separate")
    found = apart.log_map(0)
    assert np.isfinite(found[:60]).all()
    assert np.isnan(found[60:]).all()
    largest = fitted(points, disconnected="largest")
    assert np.isnan(largest.log_map(0)[60:]).all()
    assert np.isnan(largest.log_map(70)).all()
    back, info = largest.exp_map(70, [[0.1, 0.1]], return_info=True)
    assert np.isnan(back).all()
    assert info.is_outside.all()


def test_the_order_of_the_fit_is_not_seen(monkeypatch):
    data = swiss_roll(500, seed=3)
    given = np.random.default_rng(0).normal(size=data.points.shape)
    plain = fitted(data.points)
    monkeypatch.setattr(stages, "MOST_UNORDERED", 100)
    ordered = fitted(data.points)
    assert ordered._fitted.geometry.order is not None
    turn = plain.frames_.vectors[9].T @ ordered.frames_.vectors[9]
    np.testing.assert_allclose(plain.log_map(9) @ turn, ordered.log_map(9), atol=1e-6)
    vectors = plain.log_map(9)[:20] + 0.1
    np.testing.assert_allclose(
        plain.exp_map(9, vectors), ordered.exp_map(9, vectors @ turn), atol=1e-6
    )
    turn, _ = orthogonal_procrustes(plain.embedding_, ordered.embedding_)
    pushed = plain.push_vectors(given)
    np.testing.assert_allclose(pushed @ turn, ordered.push_vectors(given), atol=1e-4)
    np.testing.assert_allclose(
        plain.pull_vectors(pushed), ordered.pull_vectors(pushed @ turn), atol=1e-4
    )


def test_exp_map_brings_points_back_to_themselves(roll):
    data, model = roll
    np.testing.assert_allclose(model.exp_map(4, model.log_map(4)), data.points, atol=1e-9)
    one = model.exp_map(4, model.log_map(4)[17])
    assert one.shape == (3,)
    np.testing.assert_allclose(one, data.points[17], atol=1e-9)


def test_exp_map_follows_great_circles_between_points(globe):
    points, model = globe
    rng = np.random.default_rng(0)
    angles, lengths = rng.uniform(0, 2 * np.pi, 500), rng.uniform(0.01, np.pi / 2, 500)
    vectors = lengths[:, None] * np.column_stack((np.cos(angles), np.sin(angles)))
    exact = true_exp(points[2], vectors @ model.frames_.vectors[2].T)
    errors = np.linalg.norm(model.exp_map(2, vectors) - exact, axis=1)
    sampling = 0.031  # the median distance from the nearest neighbour
    assert np.median(errors) < 0.15 * sampling
    assert errors.max() < sampling
    # Farther on, what is seen is stretched to the double and more.
    vectors *= (2.3 / np.linalg.norm(vectors, axis=1))[:, None]
    exact = true_exp(points[2], vectors @ model.frames_.vectors[2].T)
    errors = np.linalg.norm(model.exp_map(2, vectors) - exact, axis=1)
    assert np.quantile(errors, 0.9) < 0.5 * sampling


def test_exp_map_says_what_is_beyond_the_data(roll):
    _, model = roll
    vectors = [[0.1, 0.1], [500.0, 0.0]]
    with pytest.warns(UserWarning, match="1 of 2 vectors end far outside the data"):
        model.exp_map(0, vectors)
    found, info = model.exp_map(0, vectors, return_info=True)
    assert np.isfinite(found).all()
    assert info.is_outside.tolist() == [False, True]
    assert info.distance[1] > 300


def test_what_is_beyond_the_data_is_so_in_any_units(roll):
    data, _ = roll
    small = PTU().fit(1e-4 * data.points)
    _, info = small.exp_map(0, [[1e-5, 1e-5], [500e-4, 0.0]], return_info=True)
    assert info.is_outside.tolist() == [False, True]


def test_exp_map_crosses_seams():
    points = flat_torus(1500).points
    model = fitted(points)
    assert len(model._fitted.geometry.torn)
    found = model.exp_map(0, np.linspace(-3, 3, 30)[:, None] * [1.0, 0.0])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.sqrt(2), atol=0.02)


def test_more_features_than_points():
    cap = spherical_cap(120, n_features=300)
    wide, narrow = fitted(cap.points), fitted(spherical_cap(120).points)
    back = wide.exp_map(0, wide.log_map(0))
    np.testing.assert_allclose(back, cap.points, atol=1e-6)
    assert np.allclose(
        np.linalg.norm(wide.log_map(0), axis=1), np.linalg.norm(narrow.log_map(0), axis=1)
    )
    normals = cap.points / np.linalg.norm(cap.points, axis=1)[:, None]
    pulled = wide.pull_vectors(np.tile([1.0, 0.5], (120, 1)))
    assert pulled.shape == (120, 300)
    # The poles of both are the centre of the sphere, which is 0.
    assert np.abs((pulled * normals).sum(axis=1)).max() < 0.02
    np.testing.assert_allclose(wide.push_vectors(pulled), np.tile([1.0, 0.5], (120, 1)), atol=1e-6)
    matrices = pulled[:, :, None] * pulled[:, None, :]
    np.testing.assert_allclose(
        wide.push_vectors(matrices), np.tile(np.outer([1, 0.5], [1, 0.5]), (120, 1, 1)), atol=1e-6
    )


def coordinate_fields(data):
    """The unit vectors along the roll and across it, in space."""
    angle = radius = np.hypot(data.points[:, 0], data.points[:, 2])  # of this spiral
    along = np.column_stack(
        (
            np.cos(angle) - radius * np.sin(angle),
            np.zeros(len(angle)),
            np.sin(angle) + radius * np.cos(angle),
        )
    )
    return along / np.linalg.norm(along, axis=1)[:, None], np.tile([0.0, 1, 0], (len(angle), 1))


def test_pushed_fields_of_a_roll_are_its_axes(roll):
    data, model = roll
    centred = data.coordinates - data.coordinates.mean(axis=0)
    turn, _ = orthogonal_procrustes(model.embedding_, centred)
    for axis, field in enumerate(coordinate_fields(data)):
        pushed = model.push_vectors(3 * field) @ turn
        lengths = np.linalg.norm(pushed, axis=1)
        angles = np.degrees(np.arccos(np.clip(pushed[:, axis] / lengths, -1, 1)))
        assert np.median(angles) < 0.1
        assert np.quantile(angles, 0.95) < 0.5
        np.testing.assert_allclose(lengths, 3, rtol=0.02)


def test_pull_undoes_push_along_the_sheet(roll):
    data, model = roll
    vectors = np.random.default_rng(0).normal(size=data.points.shape)
    frames = model.frames_.vectors
    along = np.einsum("nij,nkj,nk->ni", frames, frames, vectors)
    np.testing.assert_allclose(model.pull_vectors(model.push_vectors(vectors)), along, atol=1e-9)


def test_covariances_go_like_their_vectors(roll):
    data, model = roll
    spread = np.random.default_rng(0).normal(size=(len(data.points), 3, 5))
    pushed = np.stack([model.push_vectors(spread[:, :, one]) for one in range(5)], axis=2)
    found = model.push_vectors(spread @ spread.transpose(0, 2, 1))
    np.testing.assert_allclose(found, pushed @ pushed.transpose(0, 2, 1), atol=1e-9)


def test_copies_of_a_point_have_its_vectors():
    points = s_with_hole(200).points
    model = fitted(np.concatenate((points, points[:30])))
    vectors = np.random.default_rng(0).normal(size=(200, 3))
    pushed = model.push_vectors(np.concatenate((vectors, vectors[:30])))
    np.testing.assert_allclose(pushed[200:], pushed[:30])
    assert (np.linalg.norm(pushed[200:], axis=1) > 0.01).all()
    pulled = model.pull_vectors(pushed)
    np.testing.assert_allclose(pulled[200:], pulled[:30])


def test_points_left_out_have_no_vectors():
    points = np.concatenate((flat_square(60).points, flat_square(20).points + 50))
    model = fitted(points, disconnected="largest")
    pushed = model.push_vectors(np.ones((80, 3)))
    assert np.isnan(pushed[60:]).all()
    assert np.isfinite(pushed[:60]).all()
    assert np.isnan(model.pull_vectors(np.ones((80, 2)))[60:]).all()


def test_a_model_from_a_file_and_single_precision_do_the_same(tmp_path):
    points = s_with_hole(200).points.astype(np.float32)
    model = fitted(points)
    model.save(tmp_path / "model.safetensors")
    loaded = PTU.load(tmp_path / "model.safetensors")
    vectors = model.log_map(3)
    np.testing.assert_array_equal(loaded.log_map(3), vectors)
    found = model.exp_map(3, 0.9 * vectors)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(loaded.exp_map(3, 0.9 * vectors), found)
    np.testing.assert_array_equal(loaded.push_vectors(points), model.push_vectors(points))
