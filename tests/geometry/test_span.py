"""Points that span less than there are features."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist

from ptunfold import PTU
from ptunfold.geometry.span import Span, span_coordinates


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_all_distances_are_kept(offset):
    points = np.random.default_rng(0).normal(size=(20, 3000)) + offset
    reduced = span_coordinates(points)
    assert reduced.shape == (20, 20)
    np.testing.assert_allclose(cdist(reduced, reduced), cdist(points, points), rtol=1e-11)


def test_few_features_are_left_alone():
    points = np.random.default_rng(0).normal(size=(20, 20))
    assert span_coordinates(points) is points


def test_the_embedding_does_not_notice():
    """The same sheet in R⁸⁰ (below n) and in R⁵⁰⁰⁰⁰ (far above)."""
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(0, 2, 100), rng.random(100)
    tube = np.column_stack((np.cos(angle), np.sin(angle), height))
    embeddings = []
    for n_features in (80, 50_000):
        basis, _ = np.linalg.qr(rng.normal(size=(n_features, 3)))
        embeddings.append(PTU(n_neighbors=8).fit_transform(tube @ basis.T))
    np.testing.assert_allclose(embeddings[0], embeddings[1], atol=1e-10)


def test_copies_stay_copies():
    points = np.random.default_rng(0).normal(size=(30, 2000))
    points[20:] = points[5:15]
    reduced = span_coordinates(points)
    np.testing.assert_array_equal(reduced[20:], reduced[5:15])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_few_directions_are_found(dtype, offset, scale):
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(40, 3)))
    points = (scale * (rng.random((300, 3)) @ basis.T + offset)).astype(dtype)
    reduced = span_coordinates(points)
    assert reduced.shape == (300, 3)
    assert reduced.dtype == dtype
    wide = points.astype(np.float64)
    off = np.abs(cdist(reduced, reduced) - cdist(wide, wide)).max()
    assert off < 50 * np.finfo(dtype).eps * (1 + offset) * scale


def test_what_one_point_has_is_not_left_out():
    rng = np.random.default_rng(0)
    points = rng.random((300, 3)) @ rng.random((3, 40))
    points[101, 7] += 1e-9  # not among those that are looked at first
    assert span_coordinates(points) is points


def test_noise_is_kept():
    rng = np.random.default_rng(0)
    points = rng.random((300, 3)) @ rng.random((3, 40)) + 1e-8 * rng.normal(size=(300, 40))
    assert span_coordinates(points) is points


def test_no_fewer_coordinates_than_the_sheet_has_dimensions():
    line = np.linspace(0, 1, 200)[:, None] * np.ones(30)
    assert span_coordinates(line).shape == (200, 1)
    assert span_coordinates(line, 3).shape == (200, 3)


def test_new_points_beside_the_span():
    """They are placed by the nearest point of it, as others are."""
    rng = np.random.default_rng(0)
    sheet, basis = rng.random((600, 2)), np.linalg.qr(rng.normal(size=(20, 3)))[0]
    tube = np.column_stack((np.cos(2 * sheet[:, 0]), np.sin(2 * sheet[:, 0]), 2 * sheet[:, 1]))
    wide = tube @ basis.T
    aside = wide[:50] + 0.01 * np.linalg.svd(basis.T)[2][-1]
    narrow, broad = PTU().fit(tube), PTU().fit(wide)
    assert broad.frames_.vectors.shape == narrow.frames_.vectors.shape
    assert np.abs(broad.embedding_ - narrow.embedding_).max() < 1e-9
    assert np.abs(broad.transform(aside) - broad.transform(wide[:50])).max() < 1e-3
    back = broad.inverse_transform(broad.embedding_[:50])
    assert back.shape == (50, 20)
    assert np.abs(back - wide[:50]).max() < 0.02


@pytest.mark.parametrize("apart", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("scale", [1e-30, 1.0])
def test_near_copies_come_to_their_places(apart, scale):
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(size=(20, 90))] * 3)
    points = scale * (points + apart * rng.normal(size=points.shape))
    coordinates = span_coordinates(points)
    span = Span(points, coordinates)
    found, off = span.into(points)
    np.testing.assert_allclose(found, coordinates, rtol=0, atol=1e-14 * scale)
    np.testing.assert_allclose(span.out(coordinates), points, rtol=0, atol=1e-14 * scale)
    assert off.max() == 0  # and not the root of what a difference of squares is rounded by
    away = 1e-4 * scale * np.ones((1, 90))
    assert 0.4 < span.into(points[:1] + away)[1][0] / np.linalg.norm(away) <= 1


def test_near_copies_come_to_their_places_whoever_rounds():
    """By some builds of LAPACK a quarter of these are off by more."""
    off = []
    for seed in range(48):
        rng = np.random.default_rng(seed)
        points = np.vstack([rng.normal(size=(20, 90))] * 3)
        points += 10.0 ** -(3 + 3 * (seed % 4)) * rng.normal(size=points.shape)
        coordinates = span_coordinates(points)
        found, _ = Span(points, coordinates).into(points)
        off.append(np.abs(found - coordinates).max())
    assert np.mean(np.array(off) > 1e-14) < 0.08


def test_one_of_two_near_copies_is_placed_where_it_was():
    """One point is embedded; its near copy is not, and must not be taken for it."""
    rng = np.random.default_rng(0)
    places = np.vstack([rng.normal(size=(6, 35))] * 2)
    points = places + 1e-9 * rng.normal(size=places.shape)
    with pytest.warns(UserWarning, match="only the largest"):
        model = PTU(disconnected="largest").fit(points, graph=csr_array((12, 12)))
    assert (model.component_labels_ >= 0).sum() == 1
    first = model.component_labels_.argmax()
    np.testing.assert_array_equal(model.transform(points[[first]]), model.embedding_[[first]])


@pytest.mark.parametrize("is_flat", [True, False])
def test_wide_points_are_not_copied_many_times(is_flat):
    rng = np.random.default_rng(0)
    points = rng.random((200, 60_000), dtype=np.float32)
    if is_flat:
        points = rng.random((200, 3), dtype=np.float32) @ points[:3]
    tracemalloc.start()
    try:
        reduced = span_coordinates(points)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reduced.shape == (200, 3 if is_flat else 200)
    some = 8 * 64 * points.shape[1]  # whose directions are looked at, in float64
    assert peak < 3 * some + 0.5 * points.nbytes


def test_the_way_into_a_span_is_one_table():
    points = np.random.default_rng(0).random((100, 60_000), dtype=np.float32)
    coordinates = span_coordinates(points)
    tracemalloc.start()
    try:
        span = Span(points, coordinates)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # In float64, and what LAPACK and blocks take beside it.
    assert peak < 1.6 * span.basis.nbytes
    np.testing.assert_allclose(span.into(points)[0], coordinates, atol=1e-4)


def test_triangles_one_after_the_other():
    """Enough features for several blocks of rows."""
    points = np.random.default_rng(0).normal(size=(300, 30_000))
    reduced = span_coordinates(points)
    np.testing.assert_allclose(pdist(reduced), pdist(points), rtol=1e-12)
