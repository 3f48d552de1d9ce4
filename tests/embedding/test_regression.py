"""Planes fitted to the values around a place."""

import numpy as np
import pytest

from ptunfold.embedding.regression import LocalRegression


@pytest.fixture
def places():
    return np.random.default_rng(0).random((400, 2))


def values_of(places):
    return np.column_stack((3 + places @ [1, -2], np.full(len(places), 7.0)))


def test_slopes_are_followed_and_constants_kept(places):
    labels = np.zeros(len(places), dtype=int)
    fit = LocalRegression(places, values_of(places), labels)
    inside = np.random.default_rng(1).uniform(0.2, 0.8, (50, 2))
    found = fit.predict(inside, 20)
    np.testing.assert_allclose(found[:, 1], 7)
    np.testing.assert_allclose(found[:, 0], values_of(inside)[:, 0], atol=0.02)
    # Beyond the rim the slope is held back, and never turned around.
    beyond = fit.predict(np.array([[0.5, 1.2]]), 20)[0, 0]
    assert values_of(np.array([[0.5, 1.2]]))[0, 0] < beyond < values_of(np.array([[0.5, 1]]))[0, 0]


def test_noise_is_averaged_out(places):
    noise = np.random.default_rng(2).normal(size=(len(places), 1))
    fit = LocalRegression(places, noise, np.zeros(len(places), dtype=int))
    inside = np.random.default_rng(1).uniform(0.2, 0.8, (200, 2))
    spread = [fit.predict(inside, size).std() for size in (10, 40)]
    assert spread[1] < 0.7 * spread[0] < 0.7


def test_other_parts_and_those_left_out_have_no_say(places):
    labels = (places[:, 0] > 0.5).astype(int)
    fit = LocalRegression(places, labels[:, None].astype(float), labels)
    np.testing.assert_allclose(fit.predict(places, 30)[:, 0], labels, atol=1e-12)
    one = np.zeros((len(places), 1))
    one[17] = 1e6
    fit = LocalRegression(places, one, np.zeros_like(labels))
    everywhere = np.repeat(places[[17]], 3, axis=0) + [[0, 0], [0.001, 0], [0.9, 0.9]]
    np.testing.assert_array_equal(fit.predict(everywhere, 10, left_out=np.full(3, 17)), 0)
    assert fit.predict(everywhere, 10)[0, 0] > 1e4


def test_many_points_in_one_place():
    """No direction is known: the mean."""
    fit = LocalRegression(np.zeros((30, 2)), np.arange(30.0)[:, None], np.zeros(30, dtype=int))
    assert np.isfinite(fit.predict(np.array([[0.0, 0.0], [1.0, 0.0]]), 10)).all()
    line = np.column_stack((np.linspace(0, 1, 30), np.zeros(30)))
    fit = LocalRegression(line, line[:, :1], np.zeros(30, dtype=int))
    assert fit.predict(np.array([[0.5, 3.0]]), 10)[0, 0] == pytest.approx(0.5, abs=0.02)
