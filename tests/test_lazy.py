"""Dask arrays and data frames: lazy until computed, and the bits of the rows in memory then."""

import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from ptunfold import PTU, build_graph, fitted
from ptunfold.datasets import s_with_hole
from ptunfold.embedding.extension import Extension

dask = pytest.importorskip("dask")
cloudpickle = pytest.importorskip("cloudpickle")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

POINTS = s_with_hole(1500, seed=2).points
NEW = POINTS[1000:]
NAMES = ["x", "y", "z"]


@pytest.fixture(scope="module", params=[np.float64, np.float32], ids=["64 bits", "32 bits"])
def model(request):
    return PTU().fit(POINTS[:1000].astype(request.param))


@pytest.fixture(scope="module")
def named():
    return PTU().fit(pd.DataFrame(POINTS[:1000], columns=NAMES))


@pytest.fixture
def frame():
    return pd.DataFrame(NEW, columns=NAMES, index=np.arange(len(NEW)) * 3)


@pytest.fixture(params=["threads", "synchronous"])
def scheduler(request):
    with dask.config.set(scheduler=request.param):
        yield


@pytest.mark.parametrize("chunks", [(500, 3), (77, 3), ((1, 1, 498), 3), (120, 2)])
def test_arrays(model, chunks, scheduler):
    expected, about = model.transform(NEW, return_info=True)
    lazy = da.from_array(NEW, chunks=chunks)
    found = model.transform(lazy)
    assert isinstance(found, da.Array)
    assert (found.shape, found.dtype) == ((500, 2), model.embedding_.dtype)
    assert found.chunks == (lazy.chunks[0], (2,))
    values = found.compute()
    assert values.dtype == found.dtype
    np.testing.assert_array_equal(values, expected)
    _, info = model.transform(lazy, return_info=True)
    np.testing.assert_array_equal(info.distance.compute(), about.distance)
    np.testing.assert_array_equal(info.is_outside.compute(), about.is_outside)
    assert (info.distance.dtype, info.is_outside.dtype) == (np.float64, bool)
    back = model.inverse_transform(found)
    assert (back.shape, back.dtype) == ((500, 3), model.embedding_.dtype)
    np.testing.assert_array_equal(back, model.inverse_transform(expected))


def test_numbers_of_rows_that_are_not_known(model):
    lazy = da.from_array(NEW, chunks=(60, 2))
    some = lazy[lazy[:, 0] > 0.5]  # of some blocks no row is left
    found = model.transform(some)
    assert np.isnan(found.shape[0])
    assert found.dtype == model.embedding_.dtype
    np.testing.assert_array_equal(found, model.transform(NEW[NEW[:, 0] > 0.5]))
    nobody = model.transform(lazy[lazy[:, 0] > 100])
    assert nobody.compute().shape == (0, 2)
    wide = da.from_array(NEW, chunks=(60, 3))
    wide = wide[:, (wide[:1] > -100).ravel().map_blocks(np.asarray)]
    with pytest.raises(ValueError, match=r"it is not known how many columns .*compute_chunk_sizes"):
        model.transform(da.concatenate([wide, wide], axis=1))


def test_nothing_is_done_before_it_is_asked_for(named, monkeypatch):
    model = PTU(n_jobs=2).fit(POINTS[:1000])
    read, placed = [], []

    def reading(block):
        read.append(len(block))
        return block

    def placing(self, new, n_jobs, _place=Extension.into_embedding):
        placed.append(n_jobs)
        return _place(self, new, n_jobs)

    def making(*args, _make=Extension, **how):
        placed.append("made")
        return _make(*args, **how)

    monkeypatch.setattr(Extension, "into_embedding", placing)
    monkeypatch.setattr(fitted, "Extension", making)
    lazy = da.from_array(NEW, chunks=(100, 3)).map_blocks(reading, meta=np.empty((0, 0)))
    found = model.transform(lazy)
    back = model.inverse_transform(found)
    frames = named.transform(lazy.to_dask_dataframe(columns=NAMES))
    assert (read, placed) == ([], [])
    with dask.config.set(scheduler="threads"):
        found[150].compute()
    assert (read, placed) == ([100], ["made", 1])  # on one thread, as others have the other cores
    back.compute(scheduler="threads")
    assert len(read) == 6
    frames.compute(scheduler="threads")
    assert sum(read) == 100 + 500 + 500


def test_the_model_is_in_the_graph_once(model):
    lazy = model.transform(da.from_array(NEW, chunks=(5, 3)))
    # Each by itself, as they go to workers.
    sizes = [len(cloudpickle.dumps(task)) for task in dict(lazy.__dask_graph__()).values()]
    assert len(sizes) >= 100
    assert sum(size > 20_000 for size in sizes) == 1
    assert sum(sizes) < 1.1 * len(pickle.dumps(model)) + NEW.nbytes + 5000 * len(sizes)


def test_threads_make_what_they_need_once(monkeypatch):
    made = []

    def making(*args, _make=Extension, **how):
        made.append(threading.get_ident())
        time.sleep(0.1)  # others come by
        return _make(*args, **how)

    monkeypatch.setattr(fitted, "Extension", making)
    model = PTU(n_jobs=2).fit(POINTS[:1000])
    model.transform(da.from_array(NEW, chunks=(50, 3))).compute(scheduler="threads", num_workers=4)
    assert len(made) == 1
    assert model.n_jobs == 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda rows: rows[:, :1],
        lambda rows: rows[:, 0],
        lambda rows: rows[:, :, None],
        lambda rows: rows[:0],
        lambda rows: rows.astype(complex),
        lambda rows: rows.astype(str),
        lambda rows: rows.astype("M8[s]"),
    ],
)
def test_arrays_are_refused_at_once_and_in_the_same_words(wrong, model):
    for act in (model.transform, model.inverse_transform):
        with pytest.raises((ValueError, TypeError)) as expected:
            act(wrong(NEW))
        with pytest.raises(expected.type) as found:
            act(wrong(da.from_array(NEW, chunks=(100, 3))))
        assert str(found.value) == str(expected.value)


def test_frames(named, frame, scheduler):
    lazy = dd.from_pandas(frame, npartitions=6)
    found = named.transform(lazy)
    assert isinstance(found, dd.DataFrame)
    assert list(found.columns) == list(named.get_feature_names_out()) == ["ptu0", "ptu1"]
    assert found.divisions == lazy.divisions
    assert (found.dtypes == np.float64).all()
    values = named.transform(frame)
    expected = pd.DataFrame(values, index=frame.index, columns=["ptu0", "ptu1"])
    pd.testing.assert_frame_equal(found.compute(), expected)
    back = named.inverse_transform(found)
    assert (list(back.columns), back.divisions) == (NAMES, lazy.divisions)
    np.testing.assert_array_equal(back.compute(), named.inverse_transform(values))
    _, info = named.transform(lazy, return_info=True)
    _, about = named.transform(frame, return_info=True)
    np.testing.assert_array_equal(info.distance.compute(), about.distance)
    assert list(info.is_outside.compute().index) == list(frame.index)
    some = lazy[lazy.x > 0.5]  # some partitions are empty
    np.testing.assert_array_equal(named.transform(some).compute(), values[frame.x > 0.5])


def test_frames_of_other_types(named, frame):
    other = frame.round().astype({"x": "Int64", "y": np.float32, "z": np.int8})
    found, _ = named.transform(dd.from_pandas(other, npartitions=3), return_info=True)
    expected, _ = named.transform(frame.round(), return_info=True)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda frame: frame[["z", "y", "x"]],
        lambda frame: frame[["x", "y"]],
        lambda frame: frame.assign(w=1.0),
        lambda frame: frame.assign(y="word"),
        lambda frame: frame.x,
        lambda frame: frame.rename(columns={"x": 1}),
    ],
)
def test_frames_are_refused_at_once_and_in_the_same_words(wrong, named, frame):
    with pytest.raises((ValueError, TypeError)) as expected:
        named.transform(wrong(frame))
    with pytest.raises(expected.type) as found:
        named.transform(wrong(dd.from_pandas(frame, npartitions=3)))
    assert str(found.value) == str(expected.value)


def test_a_frame_for_a_model_without_names_is_wondered_about_once(frame):
    model = PTU().fit(POINTS[:1000])
    with pytest.warns(UserWarning, match="X has feature names, but PTU was fitted without") as told:
        found = model.transform(dd.from_pandas(frame, npartitions=6))
    assert len(told) == 1
    np.testing.assert_array_equal(found, model.transform(NEW))
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")


def test_an_array_for_a_model_with_names_is_wondered_about_once(named):
    with pytest.warns(UserWarning, match="X does not have valid feature names") as told:
        found = named.transform(da.from_array(NEW, chunks=(50, 3)))
    assert len(told) == 1
    assert list(named.feature_names_in_) == NAMES
    values = found.compute()
    with pytest.warns(UserWarning, match="does not have valid"):
        np.testing.assert_array_equal(values, named.transform(NEW))


def test_far_points_are_told_once_and_not_block_by_block(model):
    far = da.from_array(NEW + 100, chunks=(20, 3))
    found = model.transform(far)
    with pytest.warns(UserWarning, match=r"some rows of a Dask .*; return_info=True tells") as told:
        found.compute(scheduler="threads")
    assert len(told) == 1
    # Here there is nothing to warn of.
    assert model.transform(far, return_info=True)[1].is_outside.all().compute()
    with pytest.warns(UserWarning, match="return_info=True tells which") as told:
        model.inverse_transform(far[:, :2]).compute()
    assert len(told) == 1


def test_gaps_are_found_when_they_are_read(model):
    rows = NEW.copy()
    rows[250, 1] = np.nan
    found = model.transform(da.from_array(rows, chunks=(100, 3)))
    assert found[:100].compute().shape == (100, 2)
    with pytest.raises(ValueError, match=r"X contains NaN in 1 of 100 rows \(first in row 50\)"):
        found.compute()


def test_no_container_is_filled_behind_the_back(frame):
    model = PTU().fit(POINTS[:1000]).set_output(transform="pandas")
    with pytest.raises(ValueError, match=r"is one too, but set_output asks for pandas; pass"):
        model.transform(da.from_array(NEW, chunks=(100, 3)))
    assert model.inverse_transform(da.from_array(NEW[:, :2], chunks=(9, 2))).shape == (500, 3)


def test_a_model_that_is_not_fitted():
    with pytest.raises(ValueError, match="not fitted"):
        PTU().transform(da.zeros((10, 3)))


def test_dask_is_not_loaded_for_others():
    code = (
        "import sys, numpy; from ptunfold import PTU; "
        "X = numpy.random.default_rng(0).random((50, 3)); PTU().fit(X).transform(X); "
        "print([name for name in sys.modules if name == 'dask'])"
    )
    words = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=200)
    assert done.stdout == "[]\n", done.stderr


def test_a_fit_computes_frames_as_it_does_arrays(named, frame):
    rows = pd.DataFrame(POINTS[:1000], columns=NAMES)
    model = PTU().fit(dd.from_pandas(rows, npartitions=3))
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_array_equal(model.embedding_, named.embedding_)
    np.testing.assert_array_equal(model.transform(frame), named.transform(frame))
    graph = build_graph(dd.from_pandas(rows, npartitions=3))
    np.testing.assert_array_equal(graph.indices, build_graph(rows).indices)
    table = dd.from_pandas(rows, npartitions=3)
    for wrong in (table.x, table.assign(y="word"), table[table.x > 100]):
        for act in (PTU().fit, build_graph):
            with pytest.raises(ValueError, match=r"^X has|^X holds") as expected:
                act(wrong.compute())
            with pytest.raises(ValueError, match=r"^X has|^X holds") as found:
                act(wrong)
            assert str(found.value) == str(expected.value)


def test_sparse_blocks(model):
    def sparsely(rows, chunks):
        empty = sparse.csr_array((0, 0))
        return da.from_array(rows, chunks=chunks).map_blocks(sparse.csr_array, meta=empty)

    with pytest.raises(TypeError, match=r"X is a sparse matrix, .*: pass X.toarray\(\)"):
        model.transform(sparsely(NEW, (100, 3))).compute()
    distances = cdist(NEW, NEW)
    given = PTU(metric="precomputed").fit(distances)
    found = given.transform(sparsely(distances[:20], (7, 500))).compute()
    np.testing.assert_array_equal(found, given.transform(sparse.csr_array(distances[:20])))
    again = PTU(metric="precomputed").fit(sparsely(distances, (500, 500)))
    known = PTU(metric="precomputed").fit(sparse.csr_array(distances))
    np.testing.assert_array_equal(again.embedding_, known.embedding_)
