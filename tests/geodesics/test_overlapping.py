"""Data that overlap themselves when they are unfolded are seen, and helped where that can be."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr

from ptunfold import PTU, attempts, datasets
from ptunfold.geodesics.overlapping import MANY, NEARLY_NONE, share_below_chords

SAID = "the data overlap themselves"


def ramp(n_points, seed, turns=3):
    """Make points of a ramp around a pillar, as in a car park, and where they are on it."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi * turns, n_points)
    radius = np.sqrt(rng.uniform(1, 4, n_points))
    points = np.column_stack((radius * np.cos(angle), radius * np.sin(angle), 0.15 * angle))
    return points, angle, radius


def knot(n_points, seed, noise):
    """Make noisy points of a curve, and how far along it they are."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.2, 2 * np.pi - 0.2, n_points)

    def place(t):
        return np.stack(
            (np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)), axis=-1
        )

    fine = np.linspace(0, 2 * np.pi, 20_001)
    along = np.concatenate(([0], np.cumsum(np.linalg.norm(np.diff(place(fine), axis=0), axis=1))))
    return place(angle) + noise * rng.normal(size=(n_points, 3)), np.interp(angle, fine, along)


def quiet_fit(points, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PTU(**options).fit(points)


@pytest.mark.parametrize("seed", [3, 4])
def test_more_than_a_turn_around_a_pillar_is_measured_along_the_ramp(seed, tmp_path):
    points, angle, radius = ramp(800, seed)
    with pytest.warns(UserWarning, match=SAID):
        model = PTU().fit(points)
    assert model.transport_.coherence == 0
    model.save(tmp_path / "m.safetensors")
    for each in (model, PTU.load(tmp_path / "m.safetensors")):
        assert "of the distances fall short of the straight line" in str(each.transport_)
        assert "what is unfolded lies on itself" in str(each.diagnose())
    way = np.hypot(angle - angle[0], radius - radius[0])  # no less
    far = np.abs(angle - angle[0]) > np.pi
    found = model.distances([0])[0]
    # Along the inner rim, and from there outwards, at most.
    most = np.abs(angle - angle[0]) * np.hypot(1, 0.15) + radius + radius[0]
    assert (found[far] > 0.95 * 2.0).all()
    assert (found[far] < 1.1 * most[far]).all()
    assert spearmanr(found, way).statistic > 0.97


def test_a_peak_that_moves_and_grows_is_not_wound_up():
    """Spectra with one peak are a cone around the empty one, of several full turns."""
    rng = np.random.default_rng(6)
    place, height, at = rng.uniform(0.1, 0.9, 600), rng.uniform(0.5, 1, 600), np.linspace(0, 1, 200)
    spectra = height[:, None] * np.exp(-((at - place[:, None]) ** 2) / (2 * 0.03**2))
    model = quiet_fit(spectra)
    truth = pdist(np.column_stack((place / 0.8, height - 0.5)))
    assert spearmanr(pdist(model.embedding_), truth).statistic > 0.85


@pytest.mark.parametrize("seed", [5, 6])
def test_a_noisy_curve_is_one_when_its_noise_is_gone(seed):
    points, along = knot(500, seed, noise=0.05)
    model = quiet_fit(points)
    truth = np.abs(along - along[7])
    assert np.abs(model.distances([7])[0] - truth).mean() < 0.05 * truth.mean()


def test_other_windings_are_not_joined_where_fewer_neighbours_will_do():
    rng = np.random.default_rng(7)
    turn, height = np.pi * np.sqrt(rng.uniform(9, 81, 1000)), rng.uniform(0, 21, 1000)
    points = np.column_stack((5 * turn * np.cos(turn), height * 3, turn * np.sin(turn)))
    model = quiet_fit(points)
    assert share_below_chords(model._fitted.geometry) < NEARLY_NONE


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("n_points", [300, 1000])
@pytest.mark.parametrize(
    "name", ["s_with_hole", "petals", "two_hills", "spherical_cap", "sphere", "curved_torus"]
)
def test_sheets_do_not(name, n_points, noise):
    points = getattr(datasets, name)(n_points).points
    points = points + noise * np.ptp(points, axis=0).max() * np.random.default_rng(1).normal(
        size=points.shape
    )
    geometry = quiet_fit(points)._fitted.geometry
    assert geometry.overlapping == 0
    assert share_below_chords(geometry) < 0.5 * MANY


def test_a_flat_sheet_is_as_exact_as_ever():
    """A spiral in the plane winds by more than a turn, and does not overlap itself."""
    rng = np.random.default_rng(8)
    angle = 5 * np.pi * np.sqrt(rng.uniform(0.05, 1, 800))
    radius = 0.5 + angle / (2 * np.pi) + rng.uniform(0, 0.35, 800)
    flat = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    bent = np.column_stack((3 * np.cos(flat[:, 0] / 3), 3 * np.sin(flat[:, 0] / 3), flat[:, 1]))
    found = quiet_fit(bent, landmarks=None).distances([0, 5])
    np.testing.assert_allclose(found, cdist(flat[[0, 5]], flat), atol=0.02)


@pytest.mark.filterwarnings("ignore:unfolded in 2 dimensions")
@pytest.mark.parametrize("disconnected", ["bridge", "error", "largest", "separate"])
def test_no_attempt_takes_points_away_or_ends_the_fit(disconnected, monkeypatch):
    """Nine points that ten neighbours join to a sheet, and seven do not."""
    points = datasets.swiss_roll(300).points
    beside = points[points[:, 1].argmax()] + [0, 8, 0]
    clump = beside + 0.01 * np.random.default_rng(0).normal(size=(9, 3))
    shares = iter([0.5, 0.0, 0.0, 0.0])
    monkeypatch.setattr(attempts, "share_below_chords", lambda *_: next(shares))
    model = PTU(disconnected=disconnected).fit(np.concatenate((points, clump)))
    assert np.isfinite(model.embedding_).all()
    assert model.component_labels_.max() == 0
    assert model.graph_.bridges is None
    assert model.transport_.overlapping == 0.5  # as nothing else was taken


def test_a_noisy_curve_known_by_its_distances_is_one_too():
    points, along = knot(500, 5, noise=0.05)
    model = quiet_fit(cdist(points, points), metric="precomputed")
    truth = np.abs(along - along[7])
    assert np.abs(model.distances([7])[0] - truth).mean() < 0.05 * truth.mean()


@pytest.mark.filterwarnings("ignore:the neighbour graph has")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_thick_curve_that_is_taken_for_a_sheet_is_not_wound_up(seed):
    """Its planes turn at random, so that what is unfolded fits no picture, and lengths do."""
    points, along = knot(800, seed, noise=0.1)
    with pytest.warns(UserWarning, match="are mostly lengths along the graph"):
        model = PTU().fit(points)
    truth = np.abs(along[:20, None] - along)
    assert model.transport_.coherence < 0.3
    assert np.abs(model.distances(np.arange(20)) - truth).mean() < 0.08 * truth.mean()
    if seed == 0:  # it takes what is wrong with unfolding
        wound = quiet_fit(points, coherence=1).distances(np.arange(20))
        assert np.abs(wound - truth).mean() > 0.2 * truth.mean()


@pytest.mark.parametrize("noise", [0.01, 0.03])
@pytest.mark.parametrize("name", ["spherical_cap", "sphere", "petals", "s_with_hole"])
def test_sheets_with_noise_are_not_flatter_along_the_graph(name, noise):
    points = getattr(datasets, name)(600).points
    size = np.sqrt(points.var(axis=0).sum())
    points = points + noise * size * np.random.default_rng(3).normal(size=points.shape)
    model = quiet_fit(points)
    assert model.texture_ in ("noisy", "very noisy")
    assert model.transport_.coherence > 0.9


def test_what_is_asked_for_is_done():
    points = ramp(400, 9)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PTU(coherence=1).fit(points)
    assert model.transport_.coherence == 1
