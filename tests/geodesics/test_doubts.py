"""Error bars of distances: what they hold, what they grow with, and where they are told."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ptunfold import PTU, geodesic_distances
from ptunfold.datasets import annulus, flat_square, petals, s_with_hole, spherical_cap, swiss_roll
from ptunfold.embedding.ellipses import ellipses
from ptunfold.geodesics.doubts import doubts_of, rows_with
from ptunfold.geodesics.paths import unfold_path


def noisy_roll(n_points, noise, seed=0):
    data = swiss_roll(n_points, seed=seed)
    shift = np.random.default_rng(seed + 9).normal(size=data.points.shape)
    return data, data.points + noise * np.ptp(data.points, axis=0).max() * shift


def shares(model, exact, sources):
    found, std = model.distances(sources, return_std=True)
    is_apart = exact > 0
    z = np.abs(found - exact)[is_apart] / std[is_apart]
    return np.mean(z <= 1), np.mean(z <= 1.96)


@pytest.mark.parametrize("noise", [0.01, 0.02])
def test_bars_hold_what_they_promise_with_noise(noise):
    held = []
    sources = np.arange(0, 1500, 150)
    for seed in (21, 22, 23):
        data, points = noisy_roll(1500, noise, seed)
        held.append(shares(PTU().fit(points), data.distances(sources), sources))
    one, two = np.mean(held, axis=0)
    assert 0.60 <= one <= 0.78
    assert 0.90 <= two <= 0.985


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: petals(1500, seed=seed),
        lambda seed: s_with_hole(1500, seed=seed),
        lambda seed: spherical_cap(1500, angle=60, sampling="random", seed=seed),
        lambda seed: swiss_roll(1500, seed=seed),
    ],
)
def test_bars_are_of_the_size_of_errors_without(make):
    """Within a factor of three to either side, over six orders of magnitude."""
    sources = np.arange(0, 1500, 150)
    ratios = []
    for seed in (21, 22):
        data = make(seed)
        found, std = PTU().fit(data.points).distances(sources, return_std=True)
        off = np.abs(found - data.distances(sources))
        ratios.append(np.quantile(off, 0.68) / np.quantile(std, 0.68))
    assert 1 / 6 < np.mean(ratios) < 2


@pytest.mark.parametrize("make", [flat_square, annulus])
def test_what_is_exact_has_bars_of_rounding(make):
    data = make(800, n_features=100)
    found, std = PTU().fit(data.points).distances([5], return_std=True)
    size = found.max()
    assert std.max() < 1e-14 * size
    assert (np.abs(found - data.distances([5])) <= 6 * std + 1e-300).mean() > 0.95


def test_they_tell_good_distances_from_bad_ones():
    """Behind the hole, where paths are bent, bars are longer, and errors too."""
    data = petals(1500)
    sources = np.arange(0, 1500, 100)
    found, std = PTU().fit(data.points).distances(sources, return_std=True)
    off = np.abs(found - data.distances(sources))
    is_apart = data.distances(sources) > 0
    ranks = [np.argsort(np.argsort(values[is_apart])) for values in (off, std)]
    assert np.corrcoef(*ranks)[0, 1] > 0.6


def test_distances_are_the_same_and_shapes_agree():
    _, points = noisy_roll(600, 0.01)
    model = PTU().fit(points)
    found, std = model.distances([3, 9], return_std=True)
    np.testing.assert_array_equal(found, model.distances([3, 9]))
    assert std.shape == found.shape
    assert std[0, 3] == 0
    assert std[1, 9] == 0
    # Either way.
    assert std[0, 9] == pytest.approx(std[1, 3], rel=0.05)
    path = model.path(3, 200)
    assert path.std == pytest.approx(std[0, 200], rel=1e-9)
    again, bars = geodesic_distances(points, sources=[3, 9], return_std=True)
    np.testing.assert_allclose(again, found, rtol=1e-9)
    np.testing.assert_allclose(bars, std, rtol=1e-6)
    everything, all_bars = model.distances(return_std=True)
    assert all_bars.shape == everything.shape == (600, 600)
    np.testing.assert_array_equal(all_bars[[3, 9]], std)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_points", [10, 16])
def test_so_few_points_that_all_have_one_plane_are_not_taken_for_exact(n_points):
    held = []
    for seed in range(8):
        angle, height = np.random.default_rng(seed).uniform(0, [[np.pi], [2]], (2, n_points))
        tube = np.column_stack((np.cos(angle), np.sin(angle), height))
        exact = np.hypot(angle[:, None] - angle, height[:, None] - height)
        found, std = PTU().fit(tube).distances(return_std=True)
        held.append(np.mean((np.abs(found - exact) <= 2 * std)[exact > 0]))
    assert 0.6 < np.mean(held) < 0.98
    flat = np.random.default_rng(0).random((n_points, 2)) @ [[1, 0, 1], [0, 1, 1]]
    assert PTU().fit(flat).distances(return_std=True)[1].max() < 1e-12


def test_twice_the_noise_is_twice_the_bar():
    bars = []
    for noise in (0.01, 0.02):
        _, points = noisy_roll(1500, noise)
        bars.append(np.median(PTU().fit(points).distances([0], return_std=True)[1]))
    assert bars[1] / bars[0] == pytest.approx(2, rel=0.2)


def test_scaling_the_data_scales_the_bars():
    points = petals(500).points
    one, other = (PTU().fit(factor * points) for factor in (1.0, 1000.0))
    np.testing.assert_allclose(
        1000 * one.distances([2], return_std=True)[1],
        other.distances([2], return_std=True)[1],
        rtol=1e-6,
    )


def test_no_doubt_without_a_reason():
    doubts = doubts_of(PTU().fit(flat_square(300).points)._fitted.geometry)
    assert doubts.noise == 0
    assert doubts.tilts.max() < 1e-28
    assert (doubts.bends == 0).all()


def test_what_is_not_carried_on_is_in_doubt():
    """By what it adds to distances, and by the way it is gone for; turns count for less of it."""
    model = PTU(coherence=0.7, disconnected="bridge").fit(s_with_hole(300).points)
    geometry = model._fitted.geometry
    nothing = np.zeros(geometry.connection.graph.n_edges)
    sure = doubts_of(geometry)._replace(tilts=nothing, bends=nothing, noise=0.0)
    rows, std = rows_with(sure, geometry, np.array([5]))
    connection, end = geometry.connection, int(rows[0].argmax())
    both = zip(connection.graph.tails, connection.graph.indices, strict=True)
    ways = {pair: edge for edge, pair in enumerate(both)}
    nodes = unfold_path(connection, 5, end).nodes
    place, turn, way, carried = np.zeros(2), np.eye(2), 0.0, 0.0
    for edge in (ways[pair] for pair in pairwise(nodes)):
        place = place + turn @ connection.steps[edge]
        turn = turn @ connection.rotations[edge]
        long = np.linalg.norm(connection.steps[edge])
        way, carried = way + long, 0.7 * carried + long
    added = rows[0, end] - np.linalg.norm(place)
    assert added > 0
    share = carried / way
    assert share < 0.6
    expected = np.hypot(0.6 * added, 0.002 * (1 - share) * rows[0, end])
    assert std[0, end] == pytest.approx(expected, rel=1e-6)
    tilted = doubts_of(geometry)._replace(noise=0.0)
    whole = replace(geometry, connection=replace(connection, coherence=None))
    _, less = rows_with(tilted, geometry, np.array([5]))
    _, more = rows_with(tilted, whole, np.array([5]))
    assert np.sqrt(less[0, end] ** 2 - expected**2) == pytest.approx(share * more[0, end], rel=0.05)


def test_pieces_and_points_left_out():
    points = s_with_hole(300).points
    apart = np.concatenate((points, points[:80] + 50))
    with warnings.catch_warnings(action="ignore"):
        separate = PTU(disconnected="separate").fit(apart)
        largest = PTU(disconnected="largest").fit(apart)
    assert np.isinf(separate.distances([0], return_std=True)[1][0, 300:]).all()
    assert np.isnan(largest.distances([0], return_std=True)[1][0, 300:]).all()
    assert np.isfinite(separate.embedding_std_).all()
    assert np.isnan(largest.embedding_std_[300:]).all()


def test_ellipses_of_places():
    """Distances that are sure along one axis and not along the other."""
    rng = np.random.default_rng(0)
    places = rng.normal(size=(400, 2)) * [10, 1]
    anchors = np.arange(100)
    ways = places - places[anchors][:, None]
    share = np.square(ways[..., 0]) / np.maximum(np.square(ways).sum(axis=2), 1e-9)
    found = ellipses(places, anchors, np.where(share > 0.5, 1.0, 0.1))
    np.testing.assert_allclose(found, found.transpose(0, 2, 1), atol=1e-12)
    assert np.median(found[:, 0, 0]) > 3 * np.median(found[:, 1, 1])
    even = ellipses(rng.normal(size=(400, 2)), anchors, np.full((100, 400), 2.0))
    np.testing.assert_allclose(np.median(even[:, 0, 0]), np.sqrt(2), rtol=0.1)


def test_places_are_as_far_off_as_their_ellipses_say():
    data, points = noisy_roll(1500, 0.01)
    model = PTU().fit(points)
    centred = data.coordinates - data.coordinates.mean(axis=0)
    found = model.embedding_ - model.embedding_.mean(axis=0)
    left, _, right = np.linalg.svd(found.T @ centred)
    turn = left @ right
    off = found - centred @ turn.T
    length = np.linalg.solve(model.embedding_std_, off[:, :, None])[:, :, 0]
    # Of a normal distribution in the plane 39 % are within one.
    assert 0.2 < np.mean(np.linalg.norm(length, axis=1) <= 1) < 0.6


def test_return_std_is_yes_or_no():
    with pytest.raises((TypeError, ValueError), match="return_std"):
        PTU().fit(petals(100).points).distances([0], return_std="yes")


def test_new_points_have_ellipses_too():
    _, points = noisy_roll(600, 0.01)
    model = PTU().fit(points)
    places, std = model.transform(points[:50], return_std=True)
    np.testing.assert_allclose(places, model.embedding_[:50], atol=1e-8)
    np.testing.assert_array_equal(std, model.embedding_std_[:50])
    far = np.concatenate((points[:2] + 0.01, points[:1] + 1e3))
    _, info, std = model.transform(far, return_info=True, return_std=True)
    np.testing.assert_array_equal(np.isnan(std).any(axis=(1, 2)), info.is_outside)
    assert info.is_outside.tolist() == [False, False, True]


def test_dask_is_told_to_go_part_by_part():
    dask = pytest.importorskip("dask.array")
    _, points = noisy_roll(300, 0.01)
    model = PTU().fit(points)
    with pytest.raises(TypeError, match="parts"):
        model.transform(dask.from_array(points), return_std=True)
