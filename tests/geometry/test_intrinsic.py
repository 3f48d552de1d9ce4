"""Tangent spaces from distances, against those from coordinates."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import build_graph, estimate_frames
from ptunfold.datasets import s_with_hole
from ptunfold.geometry import intrinsic
from ptunfold.geometry.frames import edges_in_frames, find_members, fit_neighborhoods
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.intrinsic import local_planes, scaled, shadows, sizes

POINTS = s_with_hole(200).points
SPACE = Matrix(cdist(POINTS, POINTS))
GRAPH = build_graph(POINTS, 8)
NODES = np.arange(0, 200, 7)


def neighborhoods(n_neighbors=14):
    members, counts = find_members(GRAPH, np.arange(200), NODES, n_neighbors)
    # Some with fewer than others; the node takes the place of those that lack.
    counts[::3] -= 4
    is_there = np.arange(n_neighbors + 1) <= counts[:, None]
    return np.where(is_there, members, members[:, :1]), counts


def vectors_of(members, shares):
    """Write vectors that are given by shares of members in coordinates."""
    return np.einsum("nmf,nmd->nfd", POINTS[members], shares)


@pytest.fixture(params=[1 << 20, 500], ids=["whole", "in blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(intrinsic, "_NUMBERS_TOGETHER", request.param)


def test_scaling_gives_the_neighbourhood():
    members, counts = neighborhoods()
    values, vectors = scaled(SPACE, members, counts)
    assert (np.diff(values, axis=1) <= 1e-12).all()
    for row, count in enumerate(counts):
        offsets = POINTS[members[row, : count + 1]]
        offsets = offsets - offsets.mean(axis=0)
        expected = np.square(np.linalg.svd(offsets, compute_uv=False))
        np.testing.assert_allclose(values[row, :3], expected, atol=1e-10)
        np.testing.assert_allclose(values[row, 3:], 0, atol=1e-10)
        places = vectors[row, :, :3] * np.sqrt(values[row, :3])
        np.testing.assert_allclose(
            places[: count + 1] @ places[: count + 1].T, offsets @ offsets.T, atol=1e-10
        )
        np.testing.assert_allclose(places[count + 1 :], 0, atol=1e-10)


@pytest.mark.parametrize("tangent", ["pca", "quadratic", "robust"])
@pytest.mark.parametrize("dim", [1, 2])
def test_planes_are_those_of_coordinates(tangent, dim):
    members, counts = neighborhoods(18)
    expected = fit_neighborhoods(POINTS, members, counts, dim, tangent)
    found = fit_neighborhoods(SPACE, members, counts, dim, tangent)
    bases = vectors_of(members, found.bases)
    planes = (base @ np.swapaxes(base, 1, 2) for base in (bases, expected.bases))
    np.testing.assert_allclose(*planes, atol=1e-7)
    np.testing.assert_allclose(found.bases.sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-9)
    np.testing.assert_allclose(found.residual, expected.residual, atol=1e-7)
    assert (found.negative < 1e-12).all()
    assert (found.lift is None) == (tangent == "pca")
    if tangent != "pca":
        lift = vectors_of(members, found.lift[:, :, None])[:, :, 0]
        np.testing.assert_allclose(lift, expected.lift, atol=1e-7)
        np.testing.assert_allclose(found.curvature, expected.curvature, atol=1e-5)


def test_rounding_is_that_of_the_numbers():
    members, counts = neighborhoods()
    largest = scaled(SPACE, members, counts)[0][:, 0]
    rounding = local_planes(SPACE, members, counts, 2, "pca")[3]
    np.testing.assert_allclose(rounding, np.sqrt(1e-13 * largest))
    single = Matrix(SPACE.matrix.astype(np.float32))
    rounding = local_planes(single, members, counts, 2, "pca")[3]
    np.testing.assert_allclose(rounding, np.sqrt(1e-6 * largest), rtol=1e-4)


def test_copies_of_a_point_span_nothing():
    members = np.zeros((1, 5), dtype=np.int64)
    shares, widths, residual, rounding, *_, negative = local_planes(
        SPACE, members, np.array([4]), 2, "pca"
    )
    for values in (shares, widths, residual, rounding, negative):
        np.testing.assert_array_equal(values, 0)


def test_directions_that_no_euclidean_space_has_are_told():
    # A ring of four by the ways around it: 2, 2 along it and 4 across have a negative square.
    ring = np.array([[0.0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    space, members = Matrix(ring), np.arange(4)[None]
    centred = np.eye(4) - 0.25
    values = np.sort(np.linalg.eigvalsh(-0.5 * centred @ np.square(ring) @ centred))
    assert values[0] < 0
    found = local_planes(space, members, np.array([3]), 2, "pca")
    assert found[-1][0] == pytest.approx(-values[0] / np.abs(values).sum())
    np.testing.assert_allclose(found[1][0], np.sqrt(values[:1:-1]))
    np.testing.assert_allclose(found[2], 0, atol=1e-7)  # off the plane: nothing positive
    line = local_planes(space, members, np.array([3]), 1, "pca")
    assert line[2][0] == pytest.approx(np.sqrt(values[2] / 4))


def test_shadows_are_products_with_the_basis(blocks):
    members, counts = neighborhoods()
    shares = local_planes(SPACE, members, counts, 2, "pca")[0]
    tails, heads = np.random.default_rng(0).integers(200, size=(2, len(NODES)))
    expected = np.einsum("nfd,nf->nd", vectors_of(members, shares), POINTS[heads] - POINTS[tails])
    np.testing.assert_allclose(shadows(SPACE, members, shares, tails, heads), expected, atol=1e-8)


def test_sizes_are_lengths_of_vectors(blocks):
    members, _ = neighborhoods()
    shares = np.random.default_rng(0).normal(size=members.shape)
    shares -= shares.mean(axis=1, keepdims=True)
    expected = np.linalg.norm(vectors_of(members, shares[:, :, None])[:, :, 0], axis=1)
    np.testing.assert_allclose(sizes(SPACE, members, shares), expected)
    np.testing.assert_array_equal(sizes(SPACE, members, 0 * shares), 0)


@pytest.mark.parametrize("is_frugal", [False, True])
def test_edges_are_written_as_from_coordinates(blocks, is_frugal, monkeypatch):
    frames = estimate_frames(SPACE, GRAPH, 15)
    tails, heads = GRAPH.tails[::9], GRAPH.indices[::9]
    vectors = vectors_of(frames.members, frames.vectors)
    flat = replace(frames, vectors=vectors, members=None)
    expected = edges_in_frames(POINTS, flat, tails, heads)
    monkeypatch.setattr(SPACE, "is_frugal", is_frugal)
    found = edges_in_frames(SPACE, frames, tails, heads)
    off = np.abs(found[0] - expected[0]).max(axis=(1, 2))
    # Of shared members only where these span as much as the neighbourhoods.
    assert off.max() < 1e-7 or (is_frugal and np.quantile(off, 0.95) < 1e-7)
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)


def test_neighbourhoods_that_share_nothing_see_nothing_of_each_other(monkeypatch):
    frames = estimate_frames(SPACE, GRAPH, 15)
    shared = (frames.members[:, :, None] == frames.members[0]).any(axis=(1, 2))
    far = int(np.flatnonzero(~shared)[0])
    monkeypatch.setattr(SPACE, "is_frugal", True)
    overlaps, *_ = edges_in_frames(SPACE, frames, np.array([0]), np.array([far]))
    np.testing.assert_array_equal(overlaps, 0)
