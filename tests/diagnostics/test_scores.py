import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.diagnostics import disagreement, local_distortion


def test_distortion_of_a_stretched_picture():
    points = np.random.default_rng(0).random((300, 2))
    model = PTU().fit(points)
    assert model.scores()["local distortion"].max() < 1e-9
    assert local_distortion(model.connection_, 1.25 * model.embedding_) == pytest.approx(0.25)


def test_distortion_tells_where():
    points = np.random.default_rng(0).random((600, 2))
    model = PTU().fit(points)
    spoiled = model.embedding_.copy()
    right = points[:, 0] > 0.7
    spoiled[right] += 0.1 * np.random.default_rng(1).standard_normal((right.sum(), 2))
    scores = local_distortion(model.connection_, spoiled)
    assert np.median(scores[right]) > 0.5
    assert np.median(scores[points[:, 0] < 0.6]) < 1e-9


def test_distortion_of_copies_and_of_points_left_out():
    rng = np.random.default_rng(0)
    points = np.vstack((rng.random((100, 2)), rng.random((5, 2)) + 9))
    points = np.vstack((points, points[:3]))
    with pytest.warns(UserWarning, match="NaN"):
        model = PTU(disconnected="largest", n_neighbors=4).fit(points)
    for scores in model.scores().values():
        assert np.isfinite(scores[:100]).all()
        assert np.isnan(scores[100:105]).all()
        assert np.isfinite(scores[105:]).all()


def test_disagreement_is_that_of_the_paths():
    roll = swiss_roll(500, noise=0.02)
    model = PTU(step="chord", tangent="pca", denoise=0).fit(roll.points)
    sources = np.array([3, 400])
    scores = disagreement(model.connection_, sources)
    for point in (7, 100, 250):
        paths = [model.path(source, point) for source in sources]
        wanted = np.mean([abs(path.forward - path.backward) / path.distance for path in paths])
        assert scores[point] == pytest.approx(wanted, rel=1e-9)
    assert model.scores()["disagreement"].max() > 1e-4


def test_arcs_agree_both_ways():
    model = PTU(step="arc", tangent="quadratic").fit(s_with_hole(400).points)
    assert not model.scores()["disagreement"].any()


def test_scores_are_in_the_given_order():
    points = np.random.default_rng(0).random((21_000, 2))  # enough for an order of their own
    model = PTU(landmarks=50).fit(points)
    stretched = model.embedding_ * np.where(points[:, :1] > 0.5, 1.5, 1)
    scores = local_distortion(model.connection_, stretched)
    assert np.median(scores[points[:, 0] < 0.45]) < 1e-3
    assert np.median(scores[points[:, 0] > 0.55]) > 0.2
