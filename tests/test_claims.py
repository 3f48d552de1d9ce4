"""What the method promises, against known truths, with the tolerances it promises."""

import numpy as np
import pytest

from ptunfold import PTU, build_graph, geodesic_distances, graph_distances, graph_from_matrix
from ptunfold.datasets import (
    annulus,
    filled_torus,
    flat_square,
    l_shape,
    petals,
    s_with_hole,
    spherical_cap,
)


def relative_error(estimate, exact):
    """Mean over all pairs of |estimate - true| / true, the paper's measure."""
    pairs = exact > 0
    return float(np.mean(np.abs(estimate - exact)[pairs] / exact[pairs]))


@pytest.mark.parametrize("n_features", [3, 50])
@pytest.mark.parametrize("shape", [flat_square, annulus, l_shape])
@pytest.mark.parametrize("step", ["projection", "chord", "arc"])
def test_proposition_2_flat_sets_are_exact(shape, n_features, step):
    data = shape(1000, n_features=n_features)
    exact = data.distances()
    distances = geodesic_distances(
        data.points, n_neighbors=10, tangent_neighbors=10, step=step, n_jobs=2
    )
    np.testing.assert_allclose(distances, exact, rtol=0, atol=1e-9 * exact.max())


def test_proposition_2_filled_torus_is_exact():
    data = filled_torus(1500, n_features=4)
    exact = data.distances()
    distances = geodesic_distances(
        data.points, intrinsic_dim=3, n_neighbors=10, tangent_neighbors=10, n_jobs=2
    )
    np.testing.assert_allclose(distances, exact, rtol=0, atol=1e-9 * exact.max())


def test_proposition_2_embedding_is_isometric():
    data = annulus(1000, n_features=50)
    model = PTU(n_neighbors=10, tangent_neighbors=10).fit(data.points)
    found = model.embedding_
    exact = data.distances()
    distances = np.linalg.norm(found[:, None] - found[None], axis=2)
    np.testing.assert_allclose(distances, exact, rtol=0, atol=1e-9 * exact.max())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_s_with_a_hole(seed):
    data = s_with_hole(2000, seed=seed)
    exact = data.distances()
    assert relative_error(geodesic_distances(data.points, n_jobs=2), exact) <= 0.003
    assert relative_error(graph_distances(build_graph(data.points)), exact) >= 0.03


@pytest.mark.parametrize("tangent_neighbors", [6, 10, 15])
def test_spherical_cap_along_its_triangulation(tangent_neighbors):
    data = spherical_cap(700)
    exact = data.distances()
    estimate = geodesic_distances(
        data.points, graph=data.graph, tangent_neighbors=tangent_neighbors, step="chord"
    )
    assert relative_error(estimate, exact) <= 0.0005
    along_edges = graph_distances(graph_from_matrix(data.graph, 700))
    assert 0.04 <= relative_error(along_edges, exact) <= 0.07


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_petals_in_100_dimensions(seed):
    data = petals(1600, n_features=100, seed=seed)
    exact = data.distances()
    error = relative_error(geodesic_distances(data.points, n_jobs=2), exact)
    along_edges = relative_error(graph_distances(build_graph(data.points)), exact)
    assert error <= 0.02
    assert error <= along_edges / 8
