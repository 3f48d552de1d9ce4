"""Scores of pictures against scikit-learn, SciPy and what is known of simple pictures."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness

from ptunfold import quality

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(300, 20))
PICTURE = POINTS[:, :2] + 0.1 * RNG.normal(size=(300, 2))
NAMES = (
    *("residual_variance", "stress", "scaled_stress", "trustworthiness", "continuity"),
    *("neighbors_kept", "spearman"),
)


@pytest.mark.parametrize("n_neighbors", [1, 7, 40])
def test_a_whole_sample_agrees_with_libraries(n_neighbors):
    found = quality(POINTS, PICTURE, n_neighbors=n_neighbors)
    true, shown = pdist(POINTS), pdist(PICTURE)
    expected = {
        "trustworthiness": trustworthiness(POINTS, PICTURE, n_neighbors=n_neighbors),
        "continuity": trustworthiness(PICTURE, POINTS, n_neighbors=n_neighbors),
        "spearman": spearmanr(true, shown)[0],
        "residual_variance": 1 - np.corrcoef(true, shown)[0, 1] ** 2,
        "stress": np.linalg.norm(true - shown) / np.linalg.norm(true),
        "scaled_stress": np.sqrt(np.linalg.lstsq(shown[:, None], true)[1][0] / (true @ true)),
    }
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-7), name
    assert found.errors == dict.fromkeys(found.errors, 0.0)
    near = [
        np.argsort(cdist(some, some), axis=1)[:, 1 : n_neighbors + 1] for some in (POINTS, PICTURE)
    ]
    kept = [len(set(one) & set(other)) / n_neighbors for one, other in zip(*near, strict=True)]
    assert found.neighbors_kept == pytest.approx(np.mean(kept))


def test_the_data_are_their_own_best_picture():
    for scale in (1, 7.0):
        found = quality(POINTS, scale * POINTS)
        assert found.residual_variance == pytest.approx(0, abs=1e-9)
        assert found.scaled_stress == pytest.approx(0, abs=1e-6)
        assert found.stress == pytest.approx(scale - 1, abs=1e-6)
        best = (found.trustworthiness, found.continuity, found.neighbors_kept, found.spearman)
        assert best == pytest.approx((1, 1, 1, 1))


def test_standard_errors_are_the_spread_of_samples():
    whole = quality(POINTS, PICTURE)
    some = [quality(POINTS, PICTURE, n_sample=60, random_state=seed) for seed in range(40)]
    for name in NAMES:
        values = np.array([getattr(one, name) for one in some])
        error = np.mean([one.errors[name] for one in some])
        assert 0.6 < error / values.std() < 1.6, name
        assert abs(values.mean() - getattr(whole, name)) < error, name


def test_distances_from_some_points_take_the_place_of_straight_ones():
    sources = RNG.choice(300, 50, replace=False)
    rows = cdist(POINTS, POINTS)[sources]
    straight = quality(POINTS, PICTURE, sources=sources)
    for points in (None, POINTS):
        given = quality(points, PICTURE, distances=rows, sources=sources)
        for name in NAMES:
            assert getattr(given, name) == pytest.approx(getattr(straight, name)), name
    assert quality(None, PICTURE, distances=2 * rows, sources=sources).stress != straight.stress


def test_pairs_are_pairs_of_the_data():
    found = quality(POINTS, PICTURE, n_sample=100, n_pairs=1000)
    assert len(found.pairs) == len(found.true) == len(found.shown) == 1000
    one, other = found.pairs.T
    assert (one != other).all()
    np.testing.assert_allclose(found.true, np.linalg.norm(POINTS[one] - POINTS[other], axis=1))
    np.testing.assert_allclose(found.shown, np.linalg.norm(PICTURE[one] - PICTURE[other], axis=1))
    assert found.errors["spearman"] > 0
    assert len(quality(POINTS, PICTURE).pairs) == 300 * 299 // 2


def test_points_without_a_place_are_left_out():
    gappy = PICTURE.copy()
    gappy[[5, 250]] = np.nan
    kept = np.isfinite(gappy).all(axis=1)
    found, expected = quality(POINTS, gappy), quality(POINTS[kept], PICTURE[kept])
    assert found.n_points == 298
    for name in NAMES:
        assert getattr(found, name) == getattr(expected, name), name
    np.testing.assert_array_equal(found.pairs, np.flatnonzero(kept)[expected.pairs])
    rows = cdist(POINTS, POINTS)
    rows[5] = rows[:, 5] = rows[250] = rows[:, 250] = np.nan
    given = quality(None, PICTURE, distances=rows)
    assert given.stress == pytest.approx(expected.stress)


def test_what_no_path_reaches_is_far_and_counts_no_further():
    rows = cdist(POINTS, POINTS)
    rows[:150, 150:] = rows[150:, :150] = np.inf
    found = quality(None, PICTURE, distances=rows, n_neighbors=5)
    halves = [
        quality(POINTS[half], PICTURE[half], n_neighbors=5) for half in np.split(np.arange(300), 2)
    ]
    squares = [np.square(pdist(POINTS[half])).sum() for half in np.split(np.arange(300), 2)]
    mean = np.average([half.stress**2 for half in halves], weights=squares)
    assert found.stress == pytest.approx(np.sqrt(mean))
    assert np.isfinite(found.true).all()
    assert all(np.isfinite(getattr(found, name)) for name in NAMES)


def test_the_result_does_not_depend_on_threads():
    found = [quality(POINTS, PICTURE, n_sample=77, n_jobs=n_jobs) for n_jobs in (1, 3)]
    for name in NAMES:
        assert getattr(found[0], name) == getattr(found[1], name)


def test_it_is_told_in_a_few_lines():
    told = str(quality(POINTS, PICTURE, n_sample=50))
    assert told.startswith("seen from 50 of 300 points, 10 neighbours")
    assert len(told.splitlines()) == 8
    assert all(name.replace("_", " ") in told for name in NAMES)
    assert told.count("±") == 7
    assert "±" not in str(quality(POINTS, PICTURE))


def test_a_picture_that_is_a_point_has_scores():
    found = quality(POINTS, np.zeros((300, 2)))
    assert found.stress == 1
    assert np.isnan(found.residual_variance)
    assert np.isnan(found.spearman)


def test_distances_of_single_precision():
    rows = cdist(POINTS, POINTS)
    double = quality(None, PICTURE, distances=rows)
    single = quality(None, PICTURE, distances=rows.astype(np.float32))
    assert single.stress == pytest.approx(double.stress, rel=1e-5)
