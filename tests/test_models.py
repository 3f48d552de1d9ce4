"""Model files: the same model again, and no surprises from a file."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file

from ptunfold import PTU, pipeline
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.io.files import whole_file


def agree(model, again, new):
    for name in ("embedding_", "eigenvalues_", "landmarks_", "component_labels_", "shortcuts_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    for name in ("graph_", "frames_", "connection_"):
        for key, value in vars(getattr(model, name)).items():
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(getattr(getattr(again, name), key), value)
    assert again.texture_ == model.texture_
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
        {"n_landmarks": 12, "landmarks": "random", "random_state": 3},
        {"n_landmarks": np.arange(0, 400, 20)},
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
    monkeypatch.setattr(pipeline, "MOST_UNORDERED", 50)
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
    about = {"format": "ptunfold model", "version": "3", "header": json.dumps({})}
    save_file(load_file(saved), path, metadata=about)
    with pytest.raises(ValueError, match=r"version 3, and this ptunfold reads up to version 2"):
        PTU.load(path)


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        PTU().save(tmp_path / "model.safetensors")
    model = PTU().fit(s_with_hole(60).points)
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
from ptunfold.io.files import whole_file
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
