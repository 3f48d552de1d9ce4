"""Distances in the place of coordinates: the same answers where both are known, and others."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph
from typer.testing import CliRunner

from ptunfold import (
    PTU,
    build_graph,
    connect,
    estimate_dimension,
    estimate_frames,
    geodesic_distances,
    metric_space,
    widen_graph,
)
from ptunfold.cli import app
from ptunfold.datasets import annulus, flat_square, s_with_hole, spherical_cap, swiss_roll
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.measured import Called
from ptunfold.validation.matrices import METRICS, check_metric

PLAIN = {"tangent": "pca", "step": "chord", "denoise": 0, "n_neighbors": 10, "coherence": 1}
S = s_with_hole(400)
OTHERS = s_with_hole(440, seed=5).points[400:]
STRAIGHT = cdist(S.points, S.points)


def error(found, truth):
    return np.abs(found - truth).mean() / truth.mean()


def norm(one, other):
    return float(np.sqrt(np.square(one - other).sum()))


def noisy_cap(n_points, seed):
    points = spherical_cap(n_points, angle=60, sampling="random", seed=seed).points
    return points + 0.01 * np.random.default_rng(seed).normal(size=points.shape)


class Counted:
    """A metric that counts how often it is asked about each pair."""

    def __init__(self):
        self.pairs = []

    def __call__(self, one, other):
        self.pairs.append((tuple(one), tuple(other)))
        return norm(one, other)


SAME = {
    "square": (flat_square(300), {}),
    "ring": (annulus(300), PLAIN),
    "S with a hole": (S, {}),
    "S with a hole, plain": (S, PLAIN),
    "cap": (spherical_cap(300, angle=60), {}),
    "in twenty dimensions": (swiss_roll(300, n_features=20), {}),
}


@pytest.mark.parametrize("name", SAME)
def test_euclidean_distances_say_what_coordinates_say(name):
    data, options = SAME[name]
    one = geodesic_distances(data.points, **options)
    other = geodesic_distances(cdist(data.points, data.points), metric="precomputed", **options)
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-9 * one.max())


def test_a_fit_by_distances_is_the_fit_by_coordinates():
    one, other = PTU().fit(S.points), PTU(metric="precomputed").fit(STRAIGHT)
    assert other.texture_ == one.texture_ == "smooth"
    signs = np.sign((one.embedding_ * other.embedding_).sum(axis=0))
    np.testing.assert_allclose(other.embedding_ * signs, one.embedding_, atol=1e-8)
    np.testing.assert_allclose(other.frames_.curvature, one.frames_.curvature, atol=1e-6)
    np.testing.assert_allclose(other.frames_.residual, one.frames_.residual, atol=1e-6)
    for name in ("transport_", "topology_"):
        assert str(getattr(other, name)) == str(getattr(one, name))
    std = [model.distances([0], return_std=True)[1] for model in (one, other)]
    np.testing.assert_allclose(std[1], std[0], rtol=1e-4, atol=1e-8)
    assert other.non_euclidean_ < 1e-12
    assert one.non_euclidean_ == 0
    assert other.n_features_in_ == 400


def test_the_noise_that_was_taken_out_is_the_same():
    points = noisy_cap(300, seed=0)
    one, other = PTU().fit(points), PTU(metric="precomputed").fit(cdist(points, points))
    assert other.texture_ == one.texture_ == "noisy"
    seen = other._fitted.geometry.seen
    moved = one._fitted.geometry.surface - one._fitted.geometry.points
    np.testing.assert_allclose(seen.moved, np.linalg.norm(moved, axis=1), atol=1e-6)
    assert seen.n_off == 1
    np.testing.assert_allclose(other.distances([0]), one.distances([0]), atol=1e-6)
    std = [model.distances([0], return_std=True)[1] for model in (one, other)]
    np.testing.assert_allclose(std[1], std[0], rtol=1e-3, atol=1e-6)
    new = noisy_cap(30, seed=7)
    places = [one.transform(new), other.transform(cdist(new, points))]
    apart = [cdist(place, fit.embedding_) for place, fit in zip(places, (one, other), strict=True)]
    assert error(apart[1], apart[0]) < 0.001


def test_arcs_on_a_sphere():
    points = np.random.default_rng(0).normal(size=(500, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    arcs = 2 * np.arcsin(np.clip(cdist(points, points) / 2, 0, 1))
    with pytest.warns(UserWarning, match="closed"):
        model = PTU(metric="precomputed").fit(arcs)
    assert error(model.distances(), arcs) < 0.0008
    # Of the arcs themselves: without negative squares it would be a third.
    assert np.median(model.frames_.curvature) == pytest.approx(1, abs=0.03)
    assert 1e-4 < model.non_euclidean_ < 0.01
    assert model.topology_.name == "a sphere"
    places = np.column_stack((np.arcsin(points[:, 2]), np.arctan2(points[:, 1], points[:, 0])))
    found = geodesic_distances(places, metric="haversine", sources=[0, 1])
    np.testing.assert_allclose(found, model.distances([0, 1]), rtol=1e-6)


def test_a_roll_whose_long_distances_are_shortened():
    data = swiss_roll(700)
    truth = data.distances()
    scale = truth.max() / 4
    apart = scale * np.tanh(cdist(data.points, data.points) / scale)
    assert apart.max() < 0.3 * truth.max()
    assert error(geodesic_distances(apart, metric="precomputed"), truth) < 0.005


def test_histograms_on_a_line():
    places = np.sort(np.random.default_rng(0).uniform(0.2, 0.8, 200))
    bins = np.linspace(0, 1, 100)
    histograms = np.exp(-0.5 * ((bins - places[:, None]) / 0.05) ** 2)
    histograms /= histograms.sum(axis=1, keepdims=True)

    def work(one, other):  # of Wasserstein
        return np.abs(np.cumsum(one - other)).sum() / 99

    model = PTU(1, metric=work).fit(histograms)
    line = model.embedding_[:, 0] * np.sign(model.embedding_[-1, 0])
    np.testing.assert_allclose(line - line[0], places - places[0], atol=1e-4)
    back = model.inverse_transform(model.embedding_[:1] + 1e-4)
    assert np.abs(back - histograms[0]).max() < 0.01


def test_a_callable_is_asked_once_and_within_neighbourhoods():
    data, metric = swiss_roll(600), Counted()
    model = PTU(metric=metric, n_jobs=1).fit(data.points)
    width = model.frames_.members.shape[1] - 1
    assert len(metric.pairs) <= 600 * width**2 / 2
    asked = [frozenset(pair) for pair in metric.pairs]
    assert len(set(asked)) >= len(asked) - 3  # the first pair is looked at both ways
    np.testing.assert_allclose(
        model.distances([0]), PTU().fit(data.points).distances([0]), rtol=1e-6, atol=1e-9
    )
    n_calls = len(metric.pairs)
    metric.pairs.clear()
    new = data.points[:3] + 0.01
    places = model.transform(new)
    assert len(metric.pairs) < 600 * 16 + 3 * 400 < n_calls
    np.testing.assert_array_equal(model.transform(new[1:2]), places[1:2])  # each by itself


def test_in_many_dimensions_shared_members_have_to_do():
    points, metric = np.random.default_rng(0).normal(size=(600, 10)), Counted()
    with pytest.warns(UserWarning, match="tangent planes explain"):
        model = PTU(metric=metric, landmarks=20, n_jobs=1).fit(points)
    width = model.frames_.members.shape[1] - 1
    assert len(metric.pairs) <= 600 * width**2
    # Where they span as much as neighbourhoods do, they tell the same.
    space = metric_space(STRAIGHT, "precomputed")
    graph = build_graph(space)
    frames = estimate_frames(space, graph)
    expected = connect(space, graph, frames)
    space.is_frugal = True
    found = connect(space, graph, frames)
    off = np.abs(found.rotations - expected.rotations).max(axis=(1, 2))
    assert np.quantile(off, 0.9) < 1e-12
    np.testing.assert_array_equal(found.steps, expected.steps)


def test_neighbours_by_pivots_are_the_nearest():
    points = S.points
    space = Called(points, norm)
    found = np.sort(space.candidates(slice(0, 400), 12), axis=1)
    np.testing.assert_array_equal(found, np.sort(np.argsort(STRAIGHT, axis=1)[:, :12], axis=1))


def test_new_points_by_their_distances():
    one, other = PTU().fit(S.points), PTU(metric="precomputed").fit(STRAIGHT)
    rows = cdist(OTHERS, S.points)
    signs = np.sign((one.embedding_ * other.embedding_).sum(axis=0))
    placed, info = other.transform(rows, return_info=True)
    expected, told = one.transform(OTHERS, return_info=True)
    np.testing.assert_allclose(placed * signs, expected, atol=1e-8)
    np.testing.assert_array_equal(info.is_outside, told.is_outside)
    np.testing.assert_allclose(info.distance, told.distance)
    np.testing.assert_array_equal(other.transform(STRAIGHT), other.embedding_)
    np.testing.assert_array_equal(other.transform(rows[3:4]), placed[3:4])
    with pytest.warns(UserWarning, match="far outside"):
        other.transform(rows[:1] + 50)
    assert other.transform(rows, return_std=True)[1].shape == (40, 2, 2)


def test_new_points_by_some_distances():
    model = PTU(metric="precomputed").fit(STRAIGHT)
    rows = cdist(OTHERS, S.points)
    known = np.argsort(rows, axis=1)[:, :40]
    where = np.repeat(np.arange(40), 40), known.ravel()
    some = sparse.csr_array((rows[where], where), shape=rows.shape)
    off = np.linalg.norm(model.transform(some) - model.transform(rows), axis=1)
    assert np.median(off) < 0.02
    whole = sparse.csr_array(rows)
    np.testing.assert_allclose(model.transform(whole), model.transform(rows), atol=1e-12)


def test_a_sparse_matrix_is_completed_and_says_so():
    whole = sparse.csr_array(STRAIGHT)
    expected = geodesic_distances(STRAIGHT, metric="precomputed")
    # But for the bound by chords, which are not trusted where distances may be missing.
    found = geodesic_distances(whole, metric="precomputed")
    np.testing.assert_allclose(found, expected, rtol=0.005)
    assert np.mean(np.abs(found - expected) > 1e-9) < 0.01
    some = kneighbors_graph(S.points, 40, mode="distance")
    with pytest.warns(
        UserWarning, match=r"^[\d,]+ of [\d,]+ distances inside neighbourhoods \(\d+%\)"
    ):
        found = geodesic_distances(some, metric="precomputed")
    truth = S.distances()
    graph = kneighbors_graph(S.points, 10, mode="distance")
    by_paths = sparse.csgraph.dijkstra(graph, directed=False)
    assert error(found, truth) < 0.4 * error(by_paths, truth)


@pytest.mark.filterwarnings("ignore:.* distances inside")
def test_parts_without_a_distance_between_them():
    apart = sparse.block_diag(2 * [kneighbors_graph(S.points[:200], 60, mode="distance")])
    with pytest.raises(ValueError, match="2 parts with no distance known between them"):
        PTU(metric="precomputed").fit(apart)
    model = PTU(metric="precomputed", disconnected="separate").fit(apart)
    assert np.bincount(model.component_labels_).tolist() == [200, 200]


def test_clusters_are_bridged_as_from_coordinates():
    points = np.concatenate((S.points[:200], S.points[200:] + [30, 0, 0]))
    with pytest.warns(UserWarning, match="they were joined by 1 edges of Euclidean length"):
        one = geodesic_distances(points)
    for given, metric in ((cdist(points, points), "precomputed"), (points, norm)):
        with pytest.warns(UserWarning, match="they were joined by 1 edges of length"):
            other = geodesic_distances(given, metric=metric)
        np.testing.assert_allclose(other, one, atol=1e-7 * one.max())


def test_copies_come_out_in_one_place():
    points = np.concatenate((S.points, S.points[:5]))
    model = PTU(metric="precomputed").fit(cdist(points, points))
    np.testing.assert_allclose(model.embedding_[400:], model.embedding_[:5], atol=1e-10)
    expected = PTU().fit(points).distances([0])
    np.testing.assert_allclose(model.distances([0]), expected, atol=1e-9 * expected.max())


def test_a_matrix_on_disk_and_in_single_precision(tmp_path):
    np.save(tmp_path / "d.npy", STRAIGHT)
    mapped = np.load(tmp_path / "d.npy", mmap_mode="r")
    expected = PTU(metric="precomputed").fit(STRAIGHT)
    found = PTU(metric="precomputed").fit(mapped)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    single = PTU(metric="precomputed").fit(STRAIGHT.astype(np.float32))
    assert single.embedding_.dtype == np.float32
    np.testing.assert_allclose(single.distances(), expected.distances(), atol=1e-3)


@pytest.mark.parametrize("metric", METRICS)
def test_every_name_means_what_scipy_says(metric):
    if metric in ("precomputed", "nan_euclidean", "minkowski", "p", "sqeuclidean"):
        assert check_metric(metric)
        return
    points = np.abs(S.points[:40]) + 0.1
    if metric in ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule", "jaccard"):
        points = (np.random.default_rng(0).random((40, 12)) < 0.5).astype(float)
    if metric == "haversine":
        points = points[:, :2]
    space = metric_space(points, metric)
    if isinstance(space, np.ndarray):
        found = cdist(space, space)
        if metric in ("cosine", "correlation"):  # 1 - cos is half the square
            found = np.square(found) / 2
    else:
        nodes = np.arange(40)[None]
        found = np.sqrt(space.squares(nodes, nodes)[0])
    if metric == "haversine":
        up, along = points.T
        rise = np.sin((up[:, None] - up) / 2) ** 2
        turn = np.cos(up[:, None]) * np.cos(up) * np.sin((along[:, None] - along) / 2) ** 2
        expected = 2 * np.arcsin(np.sqrt(rise + turn))
    else:
        options = {}
        if metric == "seuclidean":
            options = {"V": points.var(axis=0, ddof=1)}
        if metric == "mahalanobis":
            options = {"VI": np.linalg.inv(np.cov(points.T))}
        name = check_metric(metric).replace("l2", "euclidean")
        expected = cdist(points, points, name, **options)
    np.fill_diagonal(expected, 0)  # which russellrao has not
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_cosine_is_euclidean_between_directions():
    points = S.points + 5
    lengths = np.random.default_rng(0).uniform(0.5, 2, (400, 1))
    model = PTU(metric="cosine").fit(points * lengths)
    directions = points / np.linalg.norm(points, axis=1, keepdims=True)
    expected = PTU().fit(directions)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(expected.embedding_), atol=1e-9)
    np.testing.assert_allclose(model.transform(3 * points[:9]), model.embedding_[:9], atol=1e-9)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_[:9]), directions[:9])


def test_stages_take_distances():
    space = metric_space(STRAIGHT, "precomputed")
    graph, expected = build_graph(space), build_graph(S.points)
    np.testing.assert_array_equal(graph.indices, expected.indices)
    frames, planes = estimate_frames(space, graph), estimate_frames(S.points, graph)
    np.testing.assert_allclose(frames.singular_values, planes.singular_values, rtol=1e-9)
    wide = widen_graph(space, graph, frames, 24)
    np.testing.assert_array_equal(wide.indices, widen_graph(S.points, graph, planes, 24).indices)
    turns, expected = (connect(p, wide, f) for p, f in ((space, frames), (S.points, planes)))
    np.testing.assert_allclose(
        np.linalg.norm(turns.steps, axis=1), np.linalg.norm(expected.steps, axis=1), rtol=1e-9
    )
    identity = turns.rotations @ turns.rotations.transpose(0, 2, 1)
    np.testing.assert_allclose(identity, np.broadcast_to(np.eye(2), identity.shape), atol=1e-12)
    found = estimate_dimension(space)
    assert found.consensus == 2
    assert found.planes == estimate_dimension(S.points).planes


@pytest.mark.parametrize("metric", ["precomputed", "mahalanobis", "cosine"])
def test_a_model_is_kept(metric, tmp_path):
    new = OTHERS[:3] + 4
    given, rows = S.points + 4, new
    if metric == "precomputed":
        given, rows = STRAIGHT, cdist(new - 4, S.points)
    model = PTU(metric=metric).fit(given)
    model.save(tmp_path / "model")
    for again in (PTU.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.metric == metric
        np.testing.assert_array_equal(again.transform(rows), model.transform(rows))
        found, expected = (one.distances([0], return_std=True)[1] for one in (again, model))
        np.testing.assert_array_equal(found, expected)
        assert again.non_euclidean_ == model.non_euclidean_


def test_a_band_with_one_side_is_told_by_distances():
    around, across = np.meshgrid(np.linspace(0, 2 * np.pi, 80, endpoint=False), [-0.3, 0, 0.31])
    radius = 2 + across * np.cos(around / 2)
    band = np.stack((radius * np.cos(around), radius * np.sin(around), across * np.sin(around / 2)))
    points = band.reshape(3, -1).T
    with pytest.warns(UserWarning, match="closes upon itself"):
        model = PTU(metric="precomputed").fit(cdist(points, points))
    assert not model.orientation_.is_orientable


def test_noise_needs_all_distances(monkeypatch):
    points = noisy_cap(500, seed=0)
    distances = cdist(points, points)
    # Of points all are asked for, where neighbourhoods ask for as many.
    for metric in (norm, "mahalanobis"):
        space = metric_space(points, metric)
        assert isinstance(space.movable(48), Matrix)
        assert space.movable(15) is None
    assert metric_space(sparse.csr_array(distances), "precomputed").movable(48) is None
    distances = distances[:300, :300]
    monkeypatch.setattr(Matrix, "movable", lambda space, n_neighbors: None)
    model = PTU(metric="precomputed", landmarks=20).fit(distances)
    assert model.texture_ == "noisy"
    assert not model._fitted.geometry.seen.moved.any()


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_the_command_takes_distances(tmp_path):
    source, model = tmp_path / "d.csv", tmp_path / "m"
    names = ",".join(f"p{index}" for index in range(400))
    np.savetxt(source, STRAIGHT, delimiter=",", header=names, comments="")
    done = run("embed", source, "--precomputed", "-o", tmp_path / "out.csv", "--save", model)
    assert done.exit_code == 0, done.stderr
    found = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1)
    expected = PTU(metric="precomputed").fit(STRAIGHT)
    np.testing.assert_allclose(found, expected.embedding_, atol=1e-12)
    np.save(tmp_path / "new.npy", cdist(OTHERS, S.points))
    done = run("transform", model, tmp_path / "new.npy", "-o", tmp_path / "placed.npy")
    assert done.exit_code == 0, done.stderr
    placed = expected.transform(cdist(OTHERS, S.points))
    np.testing.assert_allclose(np.load(tmp_path / "placed.npy"), placed, atol=1e-12)
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_matrix(STRAIGHT))
    done = run("embed", tmp_path / "s.npz", "--precomputed", "-o", tmp_path / "sparse.csv")
    assert done.exit_code == 0, done.stderr
    again = np.loadtxt(tmp_path / "sparse.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(cdist(again, again), cdist(found, found), atol=1e-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d + np.triu(d), "not symmetric"),
        (lambda d: -d, "negative in 870 places"),
        (lambda d: d + np.eye(30), "is 1 on its diagonal"),
        (lambda d: np.where(np.eye(30) > 0, np.nan, d), "have gaps"),
        (lambda d: d[:, :5], "is not square"),
    ],
)
def test_the_command_refuses_what_is_no_distance(change, said, tmp_path):
    np.save(tmp_path / "d.npy", change(STRAIGHT[:30, :30]))
    done = run("embed", tmp_path / "d.npy", "--precomputed", "-o", tmp_path / "out.csv")
    assert done.exit_code != 0
    assert said in done.stderr
    assert not (tmp_path / "out.csv").exists()


def test_the_command_takes_a_metric(tmp_path):
    places = np.random.default_rng(0).uniform(0, 1, (120, 2))
    np.save(tmp_path / "x.npy", places)
    done = run("embed", tmp_path / "x.npy", "--metric", "haversine", "-o", tmp_path / "z.npy")
    assert done.exit_code == 0, done.stderr
    expected = PTU(metric="haversine").fit_transform(places)
    np.testing.assert_allclose(np.load(tmp_path / "z.npy"), expected, atol=1e-12)
    for words, said in (
        (("--metric", "haversin"), "metric='haversin' is not known"),
        (("--metric", "cosine", "--precomputed"), "--metric cosine is not used"),
        (("--missing", "drop", "--precomputed"), "--missing drop leaves out rows"),
    ):
        done = run("embed", tmp_path / "x.npy", *words, "-o", tmp_path / "no.npy")
        assert done.exit_code != 0
        assert said in done.stderr
