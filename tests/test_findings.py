"""Shapes on which choices once went wrong, beside the paper's plain form and the graph."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import build_graph, geodesic_distances, graph_distances
from ptunfold.datasets import petals, s_with_hole, swiss_roll

PLAIN = {"tangent": "pca", "step": "chord", "denoise": 0, "coherence": 1, "prune": None}


def off(found, exact):
    is_pair = exact > 0
    return np.abs(found[is_pair] / exact[is_pair] - 1).mean()


def errors(points, exact, dim=2):
    """Of the default, the plain form and the graph."""
    return (
        off(geodesic_distances(points, intrinsic_dim=dim), exact),
        off(geodesic_distances(points, intrinsic_dim=dim, n_neighbors=10, **PLAIN), exact),
        off(graph_distances(build_graph(points)), exact),
    )


def medians(make, n_seeds=3):
    return np.median([errors(*make(seed)) for seed in range(n_seeds)], axis=0)


def helix(seed, n_points=200, noise=0.01):
    """A helix times a square: three dimensions in five."""
    rng = np.random.default_rng(seed)
    turn, sides = rng.uniform(0, 4 * np.pi, n_points), rng.uniform(0, 2, (n_points, 2))
    points = np.column_stack((2 * np.cos(turn), 2 * np.sin(turn), 0.5 * turn, sides))
    flat = np.column_stack((np.sqrt(4.25) * turn, sides))
    points += noise * np.ptp(points) * rng.normal(size=points.shape)
    return points, cdist(flat, flat), 3


def test_a_helix_of_three_dimensions():
    found, plain, graph = medians(helix)
    assert found < 0.04
    assert found < 1.05 * plain
    assert found < 0.4 * graph


def cap_of_many_dimensions(seed, n_points=1000):
    """60° of the 8-sphere, where any neighbourhood is as wide as the data."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0, np.pi / 3, 20_000)
    shares = np.cumsum(np.sin(angles) ** 7)
    angle = np.interp(rng.random(n_points), shares / shares[-1], angles)[:, None]
    ways = rng.normal(size=(n_points, 8))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    points = np.hstack((np.cos(angle), np.sin(angle) * ways))
    return points, np.arccos(np.clip(points @ points.T, -1, 1)), 8


def test_a_cap_of_eight_dimensions():
    found, plain, graph = medians(cap_of_many_dimensions, 2)
    assert found < 0.035
    assert found < 1.1 * plain
    assert found < 0.1 * graph


def folded(seed, n_points=1500):
    """A sheet folded back over itself, half an edge apart."""
    rng = np.random.default_rng(seed)
    flat = rng.uniform(0, 1, (n_points, 2)) * [2, 1]
    radius = 0.5 * np.sqrt(2 / n_points)
    along, straight = flat[:, 0], (2 - np.pi * radius) / 2
    turn = np.clip((along - straight) / radius, 0, np.pi)
    beyond = np.maximum(along - straight - np.pi * radius, 0)
    x = np.minimum(along, straight) + radius * np.sin(turn) - beyond
    return np.column_stack((x, flat[:, 1], radius * (1 - np.cos(turn)))), cdist(flat, flat)


def test_two_sheets_half_an_edge_apart():
    """Nothing tells them apart; what is found is no worse than what the graph says."""
    found, plain, graph = medians(folded, 2)
    assert found < min(1.05 * plain, graph)


def noisy_s(seed, n_points, noise):
    data = s_with_hole(n_points, seed=seed)
    rng = np.random.default_rng(seed)
    size = noise * np.ptp(data.points, axis=0).max()
    return data.points + size * rng.normal(size=data.points.shape), data.distances()


@pytest.mark.parametrize(("n_points", "noise", "most"), [(600, 0.01, 0.04), (1000, 0.01, 0.035)])
def test_noise_is_no_crease(n_points, noise, most):
    """Once taken for creases, because the planes explain nearly everything."""
    found, plain, graph = medians(lambda seed: noisy_s(seed, n_points, noise))
    assert found < most
    assert found < 1.1 * plain
    assert found < 0.4 * graph


def noisy_petals(seed, n_points=300, noise=0.03):
    data = petals(n_points, noise=noise, seed=seed)
    return data.points, data.distances()


@pytest.mark.parametrize(
    ("make", "most", "of_plain"),
    [
        (lambda seed: noisy_s(seed, 400, 0.01), 0.04, 1.1),
        (lambda seed: noisy_s(seed, 550, 0.005), 0.019, 1.1),
        (noisy_petals, 0.015, 0.4),
    ],
)
def test_noise_of_few_points(make, most, of_plain):
    """Once left as it was, or taken away with surfaces as wide as the bends of the S."""
    found, plain, graph = medians(make, 5)
    assert found < most
    assert found < of_plain * plain
    assert found < 0.5 * graph


@pytest.mark.parametrize("noise", [0.003, 0.01])
def test_few_points_on_windings_are_not_denoised(noise):
    """Neighbourhoods reach from one to the next, and surfaces would join them."""

    def make(seed):
        data = swiss_roll(400, noise=noise, seed=seed)
        return data.points, data.distances()

    found, plain, graph = medians(make)
    assert found < 1.2 * noise
    assert found < 0.1 * min(plain, graph)
