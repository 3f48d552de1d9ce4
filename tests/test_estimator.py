"""PTU as a scikit-learn estimator."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ptunfold import (
    PTU,
    Extrapolation,
    build_graph,
    connect,
    estimate_frames,
    geodesic_distances,
    transport_distances,
    with_coherence,
)
from ptunfold.datasets import flat_square, s_with_hole, swiss_roll
from ptunfold.geometry.stages import move_to_surface

PLAIN = {
    "n_neighbors": 10,
    "tangent_neighbors": 15,
    "tangent": "pca",
    "step": "chord",
    "denoise": 0,
    "coherence": 1,
    "prune": None,
}


# Some of the checks' blobs and flowers are far apart, or no sheets, and PTU rightly says so.
@pytest.mark.filterwarnings("ignore:the neighbour graph has", "ignore:the tangent planes explain")
@parametrize_with_checks([PTU()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def sheet():
    return s_with_hole(400, seed=1)


def test_fit_transform_is_the_fitted_embedding(sheet):
    model = PTU()
    assert model.fit_transform(sheet.points) is model.embedding_
    assert model.embedding_.shape == (400, 2)
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_output_has_the_dtype_of_the_input(sheet, dtype):
    model = PTU().fit(sheet.points.astype(dtype))
    assert model.embedding_.dtype == dtype
    assert model.distances([0]).dtype == dtype


def test_float32_agrees_with_float64(sheet):
    # The same numbers in both, so that only the precision of the work differs.
    points = sheet.points.astype(np.float32)
    single = PTU().fit(points).embedding_
    double = PTU().fit(points.astype(np.float64)).embedding_
    np.testing.assert_allclose(single, double, atol=1e-5 * np.ptp(double))


def test_names_are_listed_without_computing_anything(sheet):
    model = PTU()
    assert not {"graph_", "orientation_", "embedding_"} & set(dir(model))
    model.fit(sheet.points)
    listed = dir(model)
    assert {"graph_", "frames_", "orientation_", "embedding_", "fit", "n_jobs"} <= set(listed)
    assert len(listed) == len(set(listed))
    assert not set(vars(model._fitted)) - {"geometry", "embedding", "given", "metric"}


def test_works_in_a_pipeline(sheet):
    pipeline = make_pipeline(StandardScaler(), PTU(n_neighbors=8))
    embedding = pipeline.fit_transform(sheet.points)
    assert embedding.shape == (400, 2)
    scaled = StandardScaler().fit_transform(sheet.points)
    np.testing.assert_array_equal(embedding, PTU(n_neighbors=8).fit_transform(scaled))


def test_works_in_a_grid_search():
    def truth(model, points, y=None):
        """Score how well the fitted distances agree with the unrolled sheet's."""
        exact = cdist(model.exact, model.exact)
        return -float(np.abs(model.distances() - exact).mean())

    class PTUWithTruth(PTU):
        def fit(self, X, y=None, *, graph=None):
            self.exact = y
            return super().fit(X, graph=graph)

    data = swiss_roll(900, seed=0)
    search = GridSearchCV(
        PTUWithTruth(**PLAIN), {"tangent_neighbors": [2, 12]}, scoring=truth, cv=2
    )
    search.fit(data.points, data.coordinates)
    assert search.best_params_ == {"tangent_neighbors": 12}


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_leaves_the_info_alone(sheet, library, kind):
    model = PTU().set_output(transform=library).fit(sheet.points[:-1])
    places, info = model.transform(sheet.points, return_info=True)
    assert isinstance(places, kind)
    assert list(places.columns) == ["ptu0", "ptu1"]
    assert isinstance(info, Extrapolation)
    assert info.distance[-1] > 0
    np.testing.assert_array_equal(info.distance[:-1], 0)
    np.testing.assert_array_equal(
        places, model.set_output(transform="default").transform(sheet.points)
    )


def test_set_output_gives_frames(sheet):
    frame = pd.DataFrame(sheet.points, columns=["x", "y", "z"], index=np.arange(400) + 7)
    out = PTU().set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == ["ptu0", "ptu1"]
    assert list(out.index) == list(frame.index)
    out = PTU().set_output(transform="polars").fit_transform(pl.from_pandas(frame))
    assert isinstance(out, pl.DataFrame)
    assert out.columns == ["ptu0", "ptu1"]


def test_names_of_features(sheet):
    frame = pd.DataFrame(sheet.points, columns=["x", "y", "z"])
    model = PTU(n_components=3, intrinsic_dim=2).fit(frame)
    assert list(model.feature_names_in_) == ["x", "y", "z"]
    assert list(model.get_feature_names_out()) == ["ptu0", "ptu1", "ptu2"]


@pytest.mark.parametrize("kind", [np.array, pd.DataFrame])
def test_what_becomes_of_the_input_does_not_change_the_model(sheet, kind):
    given = kind(sheet.points.copy())
    model = PTU().fit(given)
    new = np.asarray(given)[:50] + 0.01
    before = model.transform(new)
    if kind is pd.DataFrame:
        given.iloc[:, :] = 0.0
    else:
        given[:] = 0
    np.testing.assert_array_equal(model.transform(new), before)


def test_clone_keeps_parameters_and_forgets_the_fit(sheet):
    model = PTU(n_neighbors=7, step="projection").fit(sheet.points)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "embedding_")


def test_the_same_input_gives_the_same_bits(sheet):
    first = PTU(n_jobs=1).fit(sheet.points)
    second = PTU(n_jobs=2).fit(sheet.points)
    np.testing.assert_array_equal(first.embedding_, second.embedding_)
    np.testing.assert_array_equal(first.distances(), second.distances())


def test_intrinsic_dim_above_n_components_shows_the_first_coordinates():
    points = flat_square(300, n_features=5).points + np.random.default_rng(0).normal(
        scale=0.01, size=(300, 5)
    )
    shown = PTU(n_components=2, intrinsic_dim=4).fit(points)
    whole = PTU(n_components=4, intrinsic_dim=4).fit(points)
    assert shown.frames_.intrinsic_dim == 4
    np.testing.assert_allclose(shown.embedding_, whole.embedding_[:, :2], atol=1e-9)


def test_graph_of_ones_own(sheet):
    graph = kneighbors_graph(sheet.points, 10, mode="distance")
    own = PTU().fit(sheet.points, graph=graph)
    built = PTU(n_neighbors=10).fit(sheet.points)
    np.testing.assert_array_equal(own.graph_.indices, built.graph_.indices)
    np.testing.assert_allclose(own.embedding_, built.embedding_, atol=1e-9)


def test_path_agrees_with_distances(sheet):
    model = PTU().fit(sheet.points)
    path = model.path(3, 250)
    assert path.distance == pytest.approx(model.distances([3])[0, 250], rel=1e-12)


@pytest.mark.parametrize("method", ["path", "distances"])
def test_unfitted_estimator_says_so(method):
    with pytest.raises(ValueError, match="not fitted"):
        getattr(PTU(), method)(*((0, 1) if method == "path" else ()))


def test_progress_shows_one_bar_for_each_long_stage(sheet, capsys):
    PTU(verbose=True).fit(sheet.points)
    shown = capsys.readouterr().err
    for name in ("frames", "connection", "distances", "embedding"):
        assert name in shown
    PTU(verbose=False).fit(sheet.points)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("parameters", "stages"),
    [
        ({"step": "projection"}, {"step": "projection"}),
        ({"graph": "mutual"}, {"graph": "mutual"}),
        ({"n_neighbors": 7}, {"n_neighbors": 7}),
        ({"radius": 0.4}, {"radius": 0.4}),
        ({"tangent_neighbors": 9}, {"tangent_neighbors": 9}),
        ({"tangent": "quadratic"}, {"tangent": "quadratic"}),
        ({"tangent": "robust"}, {"tangent": "robust"}),
        ({"denoise": 1}, {"is_moved": True}),
        ({"coherence": 0.5}, {"coherence": 0.5}),
        ({"coherence": "auto"}, {"coherence": None}),
    ],
)
def test_every_parameter_reaches_its_stage(sheet, parameters, stages):
    """The estimator equals the stages called by hand, and differs from plain settings."""
    points = sheet.points
    if "is_moved" in stages:
        points = move_to_surface(points, build_graph(points, 10), 48, 2)
    graph = build_graph(
        points,
        stages.get("n_neighbors", 10),
        graph=stages.get("graph", "knn"),
        radius=stages.get("radius"),
    )
    frames = estimate_frames(
        points,
        graph,
        stages.get("tangent_neighbors", 15),
        tangent=stages.get("tangent", "pca"),
    )
    connection = connect(points, graph, frames, stages.get("step", "chord"))
    connection = with_coherence(connection, stages.get("coherence", 1))
    expected = transport_distances(replace(connection, points=points))
    parameters = {**PLAIN, **parameters}
    np.testing.assert_array_equal(PTU(**parameters).fit(sheet.points).distances(), expected)
    np.testing.assert_array_equal(geodesic_distances(sheet.points, **parameters), expected)
    assert not np.array_equal(geodesic_distances(sheet.points, **PLAIN), expected)


def test_fit_transform_takes_a_graph(sheet):
    graph = build_graph(sheet.points, 7)
    with_graph = PTU().fit_transform(sheet.points, graph=graph)
    np.testing.assert_array_equal(
        with_graph, PTU(n_neighbors=7, prune=None).fit_transform(sheet.points)
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_within_a_second_and_leaves_no_threads():
    script = """
import os, signal, threading, time
from ptunfold import (
    PTU,
    build_graph,
    connect,
    estimate_frames,
    geodesic_distances,
    transport_distances,
)
from ptunfold.datasets import swiss_roll
PTU(n_jobs=2).fit(swiss_roll(500).points)
points = swiss_roll(20000).points
before = threading.active_count()
times = []
def interrupt():
    times.append(time.time())
    os.kill(os.getpid(), signal.SIGINT)
timer = threading.Timer(0.9, interrupt)
timer.start()
try:
    PTU(landmarks=None, n_jobs=2).fit(points)
    print("finished")
except KeyboardInterrupt:
    timer.join()
    print(time.time() - times[0], threading.active_count() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    waited, n_threads = done.stdout.split()
    assert float(waited) < 1.0
    assert n_threads == "0"
