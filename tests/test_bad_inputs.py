"""Each call of the table of bad inputs ends in its sentence, and the page of the docs says so."""

import re
import warnings

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import kneighbors_graph

import ptunfold
from ptunfold import PTU, build_graph, connect, estimate_frames
from tests.bad_inputs import PAGE, make_page, read_table
from tests.sentences import check_is_own

X = np.random.default_rng(0).random((40, 3))
KINDS = {
    "ValueError": ValueError,
    "TypeError": TypeError,
    "NotFittedError": NotFittedError,
    "UserWarning": UserWarning,
}


def with_entry(value):
    points = X.copy() if isinstance(value, float) else X.astype(object)
    points[7, 1] = value
    return points


def own(value=1.0, shape=(40, 40)):
    return sparse.coo_array(([1.0, value], ([0, 1], [1, 2])), shape=shape)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    (folder / "file").write_text("here")
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    graph = build_graph(X)
    frames = estimate_frames(X, graph)
    similarities = kneighbors_graph(X, 8, mode="distance")
    similarities.data = np.exp(-similarities.data)
    distances = cdist(X, X)
    return {
        **{name: getattr(ptunfold, name) for name in ptunfold.__all__},
        **{"np": np, "pd": pd, "pl": pl, "anndata": anndata, "sparse": sparse},
        **{"X": X, "frame": frame, "with_entry": with_entry, "own": own, "graph": graph},
        "model": PTU().fit(X),
        "named": PTU().fit(frame),
        "apart": np.concatenate((X[:20], X[20:] + 50)),
        "frames": frames,
        "connection": connect(X, graph, frames),
        "similarities": similarities,
        "distances": distances,
        "with_gap": np.where(np.arange(40) == 5, np.nan, distances),
        "nearest": np.tile([1, 2, 3], (40, 1)),
        "lengths": np.ones((40, 3)),
        "folder": str(folder),
        "file": str(folder / "file"),
    }


@pytest.mark.parametrize("bad", read_table(), ids=lambda bad: bad.call)
def test_a_bad_input_gets_its_sentence(bad, names):
    kind = KINDS[bad.kind]
    if kind is UserWarning:
        with pytest.warns(UserWarning, match=bad.pattern) as said:
            eval(bad.call, dict(names))
        assert all(one.category is UserWarning for one in said)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind) as caught:
            eval(bad.call, dict(names))
    message = str(caught.value)
    assert type(caught.value) is kind
    if "feature names should match" in message:  # several lines, in scikit-learn's words
        assert re.match(bad.pattern, " ".join(message.split()))
        return
    assert re.match(bad.pattern, message), message
    check_is_own(caught.value)


def test_the_table_is_long_enough():
    calls = [bad.call for bad in read_table()]
    assert len(calls) == len(set(calls)) >= 60


def test_the_page_is_what_the_table_makes():
    assert PAGE.read_text(encoding="utf-8") == make_page(), "run python -m tests.bad_inputs"
