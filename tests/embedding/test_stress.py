"""Scaling by the least stress."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import PTU, classical_mds, stress_mds
from ptunfold.datasets import flat_square, s_with_hole, swiss_roll
from ptunfold.embedding import stress as module


def error(found, exact):
    found, exact = found - found.mean(axis=0), exact - exact.mean(axis=0)
    left, _, right = np.linalg.svd(found.T @ exact)
    return np.linalg.norm(found @ left @ right - exact) / np.linalg.norm(exact)


def stress(embedding, distances, weights=1.0):
    found = cdist(embedding.coordinates, embedding.coordinates)
    return float((weights * np.square(found - distances)).sum())


@pytest.fixture(scope="module")
def places():
    return np.random.default_rng(0).random((150, 2)) * [3, 1]


@pytest.mark.parametrize("has_weights", [False, True])
def test_exact_distances_give_exact_points(places, has_weights):
    weights = np.random.default_rng(1).uniform(0.5, 2, (150, 150)) if has_weights else None
    weights = None if weights is None else weights + weights.T
    found = stress_mds(cdist(places, places), weights=weights)
    assert error(found.coordinates, places) < 1e-9
    centred = places - places.mean(axis=0)
    np.testing.assert_allclose(found.eigenvalues, np.linalg.svd(centred)[1] ** 2, rtol=1e-9)


def test_stress_is_at_a_minimum(places):
    rng = np.random.default_rng(0)
    noise = rng.normal(scale=0.1, size=(150, 150))
    distances = np.abs(cdist(places, places) + noise + noise.T)
    np.fill_diagonal(distances, 0)
    weights = rng.uniform(0.1, 1, (150, 150))
    weights = weights + weights.T
    found = stress_mds(distances, weights=weights)
    least = stress(found, distances, weights)
    assert least < stress(classical_mds(distances), distances, weights)
    for _ in range(5):
        moved = found.coordinates + 0.003 * rng.standard_normal(found.coordinates.shape)
        off = cdist(moved, moved) - distances
        assert (weights * off**2).sum() > least


def test_distances_of_little_weight_say_little(places):
    rng = np.random.default_rng(0)
    size = np.triu(rng.choice([0.0, 1.0], (150, 150), p=[0.6, 0.4]), 1)
    size = size + size.T
    noise = np.triu(rng.standard_normal((150, 150)), 1)
    distances = np.abs(cdist(places, places) + size * (noise + noise.T))
    weighted = stress_mds(distances, weights=1 / (0.01 + size))
    assert error(weighted.coordinates, places) < 0.2 * error(
        stress_mds(distances).coordinates, places
    )


def test_models():
    for data in (flat_square(200), s_with_hole(600)):
        exact = data.coordinates
        model = PTU(mds="stress").fit(data.points)
        assert error(model.embedding_, exact) < 0.02
        assert model.embedding_.shape == exact.shape


def test_disagreement_lowers_the_weight(monkeypatch):
    seen = []

    def spy(distances, n_components, *, weights, **rest):
        seen.append((distances, weights))
        return stress_mds(distances, n_components, weights=weights, **rest)

    monkeypatch.setattr(module, "stress_mds", spy)
    points = swiss_roll(400, noise=0.005).points
    PTU(mds="stress", step="chord", denoise=0).fit(points)
    PTU(mds="stress", step="arc", denoise=0, coherence=1).fit(points)
    one_way, weights = seen[0]
    disagreement = np.abs(one_way - one_way.T)
    pairs = np.triu_indices(400, 1)
    order = np.argsort(disagreement[pairs])
    assert (np.diff(weights[pairs][order]) <= 1e-12).all()
    assert weights.min() < 0.5 * weights.max()
    assert seen[1][1] is None  # arcs are the same both ways


def test_what_is_refused(places):
    points = flat_square(60).points
    with pytest.raises(ValueError, match="mds='best' is not known; choose one of"):
        PTU(mds="best").fit(points)
    with pytest.raises(ValueError, match='mds="stress" needs the distances between all points'):
        PTU(mds="stress", landmarks=10).fit(points)
    distances = cdist(places, places)
    with pytest.raises(ValueError, match="not a symmetric matrix of 150 rows without negative"):
        stress_mds(distances, weights=-np.ones((150, 150)))
    apart = np.kron(np.eye(2), np.ones((75, 75)))
    with pytest.raises(ValueError, match="no place relative to each other"):
        stress_mds(distances, weights=apart)


def test_few_and_repeated_points():
    points = np.repeat(np.random.default_rng(0).random((6, 3)), 3, axis=0)
    model = PTU(mds="stress", n_neighbors=5).fit(points)
    assert np.isfinite(model.embedding_).all()


def test_memory_is_asked_for(monkeypatch):
    monkeypatch.setattr("ptunfold.planning.free_bytes", lambda: 10**6)
    with pytest.raises(
        MemoryError, match=r'mds="stress" for 200 points need.*pass mds="classical"'
    ):
        PTU(mds="stress").fit(flat_square(200).points)


def test_types_of_numbers(places):
    distances = cdist(places, places)
    assert stress_mds(distances.astype(np.float32)).coordinates.dtype == np.float32
    whole = np.round(10 * distances).astype(int)
    np.testing.assert_allclose(
        stress_mds(whole).coordinates, stress_mds(whole.astype(float)).coordinates, atol=1e-9
    )
    assert stress_mds(whole.tolist()).coordinates.dtype == np.float64


def test_more_coordinates_than_the_points_fill():
    line = np.linspace(0, 1, 20)[:, None]
    found = stress_mds(cdist(line, line), 2)
    assert error(found.coordinates, np.column_stack((line, 0 * line))) < 1e-3


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
def test_small_components():
    rng = np.random.default_rng(0)
    parts = [rng.random((n, 3)) + [20 * n, 0, 0] for n in (1, 2, 3, 4, 40)]
    model = PTU(mds="stress", disconnected="separate", graph="radius", radius=3).fit(
        np.concatenate(parts)
    )
    assert np.isfinite(model.embedding_).all()
    assert model.component_labels_.max() == 4
