"""Quadratic surfaces: exact on quadratic data, better than planes at rims, a way out of noise."""

import numpy as np
import pytest

from ptunfold import build_graph, estimate_frames
from ptunfold.datasets import flat_square, s_with_hole, spherical_cap, swiss_roll
from ptunfold.geometry import surface


def tilts(vectors, normals):
    """Largest angle between tangent planes and the true ones, given by unit normals."""
    return np.arcsin(np.linalg.norm(np.einsum("nDi,nD->ni", vectors, normals), axis=1))


def test_a_quadratic_surface_has_its_own_tangents():
    rng = np.random.default_rng(0)
    plane = rng.uniform(-1, 1, (600, 2))
    a, b, c = 0.05, -0.03, 0.02
    height = a * plane[:, 0] ** 2 + b * plane.prod(axis=1) + c * plane[:, 1] ** 2
    points = np.column_stack((plane, height))
    slope_x = 2 * a * plane[:, 0] + b * plane[:, 1]
    slope_y = b * plane[:, 0] + 2 * c * plane[:, 1]
    normals = np.column_stack((-slope_x, -slope_y, np.ones(600)))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    graph = build_graph(points)
    flat, curved = (
        estimate_frames(points, graph, 24, 2, tangent=tangent) for tangent in ("pca", "quadratic")
    )
    # Heights over a tilted plane are quadratic only up to the third order.
    assert tilts(curved.vectors, normals).max() < 0.05 * tilts(flat.vectors, normals).max()
    assert curved.residual.max() < 0.05 * flat.residual.max()
    products = curved.vectors.swapaxes(1, 2) @ curved.vectors
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(2), (600, 2, 2)), atol=1e-12)


def test_the_rim_of_a_sphere():
    data = spherical_cap(1500, angle=40)
    graph = build_graph(data.points)
    errors = {
        tangent: tilts(
            estimate_frames(data.points, graph, 24, 2, tangent=tangent).vectors, data.points
        )
        for tangent in ("pca", "quadratic")
    }
    rim = data.color > np.radians(37)
    assert np.median(errors["quadratic"][rim]) < 0.1 * np.median(errors["pca"][rim])
    assert errors["quadratic"].max() < errors["pca"].max()


@pytest.mark.parametrize("n_features", [2, 3, 40])
def test_flat_points_stay_where_they_are(n_features):
    points = flat_square(300, n_features=n_features).points if n_features > 2 else None
    if points is None:
        points = np.random.default_rng(0).random((300, 2))
    frames = estimate_frames(points, build_graph(points), 24, 2, tangent="quadratic")
    assert np.abs(frames.lift).max() < 1e-12
    assert frames.residual.max() < 1e-12


def test_the_surface_is_nearer_to_the_truth_than_noisy_points():
    noisy, clean = swiss_roll(2000, noise=0.01), swiss_roll(2000)
    frames = estimate_frames(noisy.points, build_graph(noisy.points), 48, 2, tangent="quadratic")
    off = np.linalg.norm(noisy.points - clean.points, axis=1)
    left = np.linalg.norm(noisy.points + frames.lift - clean.points, axis=1)
    assert np.sqrt(np.square(left).mean()) < 0.35 * np.sqrt(np.square(off).mean())
    sigma = 0.01 * np.ptp(clean.points, axis=0).max()
    assert 0.9 * sigma < np.median(frames.residual) < 1.1 * sigma


def test_too_few_neighbours_make_a_plane():
    points = s_with_hole(300).points
    graph = build_graph(points)
    flat, curved = (
        estimate_frames(points, graph, 8, 2, tangent=tangent) for tangent in ("pca", "quadratic")
    )
    np.testing.assert_allclose(
        curved.vectors @ curved.vectors.swapaxes(1, 2),
        flat.vectors @ flat.vectors.swapaxes(1, 2),
        atol=1e-12,
    )
    np.testing.assert_array_equal(curved.lift, 0)


@pytest.mark.parametrize("seed", range(3))
def test_outliers_have_no_say_in_robust_tangents(seed):
    data = swiss_roll(2000, outliers=0.1, seed=seed)
    clean = swiss_roll(2000, seed=seed).points
    truth = estimate_frames(clean, build_graph(clean), 18, 2, tangent="quadratic").vectors
    graph = build_graph(data.points)
    off = {}
    for tangent in ("pca", "quadratic", "robust"):
        frames = estimate_frames(data.points, graph, 48, 2, tangent=tangent)
        overlaps = np.linalg.svd(truth.swapaxes(1, 2) @ frames.vectors, compute_uv=False)
        off[tangent] = np.sqrt(np.mean(1 - np.square(overlaps[:, -1].clip(0, 1))))
    assert off["robust"] < off["quadratic"] / 1.3
    assert off["robust"] < off["pca"] / 1.3


def test_without_noise_robust_is_as_good():
    points = s_with_hole(1000).points
    plain, robust = (
        estimate_frames(points, build_graph(points), 24, 2, tangent=tangent)
        for tangent in ("quadratic", "robust")
    )
    overlaps = np.linalg.svd(plain.vectors.swapaxes(1, 2) @ robust.vectors, compute_uv=False)
    between = np.arccos(overlaps[:, -1].clip(-1, 1))
    assert np.median(between) < 1e-4
    assert between.max() < 0.1


@pytest.mark.parametrize("tangent", ["quadratic", "robust"])
def test_many_features_change_nothing(tangent):
    """Lifted into more dimensions than there are neighbours, where products do the work."""
    few = swiss_roll(500, noise=0.01, outliers=0.05).points
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((120, 3)))[0]
    graph = build_graph(few)
    low = estimate_frames(few, graph, 40, 2, tangent=tangent)
    high = estimate_frames(few @ basis.T, graph, 40, 2, tangent=tangent)
    planes = [vectors @ vectors.swapaxes(1, 2) for vectors in (basis @ low.vectors, high.vectors)]
    np.testing.assert_allclose(planes[1], planes[0], atol=1e-7)
    np.testing.assert_allclose(high.lift, low.lift @ basis.T, atol=1e-7)
    np.testing.assert_allclose(high.residual, low.residual, rtol=1e-6)


def test_far_members_are_weighed_lightly():
    """Far is counted in standard deviations, which the median tells."""
    off = np.abs(np.random.default_rng(0).standard_normal((3, 2001)))
    off[:, :2] = 0.9 * surface.FAR, 2 * surface.FAR
    is_member = np.arange(2001) < 1500
    weights = surface._weights(off, np.tile(is_member, (3, 1)), np.full(3, 1500))
    np.testing.assert_array_equal(weights[:, 0], 1)
    np.testing.assert_allclose(weights[:, 1], 0.25, rtol=0.2)
    np.testing.assert_array_equal(weights[:, 1500:], 0)
