"""What becomes of points under each kind of metric."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from ptunfold import metric_space
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.known import Known
from ptunfold.geometry.measured import Called, Evaluated

POINTS = np.random.default_rng(0).uniform(0.1, 1, size=(451, 2))


def blocks(one, other):
    return np.abs(one - other).sum()


def test_a_callable_is_asked_for_all_distances_of_few_points():
    few, many = metric_space(POINTS[:450], blocks), metric_space(POINTS, blocks)
    assert isinstance(few, Matrix)
    assert isinstance(many, Called)
    assert len(many._kept.keys) == 0  # nothing yet
    expected = cdist(POINTS, POINTS, "cityblock")
    np.testing.assert_allclose(few.matrix, expected[:450, :450])
    tails, heads = np.array([0, 3, 450]), np.array([450, 7, 2])
    np.testing.assert_allclose(many.lengths(tails, heads), expected[tails, heads])


def test_a_matrix_is_taken_as_it_is():
    apart = cdist(POINTS[:20], POINTS[:20])
    assert metric_space(apart, "precomputed").matrix is apart
    known = metric_space(sparse.csr_array(apart), "precomputed")
    assert isinstance(known, Known)
    np.testing.assert_array_equal(known.matrix.toarray(), apart)


def test_coordinates_stay_where_the_metric_is_euclidean():
    np.testing.assert_array_equal(metric_space(POINTS), POINTS)
    np.testing.assert_array_equal(metric_space(POINTS.tolist(), "l2"), POINTS)
    directions = metric_space(POINTS, "cosine")
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1)


@pytest.mark.parametrize("name", ["cityblock", "manhattan", "l1"])
def test_names_that_a_library_knows(name):
    space = metric_space(POINTS, name)
    assert isinstance(space, Evaluated)
    assert space.lengths(np.array([3]), np.array([9]))[0] == pytest.approx(
        blocks(POINTS[3], POINTS[9])
    )


def test_points_are_checked_and_matrices_too():
    with pytest.raises(ValueError, match="NaN"):
        metric_space([[0.0, np.nan], [1, 2], [3, 4]], "cityblock")
    with pytest.raises(ValueError, match="not square"):
        metric_space(POINTS, "precomputed")
