"""More features than points."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import PTU
from ptunfold.geometry.span import span_coordinates


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_all_distances_are_kept(offset):
    points = np.random.default_rng(0).normal(size=(20, 3000)) + offset
    reduced = span_coordinates(points)
    assert reduced.shape == (20, 20)
    np.testing.assert_allclose(cdist(reduced, reduced), cdist(points, points), rtol=1e-11)


def test_few_features_are_left_alone():
    points = np.random.default_rng(0).normal(size=(20, 20))
    assert span_coordinates(points) is points


def test_the_embedding_does_not_notice():
    """The same sheet in R⁸⁰ (below n) and in R⁵⁰⁰⁰⁰ (far above)."""
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(0, 2, 100), rng.random(100)
    tube = np.column_stack((np.cos(angle), np.sin(angle), height))
    embeddings = []
    for n_features in (80, 50_000):
        basis, _ = np.linalg.qr(rng.normal(size=(n_features, 3)))
        embeddings.append(PTU(n_neighbors=8).fit_transform(tube @ basis.T))
    np.testing.assert_allclose(embeddings[0], embeddings[1], atol=1e-10)


def test_copies_stay_copies():
    points = np.random.default_rng(0).normal(size=(30, 2000))
    points[20:] = points[5:15]
    reduced = span_coordinates(points)
    np.testing.assert_array_equal(reduced[20:], reduced[5:15])
