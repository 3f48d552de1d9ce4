"""New points by distances on a flat sheet, where everything is exact."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from ptunfold import PTU
from ptunfold.datasets import spherical_cap
from ptunfold.embedding import regression
from ptunfold.embedding.extension import Extension
from ptunfold.embedding.seen_extension import SeenExtension

RNG = np.random.default_rng(0)
FLAT = RNG.uniform(size=(150, 2))
AXES, _ = np.linalg.qr(RNG.normal(size=(4, 2)))
POINTS = FLAT @ AXES.T + 3
NEW_FLAT = np.concatenate((RNG.uniform(0.1, 0.9, (12, 2)), [[1.05, 0.5]]))
NEW = NEW_FLAT @ AXES.T + 3
OPTIONS = {"tangent": "pca", "step": "chord", "denoise": 0, "n_neighbors": 10, "coherence": 1}


class Counted:
    def __init__(self):
        self.n_calls = 0

    def __call__(self, one, other):
        self.n_calls += 1
        return np.linalg.norm(one - other)


@pytest.fixture(scope="module")
def geometry():
    model = PTU(metric=Counted(), **OPTIONS).fit(POINTS)
    return model._fitted.geometry


def extension(geometry, metric):
    return SeenExtension(geometry, FLAT, metric)


WAYS = {
    "rows": lambda: ("precomputed", cdist(NEW, POINTS)),
    "sparse": lambda: ("precomputed", sparse.csr_array(cdist(NEW, POINTS))),
    "library": lambda: ("euclidean", NEW),
    "callable": lambda: (Counted(), NEW),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_flat_sheet_is_continued_exactly(geometry, way):
    metric, new = WAYS[way]()
    found, info = extension(geometry, metric).into_embedding(new)
    np.testing.assert_allclose(found, NEW_FLAT, atol=1e-8)
    np.testing.assert_allclose(info.distance, cdist(NEW, POINTS).min(axis=1))
    assert not info.is_outside[:12].any()


@pytest.mark.parametrize("way", ["rows", "callable"])
def test_fitted_points_keep_their_places_and_far_ones_are_told(geometry, way):
    far = POINTS[:1] + 2 * AXES[:, 0]
    new = np.concatenate((POINTS[:5], far))
    metric = "precomputed" if way == "rows" else Counted()
    given = cdist(new, POINTS) if way == "rows" else new
    found, info = extension(geometry, metric).into_embedding(given)
    np.testing.assert_array_equal(found[:5], FLAT[:5])
    np.testing.assert_array_equal(info.is_outside, [False] * 5 + [True])
    np.testing.assert_array_equal(info.distance[:5], 0)


def test_a_callable_is_asked_about_each_point_once(geometry):
    metric = Counted()
    made = extension(geometry, metric)
    made.into_embedding(NEW[:1])
    metric.n_calls = 0
    made.into_embedding(NEW[1:2])
    assert metric.n_calls < 150
    with pytest.raises(ValueError, match="the metric returned nan"):
        extension(
            geometry,
            lambda one, other: np.nan if one[0] == NEW[0, 0] else 1.0 * (one[0] != other[0]),
        ).into_embedding(NEW[:1])


def test_on_a_curved_sheet_it_is_as_by_coordinates():
    points = spherical_cap(150, angle=60).points
    new = 0.98 * spherical_cap(30, angle=70, sampling="random", seed=3).points
    model = PTU(**OPTIONS).fit(points)
    by_distances = PTU(metric="precomputed", **OPTIONS).fit(cdist(points, points))
    places = model.embedding_
    made = SeenExtension(by_distances._fitted.geometry, places, "precomputed")
    found, info = made.into_embedding(cdist(new, points))
    expected, told = Extension(model._fitted.geometry, places).into_embedding(new)
    np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_array_equal(info.is_outside, told.is_outside)


def test_what_is_not_known_goes_along_the_graph(geometry):
    rows = cdist(NEW, POINTS)
    made = extension(geometry, "precomputed")
    few = np.where(rows <= np.sort(rows, axis=1)[:, [9]], rows, 0)
    look = made._looker(sparse.csr_array(few))
    nearest, lengths_to = look(3)
    assert nearest == rows[3].argmin()
    graph = geometry.graph.to_sparse()
    paths = sparse.csgraph.dijkstra(graph)
    known = np.flatnonzero(few[3])
    expected = (paths[known] + rows[3, known, None]).min(axis=0)
    expected[known] = rows[3, known]
    np.testing.assert_allclose(lengths_to(np.arange(150)), expected)


def test_the_way_back_is_the_sheet(geometry):
    made = extension(geometry, "precomputed")
    found, info = made.into_space(np.concatenate((NEW_FLAT[:12], FLAT[:2], [[5.0, 5]])))
    np.testing.assert_allclose(found[:12], NEW[:12], atol=0.005)
    np.testing.assert_array_equal(found[12:14], POINTS[:2])
    np.testing.assert_allclose(
        info.distance[:14], cdist(np.concatenate((NEW_FLAT[:12], FLAT[:2])), FLAT).min(axis=1)
    )
    np.testing.assert_array_equal(info.is_outside, [False] * 14 + [True])


@pytest.mark.parametrize("bent", [False, True])
def test_as_many_around_as_points_left_out_ask_for(geometry, bent, monkeypatch):
    points = POINTS.copy()
    made = extension(geometry, "precomputed")
    rng = np.random.default_rng(0)
    points += 0.1 * (np.sin(20 * FLAT[:, :1]) if bent else rng.normal(size=points.shape))
    made.points = points
    made.around = type(made.around)(FLAT, points, geometry.labels)
    assert made.n_around == (10 if bent else 40)
    # Of few points half of them.
    monkeypatch.setattr(regression, "_SIZES", (75,))
    del made.n_around
    assert made.n_around == 75
