"""What data are like: the numbers that decide, and what is decided."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import build_graph, estimate_frames
from ptunfold.datasets import s_with_hole, spherical_cap, swiss_roll
from ptunfold.geometry.frames import frames_at
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.shapes import Shapes, shapes_at
from ptunfold.geometry.texture import Texture, median_explained, texture_of


def noisy(points, noise, seed=0):
    return points + noise * np.random.default_rng(seed).normal(size=points.shape)


def kind(points, dim=2):
    return texture_of(points, build_graph(points), dim)


def test_the_share_of_edges_in_their_planes():
    points = noisy(s_with_hole(120).points, 0.02)
    graph = build_graph(points, 8)
    frames, nodes = estimate_frames(points, graph), np.arange(120)
    shares = []
    for node in nodes:
        ways = points[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]] - points[node]
        shares.append(np.square(ways @ frames.vectors[node]).sum() / np.square(ways).sum())
    found = median_explained(points, graph, frames, nodes)
    assert found == pytest.approx(np.median(shares))
    space = Matrix(cdist(points, points))
    by_distances = estimate_frames(space, graph)
    assert median_explained(space, graph, by_distances, nodes) == pytest.approx(found)
    assert median_explained(points, graph, frames, nodes[:0]) == 1
    single = points.astype(np.float32)
    assert median_explained(single, graph, frames, nodes) == pytest.approx(found, rel=1e-4)


def test_copies_without_other_edges_do_not_count():
    graph = SimpleNamespace(indptr=np.array([0, 1, 2]), indices=np.array([1, 0]))
    frames = SimpleNamespace(vectors=np.ones((2, 3, 2)))
    assert median_explained(np.ones((2, 3)), graph, frames, np.arange(2)) == 1


def test_shares_and_thickness_are_medians():
    widths = np.array([[3.0, 2, 1], [3, 1, 1], [5, 5, 0]])
    shapes = Shapes(widths, np.full(3, 9.0), off=np.array([1.0, 2, 0]), n_members=4)
    assert shapes.thickness == pytest.approx(1 / 2)
    assert shapes.share == pytest.approx(13 / 17)
    nothing = Shapes(np.zeros((1, 3)), np.zeros(1), np.zeros(1), 4)
    assert (nothing.share, nothing.thickness) == (0, 0)


@pytest.mark.parametrize("n_features", [3, 6, 15, 40])
@pytest.mark.parametrize("surfaces", [False, True])
def test_shapes_are_those_of_frames(n_features, surfaces):
    """Whether neighbourhoods are measured along axes or by products, and with bridges or not."""
    cap = spherical_cap(200, angle=60).points
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(n_features, 3)))[0]
    points = noisy(cap @ turned.T, 0.01)
    points = np.concatenate((points, points[:1], points[:1] + 50))  # a copy, and one alone
    graph, nodes = build_graph(points, 8), np.arange(0, 201, 3)
    found = shapes_at(nodes, points, graph, 20, 2, surfaces=surfaces, n_jobs=2)
    expected = frames_at(nodes, points, graph, 20, 3)
    np.testing.assert_allclose(found.widths, expected.singular_values, rtol=1e-9, atol=1e-9)
    planes = frames_at(nodes, points, graph, 20, 2)
    np.testing.assert_allclose(found.off_planes, planes.residual, rtol=1e-8)
    if surfaces:
        planes = frames_at(nodes, points, graph, 20, 2, tangent="quadratic")
    np.testing.assert_allclose(found.off, planes.residual, rtol=1e-7)
    space = Matrix(cdist(points, points))
    by_distances = shapes_at(nodes, space, graph, 20, 2, surfaces=surfaces)
    np.testing.assert_allclose(by_distances.off, found.off, rtol=1e-5)
    np.testing.assert_allclose(by_distances.widths, found.widths, rtol=1e-5)


def test_what_textures_are():
    assert Texture("noisy", 0.75).is_sheet
    assert not Texture("noisy", 0.74).is_sheet
    assert [Texture(name, 1).is_noisy for name in ("noisy", "very noisy", "rough")] == [1, 1, 0]
    assert Texture("noisy", 0.9).without_noise.kind == "smooth"
    assert Texture("noisy", 0.89).without_noise.kind == "rough"


def test_as_many_features_as_dimensions_are_flat():
    points = np.random.default_rng(0).normal(size=(50, 2))
    assert kind(points) == Texture("flat", 1.0)


def cap(n_points, noise):
    return noisy(spherical_cap(n_points, angle=60).points, noise)


def uneven(n_points):
    """A cap of which a part has five times as much noise as the rest."""
    points = spherical_cap(n_points, angle=60).points
    return noisy(points, np.where(points[:, :1] > 0.25, 0.05, 0.01))


def plane():
    return np.random.default_rng(0).uniform(size=(300, 2)) @ np.eye(2, 4)


def cloud(n_points):
    return np.random.default_rng(0).normal(size=(n_points, 6))


def curve():
    along = np.linspace(0, 3, 400)
    return noisy(np.column_stack((along, np.sin(along))), 0.01)


SETS = {
    "a plane in space": (plane, 2, "flat", 8),
    "a cap": (lambda: cap(400, 0), 2, "smooth", 8),
    "a roll": (lambda: swiss_roll(500).points, 2, "smooth", 8),
    "few of a cap": (lambda: spherical_cap(60, angle=30).points, 2, "smooth", 8),
    "a noisy cap": (lambda: cap(800, 0.02), 2, "noisy", 8),
    "few of a noisy cap": (lambda: cap(300, 0.01), 2, "noisy", 4),
    "a noisy roll": (lambda: swiss_roll(600, noise=0.003).points, 2, "noisy", 8),
    # Wide neighbourhoods reach over to the next winding.
    "a noisier roll": (lambda: swiss_roll(600, noise=0.01).points, 2, "noisy", 4),
    "a strongly noisy cap": (lambda: cap(1500, 0.06), 2, "very noisy", 8),
    "fewer of it": (lambda: cap(700, 0.06), 2, "noisy", 8),
    "uneven noise": (lambda: uneven(600), 2, "noisy", 8),
    "uneven noise of few": (lambda: uneven(400), 2, "smooth", 8),
    "a noisy curve": (curve, 1, "noisy", 8),
    "a cloud": (lambda: cloud(600), 2, "rough", 8),
    "a small cloud": (lambda: cloud(60), 2, "rough", 8),
}


@pytest.mark.parametrize("name", SETS)
def test_sets_of_each_kind(name):
    make, dim, expected, n_each = SETS[name]
    points = make()
    found = kind(points, dim)
    assert (found.kind, found.n_each) == (expected, n_each)
    again = kind(1e3 * points, dim)  # whatever the unit
    assert (again.kind, again.n_each) == (expected, n_each)


def test_by_distances_alone_the_same_is_seen():
    points = cap(300, 0.01)
    space = Matrix(cdist(points, points))
    found, expected = texture_of(space, build_graph(space), 2), kind(points)
    assert (found.kind, found.n_each) == (expected.kind, expected.n_each) == ("noisy", 4)
    assert found.explained == pytest.approx(expected.explained)


def test_points_without_neighbours_are_not_bent():
    """Neither thick nor wide, they made a plane a curved sheet."""
    rng = np.random.default_rng(0)
    flat = np.column_stack((rng.random((400, 2)), np.zeros(400)))
    far = rng.standard_normal((40, 3)) * 100
    points = np.concatenate((flat, far))
    assert texture_of(points, build_graph(points, graph="radius", radius=0.15), 2).kind == "flat"
