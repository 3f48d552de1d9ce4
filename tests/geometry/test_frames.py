"""Tangent frames and the neighbourhoods they come from."""

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from ptunfold import build_graph, connect, estimate_frames
from ptunfold.datasets import flat_square, spherical_cap


def planes_agree(first, second, atol):
    """Compare the spanned planes: two bases of one plane may differ by a rotation."""
    np.testing.assert_allclose(
        first @ first.swapaxes(-1, -2), second @ second.swapaxes(-1, -2), atol=atol
    )


def textbook_frame(points, center, dim):
    offsets = points - center
    values, vectors = np.linalg.eigh(offsets.T @ offsets)
    return vectors[:, ::-1][:, :dim], np.sqrt(values[::-1][:dim].clip(0))


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(3).normal(size=(80, 4))


@pytest.mark.parametrize("tangent_neighbors", [4, 12])
def test_frames_are_principal_directions(cloud, tangent_neighbors):
    graph = build_graph(cloud, 8)
    frames = estimate_frames(cloud, graph, tangent_neighbors, 2)
    assert frames.n_members == tangent_neighbors + 1
    lengths = dijkstra(graph.to_sparse())
    for node in range(80):
        members = np.argsort(lengths[node])[: tangent_neighbors + 1]
        middle = cloud[members].mean(axis=0)
        expected, values = textbook_frame(cloud[members], middle, 2)
        planes_agree(frames.vectors[node], expected, atol=1e-9)
        np.testing.assert_allclose(frames.singular_values[node], values, rtol=1e-9)
        offsets = cloud[members] - middle
        off_plane = offsets - offsets @ expected @ expected.T
        rms = np.sqrt(np.square(off_plane).sum() / (tangent_neighbors + 1))
        assert frames.residual[node] == pytest.approx(rms, rel=1e-9)


def test_frames_are_orthonormal(cloud):
    frames = estimate_frames(cloud, build_graph(cloud), 10, 3)
    products = frames.vectors.swapaxes(1, 2) @ frames.vectors
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(3), (80, 3, 3)), atol=1e-13)


def test_frames_of_a_sphere_are_tangent():
    data = spherical_cap(700, angle=40)
    frames = estimate_frames(data.points, build_graph(data.points), 8, 2)
    inner = data.color < np.radians(35)  # the rim sees only one side
    upright = np.einsum("nDi,nD->ni", frames.vectors[inner], data.points[inner])
    assert np.abs(upright).max() < 0.02


def test_frames_are_exact_with_many_more_features_than_points():
    rng = np.random.default_rng(0)
    plane = rng.random((30, 2))
    basis, _ = np.linalg.qr(rng.normal(size=(20_000, 2)))
    points = plane @ basis.T
    frames = estimate_frames(points, build_graph(points, 8), 8, 2)
    assert frames.vectors.shape == (30, 20_000, 2)
    overlap = np.einsum("Di,nDj->nij", basis, frames.vectors)
    np.testing.assert_allclose(np.linalg.svd(overlap)[1], 1, atol=1e-13)
    assert frames.residual.max() < 1e-13


def test_copies_of_a_point_do_not_count_as_neighbours(cloud):
    doubled = np.concatenate((cloud, np.repeat(cloud[:1], 20, axis=0)))
    within = {"graph": "radius", "radius": 4.0}
    alone = estimate_frames(cloud, build_graph(cloud, **within), 10, 2)
    among_copies = estimate_frames(doubled, build_graph(doubled, **within), 10, 2)
    planes_agree(among_copies.vectors[0], alone.vectors[0], atol=1e-12)


def test_a_neighbourhood_that_does_not_span_is_reported():
    rng = np.random.default_rng(0)
    plane = np.column_stack((rng.random((60, 2)), np.zeros(60)))
    line = np.column_stack((3 + np.arange(20) / 20, np.zeros(20), np.zeros(20)))
    points = np.concatenate((plane, line))
    graph = build_graph(points, 5)
    with pytest.raises(ValueError, match=r"neighbours of point \d+ span 1 of intrinsic_dim=2") as e:
        estimate_frames(points, graph, 4, 2)
    assert "raise tangent_neighbors" in str(e.value)
    assert int(str(e.value).split("point ")[1].split()[0]) >= 60


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_does_not_count_as_a_dimension(dtype):
    direction = np.array([1.0, 0.7, -0.3])
    points = (1000 + np.arange(50)[:, None] * direction).astype(dtype)
    with pytest.raises(ValueError, match="span 1 of"):
        estimate_frames(points, build_graph(points, 5), 6, 2)


def test_rounding_of_many_features_does_not_count_either():
    rng = np.random.default_rng(0)
    for n_features in (50, 1000):
        points = rng.random((40, 1)) * rng.standard_normal(n_features)
        for n_members in (15, 39):
            with pytest.raises(ValueError, match="span 1 of"):
                estimate_frames(points, build_graph(points, 39), n_members, 2)


def test_sizes_whose_squares_overflow_are_refused():
    points = flat_square(60).points
    graph = build_graph(points)
    with pytest.raises(ValueError, match="too far from 1 for squares in float64; divide X by"):
        estimate_frames(1e78 * points, graph.with_lengths(1e78 * graph.lengths), 15, 2)


def test_copies_of_neighbours_count_once(cloud):
    within = {"graph": "radius", "radius": 4.0}
    alone = estimate_frames(cloud, build_graph(cloud, **within), 10, 2)
    copies = np.repeat(cloud, 5, axis=0)
    many = estimate_frames(copies, build_graph(copies, **within), 10, 2)
    planes_agree(many.vectors[::5], alone.vectors, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_offset_or_an_outlier_is_not_taken_for_flatness(dtype):
    sheet = flat_square(500).points
    far = 1e4 if dtype == np.float32 else 1e12
    for points in (
        sheet + far,
        np.column_stack((sheet, np.full(500, 1.7e9))),
        np.vstack((sheet, np.full((1, 3), far))),
    ):
        points = points.astype(dtype)
        graph = build_graph(points)
        frames = estimate_frames(points, graph, 15, 2)
        assert np.isfinite(frames.vectors).all()


def test_points_and_graph_must_belong_together(cloud):
    graph = build_graph(cloud[:50])
    with pytest.raises(ValueError, match="the graph has 50 points, but 80 points were passed"):
        estimate_frames(cloud, graph)
    frames = estimate_frames(cloud[:50], graph)
    with pytest.raises(ValueError, match="the graph has 50 points, but 80 points were passed"):
        connect(cloud, graph, frames)
    with pytest.raises(ValueError, match=r"frames are for points of shape \(50, 4\)"):
        connect(cloud[:50, :3], graph, frames)
