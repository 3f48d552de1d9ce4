"""Classical multidimensional scaling and the layout of pieces."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import linalg
from scipy.spatial.distance import cdist

from ptunfold import PTU, classical_mds
from ptunfold.datasets import s_with_hole
from ptunfold.embedding.pieces import side_by_side


def cloud(n_points, dim, seed=0):
    return np.random.default_rng(seed).normal(size=(n_points, dim)) * np.arange(dim, 0, -1)


@pytest.mark.parametrize("n_points", [50, 900], ids=["dense", "iterative"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_exact_distances_give_back_exact_points(n_points, dim):
    points = cloud(n_points, dim)
    exact = cdist(points, points)
    embedding = classical_mds(exact, dim)
    found = embedding.coordinates
    np.testing.assert_allclose(cdist(found, found), exact, atol=1e-10 * exact.max())
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-10)
    assert (np.diff(embedding.eigenvalues) <= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_points", [60, 1100])
def test_eigenvalues_equal_a_dense_solver(n_points, dtype):
    rng = np.random.default_rng(1)
    distances = cdist(*[cloud(n_points, 4)] * 2) + rng.random((n_points, n_points))
    distances = ((distances + distances.T) / 2).astype(dtype)
    np.fill_diagonal(distances, 0)
    center = np.eye(n_points) - 1 / n_points
    gram = -0.5 * center @ np.square(distances, dtype=np.float64) @ center
    values, vectors = linalg.eigh(gram)
    embedding = classical_mds(distances, 3)
    tolerance = 1e-10 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(embedding.eigenvalues, values[:-4:-1], rtol=tolerance)
    expected = vectors[:, :-4:-1] * np.sqrt(values[:-4:-1])
    overlap = np.abs(np.sum(expected * embedding.coordinates, axis=0)) / values[:-4:-1]
    np.testing.assert_allclose(overlap, 1, rtol=tolerance)
    assert embedding.coordinates.dtype == dtype


def test_signs_are_deterministic():
    exact = cdist(*[cloud(80, 3)] * 2)
    found = classical_mds(exact, 3).coordinates
    largest = np.abs(found).argmax(axis=0)
    assert (found[largest, range(3)] > 0).all()
    order = np.random.default_rng(0).permutation(80)
    shuffled = classical_mds(exact[np.ix_(order, order)], 3).coordinates
    np.testing.assert_allclose(shuffled, found[order], atol=1e-9)


def test_negative_eigenvalues_are_warned_of_and_kept():
    # Three points in a row whose ends are too close for any flat space.
    distances = np.array([[0, 1.0, 3.0], [1.0, 0, 1.0], [3.0, 1.0, 0]])
    with pytest.warns(UserWarning, match=r"fit into 1 flat dimensions, not 2.*lower n_components"):
        embedding = classical_mds(distances, 2)
    assert embedding.eigenvalues[1] <= 0
    assert np.isfinite(embedding.coordinates).all()
    np.testing.assert_array_equal(embedding.coordinates[:, 1], 0)
    center = np.eye(3) - 1 / 3
    gram = -0.5 * center @ distances**2 @ center
    expected = np.sort(np.linalg.eigvalsh(gram))[::-1][:2]
    np.testing.assert_allclose(embedding.eigenvalues, expected, atol=1e-14)


@pytest.mark.parametrize("n_points", [20, 900])
def test_points_that_are_all_one(n_points):
    with pytest.warns(UserWarning, match="fit into 0 flat dimensions"):
        embedding = classical_mds(np.zeros((n_points, n_points)), 2)
    np.testing.assert_array_equal(embedding.coordinates, 0)


def test_negative_distances_are_refused():
    with pytest.raises(ValueError, match="negative entries"):
        classical_mds(-cdist(*[cloud(20, 2)] * 2), 2)


def test_one_way_distances_are_averaged():
    rng = np.random.default_rng(0)
    exact = cdist(*[cloud(30, 2)] * 2)
    skew = rng.random((30, 30)) * 0.1
    skew = np.triu(skew, 1) - np.triu(skew, 1).T
    one_way = classical_mds(exact + np.minimum(skew, exact), 2)
    expected = classical_mds(
        (exact + np.minimum(skew, exact)) / 2 + (exact + np.minimum(skew, exact)).T / 2, 2
    )
    np.testing.assert_allclose(one_way.coordinates, expected.coordinates, atol=1e-12)


def test_input_is_left_alone_unless_it_may_be_overwritten():
    exact = cdist(*[cloud(30, 2)] * 2)
    copy = exact.copy()
    kept = classical_mds(exact, 2)
    np.testing.assert_array_equal(exact, copy)
    overwritten = classical_mds(exact, 2, overwrite=True)
    assert not np.array_equal(exact, copy)
    np.testing.assert_array_equal(kept.coordinates, overwritten.coordinates)


@pytest.mark.parametrize("broken", [np.ones((3, 4)), np.full((4, 4), np.inf)])
def test_distances_that_are_no_finite_square(broken):
    with pytest.raises(ValueError, match="not a square matrix of finite numbers"):
        classical_mds(broken, 2)


def test_embedding_of_the_estimator_is_invariant():
    points = s_with_hole(500, seed=3).points
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    order = rng.permutation(500)
    expected = PTU().fit_transform(points)
    moved = PTU().fit_transform((2.5 * points @ turn + 4)[order])
    np.testing.assert_allclose(moved, 2.5 * expected[order], atol=1e-9 * np.ptp(expected))


def test_pieces_do_not_overlap_and_keep_their_shape():
    pieces = [cloud(20, 2), np.zeros((1, 2)), cloud(9, 2, seed=1), np.zeros((1, 2))]
    moved = side_by_side(pieces)
    for left, right in pairwise(moved):
        assert left[:, 0].max() < right[:, 0].min()
    for before, after in zip(pieces, moved, strict=True):
        np.testing.assert_allclose(cdist(before, before), cdist(after, after), atol=1e-12)


def test_lone_points_are_placed_apart():
    moved = side_by_side([np.zeros((1, 2))] * 3)
    assert len({tuple(place[0]) for place in moved}) == 3


@pytest.mark.parametrize(
    ("distances", "remedy"),
    [
        (np.full((3, 3), np.inf), "one by one"),
        (np.ones((3, 4)), "a row and a column"),
        (np.ones(3), "a row and a column"),
    ],
)
def test_what_to_do_about_wrong_distances(distances, remedy):
    with pytest.raises(ValueError, match=remedy):
        classical_mds(distances)
