"""Landmark scaling on exact distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ptunfold import landmark_mds


def aligned(found, exact):
    """Move ``found`` rigidly as close as possible to ``exact``."""
    middle = exact.mean(axis=0)
    left, _, right = np.linalg.svd(found.T @ (exact - middle))
    return (found - found.mean(axis=0)) @ left @ right + middle


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
@pytest.mark.parametrize("n_landmarks", [7, 60])
def test_exact_distances_give_back_exact_points(dim, n_landmarks):
    rng = np.random.default_rng(dim)
    points = rng.normal(size=(400, dim)) * np.arange(1, dim + 1)
    landmarks = rng.choice(400, n_landmarks, replace=False)
    embedding = landmark_mds(cdist(points[landmarks], points), landmarks, dim)
    np.testing.assert_allclose(aligned(embedding.coordinates, points), points, atol=1e-10)
    np.testing.assert_allclose(embedding.coordinates.mean(axis=0), 0, atol=1e-12)
    covariance = embedding.coordinates.T @ embedding.coordinates
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-9)
    assert (np.diff(np.diag(covariance)) < 0).all()


def test_eigenvalues_are_on_the_scale_of_all_points():
    points = np.random.default_rng(0).normal(size=(2000, 2)) * [3, 1]
    landmarks = np.arange(200)
    found = landmark_mds(cdist(points[landmarks], points), landmarks)
    centred = points - points.mean(axis=0)
    np.testing.assert_allclose(
        found.eigenvalues, np.linalg.eigvalsh(centred.T @ centred)[::-1], rtol=0.155
    )


def test_dtype_and_many_columns():
    points = np.random.default_rng(0).random((70_000, 2))
    landmarks = np.array([3, 9, 40_000, 69_999])
    distances = cdist(points[landmarks], points)
    found = landmark_mds(distances.astype(np.float32), landmarks).coordinates
    assert found.dtype == np.float32
    np.testing.assert_allclose(aligned(found, points), points, atol=1e-5)


def test_copies_of_a_landmark_do_no_harm():
    points = np.random.default_rng(0).random((50, 2))
    points = np.concatenate((points, points[:5]))
    landmarks = np.array([0, 1, 2, 3, 4, 50, 51, 52])
    found = landmark_mds(cdist(points[landmarks], points), landmarks).coordinates
    np.testing.assert_allclose(aligned(found, points), points, atol=1e-10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d * np.inf, "not a matrix of finite numbers"),
        (lambda d: -d, "not a matrix of finite numbers >= 0"),
        (lambda d: d[:5], "5 rows for 8 landmarks"),
        (lambda d: d[0], "not a matrix"),
    ],
)
def test_wrong_distances(change, message):
    points = np.random.default_rng(0).random((30, 2))
    landmarks = np.arange(8)
    with pytest.raises(ValueError, match=message), np.errstate(invalid="ignore"):
        landmark_mds(change(cdist(points[landmarks], points)), landmarks)


def test_wrong_numbers():
    distances = cdist(*[np.random.default_rng(0).integers(0, 9, (12, 2))] * 2)[:4]
    with pytest.raises(ValueError, match="n_components=5 needs more than 5 landmarks"):
        landmark_mds(distances, [0, 1, 2, 3], 5)
    whole = landmark_mds(distances.round().astype(int), [0, 1, 2, 3])
    np.testing.assert_allclose(
        whole.coordinates, landmark_mds(distances.round(), [0, 1, 2, 3]).coordinates
    )


def test_too_many_dimensions_are_said():
    line = np.linspace(0, 1, 30)[:, None]
    landmarks = np.array([0, 15, 29])
    longer = cdist(line[landmarks], line)
    longer[0, 29] = longer[2, 0] = 3.0  # farther than the way through the middle
    with pytest.warns(UserWarning, match="fit into 1 flat dimensions, not 2"):
        found = landmark_mds(longer, landmarks, 2)
    assert found.eigenvalues[1] == 0
    assert np.isfinite(found.coordinates).all()
    np.testing.assert_allclose(found.coordinates[:, 1], 0, atol=1e-12)
