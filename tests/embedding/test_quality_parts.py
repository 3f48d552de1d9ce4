"""The parts of `quality` by themselves."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness

from ptunfold import quality
from ptunfold.embedding.quality import (
    _by_ranks,
    _choose,
    _correlation,
    _measured,
    _of_pairs,
    _others,
    _scores,
    _Seen,
    _spearman,
    _sums,
)

RNG = np.random.default_rng(0)
POINTS, PICTURE = RNG.normal(size=(40, 3)), RNG.normal(size=(40, 2))
TRUE, SHOWN = cdist(POINTS, POINTS), cdist(PICTURE, PICTURE)
OFF = ~np.eye(40, dtype=bool)


@pytest.mark.parametrize("n_features", [1, 16, 17, 40])
def test_distances_are_exact_far_from_the_origin(n_features):
    points = np.random.default_rng(0).normal(size=(30, n_features)) + 1e4
    sources = np.array([3, 9, 20])
    found = _measured(points, sources)(slice(1, 3))
    np.testing.assert_allclose(found, cdist(points[[9, 20]], points), atol=1e-6)


def test_sums_leave_out_the_source_and_what_is_not_reached():
    true, shown = TRUE[[4, 7]].copy(), SHOWN[[4, 7]]
    true[0, 9] = np.inf
    for row, found in enumerate(_sums(true, shown, np.array([4, 7]))):
        kept = [at for at in range(40) if at != (4, 7)[row] and np.isfinite(true[row, at])]
        one, other = true[row, kept], shown[row, kept]
        assert len(kept) == (38, 39)[row]
        expected = [len(kept), one.sum(), other.sum(), one @ one, other @ other, one @ other]
        np.testing.assert_allclose(found, expected)


def test_pairs_tell_correlation_and_stress():
    one, other = TRUE[OFF], SHOWN[OFF]
    found = _of_pairs(_sums(TRUE, SHOWN, np.arange(40)).sum(axis=0))
    assert found["residual_variance"] == pytest.approx(1 - np.corrcoef(one, other)[0, 1] ** 2)
    stress = np.sqrt(np.square(one - other).sum() / np.square(one).sum())
    assert found["stress"] == pytest.approx(stress)
    scale = (one @ other) / (other @ other)
    best = np.sqrt(np.square(one - scale * other).sum() / np.square(one).sum())
    assert found["scaled_stress"] == pytest.approx(best)
    # Many at once.
    several = _of_pairs(_sums(TRUE, SHOWN, np.arange(40)))
    assert several["stress"].shape == (40,)


@pytest.mark.parametrize("n_neighbors", [1, 4, 12])
def test_ranks_are_those_of_scikit_learn(n_neighbors):
    true, shown = TRUE.copy(), SHOWN.copy()
    np.fill_diagonal(true, np.inf)
    np.fill_diagonal(shown, np.inf)
    trust, continuity, share = _by_ranks(true, shown, n_neighbors)
    expected = trustworthiness(TRUE, PICTURE, n_neighbors=n_neighbors, metric="precomputed")
    assert trust.mean() == pytest.approx(expected)
    expected = trustworthiness(SHOWN, POINTS, n_neighbors=n_neighbors, metric="precomputed")
    assert continuity.mean() == pytest.approx(expected)
    near = [np.argsort(rows, axis=1)[:, :n_neighbors] for rows in (true, shown)]
    both = [len({*one} & {*other}) / n_neighbors for one, other in zip(*near, strict=True)]
    np.testing.assert_allclose(share, both)


def test_standard_errors_by_leaving_sources_out():
    sources = np.arange(0, 40, 4)
    ranks = RNG.uniform(size=(3, 10))
    seen = _Seen(_sums(TRUE[sources], SHOWN[sources], sources), *ranks)
    values, errors = _scores(seen, 40)
    left = np.sqrt(1 - 10 / 40)  # of all points a quarter was looked from
    for name, row in zip(("trustworthiness", "continuity", "neighbors_kept"), ranks, strict=True):
        assert values[name] == pytest.approx(row.mean())
        assert errors[name] == pytest.approx(left * row.std(ddof=1) / np.sqrt(10))
    assert list(values) == list(errors)
    for name in ("residual_variance", "stress", "scaled_stress"):
        without = [
            _of_pairs(np.delete(seen.sums, one, axis=0).sum(axis=0))[name] for one in range(10)
        ]
        jackknife = np.sqrt(9 / 10 * np.square(without - np.mean(without)).sum())
        assert errors[name] == pytest.approx(left * jackknife)
        assert values[name] == pytest.approx(_of_pairs(seen.sums.sum(axis=0))[name])


def test_one_source_has_no_error_and_all_have_none():
    one = _Seen(_sums(TRUE[:1], SHOWN[:1], np.array([0])), *np.ones((3, 1)))
    values, errors = _scores(one, 40)
    assert np.isfinite(list(values.values())).all()
    assert np.isnan(list(errors.values())).all()
    both = _Seen(_sums(TRUE[:2], SHOWN[:2], np.arange(2)), *RNG.uniform(size=(3, 2)))
    assert np.isfinite(list(_scores(both, 40)[1].values())).all()
    whole = _Seen(_sums(TRUE, SHOWN, np.arange(40)), *RNG.uniform(size=(3, 40)))
    assert not any(_scores(whole, 40)[1].values())
    # More sources than points, one of them twice: nothing is left to chance.
    assert not any(_scores(whole, 39)[1].values())


def test_the_correlation_of_ranks_and_its_error():
    tails, heads = np.triu_indices(40, 1)
    pairs, true, shown = np.column_stack((tails, heads)), TRUE[tails, heads], SHOWN[tails, heads]
    value, error = _spearman(pairs, true, shown)
    assert value == pytest.approx(spearmanr(true, shown)[0])
    one, other = (np.argsort(np.argsort(rows)) - (len(rows) - 1) / 2 for rows in (true, shown))
    without = []
    for source in range(39):
        kept = tails != source
        size = np.sqrt((one[kept] @ one[kept]) * (other[kept] @ other[kept]))
        without.append((one[kept] @ other[kept]) / size)
    assert error == pytest.approx(np.sqrt(38 / 39 * np.square(without - np.mean(without)).sum()))
    assert np.isnan(_spearman(pairs[:39], true[:39], shown[:39])[1])
    two = np.isin(tails, (0, 1))
    assert np.isfinite(_spearman(pairs[two], true[two], shown[two])[1])
    assert np.isnan(_correlation(np.array([0.0, 1, 0])))
    assert _correlation(np.array([4.0, 9, 3])) == 0.5


def test_pairs_are_all_or_so_many():
    rng = np.random.RandomState(0)
    everyone = np.arange(40)
    assert _others(everyone, 40, 780, rng) is None
    assert _others(everyone, 40, 779, rng).shape == (40, 19)
    assert _others(everyone[:39], 40, 10_000, rng).shape == (39, 39)  # no more than others
    assert _others(np.zeros(40, dtype=int), 40, 780, rng) is not None
    sources = np.array([0, 17, 39])
    others = _others(sources, 40, 3000, rng)
    for source, row in zip(sources, others, strict=True):
        assert {*row.tolist()} <= {*range(40)} - {source}
    assert _others(sources, 40, 1, rng).shape == (3, 1)
    many = _others(sources, 5, 10_000, rng)
    assert many.shape == (3, 4)


def test_what_is_looked_at():
    rng = np.random.RandomState(0)
    picture = PICTURE.copy()
    picture[5] = np.nan
    rows, kept, chosen = _choose(picture, None, None, 10, rng)
    assert rows is None
    assert kept.sum() == 39
    assert len({*chosen.tolist()} - {5}) == 10
    assert (np.diff(chosen) > 0).all()
    assert len(_choose(picture, None, None, 100, rng)[2]) == 39
    np.testing.assert_array_equal(_choose(picture, None, [4, 5, 6], 1, rng)[2], [4, 6])
    rows, kept, chosen = _choose(picture, TRUE[[4, 5, 6]], [4, 5, 6], 1, rng)
    np.testing.assert_array_equal(chosen, [4, 6])
    np.testing.assert_array_equal(rows, TRUE[[4, 6]])
    gaps = TRUE.copy()
    gaps[9] = gaps[:, 9] = np.nan  # a point without any distance
    rows, kept, chosen = _choose(picture, gaps, None, 1, rng)
    assert sorted({*range(40)} - {*chosen.tolist()}) == [5, 9]
    np.testing.assert_array_equal(kept, [at not in (5, 9) for at in range(40)])
    np.testing.assert_array_equal(rows, gaps[kept])
    gaps[3, 4] = np.nan
    with pytest.raises(ValueError, match="distances has 1 values that are NaN"):
        _choose(picture, gaps, None, 1, rng)
    with pytest.raises(ValueError, match="none of the sources has a place in Z"):
        _choose(picture, None, [5], 1, rng)


def test_pairs_have_their_distances_under_the_names_of_the_caller():
    picture = PICTURE.copy()
    picture[5] = np.nan
    for sources in (None, [30, 2, 11]):
        found = quality(POINTS, picture, sources=sources, n_pairs=50)
        tails, heads = found.pairs.T
        assert 5 not in found.pairs
        np.testing.assert_allclose(found.true, TRUE[tails, heads])
        np.testing.assert_allclose(found.shown, SHOWN[tails, heads])
        assert {*tails.tolist()} == ({30, 2, 11} if sources else {*range(40)} - {5})
