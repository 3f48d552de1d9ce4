"""Small things that must not surprise: refits, masks, threads, read-only arrays, warnings."""

import importlib
import logging
import pkgutil
import sys
import threading
import types
import warnings
from datetime import datetime, timedelta

import joblib
import numpy as np
import pandas as pd
import pytest
from numba.core.dispatcher import Dispatcher
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ptunfold import (
    PTU,
    Connection,
    Graph,
    build_graph,
    classical_mds,
    connect,
    estimate_frames,
    geodesic_distances,
    kernels,
    landmark_mds,
    pipeline,
    planning,
    stress_mds,
    threads,
    transport_distances,
    unfold_path,
)
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.needs import needs_of
from ptunfold.threads import Run, effective_n_jobs, run_blocks, single_threaded_blas

SHEET = s_with_hole(300).points


@pytest.mark.parametrize("when", ["check", "late"])
def test_a_failed_refit_leaves_the_estimator_as_it_was(when, monkeypatch):
    frame = pd.DataFrame(SHEET, columns=["x", "y", "z"])
    model = PTU().fit(frame)
    before = dict(vars(model))
    wide = np.random.default_rng(0).random((50, 7))
    if when == "check":
        wide[3, 3] = np.nan
    else:

        def fail(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(pipeline, "connected", fail)
    with pytest.raises((ValueError, KeyboardInterrupt)):
        model.fit(pd.DataFrame(wide, columns=[*"abcdefg"]))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    assert model.n_features_in_ == 3
    np.testing.assert_allclose(model.transform(frame), model.embedding_)


def test_a_first_fit_that_fails_leaves_nothing():
    model = PTU()
    before = set(vars(model))
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(np.full((9, 4), np.nan))
    assert set(vars(model)) == before


def test_masks_are_refused_and_not_lost():
    masked = np.ma.masked_greater(SHEET, 0.9 * SHEET.max())
    n_masked = int(masked.mask.sum())
    assert n_masked
    said = f"masked array with {n_masked} of 900 values masked; leave their rows out"
    for call in (PTU().fit, PTU().fit(SHEET).transform, geodesic_distances, build_graph):
        with pytest.raises(ValueError, match=said):
            call(masked)
    graph = build_graph(SHEET)
    with pytest.raises(ValueError, match=said):
        estimate_frames(masked, graph)
    distances = np.ma.masked_less(transport_distances_of(SHEET), 0.5)
    with pytest.raises(ValueError, match="distances is a masked array"):
        classical_mds(distances)
    with pytest.raises(ValueError, match="distances is a masked array"):
        landmark_mds(distances[:9], np.arange(9))


def transport_distances_of(points):
    return np.linalg.norm(points[:, None] - points, axis=2)


@pytest.mark.parametrize(
    ("size", "dtype"), [(1e200, float), (1e-200, float), (1e25, np.float32), (1e-25, np.float32)]
)
def test_distances_whose_squares_are_none_are_refused(size, dtype):
    distances = (transport_distances_of(SHEET[:30]) * size).astype(dtype)
    for scale in (classical_mds, stress_mds):
        with pytest.raises(ValueError, match=r"too far from 1 for squares in float\d\d; divide"):
            scale(distances)
    with pytest.raises(ValueError, match=r"too far from 1 for squares in float\d\d; divide"):
        landmark_mds(distances[:9], np.arange(9))


def test_an_array_that_could_have_a_mask_and_has_none_is_fine():
    plain, other = (PTU().fit(points).embedding_ for points in (SHEET, np.ma.masked_array(SHEET)))
    np.testing.assert_array_equal(plain, other)


def test_threads_are_bounded_by_the_cores(monkeypatch):
    assert effective_n_jobs(10**6) <= 4 * joblib.cpu_count()
    assert effective_n_jobs(-1) == joblib.cpu_count()
    asked = []

    def noted(*args, **options):
        needs = needs_of(*args, **options)
        asked.append(needs.all_distances())
        return needs

    monkeypatch.setattr(planning, "needs_of", noted)
    for n_jobs in (10**6, 1):
        PTU(n_jobs=n_jobs).fit(SHEET)
    assert asked[0] < 100 * asked[-1]
    started = []
    on_threads = threads._run_on_threads

    def counted(run, blocks, n_threads):
        started.append(n_threads)
        on_threads(run, blocks, n_threads)

    monkeypatch.setattr(threads, "_run_on_threads", counted)
    model = PTU(n_jobs=10**6).fit(SHEET)
    run_blocks(lambda block: None, threads.cut(1000, 1), Run(10**6))
    assert max(started) <= 4 * joblib.cpu_count()
    np.testing.assert_array_equal(model.embedding_, PTU().fit(SHEET).embedding_)


def n_compiled():
    """Count what Numba has compiled for calls from Python and from kernels."""
    names = [module.name for module in pkgutil.iter_modules(kernels.__path__)]
    modules = [importlib.import_module(f"ptunfold.kernels.{name}") for name in names]
    found = {id(one): one for module in modules for one in vars(module).values()}
    return sum(len(one.signatures) for one in found.values() if isinstance(one, Dispatcher))


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def test_read_only_arrays_compile_nothing_anew(tmp_path):
    def everything(points, graph=None, connection=None):
        model = PTU().fit(points)
        found = [model.embedding_, model.transform(points[:20]), model.distances([3])]
        found.append(geodesic_distances(points, sources=[0, 9]))
        graph = build_graph(points) if graph is None else graph
        frames = estimate_frames(points, graph)
        connection = connect(points, graph, frames) if connection is None else connection
        found.append(transport_distances(connection))
        found.append(unfold_path(connection, 0, 99).points)
        return found, graph, connection

    wanted, graph, connection = everything(SHEET)
    before = n_compiled()
    assert before
    np.save(tmp_path / "points.npy", SHEET)
    laid = Graph(*map(frozen, (graph.indptr, graph.indices, graph.lengths)))
    read_only = (laid, Connection(laid, *map(frozen, (connection.rotations, connection.steps))))
    for points, records in (
        (frozen(SHEET), read_only),
        (np.load(tmp_path / "points.npy", mmap_mode="r"), read_only),
        (np.asfortranarray(SHEET), ()),
        (np.repeat(SHEET, 2, axis=0)[::-2][::-1], ()),
    ):
        found, *_ = everything(points, *records)
        assert n_compiled() == before
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    PTU().fit(pd.DataFrame(frozen(SHEET)))
    assert n_compiled() == before


def test_a_model_in_a_mapped_file_compiles_nothing_anew(tmp_path):
    model = PTU().fit(SHEET)
    wanted = model.transform(SHEET + 0.01), model.distances([4]), model.path(0, 9).points
    model.inverse_transform(model.embedding_[:5]), model.scores()
    before = n_compiled()
    joblib.dump(model, tmp_path / "model")
    again = joblib.load(tmp_path / "model", mmap_mode="r")
    assert not again._fitted.geometry.points.flags.writeable
    found = again.transform(SHEET + 0.01), again.distances([4]), again.path(0, 9).points
    again.inverse_transform(model.embedding_[:5]), again.scores()
    assert n_compiled() == before
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


APART = np.concatenate((SHEET, SHEET + 99))
EQUAL = np.ones((20, 20)) - np.eye(20)
RANDOM = np.random.default_rng(0).random((30, 30)) * (1 - np.eye(30))


@pytest.mark.parametrize(
    "call",
    [
        lambda: PTU().fit(APART),
        lambda: PTU().fit_transform(APART),
        lambda: PTU(n_components=3).fit(EQUAL),
        lambda: geodesic_distances(APART, sources=[0]),
        lambda: PTU().fit(SHEET).transform(SHEET[:2] + 50),
        lambda: PTU().fit(SHEET).inverse_transform([[99.0, 99.0]]),
        lambda: classical_mds(RANDOM, 29),
        lambda: make_pipeline(StandardScaler(with_std=False), PTU()).fit(APART),
        lambda: PTU().set_output(transform="pandas").fit_transform(APART),
    ],
)
def test_warnings_point_at_the_line_of_the_caller(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}


def test_a_warning_from_a_thread_of_its_own_is_told():
    apart = np.concatenate((SHEET, SHEET + 99))
    with pytest.warns(UserWarning, match="the neighbour graph has 2 components"):
        in_a_thread(lambda: PTU().fit(apart))


def in_a_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.usefixtures("threaded_blas")
@pytest.mark.parametrize("n_points", [300, 800])
def test_the_same_bits_in_every_thread(n_points):
    points = np.random.default_rng(0).normal(size=(n_points, 5))
    distances = transport_distances_of(points)
    wanted = classical_mds(distances).coordinates
    for _ in range(2):
        found = in_a_thread(lambda: classical_mds(distances).coordinates)
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(classical_mds(distances).coordinates, wanted)


@pytest.mark.usefixtures("threaded_blas")
def test_blas_is_limited_and_set_free_by_any_thread():
    from tests.test_threads import n_blas_threads

    before = n_blas_threads()
    assert before == {2}
    with single_threaded_blas():
        pass

    def look():
        with single_threaded_blas():
            return n_blas_threads()

    assert in_a_thread(look) == {1}
    assert n_blas_threads() == before
    inside = single_threaded_blas()
    inside.__enter__()
    in_a_thread(lambda: inside.__exit__(None, None, None))
    assert n_blas_threads() == before


class Exact:
    """Stands for pynndescent, and compiles nothing."""

    def __init__(self, points, n_neighbors, **_):
        squares = np.square(points[:, None] - points).sum(axis=2)
        self.neighbor_graph = (np.argsort(squares, axis=1)[:, :n_neighbors],)


def test_an_approximate_search_says_that_it_compiles(monkeypatch, caplog, capsys):
    monkeypatch.setitem(sys.modules, "pynndescent", types.SimpleNamespace(NNDescent=Exact))
    points = swiss_roll(200, n_features=20).points
    with caplog.at_level(logging.INFO, "ptunfold"):
        build_graph(points, search="approximate")
    assert "the first search of a process compiles" in caplog.text
    assert "compiles" not in capsys.readouterr().err
    PTU(search="approximate", verbose=True).fit(points)
    assert "the first search of a process compiles" in capsys.readouterr().err


def test_masks_of_distances_and_of_neighbours_are_refused():
    points = np.random.default_rng(0).random((60, 2))
    apart = cdist(points, points)
    masked = np.ma.array(apart, mask=apart > 0.5)
    with pytest.raises(ValueError, match="X is a masked array"):
        PTU(metric="precomputed").fit(masked)
    model = PTU(metric="precomputed").fit(apart)
    with pytest.raises(ValueError, match="X is a masked array"):
        model.transform(masked[:5])
    lengths, indices = NearestNeighbors(n_neighbors=8).fit(points).kneighbors()
    with pytest.raises(ValueError, match="graph is a masked array"):
        PTU().fit(points, graph=(indices, np.ma.array(lengths, mask=lengths > 0.2)))


@pytest.mark.parametrize("library", [pd, pytest.importorskip("polars")])
def test_dates_and_words_of_data_frames_are_refused(library):
    numbers = np.arange(40)
    days = [datetime(2020, 1, 1) + timedelta(days=int(number)) for number in numbers]
    for column, said in (
        (days, "dates or spans of time"),
        ([day - days[0] for day in days], "dates or spans of time"),
    ):
        with pytest.raises(ValueError, match=said):
            PTU().fit(library.DataFrame({"x": numbers, "y": column}))
    frame = library.DataFrame({"x": numbers, "y": list(map(str, numbers))})
    if library is pd:
        frame["y"] = frame["y"].astype("category")
    else:
        frame = frame.with_columns(library.col("y").cast(library.Categorical))
    with pytest.raises(ValueError, match="holds text in its column 'y'"):
        PTU().fit(frame)


def test_categories_of_numbers_and_columns_of_one_name():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.random(40), "y": rng.random(40)})
    frame["y"] = frame["y"].astype("category")
    assert PTU().fit_transform(frame).shape == (40, 2)
    frame.columns = ["x", "x"]
    with pytest.raises(ValueError, match="several columns called 'x'"):
        PTU().fit(frame)
