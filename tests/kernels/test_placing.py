"""Points pulled into place by anchors."""

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from ptunfold.kernels.placing import pull_into_place

RNG = np.random.default_rng(0)
ANCHORS = RNG.normal(size=(25, 2))
SIDES = np.ascontiguousarray(ANCHORS.T)
TRUTH = RNG.normal(size=(60, 2))


def stress(places, wanted, weights=1):
    return (weights * np.square(cdist(places, ANCHORS) - wanted)).sum(axis=1)


def test_right_distances_lead_to_the_right_places():
    places = TRUTH + 0.3 * RNG.normal(size=TRUTH.shape)
    before = places.copy()
    pull_into_place(cdist(TRUTH, ANCHORS), np.inf, SIDES, places)
    off, was_off = (np.linalg.norm(some - TRUTH, axis=1) for some in (places, before))
    assert np.median(off) < 0.02 * np.median(was_off)


def test_stress_never_rises_and_ends_near_its_minimum():
    wanted = cdist(TRUTH, ANCHORS) * RNG.uniform(0.8, 1.2, (60, 25))
    places = TRUTH.copy()
    pull_into_place(wanted, np.inf, SIDES, places)
    found = stress(places, wanted)
    assert (found <= stress(TRUTH, wanted)).all()
    for place, row, value in zip(places[:10], wanted, found, strict=False):
        best = minimize(lambda at, row=row: stress(at[None], row)[0], place)
        assert value <= 1.001 * best.fun + 1e-4


def test_what_is_far_counts_the_less():
    wanted = cdist(TRUTH, ANCHORS) * RNG.uniform(0.8, 1.2, (60, 25))
    reach = 0.5
    weights = reach / np.maximum(wanted, reach)
    places = TRUTH.copy()
    pull_into_place(wanted, reach, SIDES, places)
    found = stress(places, wanted, weights)
    for place, row, weight, value in zip(places, wanted, weights, found, strict=True):
        best = minimize(lambda at, row=row, w=weight: stress(at[None], row, w)[0], place)
        assert value <= 1.001 * best.fun + 1e-4


def test_a_point_on_an_anchor_gets_away():
    places = ANCHORS[:1].copy()
    pull_into_place(cdist(TRUTH[:1], ANCHORS), np.inf, SIDES, places)
    assert np.isfinite(places).all()
    assert np.linalg.norm(places - TRUTH[:1]) < 0.1 * np.linalg.norm(ANCHORS[:1] - TRUTH[:1])
