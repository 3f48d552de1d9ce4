"""What the method promises, against known truths, with the tolerances it promises."""

import numpy as np
import pytest

from ptunfold import (
    PTU,
    build_graph,
    classical_mds,
    geodesic_distances,
    graph_distances,
    graph_from_matrix,
)
from ptunfold.datasets import (
    annulus,
    filled_torus,
    flat_square,
    l_shape,
    petals,
    s_uneven,
    s_with_hole,
    spherical_cap,
    swiss_roll,
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
    assert relative_error(geodesic_distances(data.points, n_jobs=2), exact) <= 0.0005
    assert relative_error(graph_distances(build_graph(data.points)), exact) >= 0.03


@pytest.mark.parametrize("tangent_neighbors", [6, 10, 15])
def test_spherical_cap_along_its_triangulation(tangent_neighbors):
    data = spherical_cap(700)
    exact = data.distances()
    estimate = geodesic_distances(
        data.points,
        graph=data.graph,
        tangent="pca",
        tangent_neighbors=tangent_neighbors,
        step="chord",
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


def embedding_error(found, exact):
    found, exact = found - found.mean(axis=0), exact - exact.mean(axis=0)
    left, _, right = np.linalg.svd(found.T @ exact)
    return np.linalg.norm(found @ left @ right - exact) / np.linalg.norm(exact)


def test_spherical_cap_by_default():
    data = spherical_cap(700)
    assert relative_error(geodesic_distances(data.points), data.distances()) <= 0.00012


def test_random_spherical_cap_by_default():
    errors = []
    for seed in range(3):
        data = spherical_cap(1500, angle=60, sampling="random", seed=seed)
        errors.append(relative_error(geodesic_distances(data.points, n_jobs=2), data.distances()))
    assert np.median(errors) <= 0.0003


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_uneven_s_by_default(seed):
    data = s_uneven(2000, seed=seed)
    assert relative_error(geodesic_distances(data.points, n_jobs=2), data.distances()) <= 0.0003


@pytest.mark.parametrize("n_features", [3, 30])
def test_noisy_roll_by_default(n_features):
    for noise, bound in ((0, 0.001), (0.01, 0.008), (0.025, 0.03)):
        errors = []
        for seed in range(3 if n_features == 3 else 1):
            data = swiss_roll(2000, noise=noise, n_features=n_features, seed=seed)
            found = PTU(n_jobs=2).fit(data.points).embedding_
            errors.append(embedding_error(found, data.coordinates))
        assert np.median(errors) <= bound


def test_outliers_by_default():
    errors = []
    for seed in range(3):
        data = swiss_roll(2000, noise=0.004, outliers=0.1, seed=seed)
        along_edges = graph_distances(build_graph(data.points), n_jobs=2)
        kept = ~data.is_outlier
        found = [
            PTU(n_jobs=2).fit(data.points).embedding_,
            PTU(tangent="quadratic", n_jobs=2).fit(data.points).embedding_,
            classical_mds(along_edges).coordinates,
        ]
        errors.append([embedding_error(e[kept], data.coordinates[kept]) for e in found])
    robust, squares, isomap = np.median(errors, axis=0)
    assert robust <= squares / 1.5
    assert robust <= isomap / 5


def test_noisy_petals_by_default():
    errors = []
    for noise in (0, 0.03):
        found = []
        for seed in range(4):
            data = petals(1600, noise=noise, seed=seed)
            exact = classical_mds(data.distances()).coordinates
            found.append(embedding_error(PTU(n_jobs=2).fit(data.points).embedding_, exact))
        errors.append(np.median(found))
    assert errors[0] <= 0.001
    assert errors[1] <= 0.0102
