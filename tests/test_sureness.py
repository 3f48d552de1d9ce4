"""How long bars have to be: half of the points against all of them."""

import warnings

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import flat_square, petals, spherical_cap, swiss_roll
from ptunfold.geodesics.doubts import doubts_of, rows_with
from ptunfold.sureness import fitted_to_data, known_doubts


def geometry_of(points, **parameters):
    with warnings.catch_warnings(action="ignore"):
        return PTU(seams="leave", **parameters).fit(points)._fitted.geometry


def shares_held(make, n_points, seeds):
    """Tell which shares of the errors are within one and two bars."""
    sources, held = np.arange(0, n_points, n_points // 10), []
    for seed in seeds:
        data = make(n_points, seed)
        found, std = PTU(seams="leave").fit(data.points).distances(sources, return_std=True)
        exact = data.distances(sources)
        off = np.abs(found - exact)[exact > 0] / std[exact > 0]
        held.append((np.mean(off <= 1), np.mean(off <= 1.96)))
    return np.mean(held, axis=0)


def cap(angle):
    return lambda n, seed: spherical_cap(n, angle=angle, sampling="random", seed=seed)


@pytest.mark.parametrize(
    "make",
    [lambda n, seed: swiss_roll(n, seed=seed), lambda n, seed: petals(n, seed=seed), cap(60)],
)
def test_bars_without_noise_are_as_long_as_errors(make):
    """Errors are 1e-6 to 1e-4 of the distances; without the factor all of these fail."""
    one, two = shares_held(make, 2000, (31, 32, 33))
    assert 0.55 <= one <= 0.85
    assert 0.85 <= two <= 0.99


@pytest.mark.parametrize(
    "make", [cap(100), lambda n, seed: flat_square(n, n_features=30, seed=seed)]
)
def test_bars_of_few_points(make):
    """Of a cap half of the points would be too coarse; without the factor both fail."""
    one, two = shares_held(make, 700, (31, 32, 33, 34))
    assert 0.6 <= one <= 0.84
    assert 0.87 <= two <= 0.98


def test_wrong_bars_are_set_right():
    geometry = geometry_of(swiss_roll(1500).points)
    doubts = doubts_of(geometry)
    found = fitted_to_data(geometry, doubts)
    assert 0.2 < found.factor < 0.7  # a roll is easier than what bars are made for
    assert known_doubts(geometry).factor == found.factor
    assert known_doubts(geometry) is known_doubts(geometry)
    again = PTU(n_jobs=2, seams="leave").fit(swiss_roll(1500).points)._fitted.geometry
    assert fitted_to_data(again, doubts_of(again), n_jobs=2)[3:] == found[3:]


def test_bars_grow_with_the_distance_where_errors_do():
    """On a sphere what is wrong with curvature adds up along the way."""
    data = spherical_cap(1500, angle=100, sampling="random", seed=41)
    model = PTU(seams="leave").fit(data.points)
    geometry = model._fitted.geometry
    found, plain = known_doubts(geometry), doubts_of(geometry)
    assert 0.3 < found.power <= 1
    assert plain.power == 0
    sources = geometry.place[[3, 400, 900]]
    rows, std = rows_with(plain, geometry, sources)
    longer = rows_with(found, geometry, sources)[1]
    away = rows > 0
    np.testing.assert_allclose(
        longer[away],
        found.factor * (rows[away] / found.middle) ** found.power * std[away],
        rtol=1e-9,
    )
    assert known_doubts(geometry_of(flat_square(1500).points)).power == 0


def test_the_order_of_points_tells_nothing():
    points = petals(1200).points
    shuffled = np.random.default_rng(0).permutation(1200)
    found = [
        known_doubts(geometry_of(some)).factor for some in (points, points[shuffled], 1e-3 * points)
    ]
    np.testing.assert_allclose(found, found[0], rtol=1e-3)


@pytest.mark.parametrize(
    "points",
    [
        petals(350).points,  # a part of them is too few
        swiss_roll(1500, noise=0.02).points,  # noise moves half and all of them alike
        np.random.default_rng(0).normal(size=(1200, 6)),  # planes do not explain them
    ],
    ids=["few", "noisy", "rough"],
)
def test_where_nothing_can_be_told_bars_stay_as_they_are(points):
    assert known_doubts(geometry_of(points)).factor == 1


def test_of_very_many_points_some_are_looked_at(monkeypatch):
    monkeypatch.setattr("ptunfold.sureness._MOST", 2000)
    many = geometry_of(swiss_roll(5000).points)
    few = geometry_of(swiss_roll(2000).points)
    ratio = known_doubts(many).factor / known_doubts(few).factor
    assert 0.6 < ratio < 1.6


def test_a_saved_model_has_the_same_bars(tmp_path):
    model = PTU().fit(petals(1200).points)
    _, std = model.distances([3, 5], return_std=True)
    model.save(tmp_path / "model.safetensors")
    _, again = PTU.load(tmp_path / "model.safetensors").distances([3, 5], return_std=True)
    np.testing.assert_array_equal(again, std)
    assert model.path(3, 70).std == pytest.approx(std[0, 70])


def test_nothing_is_said_of_the_half(recwarn):
    PTU(seams="leave").fit(spherical_cap(1500, angle=100).points).distances([0], return_std=True)
    assert not recwarn.list
