"""Noise is told from curvature, and taken out."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from ptunfold import PTU, build_graph, find_shortcuts
from ptunfold.datasets import (
    flat_square,
    petals,
    s_uneven,
    s_with_hole,
    spherical_cap,
    swiss_roll,
)
from ptunfold.geometry import stages
from ptunfold.geometry.graph import without_edges
from ptunfold.geometry.stages import move_to_surface
from ptunfold.geometry.texture import texture_of

CLEAN = {
    "flat": flat_square(800),
    "cap": spherical_cap(700),
    "petals": petals(1600),
    "S": s_with_hole(1500),
    "uneven S": s_uneven(1500),
    "roll": swiss_roll(1500),
    "roll in R30": swiss_roll(1500, n_features=30),
}


@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_curvature_is_not_noise(name, dtype):
    points = CLEAN[name].points.astype(dtype)
    expected = "flat" if name == "flat" else "smooth"
    assert texture_of(points, build_graph(points), 2).kind == expected


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [0.001, 0.01, 0.03])
def test_noise_is_noise(noise, seed):
    for data in (swiss_roll(1500, noise=noise, seed=seed), petals(1600, noise=noise, seed=seed)):
        found = texture_of(data.points, build_graph(data.points), 2).kind
        assert found == ("very noisy" if noise > 0.02 else "noisy")


def test_noise_in_many_dimensions():
    points = swiss_roll(1500, n_features=50).points
    points += 0.1 * np.random.default_rng(0).standard_normal(points.shape)
    assert texture_of(points, build_graph(points), 2).kind == "noisy"


def test_what_is_no_sheet_is_rough():
    rng = np.random.default_rng(0)
    for points in (rng.random((800, 3)), rng.standard_normal((600, 8)), load_digits().data):
        assert texture_of(points, build_graph(points), 2).kind == "rough"


def test_a_solid_is_flat_in_its_own_space():
    points = np.random.default_rng(0).random((300, 3))
    assert texture_of(points, build_graph(points), 3).kind == "flat"


def test_too_few_points_to_tell():
    points = swiss_roll(40, noise=0.01).points
    assert texture_of(points, build_graph(points), 2).kind == "rough"


def test_the_texture_settles_what_is_left_open():
    flat, smooth = flat_square(500).points, s_with_hole(1500).points
    noisy = swiss_roll(1500, noise=0.01).points
    models = {points.tobytes(): PTU(landmarks=20).fit(points) for points in (flat, smooth, noisy)}
    for points, texture, tangent, n_tangent, step, denoise, is_wide in (
        (flat, "flat", "pca", 15, "chord", 0, False),
        (smooth, "smooth", "quadratic", 18, "arc", 0, True),
        (noisy, "noisy", "robust", 48, "arc", 3, True),
    ):
        model = models[points.tobytes()]
        assert model.texture_ == texture
        explicit = PTU(
            tangent=tangent,
            tangent_neighbors=n_tangent,
            step=step,
            denoise=denoise,
            prune="shortcuts",
            landmarks=20,
        ).fit(points)
        np.testing.assert_array_equal(model.embedding_, explicit.embedding_)
        assert (model.graph_.n_edges > 20 * len(points)) == is_wide


def test_copies_stay_together():
    points = swiss_roll(600, noise=0.01).points
    points = np.concatenate((points, points[:50]))
    moved = move_to_surface(points, build_graph(points), 48, 2)
    np.testing.assert_array_equal(moved[600:], moved[:50])
    assert not np.array_equal(moved[:600], points[:600])


def roll_error(model, data):
    exact = data.coordinates - data.coordinates.mean(axis=0)
    left, _, right = np.linalg.svd(model.embedding_.T @ exact)
    return np.linalg.norm(model.embedding_ @ left @ right - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("noise", [0.005, 0.02])
def test_the_error_falls_by_half(noise, seed):
    data = swiss_roll(2000, noise=noise, seed=seed)
    plain = PTU(tangent="pca", tangent_neighbors=40, denoise=0, n_jobs=2).fit(data.points)
    denoised = PTU(n_jobs=2).fit(data.points)
    assert roll_error(denoised, data) < 0.6 * roll_error(plain, data)
    np.testing.assert_array_equal(denoised.transform(data.points), denoised.embedding_)
    # The way back leads to the surface, nearer to the truth than the points.
    clean = swiss_roll(2000, seed=seed).points
    back = denoised.inverse_transform(denoised.embedding_)
    off = [np.linalg.norm(points - clean) for points in (back, data.points)]
    assert off[0] < 0.5 * off[1]


def test_auto_leaves_clean_data_alone():
    points = s_with_hole(800).points
    auto, never = (PTU(denoise=denoise).fit(points) for denoise in ("auto", 0))
    np.testing.assert_array_equal(auto.embedding_, never.embedding_)


def test_parts_without_a_surface_do_not_matter(monkeypatch):
    sheet = swiss_roll(500, noise=0.01).points
    line = np.column_stack((np.arange(4.0), np.zeros(4), np.zeros(4))) + [80, 0, 0]
    points = np.concatenate((line, sheet))
    for order in (20_000, 10):
        monkeypatch.setattr(stages, "MOST_UNORDERED", order)
        with pytest.warns(UserWarning, match="only the largest"):
            model = PTU(graph="radius", radius=4, disconnected="largest", denoise=1).fit(points)
        assert np.isfinite(model.embedding_[4:]).all()


def test_quadratic_tangents_need_neighbours():
    solid = np.random.default_rng(0).random((300, 3))
    model = PTU(3, tangent="quadratic").fit(solid)
    assert model.frames_.lift is not None
    with pytest.raises(ValueError, match="tangent_neighbors=10 cannot determine a quadratic") as e:
        PTU(tangent="quadratic", tangent_neighbors=10).fit(solid)
    assert "11 are needed, better twice as many" in str(e.value)
    with pytest.raises(ValueError, match="9 other points cannot determine"):
        PTU(denoise=1).fit(solid[:10])


def test_wrong_values():
    with pytest.raises(ValueError, match="denoise=-1 is not known; pass how often, 0 for never"):
        PTU(denoise=-1).fit(flat_square(50).points)
    with pytest.raises(ValueError, match="tangent='plane' is not known; choose one of \"auto\""):
        PTU(tangent="plane").fit(flat_square(50).points)


def test_the_order_of_the_points_does_not_matter():
    points = swiss_roll(700, noise=0.0005).points
    textures = set()
    for seed in range(6):
        mixed = points[np.random.default_rng(seed).permutation(700)]
        textures.add(texture_of(mixed, build_graph(mixed), 2).kind)
    assert len(textures) == 1


def test_partly_flat_is_not_flat():
    plane = np.random.default_rng(0).uniform((0, 0), (5, 2), (1500, 2))
    bent = np.maximum(plane[:, 0] - 3, 0)
    points = np.column_stack(
        (np.minimum(plane[:, 0], 3) + np.sin(bent), plane[:, 1], 1 - np.cos(bent))
    )
    assert texture_of(points, build_graph(points), 2).kind == "smooth"


def test_surfaces_only_with_enough_neighbours():
    points = s_with_hole(800).points
    few, plain = (
        PTU(tangent_neighbors=10, tangent=tangent).fit(points) for tangent in ("auto", "pca")
    )
    assert few.frames_.lift is None
    np.testing.assert_array_equal(few.embedding_, plain.embedding_)


def test_denoising_by_least_squares_only_if_asked():
    points = swiss_roll(1500, noise=0.004, outliers=0.1).points
    models = [PTU(tangent=tangent, denoise=1).fit(points) for tangent in ("quadratic", "robust")]
    graph = build_graph(points)
    graph = without_edges(graph, *find_shortcuts(graph))
    for model, tangent in zip(models, ("quadratic", "robust"), strict=True):
        moved = move_to_surface(points, graph, 48, 2, tangent=tangent)
        np.testing.assert_array_equal(model._fitted.geometry.surface, moved)
    assert not np.array_equal(
        models[0]._fitted.geometry.surface, models[1]._fitted.geometry.surface
    )


@pytest.mark.parametrize(
    ("n_points", "noise", "kind", "n_each"),
    [
        (96, 0.01, "noisy", 4),
        (95, 0.01, "smooth", 8),  # fewer than four neighbourhoods
        (527, 0.01, "noisy", 4),
        (528, 0.01, "noisy", 8),  # eleven of the larger ones
        (96, 0, "smooth", 8),
    ],
)
def test_few_points_have_smaller_neighborhoods(n_points, noise, kind, n_each):
    rng = np.random.default_rng(0)
    where = rng.uniform(-1, 1, (n_points, 2))
    height = 0.1 * np.square(where).sum(axis=1) + 0.05 * np.sin(3 * where[:, 0])
    points = np.column_stack((where, height)) + noise * rng.normal(size=(n_points, 3))
    texture = texture_of(points, build_graph(points), 2)
    assert (texture.kind, texture.n_each) == (kind, n_each)


@pytest.mark.parametrize(("n_features", "kind"), [(1, "noisy"), (30, "rough")])
def test_few_points_are_noisy_only_if_planes_hold_most_of_them(n_features, kind):
    """Or more dimensions are taken for noise: 218 places in the field of 28 stations."""
    rng = np.random.default_rng(0)
    where = rng.uniform(-1, 1, (220, 2))
    points = np.column_stack((where, 0.3 * np.square(where), np.zeros((220, n_features))))
    points += 0.04 * rng.normal(size=points.shape)
    assert texture_of(points, build_graph(points), 2).kind == kind
