"""The generators: sizes, seeds, and truths against closed forms and fine paths."""

import numpy as np
import pytest

from ptunfold import datasets

NAMES = sorted(set(datasets.__all__) - {"Dataset"})


@pytest.mark.parametrize("name", NAMES)
def test_size_seed_and_dimension(name):
    make = getattr(datasets, name)
    data = make(150, n_features=9, seed=5)
    assert data.points.shape == (150, 9)
    assert data.color.shape == (150,)
    np.testing.assert_array_equal(data.points, make(150, n_features=9, seed=5).points)
    assert not np.array_equal(data.points, make(150, n_features=9, seed=6).points)


@pytest.mark.parametrize("name", NAMES)
def test_geodesics_are_no_shorter_than_chords(name):
    data = getattr(datasets, name)(150, seed=1)
    chords = np.linalg.norm(data.points[:, None] - data.points[None], axis=2)
    exact = data.distances()
    assert (exact >= chords - 1e-12).all()
    np.testing.assert_array_equal(data.distances([3, 4]), exact[[3, 4]])


@pytest.mark.parametrize("name", ["s_uneven", "s_with_hole", "swiss_roll"])
def test_sheets_are_isometric(name):
    """Close pairs are as far apart in space as in the unrolled plane."""
    data = getattr(datasets, name)(4000, seed=0)
    exact = data.distances()
    chords = np.linalg.norm(data.points[:, None] - data.points[None], axis=2)
    close = (exact > 0) & (exact < 0.01 * exact.max())
    assert close.sum() > 1000
    np.testing.assert_allclose(chords[close], exact[close], rtol=5e-3)


@pytest.mark.parametrize("name", ["s_with_hole", "swiss_roll"])
def test_holes_are_empty(name):
    data = getattr(datasets, name)(3000, hole=0.4)
    low, high = data.coordinates.min(axis=0), data.coordinates.max(axis=0)
    unit = (data.coordinates - low) / (high - low)
    assert not (np.abs(unit - 0.5) < 0.19).all(axis=1).any()


def test_density_varies():
    along = datasets.s_uneven(20_000, ratio=30).coordinates[:, 0]
    counts, _ = np.histogram(along, 40)
    assert 20 < counts[-1] / counts[0] < 45
    with pytest.raises(ValueError, match="not above 1"):
        datasets.s_uneven(ratio=0.5)


def test_annulus_and_l_shape_are_not_full():
    radius = np.linalg.norm(datasets.annulus(1000, inner=0.6).coordinates, axis=1)
    assert 0.6 <= radius.min() < 0.62
    corner = (datasets.l_shape(1000).coordinates > 0.5).all(axis=1)
    assert not corner.any()


def test_torus_is_solid_and_has_a_hole():
    solid = datasets.filled_torus(2000, inner=0.4).coordinates
    from_ring = np.hypot(np.hypot(solid[:, 0], solid[:, 1]) - 1, solid[:, 2])
    assert from_ring.max() <= 0.4
    # Uniform in volume: half of it within 1/√2 of the thickness.
    assert np.mean(from_ring < 0.4 / np.sqrt(2)) == pytest.approx(0.5, abs=0.05)


def test_sphere_distances_are_arcs():
    data = datasets.spherical_cap(200, sampling="random")
    cosine = np.clip(data.points @ data.points.T, -1, 1)
    np.testing.assert_allclose(data.distances(), np.arccos(cosine), atol=1e-7)
    assert data.graph is None


def test_noise_is_along_the_normal_and_of_the_right_size():
    clean, noisy = datasets.petals(2000, seed=1), datasets.petals(2000, noise=0.03, seed=1)
    radius = np.linalg.norm(noisy.points, axis=1)
    assert np.std(radius) == pytest.approx(0.03, rel=0.1)
    np.testing.assert_allclose(noisy.points / radius[:, None], clean.points, atol=1e-12)
    clean, noisy = datasets.swiss_roll(2000), datasets.swiss_roll(2000, noise=0.02)
    shift = np.linalg.norm(noisy.points - clean.points, axis=1)
    box = np.ptp(clean.points, axis=0).max()
    assert np.sqrt(np.mean(shift**2)) == pytest.approx(0.02 * box, rel=0.1)
    np.testing.assert_array_equal(noisy.points[:, 1], clean.points[:, 1])


def test_triangulation_has_the_right_number_of_edges():
    data = datasets.spherical_cap(700)
    assert 2.7 * 700 < data.graph.nnz < 3 * 700 - 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.flat_square(n_features=1), "n_features=1 is too few"),
        (lambda: datasets.swiss_roll(hole=1), "hole=1 leaves nothing"),
        (lambda: datasets.spherical_cap(sampling="odd"), "sampling='odd' is not known"),
    ],
)
def test_impossible_requests(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_outliers_of_a_roll():
    clean, data = datasets.swiss_roll(1000), datasets.swiss_roll(1000, outliers=0.1)
    side = np.ptp(clean.points, axis=0).max()
    moved = np.abs(data.points - clean.points).max(axis=1)
    assert data.is_outlier.sum() == 100
    np.testing.assert_array_equal(moved > 0, data.is_outlier)
    assert 0.06 * side < moved.max() <= 0.08 * side
    assert clean.is_outlier.sum() == 0
