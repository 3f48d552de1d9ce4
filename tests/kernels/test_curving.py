"""Development with curvature, against the trigonometry of spheres."""

import numpy as np
import pytest

from ptunfold.kernels.curving import curve, curve_lanes, spread_of
from ptunfold.kernels.lanes import LANES


@pytest.mark.parametrize("radius", [0.1, 0.5, 1.0, 1.5, 2.0])
def test_the_spread_of_geodesics(radius):
    assert spread_of(radius**2) == pytest.approx(radius / np.tan(radius), abs=0.02)
    assert spread_of(-(radius**2)) == pytest.approx(radius / np.tanh(radius), abs=0.02)


def test_nothing_is_curved_in_the_plane():
    seen, step = np.array([3.0, 1.0]), np.array([-0.2, 0.5])
    vector = seen + step
    assert curve(vector[None], 0, step, 0.0, 0.0) == 0.0
    np.testing.assert_allclose(vector, seen + step, rtol=1e-15)


@pytest.mark.parametrize("far", [0.3, 1.0, 1.5, 2.2])
@pytest.mark.parametrize("angle", [0.4, 1.6, 2.8])
def test_a_step_on_the_unit_sphere(far, angle):
    """The third side of a spherical triangle of two sides and the angle between them."""
    small = 0.02
    # From the node the step leads to the parent, and from there a geodesic to the source.
    seen = far * np.array([1.0, 0.0])
    step = -small * np.array([np.cos(angle), np.sin(angle)])
    vector = seen + step
    assert curve(vector[None], 0, step, 1.0, 1.0) == pytest.approx(1.0)
    truth = np.arccos(np.cos(far) * np.cos(small) + np.sin(far) * np.sin(small) * np.cos(angle))
    flat = np.linalg.norm(seen + step)
    assert abs(np.linalg.norm(vector) - truth) < 0.05 * abs(flat - truth) + 1e-6
    # The direction of the geodesic at the end turns by less than in the plane: r cot r of it.
    turned = -np.arctan2(vector[1], vector[0])
    assert turned == pytest.approx(small * np.sin(angle) / np.tan(far), abs=0.03 * small / far)


def test_the_source_itself_is_seen_straight():
    step = np.array([0.3, -0.4])
    vector = step.copy()
    assert curve(vector[None], 0, step, 7.0, 2.0) == 2.0
    np.testing.assert_array_equal(vector, step)


def test_the_mean_over_the_way_counts_what_is_far():
    """Out to 1 the curvature is 1, beyond it is 0: the mean over r² is 1/8 at 2."""
    kappa, far = 1.0, 1.0
    while far < 2:
        step, seen = np.array([0.01, 0.0]), np.array([far, 0.0])
        kappa = curve((seen + step)[None], 0, step, kappa, 0.0)
        far += 0.01
    assert kappa == pytest.approx(1 / 8, rel=0.02)


@pytest.mark.parametrize("dim", [2, 3])
def test_lanes_do_the_same(dim):
    rng = np.random.default_rng(dim)
    steps = rng.normal(size=(4, dim))
    vectors = rng.normal(size=(3 * (dim + 1), LANES)) * 3
    vectors[dim] = rng.uniform(-1, 1, LANES)
    own, edge, mask = dim + 1, 2, 0b1010_1111_0000_1101
    vectors[own : own + dim, 3] = steps[edge]  # what was seen is the source
    expected = vectors.copy()
    for lane in range(LANES):
        if mask >> lane & 1:
            vector = expected[own : own + dim, lane].copy()
            kappa = curve(vector[None], 0, steps[edge], expected[dim, lane], 0.4)
            expected[own : own + dim, lane] = vector
            expected[own + dim, lane] = kappa
    curve_lanes(vectors, own, dim, steps, edge, 0.4, mask, np.empty((4, LANES)), LANES)
    np.testing.assert_allclose(vectors, expected, rtol=1e-12, atol=1e-13)
