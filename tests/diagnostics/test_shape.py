"""Curvature, rims, holes and stretch against what is known of the sheets."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import cKDTree
from sklearn.neighbors import kneighbors_graph

from ptunfold import PTU, connect, estimate_frames, graph_from_matrix
from ptunfold.datasets import (
    annulus,
    flat_square,
    flat_torus,
    s_uneven,
    s_with_hole,
    sphere,
    spherical_cap,
    swiss_roll,
)
from ptunfold.diagnostics.curvedness import curvature
from ptunfold.diagnostics.rim import rim_points
from ptunfold.diagnostics.stretch import stretch
from ptunfold.diagnostics.voids import find_voids


def fitted(points, **parameters):
    with warnings.catch_warnings(action="ignore"):
        return PTU(**parameters).fit(points)


def saddle(n_points, seed):
    plane = np.random.default_rng(seed).uniform(-1, 1, (n_points, 2))
    height = 0.5 * (plane[:, 0] ** 2 - plane[:, 1] ** 2)
    return np.column_stack((plane, height)), -1 / (1 + np.square(plane).sum(axis=1)) ** 2


def with_noise(points, share, seed=0):
    extent = np.ptp(points, axis=0).max()
    return points + share * extent * np.random.default_rng(seed).standard_normal(points.shape)


@pytest.mark.parametrize("radius", [0.5, 1, 3])
def test_curvature_of_spheres(radius):
    found = fitted(radius * sphere(2000).points, n_components=3, intrinsic_dim=2).curvature()
    assert found.values == pytest.approx(radius**-2, rel=0.02)
    assert found.areas.sum() == pytest.approx(4 * np.pi * radius**2, rel=0.05)
    assert found.total == pytest.approx(4 * np.pi, rel=0.05)
    assert np.mean(np.abs(found.values - radius**-2) <= 2 * found.std) > 0.9
    assert np.median(found.std) < 0.02 * radius**-2
    assert found.bound > 5  # there is no map of all of it


def test_curvature_of_a_noisy_sphere():
    points = with_noise(sphere(3000).points, 0.01)
    found = fitted(points, n_components=3, intrinsic_dim=2).curvature()
    assert np.mean(np.abs(found.values - 1) < 0.1) > 0.9
    assert np.mean(np.abs(found.values - 1) <= 2 * found.std) > 0.9
    assert found.total == pytest.approx(4 * np.pi, abs=2 * found.total_std)


def test_curvature_of_a_saddle():
    points, truth = saddle(2000, 0)
    found = fitted(points).curvature()
    assert np.median(np.abs(found.values / truth - 1)) < 0.1
    assert found.values.max() < 0
    assert np.mean(np.abs(found.values - truth) <= 2 * found.std) > 0.9
    assert 1 < found.bound < 1.2


def test_curvature_of_flat_sheets():
    for points in (swiss_roll(2000).points, s_with_hole(2000).points):
        found = fitted(points).curvature()
        of_sphere = (0.5 * np.ptp(points, axis=0).max()) ** -2
        assert np.quantile(np.abs(found.values), 0.95) < 0.05 * of_sphere
        assert found.bound == pytest.approx(1, abs=5e-3)
        assert abs(found.total) < 0.1


def test_curvature_of_three_dimensions():
    points = np.random.default_rng(0).standard_normal((2000, 4))
    points *= 2 / np.linalg.norm(points, axis=1, keepdims=True)
    found = fitted(points, n_components=4, intrinsic_dim=3).curvature()
    assert np.median(found.values) == pytest.approx(0.25, rel=0.05)
    assert found.areas.sum() == pytest.approx(2 * np.pi**2 * 8, rel=0.1)
    assert np.isnan(found.bound)


@pytest.mark.parametrize("angle", [40, 80])
def test_bound_is_that_of_milnor(angle):
    found = fitted(spherical_cap(2000, angle=angle, sampling="random").points).curvature()
    best = np.radians(angle) / np.sin(np.radians(angle))  # reached by the equidistant map
    assert 1 + 0.6 * (best - 1) < found.bound <= 1.01 * best


def test_copies_of_a_point_are_no_disc():
    """As many as cells without a count; their discs have no radius."""
    cap = spherical_cap(600, angle=60, sampling="random").points
    alone = fitted(cap).curvature()
    top = cap[np.argmax(cap[:, 2])]
    found = fitted(np.concatenate((cap, np.tile(top, (60, 1))))).curvature()
    assert found.bound == pytest.approx(alone.bound, rel=0.05)
    assert found.total == pytest.approx(alone.total, rel=0.05)


def test_no_map_is_better_than_the_bound():
    for points in (spherical_cap(1500, angle=70, sampling="random").points, saddle(1500, 1)[0]):
        model = fitted(points)
        factors = model.stretch().factors[~model.rim()]
        assert factors.max() / factors.min() > model.curvature().bound


def rims():
    rng = np.random.default_rng(0)
    disc = rng.standard_normal((2000, 2))
    disc *= np.sqrt(rng.random((2000, 1))) / np.linalg.norm(disc, axis=1, keepdims=True)
    turn = np.linspace(0, 2 * np.pi, 500)
    circle = np.column_stack((np.cos(turn), np.sin(turn)))
    yield "disc", disc, disc, circle, 1 - np.linalg.norm(disc, axis=1)
    ring = annulus(2000)
    radius = np.linalg.norm(ring.coordinates, axis=1)
    both = np.concatenate((circle, circle / 2))
    away = np.minimum(1 - radius, radius - 0.5)
    yield "annulus", ring.points, ring.coordinates, both, away
    cube, faces = rng.random((2000, 3)), rng.random((3000, 3))
    faces[np.arange(3000), np.arange(3000) % 3] = np.arange(3000) // 3 % 2
    yield "cube", cube, cube, faces, np.minimum(cube, 1 - cube).min(axis=1)


@pytest.mark.parametrize(("name", "points", "places", "border", "away"), list(rims()))
def test_rim(name, points, places, border, away):
    model = fitted(points, n_components=places.shape[1])
    is_rim, edge = model.rim(), np.median(model.graph_.lengths)
    assert np.mean(away[is_rim] <= edge) > 0.93
    assert np.mean(cKDTree(places[is_rim]).query(border)[0] <= edge) > 0.8


def test_no_rim_on_closed_surfaces():
    assert fitted(sphere(1500).points, n_components=3, intrinsic_dim=2).rim().sum() <= 3
    assert fitted(flat_torus(1500).points, n_components=2).rim().sum() <= 3


def test_ends_of_a_curve_and_of_pieces_that_are_bridged():
    line = np.sort(np.random.default_rng(0).random(60))[:, None] * [1.0, 2]
    assert np.flatnonzero(fitted(line, n_components=1).rim()).tolist() == [0, 59]
    both = np.concatenate((line, line + 9))
    rim = fitted(both, n_components=1, disconnected="bridge").rim()
    assert np.flatnonzero(rim).tolist() == [0, 59, 60, 119]


def test_stretch_of_a_known_map():
    roll = swiss_roll(1000)
    model = fitted(roll.points)
    assert model.stretch().median == pytest.approx(1, abs=1e-3)
    assert model.stretch().share < 0.01
    squeezed = stretch(model.connection_, roll.coordinates * [2, 0.5])
    assert np.median(squeezed.factors, axis=0) == pytest.approx([2, 0.5], rel=1e-3)
    assert np.abs(squeezed.directions[:, 0]) == pytest.approx(1, abs=1e-2)
    assert np.median(squeezed.area) == pytest.approx(1, rel=1e-3)
    assert squeezed.median == pytest.approx(2, rel=1e-3)
    assert squeezed.share == 1


def test_stretch_tells_where_and_what_is_not_shown():
    points = np.random.default_rng(0).random((600, 2))
    model = fitted(points)
    bent = np.where(points > 0.5, 1.5 * points - 0.25, points)
    found = stretch(model.connection_, bent)
    assert points[found.worst[:100]].max(axis=1).min() > 0.45
    assert found.factors[(points < 0.35).all(axis=1)] == pytest.approx(1, abs=1e-9)
    flat = stretch(model.connection_, points[:, :1])
    assert np.isfinite(flat.factors).all()
    assert np.isinf(flat.distortion).all()


HOLES = [
    (annulus(1000, inner=0.3), [0, 0], 0.3),
    (annulus(3000, inner=0.15), [0, 0], 0.15),
    (s_with_hole(2000), [0, 1], np.sqrt(0.16 * 6)),
    (swiss_roll(2000, hole=0.2), None, None),
]


@pytest.mark.parametrize(("data", "middle", "radius"), HOLES)
def test_planted_holes(data, middle, radius):
    model = fitted(data.points)
    (void,) = model.voids()
    flat = data.coordinates
    if middle is None:
        middle = 0.5 * (flat.min(axis=0) + flat.max(axis=0))
        radius = 0.2 * np.sqrt(np.prod(np.ptp(flat, axis=0)) / np.pi)
    ones = np.ones((len(flat), 1))
    motion = np.linalg.lstsq(np.hstack((model.embedding_, ones)), flat, rcond=None)[0]
    assert void.radius == pytest.approx(radius, rel=0.15)
    found = np.append(void.center_embedding, 1) @ motion
    assert np.linalg.norm(found - middle) < 0.1 * 2 * radius
    # In space too: nearest to the hole of the same sheet without one.
    assert cKDTree(data.points).query(void.samples)[0].min() > 0.2 * void.clearance / np.sqrt(
        len(void.samples)
    )
    away = np.linalg.norm(np.append(void.coordinates[0], 1) @ motion - middle)
    assert away < radius
    assert np.isin(cKDTree(data.points).query(void.center)[1], void.rim)


def test_samples_lie_on_the_sheet():
    whole, sheet = sphere(40_000, seed=1).points, sphere(3000).points
    with_hole = sheet[sheet[:, 2] < np.cos(0.3)]
    for n_components in (2, 3):  # folded in two dimensions, no flat picture in three
        model = fitted(with_hole, n_components=n_components, intrinsic_dim=2)
        (void,) = model.voids()
        assert void.radius == pytest.approx(0.3, rel=0.15)
        assert void.center[:2] == pytest.approx([0, 0], abs=0.06)
        assert np.linalg.norm(void.samples, axis=1) == pytest.approx(1, abs=0.02)
        distances, nearest = cKDTree(whole).query(void.samples)
        assert distances.max() < 0.03
        assert np.mean(whole[nearest, 2] > np.cos(0.3)) > 0.8
        assert void.center_embedding.shape == (n_components,)


def test_a_second_hole_and_the_larger_first():
    points = np.random.default_rng(0).random((3000, 2))
    centers, radii = np.array([[0.3, 0.3], [0.7, 0.6]]), np.array([0.1, 0.18])
    away = np.linalg.norm(points[:, None] - centers, axis=2)
    kept = points[(away > radii).all(axis=1)]
    voids = find_voids(fitted(kept)._fitted.as_given, kept)
    assert len(voids) == 2
    for void, center, radius in zip(voids, centers[::-1], radii[::-1], strict=True):
        assert void.center == pytest.approx(center, abs=0.1 * radius)
        assert void.radius == pytest.approx(radius, rel=0.15)
        assert (np.linalg.norm(void.samples - center, axis=1) < 1.1 * radius).all()


@pytest.mark.parametrize("n_points", [500, 1500])
def test_no_holes_in_full_sheets(n_points):
    makers = (
        swiss_roll,
        flat_square,
        lambda n, seed: s_uneven(n, ratio=5, seed=seed),
        lambda n, seed: spherical_cap(n, angle=60, sampling="random", seed=seed),
    )
    n_found = 0
    for maker in makers:
        for seed in range(4):
            n_found += len(fitted(maker(n_points, seed=seed).points, landmarks=50).voids())
    assert n_found <= 1


def test_nothing_depends_on_the_order():
    points = annulus(800, inner=0.3).points
    order = np.random.default_rng(1).permutation(800)
    one, other = fitted(points), fitted(points[order])
    np.testing.assert_array_equal(one.rim()[order], other.rim())
    np.testing.assert_allclose(
        one.stretch().factors[order], other.stretch().factors, rtol=1e-6, atol=1e-9
    )
    first, second = one.voids()[0], other.voids()[0]
    assert set(order[second.rim].tolist()) == set(first.rim.tolist())
    np.testing.assert_allclose(first.center, second.center, atol=1e-6)
    bent = spherical_cap(800, angle=60, sampling="random").points
    one, other = fitted(bent).curvature(), fitted(bent[order]).curvature()
    np.testing.assert_allclose(one.values[order], other.values, rtol=1e-6)


def test_in_the_callers_order_of_many_points():
    points = np.random.default_rng(0).random((21_000, 2))  # enough for an order of their own
    points = points[np.linalg.norm(points - 0.5, axis=1) > 0.1]
    model = fitted(points, landmarks=50)
    is_rim, voids = model.rim(), model.voids()
    from_rim = np.minimum(np.minimum(points, 1 - points).min(axis=1), 9)
    from_rim = np.minimum(from_rim, np.linalg.norm(points - 0.5, axis=1) - 0.1)
    assert np.median(from_rim[is_rim]) < 0.005
    assert voids[0].center == pytest.approx([0.5, 0.5], abs=0.01)
    assert np.linalg.norm(points[voids[0].rim] - 0.5, axis=1).max() < 0.13


RNG = np.random.default_rng(0)
SHEET = s_with_hole(150, seed=1).points
APART = np.concatenate((SHEET[:60], SHEET[60:100] + 50, SHEET[100:103] - 50))
ODD = {
    "three points": (np.array([[0.0, 0], [1, 0], [0, 1]]), {}),
    "two places": (np.repeat([[0.0, 0, 0], [1, 2, 3]], 5, axis=0), {"intrinsic_dim": "auto"}),
    "copies": (np.repeat(RNG.normal(size=(6, 3)), 8, axis=0), {}),
    "all of it twice": (np.repeat(SHEET, 2, axis=0), {}),
    "a line": (np.arange(60.0)[:, None] * [1.0, 2], {"n_components": 1}),
    "a lattice": (np.argwhere(np.ones((12, 12))).astype(float), {}),
    "rough": (RNG.normal(size=(80, 12)), {}),
    "more dimensions than shown": (RNG.normal(size=(60, 5)), {"intrinsic_dim": 4}),
    "more shown than dimensions": (SHEET, {"n_components": 3, "intrinsic_dim": 2}),
    "more features than points": (RNG.normal(size=(60, 90)), {}),
    "bridged": (APART, {"disconnected": "bridge"}),
    "largest": (APART, {"disconnected": "largest"}),
    "separate": (APART, {"disconnected": "separate"}),
    "without triangles": (SHEET, {"graph": kneighbors_graph(SHEET, 2, mode="distance")}),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_data_are_answered(kind):
    points, parameters = ODD[kind]
    parameters = dict(parameters)
    graph = parameters.pop("graph", None)
    with warnings.catch_warnings(action="ignore"):
        model = PTU(**parameters).fit(points, graph=graph)
    with warnings.catch_warnings(action="error"):
        bent, is_rim, stretched, voids = (
            model.curvature(),
            model.rim(),
            model.stretch(),
            model.voids(),
        )
    n_points, dim = len(points), model.connection_.intrinsic_dim
    for values in (bent.values, bent.std, bent.areas, is_rim, stretched.distortion):
        assert values.shape == (n_points,)
    assert stretched.factors.shape == (n_points, dim)
    assert is_rim.dtype == bool
    left_out = model.component_labels_ < 0
    assert np.isnan(bent.values[left_out]).all()
    assert np.isnan(stretched.factors[left_out]).all()
    assert not is_rim[left_out].any()
    for void in voids:
        assert np.isfinite(void.samples).all()
        assert void.samples.shape[1] == points.shape[1]


def test_a_part_without_a_triangle_does_not_spoil_the_rest():
    cap = spherical_cap(400, angle=60, sampling="random").points
    numbers = np.arange(1, 51)  # farther than averages reach
    top = cap[cap[:, 2].argmax()]
    tail = top + np.column_stack((0.1 * numbers, 0.05 * (numbers % 2), 0.1 * numbers))
    points = np.concatenate((cap, tail))
    matrix = sparse.lil_array((450, 450))
    matrix[:400, :400] = kneighbors_graph(cap, 10, mode="distance")
    chain = [int(cap[:, 2].argmax()), *range(400, 450)]
    for one, other in pairwise(chain):
        matrix[one, other] = np.linalg.norm(points[one] - points[other])
    graph = graph_from_matrix(matrix.tocsr(), 450)
    frames = estimate_frames(points, graph, tangent="quadratic")
    found = curvature(connect(points, graph, frames, step="arc"))
    assert np.isfinite(found.values[:400]).all()
    assert np.isfinite(found.std[:400]).all()
    assert np.isnan(found.values[445:]).all()
    assert np.median(found.values[:400]) == pytest.approx(1, rel=0.1)


def test_functions_take_records_as_stages_return_them():
    model = fitted(SHEET)
    connection = model.connection_
    np.testing.assert_array_equal(rim_points(connection), model.rim())
    np.testing.assert_array_equal(curvature(connection).values, model.curvature().values)
    np.testing.assert_array_equal(
        stretch(connection, model.embedding_).factors, model.stretch().factors
    )
    (hole,), (seen,) = find_voids(model._fitted.as_given), model.voids()
    assert np.linalg.norm(hole.center - seen.center) < seen.radius
    assert hole.center_embedding is None
