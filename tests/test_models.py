"""Model files: the same model again, and no surprises from a file."""

import json
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from ptunfold import PTU
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.geometry import stages
from ptunfold.io import models
from ptunfold.io.models import checksum
from ptunfold.io.outputs import whole_file


def agree(model, again, new):
    for name in ("embedding_", "eigenvalues_", "landmarks_", "component_labels_", "shortcuts_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    for name in ("graph_", "frames_", "connection_"):
        for key, value in vars(getattr(model, name)).items():
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(getattr(getattr(again, name), key), value)
    assert again.texture_ == model.texture_
    assert again.frames_.n_members == model.frames_.n_members
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    places = model.embedding_[np.isfinite(model.embedding_).all(axis=1)]
    np.testing.assert_array_equal(again.inverse_transform(places), model.inverse_transform(places))
    np.testing.assert_array_equal(again.distances([3]), model.distances([3]))
    assert again.path(0, 9).distance == model.path(0, 9).distance


@pytest.mark.filterwarnings("ignore:the neighbour graph has", "ignore:1 of 7 points")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"landmarks": 12, "landmark_selection": "random", "random_state": 3},
        {"landmarks": np.arange(0, 400, 20)},
        {"step": "chord", "tangent": "pca", "random_state": np.random.RandomState(0)},
        {"disconnected": "largest", "graph": "radius", "radius": 3.0},
    ],
)
def test_a_model_comes_back(options, dtype, tmp_path):
    points = swiss_roll(400, noise=0.01).points.astype(dtype)
    model = PTU(**options).fit(points)
    model.save(tmp_path / "model.safetensors")
    again = PTU.load(tmp_path / "model.safetensors")
    agree(model, again, points[:7] + dtype(0.01))
    np.testing.assert_array_equal(PTU(**again.get_params()).fit(points).embedding_.shape, (400, 2))


def test_an_order_of_its_own_and_more_features_than_points(tmp_path, monkeypatch):
    monkeypatch.setattr(stages, "MOST_UNORDERED", 50)
    points = swiss_roll(120, n_features=200).points
    model = PTU().fit(points)
    model.save(tmp_path / "model.safetensors")
    agree(model, PTU.load(tmp_path / "model.safetensors"), points[:5])


def test_names_of_features_are_kept(tmp_path):
    frame = pd.DataFrame(s_with_hole(300).points, columns=["x", "y", "z"])
    PTU().fit(frame).save(tmp_path / "model.safetensors")
    model = PTU.load(tmp_path / "model.safetensors")
    assert list(model.feature_names_in_) == ["x", "y", "z"]
    assert model.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame.rename(columns={"x": "a"}))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    PTU().fit(s_with_hole(100).points).save(path)
    return path


def test_damage_is_found(saved, tmp_path):
    content = saved.read_bytes()
    path = tmp_path / "other.safetensors"
    for size in (0, 5, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match="no model file, or a damaged one"):
            PTU.load(path)
    for place in (len(content) - 3, len(content) // 2):
        changed = bytearray(content)
        changed[place] ^= 1
        path.write_bytes(changed)
        with pytest.raises(ValueError, match="does not agree with its checksum"):
            PTU.load(path)


def test_other_files_are_refused(saved, tmp_path):
    path = tmp_path / "other.safetensors"
    with pytest.raises(ValueError, match="there is no file"):
        PTU.load(path)
    path.write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match="no model file, or a damaged one"):
        PTU.load(path)
    save_file({"a": np.zeros(3)}, path)
    with pytest.raises(ValueError, match=r"is no model of ptunfold; save one with PTU\.save"):
        PTU.load(path)
    about = {"format": "ptunfold model", "version": "4", "header": json.dumps({})}
    save_file(load_file(saved), path, metadata=about)
    with pytest.raises(ValueError, match=r"version 4, and this ptunfold reads up to version 3"):
        PTU.load(path)


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        PTU().save(tmp_path / "model.safetensors")
    model = PTU().fit(s_with_hole(200).points)
    with pytest.raises(ValueError, match="there is no folder"):
        model.save(tmp_path / "nowhere" / "model.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with whole_file(path) as part:
            part.write_text("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_leaves_no_half_file(tmp_path):
    script = """
import os, signal, sys
from ptunfold.io.outputs import whole_file
from ptunfold.io import models
from ptunfold.io.models import checksum
with whole_file(sys.argv[1]) as part:
    part.write_text("half")
    os.kill(os.getpid(), signal.SIGINT)
    import time; time.sleep(5)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "a.txt"], capture_output=True, timeout=60
    )
    assert done.returncode in (-signal.SIGINT, 1)
    assert os.listdir(tmp_path) == []


def tampered(saved, path, **arrays):
    """Write the same model with other arrays, and a checksum to match."""
    with safe_open(saved, framework="numpy") as file:
        about = file.metadata()
    changed = {**load_file(saved), **{name.replace("__", "."): a for name, a in arrays.items()}}
    changed = {name: np.ascontiguousarray(a) for name, a in changed.items() if a is not None}
    save_file(changed, path, {**about, "checksum": checksum(changed, about["header"])})
    return path


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("graph.indices", lambda a: np.where(a == 7, 2**31 - 1, a), "a point that does not exist"),
        ("graph.indices", lambda a: np.where(a == 7, -1, a), "a point that does not exist"),
        ("graph.indptr", lambda a: a * 10**9, "does not divide"),
        ("graph.lengths", lambda a: a[:-1], r"graph\.lengths has shape"),
        ("connection.steps", lambda a: a * np.nan, r"connection\.steps has .* NaN"),
        ("connection.rotations", lambda a: a[:, :1], r"connection\.rotations has shape"),
        ("frames.vectors", lambda a: a.astype(np.int8), r"frames\.vectors\[0\] is not finite, or"),
        ("labels", lambda a: a + 10**9, "labels names 100 times a point that does not exist"),
        ("labels", lambda a: np.arange(len(a)) % 2, "labels are not the same at both ends"),
        ("shortcuts", lambda _: np.array([[0, 10**6]]), "shortcuts names 1 times a point"),
        ("points", lambda a: a * 1e80, "points has .* not between"),
        ("points", lambda a: a * 1e-200, "points are .* across, too little for squares"),
        ("model.embedding_", lambda a: a[:, :0], "embedding_ of shape .* are no points"),
        ("model.embedding_", lambda a: a * np.inf, r"model\.embedding_ has .* NaN"),
        ("model.eigenvalues_", lambda a: a[:1], "eigenvalues_ has shape"),
        ("model.landmarks_", lambda _: np.array([5, 5]), "names a point twice"),
        ("model.component_labels_", lambda a: a + 1, "does not agree with its graph"),
        ("order", lambda _: np.zeros(100, dtype=np.int64), "order does not list each"),
        ("graph.indices", lambda _: None, "it has no graph.indices"),
        ("pickle", lambda _: np.zeros(3), "it has 'pickle', which is not known"),
    ],
)
def test_tampered_arrays_are_refused_by_name(saved, tmp_path, name, change, message):
    array = change(load_file(saved).get(name))
    if array is not None and name == "graph.indices":
        array = array.astype(np.int32)
    path = tampered(saved, tmp_path / "other.safetensors", **{name.replace(".", "__"): array})
    with pytest.raises(ValueError, match=rf"other\.safetensors is no sound model: .*{message}"):
        PTU.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"texture": "velvet"}, "texture 'velvet' is none of flat"),
        ({"n_features": 4}, "its points do not have 4 features"),
        ({"n_features": "3"}, "n_features='3' is not a positive whole number"),
        ({"feature_names": ["x"]}, "its feature names are not 3 different words"),
        ({"parameters": {"n_jobs": 0}}, "n_jobs=0 is not a number of threads"),
        ({"parameters": {"code": "import os"}}, "parameters are not those of an estimator"),
        ({"parameters": {"verbose": "1"}}, "its parameter verbose='1' is not known"),
        ({"parameters": {"tangent": ["pca"]}}, r"its parameter tangent=\['pca'\] is not known"),
        ({"parameters": None}, "parameters are not those of an estimator"),
        ({"more": 1}, "its header is not that of a model"),
    ],
)
def test_tampered_headers_are_refused(saved, tmp_path, change, message):
    with safe_open(saved, framework="numpy") as file:
        about = file.metadata()
    header = json.dumps({**json.loads(about["header"]), **change})
    arrays, path = load_file(saved), tmp_path / "other.safetensors"
    save_file(arrays, path, {**about, "header": header, "checksum": checksum(arrays, header)})
    with pytest.raises(ValueError, match=rf"other\.safetensors is no sound model: .*{message}"):
        PTU.load(path)


def test_sizes_that_a_file_does_not_hold_are_refused_before_anything_is_read(saved, tmp_path):
    content, path = saved.read_bytes(), tmp_path / "other.safetensors"
    size = int.from_bytes(content[:8], "little")
    listed = json.loads(content[8 : 8 + size])
    listed["graph.indptr"] = {"dtype": "I64", "shape": [2**39], "data_offsets": [0, 2**42]}
    text = json.dumps(listed).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])
    with pytest.raises(ValueError, match=r"other\.safetensors is no model file, or a damaged one"):
        PTU.load(path)


def test_a_file_larger_than_memory_is_refused_before_it_is_read(saved, tmp_path):
    """Files with holes take no room on the disk."""
    path, n_bytes = tmp_path / "other.safetensors", 1 << 42
    listed = {"graph.indptr": {"dtype": "I64", "shape": [1 << 39], "data_offsets": [0, n_bytes]}}
    with safe_open(saved, framework="numpy") as file:
        text = json.dumps({"__metadata__": file.metadata(), **listed}).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        try:
            file.truncate(8 + len(text) + n_bytes)
        except OSError:
            pytest.skip("no files with holes here")
    with pytest.raises(MemoryError, match=r"other\.safetensors has 4398\.0 GB, but only"):
        PTU.load(path)


@pytest.mark.parametrize("chosen", [range(0, 60, 4), tuple(range(9)), [np.int64(3), 7, 9, 20]])
def test_landmarks_in_any_list_are_saved(chosen, tmp_path):
    model = PTU(landmarks=chosen).fit(s_with_hole(200).points)
    model.save(tmp_path / "model")
    again = PTU.load(tmp_path / "model")
    assert again.landmarks == [int(one) for one in chosen]
    np.testing.assert_array_equal(again.landmarks_, sorted(chosen))


def test_what_would_not_be_read_again_is_not_saved(tmp_path):
    model = PTU().fit(s_with_hole(200).points).set_params(tangent="flat")
    with pytest.raises(ValueError, match="its parameter tangent='flat' is not known"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:neighbourhoods are not", "ignore:the tangent planes explain")
@pytest.mark.parametrize(
    ("fitted", "then"),
    [
        ("cosine", "euclidean"),
        ("euclidean", "cityblock"),
        ("cityblock", "chebyshev"),
        ("euclidean", lambda one, other: 0.0),
        ("euclidean", "no metric"),
    ],
)
def test_a_model_is_saved_as_it_was_fitted(fitted, then, tmp_path):
    """Not by a metric that was set after the fit, or for one that failed."""
    points = s_with_hole(300).points + 5
    model = PTU(metric=fitted).fit(points)
    expected = model.transform(points[:9] + 0.01)
    model.set_params(metric=then).save(tmp_path / "m.safetensors")
    again = PTU.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.transform(points[:9] + 0.01), expected)
    assert again.metric == fitted


def test_what_becomes_of_the_embedding_is_of_no_account(tmp_path):
    points = s_with_hole(300).points
    expected = PTU().fit(points).transform(points[:9] + 0.01)
    model = PTU()
    places = model.fit_transform(points)
    places -= places.min(axis=0)  # as for a picture
    places /= 10
    model.save(tmp_path / "m.safetensors")
    loaded = PTU.load(tmp_path / "m.safetensors")
    loaded.embedding_[:] = 0
    for each in (model, loaded, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(each.transform(points[:9] + 0.01), expected)
    again = PTU.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.inverse_transform(again.embedding_[:9]), points[:9])


def test_words_of_numpy_are_saved(tmp_path):
    model = PTU(mds=np.str_("classical"), tangent=np.str_("pca")).fit(s_with_hole(300).points)
    model.save(tmp_path / "m.safetensors")
    again = PTU.load(tmp_path / "m.safetensors")
    assert (again.mds, again.tangent) == ("classical", "pca")


class Narrow(PTU):
    """A class of a user's own, with parameters of its own."""

    def __init__(self, n_components=2, color="red"):
        super().__init__(n_components, denoise=0)
        self.color = color


def test_a_class_of_ones_own_is_saved(tmp_path):
    model = Narrow(3).fit(s_with_hole(300).points)
    model.save(tmp_path / "m.safetensors")
    for kind in (Narrow, PTU):
        again = kind.load(tmp_path / "m.safetensors")
        assert type(again) is kind
        assert (again.n_components, again.denoise) == (3, 0)
        np.testing.assert_array_equal(again.embedding_, model.embedding_)


def test_the_permissions_are_those_of_any_file(saved, tmp_path):
    PTU.load(saved).save(tmp_path / "model.safetensors")
    (tmp_path / "other").write_text("")
    modes = [(tmp_path / name).stat().st_mode for name in ("model.safetensors", "other")]
    assert modes[0] == modes[1]


def test_files_are_what_the_library_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(models, "_NUMBERS_TOGETHER", 7)
    rng = np.random.default_rng(0)
    arrays = {
        "of float32": rng.normal(size=(5, 3)).astype(np.float32),
        "marks": rng.random(13) < 0.5,
        "none": np.empty((0, 4), dtype=np.int64),
        "one": np.array(7, dtype=np.int32),
        "wide": rng.normal(size=(4, 5, 6)),
        "swapped": np.arange(9, dtype=">i4"),
    }
    about = {"format": "any", "said": 'with "quotes", ü'}
    models._write(tmp_path / "ours", arrays, about)
    save_file(
        {name: np.asarray(a, a.dtype.newbyteorder("=")) for name, a in arrays.items()},
        tmp_path / "theirs",
        about,
    )
    ours, theirs = load_file(tmp_path / "ours"), load_file(tmp_path / "theirs")
    assert ours.keys() == theirs.keys() == arrays.keys()
    for name, array in theirs.items():
        assert ours[name].dtype == array.dtype
        np.testing.assert_array_equal(ours[name], array)
    with safe_open(tmp_path / "ours", framework="numpy") as file:
        assert file.metadata() == about
    assert (tmp_path / "ours").stat().st_size <= (tmp_path / "theirs").stat().st_size + 64


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_kill_while_saving_leaves_the_old_file(saved, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(saved.read_bytes())
    script = """
import os, signal, sys
import ptunfold.io.models as models
from ptunfold import PTU
write = models._write
def half(name, arrays, about):
    write(name, arrays, about)
    with open(name, "r+b") as file:
        file.truncate(1000)
    os.kill(os.getpid(), signal.SIGKILL)
models._write = half
PTU.load(sys.argv[1]).save(sys.argv[1])
"""
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == saved.read_bytes()
    PTU.load(path)
