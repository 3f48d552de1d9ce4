"""New points into the embedding and back."""

import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ptunfold import PTU, build_graph
from ptunfold.datasets import filled_torus, flat_square, petals, s_with_hole, swiss_roll
from ptunfold.embedding import extension
from ptunfold.geometry import stages
from ptunfold.geometry.span import Span


def split(data, seed=0):
    """Four fifths to fit, one fifth new."""
    is_new = np.random.default_rng(100 + seed).random(len(data.points)) < 0.2
    return data.points[~is_new], data.points[is_new], is_new


def errors(model, data, is_new):
    """Root mean square error of fitted and of new points, after aligning the fitted ones."""
    exact, found = data.coordinates[~is_new], model.embedding_
    middle, center = exact.mean(axis=0), found.mean(axis=0)
    left, _, right = np.linalg.svd((found - center).T @ (exact - middle))
    new = model.transform(data.points[is_new])
    return [
        np.sqrt(np.square((places - center) @ left @ right + middle - true).sum(axis=1).mean())
        for places, true in ((found, exact), (new, data.coordinates[is_new]))
    ]


@pytest.mark.parametrize("seed", range(3))
def test_new_points_on_a_sheet_with_a_hole(seed):
    data = s_with_hole(2000, seed=seed)
    fitted, _, is_new = split(data, seed)
    of_fitted, of_new = errors(PTU().fit(fitted), data, is_new)
    assert of_new < 1.25 * of_fitted
    _, of_isomap = errors(Isomap(n_neighbors=10).fit(fitted), data, is_new)
    assert of_new < of_isomap / 5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("landmarks", [None, 50])
def test_new_points_with_noise(seed, landmarks):
    data = swiss_roll(2000, noise=0.01, seed=seed)
    fitted, new, is_new = split(data, seed)
    model = PTU(tangent_neighbors=25, landmarks=landmarks).fit(fitted)
    of_fitted, of_new = errors(model, data, is_new)
    assert of_new < 1.25 * of_fitted
    _, of_isomap = errors(Isomap(n_neighbors=10).fit(fitted), data, is_new)
    assert of_new < of_isomap
    # The way back leads to the sheet, and new points are as far from it as the noise.
    back = model.inverse_transform(model.transform(new))
    noise = 0.01 * np.ptp(data.points, axis=0).max()
    clean = swiss_roll(2000, seed=seed).points[is_new]
    assert np.sqrt(np.square(back - clean).sum(axis=1).mean()) < noise
    assert np.sqrt(np.square(back - new).sum(axis=1).mean()) < 1.3 * noise


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("landmarks", [None, 12])
def test_fitted_points_get_their_own_coordinates(dtype, landmarks):
    points = s_with_hole(500).points.astype(dtype)
    model = PTU(landmarks=landmarks)
    embedding = model.fit_transform(points)
    np.testing.assert_array_equal(model.transform(points), embedding)
    np.testing.assert_array_equal(model.inverse_transform(embedding), points)
    assert model.transform(points).dtype == model.inverse_transform(embedding).dtype == dtype


@pytest.mark.parametrize("n_features", [3, 60, 700])
def test_a_flat_sheet_is_continued_exactly(n_features):
    """With 700 features for 600 points frames are written in the span of the points."""
    data = flat_square(700, n_features=n_features)
    model = PTU(landmarks=None).fit(data.points[:600])
    exact = PTU(landmarks=None).fit(data.points)
    places, info = model.transform(data.points, return_info=True)
    assert info.is_outside.mean() < 0.01
    found = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.testing.assert_allclose(found, data.distances(), atol=1e-7)
    nearest, _ = cKDTree(data.points[:600]).query(data.points)
    np.testing.assert_allclose(info.distance, nearest, atol=1e-6)
    back = model.inverse_transform(places)
    np.testing.assert_allclose(back, data.points, atol=1e-7)
    assert exact.embedding_.shape == places.shape


def test_a_point_does_not_depend_on_its_batch():
    data = s_with_hole(1000)
    fitted, new, _ = split(data)
    model = PTU().fit(fitted)
    together = model.transform(new)
    np.testing.assert_array_equal(together, np.concatenate([model.transform(x[None]) for x in new]))
    np.testing.assert_array_equal(together, model.transform(new[::-1])[::-1])
    model.set_params(n_jobs=3)
    np.testing.assert_array_equal(together, model.transform(new))
    back = model.inverse_transform(together)
    np.testing.assert_array_equal(
        back, np.concatenate([model.inverse_transform(z[None]) for z in together])
    )


def test_distances_from_the_data_and_far_points():
    points = flat_square(800).points
    model = PTU().fit(points)
    normal = np.linalg.svd(points - points.mean(axis=0))[2][2]
    above = points[:50] + 0.01 * normal
    places, info = model.transform(above, return_info=True)
    np.testing.assert_allclose(info.distance, 0.01, rtol=1e-6)
    np.testing.assert_allclose(places, model.embedding_[:50], atol=1e-9)
    assert not info.is_outside.any()
    far = points[:50] + 3 * normal
    places, info = model.transform(far, return_info=True)
    np.testing.assert_allclose(info.distance, 3, rtol=1e-6)
    assert info.is_outside.all()
    with pytest.warns(UserWarning, match=r"50 of 50 points lie far.* pass return_info=True to see"):
        np.testing.assert_array_equal(model.transform(far), places)
    away = model.embedding_[:7] + 5
    back, info = model.inverse_transform(away, return_info=True)
    np.testing.assert_allclose(info.distance, cKDTree(model.embedding_).query(away)[0])
    assert info.is_outside.all()
    with pytest.warns(UserWarning, match=r"7 of 7 places lie far.* pass return_info=True to see"):
        np.testing.assert_array_equal(model.inverse_transform(away), back)


def test_the_inside_of_a_hole_is_outside():
    data = s_with_hole(2000, hole=0.5)
    model = PTU().fit(data.points)
    middle = np.array([[0.0, 1.0, 0.0]])  # of the S and of its hole
    assert model.transform(middle, return_info=True)[1].is_outside.all()


def test_curved_data_and_other_dimensions():
    data = petals(1500)
    fitted, new, _ = split(data)
    model = PTU().fit(fitted)
    back = model.inverse_transform(model.transform(new))
    assert np.median(np.linalg.norm(back - new, axis=1)) < 2e-3
    solid = filled_torus(2000)
    fitted, new, is_new = split(solid)
    model = PTU(n_components=3).fit(fitted)
    of_fitted, of_new = errors(model, solid, is_new)
    assert of_new < 1e-6
    assert of_fitted < 1e-6
    shown = PTU(n_components=2, intrinsic_dim=3).fit(fitted)
    np.testing.assert_allclose(shown.transform(new), model.transform(new)[:, :2], atol=1e-6)
    assert shown.inverse_transform(shown.transform(new)).shape == new.shape


def test_left_out_and_separate_components():
    points = s_with_hole(500).points
    both = np.concatenate((points, points[:100] + [50, 0, 0]))
    with pytest.warns(UserWarning, match="only the largest"):
        model = PTU(disconnected="largest").fit(both)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(model.transform(both), model.embedding_)
    with pytest.warns(UserWarning, match="2 of 3 points lie next to points that were left") as said:
        model.transform(both[[0, 550, 599]])
    assert len(said) == 1
    places, info = model.transform(both[[0, 550]] + 1e-3, return_info=True)
    np.testing.assert_array_equal(info.is_outside, [False, True])
    np.testing.assert_array_equal(np.isnan(places), [[False] * 2, [True] * 2])
    apart = PTU(disconnected="separate").fit(both)
    np.testing.assert_array_equal(apart.transform(both), apart.embedding_)
    np.testing.assert_allclose(apart.transform(both + 1e-6) - apart.embedding_, 0, atol=1e-4)


def tuning_curves(n_points=1200, n_cells=20, seed=0):
    """Counts of spikes of cells, each with a direction of its own, as the head turns around."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, (n_points, 1))
    rates = 8 * np.exp(3 * np.cos(angle - 2 * np.pi * np.arange(n_cells) / n_cells) - 3)
    return np.sqrt(rng.poisson(rates))


def more_dimensions_than_shown(seed=0):
    return np.random.default_rng(seed).normal(size=(800, 10)) * [4, 3, *[1] * 8]


@pytest.mark.filterwarnings("ignore:the tangent planes explain")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [tuning_curves, more_dimensions_than_shown])
def test_the_way_back_does_not_carry_noise_on(make, seed):
    """The mean of the five nearest fitted points is no better."""
    points = make(seed=seed)
    is_new = np.random.default_rng(100 + seed).random(len(points)) < 0.2
    model = PTU().fit(points[~is_new])
    places = model.transform(points[is_new])
    off = np.square(model.inverse_transform(places) - points[is_new]).sum()
    mean = points[~is_new][cKDTree(model.embedding_).query(places, 5)[1]].mean(axis=1)
    assert off < 0.95 * np.square(mean - points[is_new]).sum()
    # Fitted points come back, to themselves or to their surface, and near them nothing jumps.
    back = model.inverse_transform(model.embedding_)
    surface = model._fitted.as_given.surface
    if model._fitted.given is None:
        np.testing.assert_array_equal(back, surface)
    else:  # in fewer coordinates, because the spectrum shows the noise
        found, _ = Span(model._fitted.given, model._fitted.as_given.points).into(back)
        np.testing.assert_allclose(found, surface, atol=1e-9)
    nudged = model.inverse_transform(model.embedding_ + 1e-9)
    np.testing.assert_allclose(nudged, back, atol=1e-4)
    # Each by itself, whatever the batch and the threads.
    whole = model.inverse_transform(places)
    alone = np.concatenate([model.inverse_transform(place[None]) for place in places[:20]])
    np.testing.assert_array_equal(alone, whole[:20])
    model.set_params(n_jobs=2)
    np.testing.assert_array_equal(model.inverse_transform(places[::-1])[::-1], whole)


def test_a_sheet_over_itself_is_not_averaged():
    """Both halves of a sphere are shown in the same places; the way back leads to one of them."""
    points = np.random.default_rng(0).standard_normal((1000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    model = PTU(seams="leave").fit(points)
    between = 0.5 * (model.embedding_[:-1] + model.embedding_[1:])
    back, info = model.inverse_transform(between, return_info=True)
    lengths = np.linalg.norm(back[~info.is_outside], axis=1)
    assert np.median(np.abs(lengths - 1)) < 0.05


def test_copies_speak_with_one_voice():
    sheet = flat_square(500).points
    axis = np.linalg.svd(sheet - sheet.mean(axis=0))[2][0]
    new = sheet[:100] + 0.005 * axis
    for n_copies in (1, 4):
        points = np.concatenate((sheet, *[sheet[:100]] * n_copies))
        model = PTU().fit(points)
        places, info = model.transform(new, return_info=True)
        moved = np.linalg.norm(places - model.embedding_[:100], axis=1)
        np.testing.assert_allclose(moved, 0.005, rtol=1e-6)
        assert not info.is_outside.any()
        back, info = model.inverse_transform(places, return_info=True)
        np.testing.assert_allclose(back, new, atol=1e-8)
        assert not info.is_outside.any()
        np.testing.assert_allclose(model.transform(points), model.embedding_, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_a_copy_that_was_left_out_says_nothing(metric):
    """Of a graph of one's own, copies may be in several components; the first is left out here."""
    sheet = flat_square(60).points
    points = np.concatenate((sheet[:5], sheet))
    distances, indices = NearestNeighbors(n_neighbors=6).fit(sheet).kneighbors()
    own = np.concatenate((np.roll(np.arange(5), 1)[:, None] * np.ones((1, 6), int), indices + 5))
    lengths = np.concatenate((np.full((5, 6), 0.1), distances))
    given = points if metric == "euclidean" else cdist(points, points)
    with pytest.warns(UserWarning, match="largest"):
        model = PTU(metric=metric, disconnected="largest").fit(given, graph=(own, lengths))
    assert np.isnan(model.embedding_[:5]).all()
    placed = model.transform(given)
    np.testing.assert_allclose(placed[5:], model.embedding_[5:], atol=1e-9)
    np.testing.assert_allclose(placed[:5], model.embedding_[5:10], atol=1e-9)


def test_a_point_that_rounding_alone_tells_from_one_left_out():
    """In the coordinates of the span it came to lie nearer to the other one."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        first = rng.normal(size=(2, 11))
        points = np.concatenate((first, np.nextafter(first, 9), np.nextafter(first, -9)))
        empty = sparse.csr_array((6, 6))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = PTU(disconnected="largest").fit(points, graph=empty)
            placed = model.transform(points)
        is_embedded = model.component_labels_ >= 0
        assert is_embedded.sum() == 1
        assert np.isfinite(placed[is_embedded]).all()


def test_bridges_do_not_reach_out():
    sheet = s_with_hole(500).points
    points = np.concatenate((sheet, sheet + [50, 0, 0]))
    with pytest.warns(UserWarning, match="joined by 1 edges"):
        model = PTU().fit(points)
    bridge = model.graph_.lengths.argmax()
    ends = points[[model.graph_.tails[bridge], model.graph_.indices[bridge]]]
    middle = ends.mean(axis=0, keepdims=True)
    assert model.transform(middle, return_info=True)[1].is_outside.all()


def test_isolated_points_and_points_off_the_span():
    sheet = s_with_hole(300).points
    points = np.concatenate((sheet, [[30.0, 0, 0], [40.0, 0, 0]]))
    model = PTU(graph="radius", radius=0.9, disconnected="separate").fit(points)
    places, info = model.transform([[30.01, 0, 0]], return_info=True)
    assert np.isfinite(places).all()
    assert info.is_outside.all()
    back, _ = model.inverse_transform(model.embedding_[-1:] + 0.01, return_info=True)
    assert np.isfinite(back).all()
    wide = flat_square(100, n_features=150).points
    model = PTU().fit(wide)
    away = np.linalg.svd(wide - wide.mean(axis=0))[2][-1]
    _, info = model.transform(wide[:5] + 10 * away, return_info=True)
    np.testing.assert_allclose(info.distance, 10, rtol=1e-6)
    assert info.is_outside.all()
    assert not model.transform(wide, return_info=True)[1].is_outside.any()


def test_features_beyond_points_in_an_order_of_its_own(monkeypatch):
    monkeypatch.setattr(stages, "MOST_UNORDERED", 10)
    data = s_with_hole(200, n_features=300)
    points = np.random.default_rng(0).permutation(data.points)
    model = PTU().fit(points)
    np.testing.assert_allclose(model.transform(points), model.embedding_, atol=1e-8)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), points, atol=1e-8)


def test_points_that_cannot_be_squared():
    model = PTU().fit(s_with_hole(200).points)
    with pytest.raises(ValueError, match=r"X has a value of size 1e\+200, too large"):
        model.transform([[1e200, 0, 0], [0, 0, 0]])
    with pytest.raises(ValueError, match=r"Z has a value of size 1e\+200, too large"):
        model.inverse_transform([[1e200, 0]])
    single = PTU().fit(s_with_hole(200).points.astype(np.float32))
    with pytest.raises(ValueError, match="too large for squares in float32"):
        single.transform([[1e39, 0, 0]])


def test_the_model_does_not_share_the_callers_points():
    points = s_with_hole(300).points
    new = points[:20] + 0.01
    model = PTU().fit(points)
    expected = PTU().fit(points).transform(new)
    points += 5
    np.testing.assert_array_equal(model.transform(new), expected)


def test_a_failed_fit_is_no_fit():
    model = PTU(n_neighbors=10**6)
    with pytest.raises(ValueError, match="n_neighbors"):
        model.fit(s_with_hole(200).points)
    for use in (lambda: model.transform([[0.0, 0, 0]]), lambda: model.graph_):
        with pytest.raises(NotFittedError):
            use()


def test_bad_new_points():
    model = PTU().fit(s_with_hole(200).points)
    with pytest.raises(ValueError, match="X has 2 features, but PTU is expecting 3"):
        model.transform(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="X contains NaN in 1 of 2 rows"):
        model.transform([[0, 0, np.nan], [0, 0, 0]])
    with pytest.raises(ValueError, match="Z has 3 columns, but the embedding has 2"):
        model.inverse_transform(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="Z contains infinity"):
        model.inverse_transform([[0, np.inf]])
    with pytest.raises(ValueError, match="Reshape your data"):
        model.transform([0.0, 0.0, 0.0])


def test_pickles_clones_and_pipelines():
    data = s_with_hole(400)
    fitted, new, _ = split(data)
    model = PTU(n_jobs=2).fit(fitted)
    placed = model.transform(new)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(new), placed)
    assert not hasattr(clone(model), "embedding_")
    model.fit(fitted[:200])
    assert not np.array_equal(model.transform(new[:5]), placed[:5])
    line = make_pipeline(StandardScaler(), PTU()).fit(fitted)
    assert line.transform(new).shape == (len(new), 2)
    assert line.inverse_transform(line.transform(new)).shape == new.shape


@pytest.mark.parametrize(("dim", "n_near"), [(2, 10), (5, 15)])
def test_as_many_near_ones_as_the_dimension_asks_for(dim, n_near):
    points = np.random.default_rng(0).random((200, 5))
    graph = build_graph(points, 20)
    geometry = SimpleNamespace(
        graph=graph, surface=points, seen=None, frames=SimpleNamespace(intrinsic_dim=dim)
    )
    kept = extension.proper_edges(geometry, np.arange(200), 1)
    assert np.bincount(graph.tails[kept]).max() == n_near
