"""After every fit every public name gives an answer, or a sentence of the package's own."""

import inspect
import json
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

from ptunfold import PTU, Disk
from ptunfold.datasets import flat_square, s_with_hole, swiss_roll
from tests.sentences import check_is_own, quiet

RNG = np.random.default_rng(0)
SHEET = s_with_hole(150, seed=1).points
APART = np.concatenate((SHEET[:60], SHEET[60:100] + 50, SHEET[100:103] - 50))
ROUGH = RNG.normal(size=(80, 12))
COPIES = np.repeat(RNG.normal(size=(6, 3)), 8, axis=0)
CURVE = np.column_stack((np.cos(np.linspace(0, 4, 60)), np.sin(np.linspace(0, 4, 60))))
MOEBIUS = [
    ((2 + v * np.cos(u / 2)) * np.cos(u), (2 + v * np.cos(u / 2)) * np.sin(u), v * np.sin(u / 2))
    for u in np.linspace(0, 2 * np.pi, 60, endpoint=False)
    for v in (-0.3, 0, 0.31)
]

KINDS = {
    "clean": (flat_square(120).points, {}),
    "curved": (SHEET, {}),
    "single precision": (SHEET.astype(np.float32), {}),
    "noisy": (swiss_roll(200, noise=0.3, seed=0).points, {"denoise": 2}),
    "rough": (ROUGH, {}),
    "clusters": (ROUGH + 100 * RNG.integers(3, size=(80, 1)), {}),
    "bridged": (APART, {"disconnected": "bridge"}),
    "refused": (APART, {"disconnected": "error"}),
    "the largest": (APART, {"disconnected": "largest"}),
    "separate": (APART, {"disconnected": "separate"}),
    "tiny": (np.array([[0.0, 0], [1, 0], [0, 1]]), {}),
    "four in line": (np.arange(4.0)[:, None] * [1.0, 2], {"n_components": 1}),
    "copies": (COPIES, {}),
    "two places": (np.repeat([[0.0, 0, 0], [1, 2, 3]], 5, axis=0), {"intrinsic_dim": "auto"}),
    "more features than points": (RNG.normal(size=(20, 50)), {}),
    "one dimension": (CURVE, {"n_components": 1}),
    "more dimensions than shown": (RNG.normal(size=(60, 5)), {"intrinsic_dim": 4}),
    "more shown than dimensions": (SHEET, {"n_components": 3, "intrinsic_dim": 2}),
    "landmarks": (SHEET, {"landmarks": 20}),
    "landmarks apart": (APART, {"landmarks": 20, "disconnected": "separate"}),
    "one sided": (np.array(MOEBIUS), {}),
    "stress": (SHEET, {"mds": "stress"}),
    "rough stress": (ROUGH, {"mds": "stress"}),
    "a graph of one's own": (SHEET, {"graph": kneighbors_graph(SHEET, 6, mode="distance")}),
    "stored": (SHEET, {"store": True}),
    "stored apart": (APART, {"store": True, "disconnected": "separate"}),
    "a cluster": (SHEET, {"engine": "dask"}),
    "distances": (cdist(SHEET, SHEET), {"metric": "precomputed"}),
    "a metric": (SHEET, {"metric": "mahalanobis"}),
}


def calls(points, folder):
    """How each public method is called; one that is not listed fails."""
    file = str(Path(folder) / "model.safetensors")

    def save_and_load(model):
        model.save(file)
        loaded = PTU.load(file)
        np.testing.assert_array_equal(loaded.embedding_, model.embedding_)
        return loaded.distances([0])

    def places(model):
        is_there = model.component_labels_ >= 0
        return np.concatenate(
            (model.embedding_[is_there], model.embedding_[is_there].mean(0)[None])
        )

    last = len(points) - 1
    return {
        "fit": lambda model: PTU().fit(points),
        "fit_transform": lambda model: PTU().fit_transform(points),
        "transform": lambda model: [
            model.transform(points),
            *model.transform(points + 0.01, return_info=True),
        ],
        "inverse_transform": lambda model: [
            model.inverse_transform(places(model)),
            *model.inverse_transform(places(model), return_info=True),
        ],
        "path": lambda model: [model.path(0, last), model.path(last, 0), model.path(1, 1)],
        "distances": lambda model: [
            model.distances(),
            model.distances([0, last]),
            *model.distances([0, last], return_std=True),
        ],
        "log_map": lambda model: [model.log_map(0), model.log_map(last)],
        "exp_map": lambda model: [
            model.exp_map(0, np.nan_to_num(model.log_map(0))),
            *model.exp_map(last, np.zeros(model.frames_.intrinsic_dim), return_info=True),
        ],
        "push_vectors": lambda model: [
            model.push_vectors(points),
            model.push_vectors(points[:, :, None] * points[:, None, :]),
        ],
        "pull_vectors": lambda model: model.pull_vectors(np.nan_to_num(model.embedding_)),
        "scores": lambda model: model.scores(),
        "curvature": lambda model: said(model.curvature()),
        "rim": lambda model: model.rim(),
        "stretch": lambda model: said(model.stretch()),
        "voids": lambda model: [said(void) for void in model.voids()],
        "diagnose": lambda model: said(model.diagnose()),
        "images": lambda model: [model.images(), model.images([0, last])],
        "atlas": lambda model: [model.atlas(), model.atlas(1)],
        "explore": lambda model: model.explore(columns={"number": np.arange(len(points))}),
        "save": save_and_load,
        "load": lambda model: None,  # done above
        "get_params": lambda model: model.get_params(),
        "set_params": lambda model: model.set_params(n_jobs=None),
        "set_output": lambda model: model.set_output(transform="default"),
        "get_metadata_routing": lambda model: model.get_metadata_routing(),
        "get_feature_names_out": lambda model: model.get_feature_names_out(),
    }


def check_report(model, folder):
    """A report is made of any fit, says what it does not know, and is the same of a file."""
    report = model.diagnose()
    text = str(report)
    assert len(text.splitlines()) == 12
    assert not re.search(r"\b(nan|inf|None)\b", text), text
    json.dumps(report.as_dict(), allow_nan=False)
    report.save(Path(folder) / "report.html")
    page = (Path(folder) / "report.html").read_text(encoding="utf-8")
    assert "data:image/png" in page
    assert not re.search(r">[^<>]*\b(nan|inf|None)\b", page)
    file = Path(folder) / "again.safetensors"
    model.save(file)
    assert str(PTU.load(file).diagnose()) == text


def said(answer):
    assert str(answer)
    return answer


def touch(answer):
    """Look at all that a record of the package can tell without being asked for more."""
    if isinstance(answer, list | tuple):
        for one in answer:
            touch(one)
    if not type(answer).__module__.startswith("ptunfold"):
        return
    assert repr(answer)
    for name in dir(answer):
        value = None if name.startswith("_") else ask(lambda name=name: getattr(answer, name))
        if inspect.ismethod(value) and not any(
            parameter.default is parameter.empty
            for parameter in inspect.signature(value).parameters.values()
        ):
            ask(value)


def ask(question):
    try:
        return question()
    except Exception as error:
        check_is_own(error)
        return None


def fitted(points, parameters, folder):
    parameters = dict(parameters)
    graph = parameters.pop("graph", None)
    if parameters.pop("store", False):
        parameters["engine"] = Disk(Path(folder) / "store")
    if parameters.get("engine") == "dask":
        return fitted_by_workers(points, parameters)
    with quiet():
        return ask(lambda: PTU(**parameters).fit(points, graph=graph))


def fitted_by_workers(points, parameters):
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(action="ignore"),  # of ports that are in use
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        return PTU(**parameters).fit(points)


@pytest.mark.parametrize("kind", KINDS)
def test_every_public_name_answers(kind):
    points, parameters = KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        model = fitted(points, parameters, folder)
        if model is None:
            assert kind == "refused"
            return
        how = calls(points, folder)
        names = [name for name in dir(model) if not name.startswith("_")]
        assert {"orientation_", "transport_", "scores", "embedding_"} <= set(names)
        with quiet():
            for name in names:
                value = ask(lambda name=name: getattr(model, name))
                if callable(value) and not name.endswith("_request"):  # scikit-learn's
                    assert name in how, f"PTU.{name} is new; say here how it is called"
                    value = ask(lambda name=name: how[name](model))
                touch(value)
            assert repr(model)
            assert "<svg" in model._repr_html_()
            check_report(model, folder)
