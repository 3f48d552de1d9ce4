"""What a fit needs is known before it starts; where memory runs out anyway, nothing is lost."""

import json
import subprocess
import sys
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from typer.testing import CliRunner

from ptunfold import PTU, attempts, estimator, geodesic_distances, memory, needs, pipeline, planning
from ptunfold.cli import app
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.embedding import relaxation
from ptunfold.geometry.decisions import resolve_auto
from ptunfold.geometry.given import Matrix
from ptunfold.geometry.spaces import taken
from ptunfold.geometry.texture import Texture
from ptunfold.needs import needs_of
from tests.geometry.test_decisions import OPEN

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "memory.py"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and sizes as Linux has them")


def run_python(*arguments):
    """Run Python in a process of its own, and return what it prints."""
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@on_linux
def test_the_estimate_is_what_a_fit_takes():
    case = {"n_points": 5000, "n_features": 3, "data": "clean", "dtype": "float64"}
    case["how"] = {"landmarks": None}
    told = json.loads(run_python(BENCHMARK, "--case", json.dumps(case)))
    assert abs(told["estimate"] - told["peak"]) < 0.25 * told["peak"]


def of_a_container(folder, limit, used, version):
    names = {
        1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        2: ("memory.max", "memory.current", "inactive_file"),
    }[version]
    for name, value in zip(names, (limit, used, 0), strict=True):
        text = f"anon 5\n{name} {value}" if "file" in name else str(value)
        (folder / ("memory.stat" if "file" in name else name)).write_text(text)


@pytest.mark.parametrize("version", [1, 2])
def test_a_container_that_is_too_small_is_known_before_the_start(monkeypatch, tmp_path, version):
    points = np.random.default_rng(0).random((12_000, 3))
    monkeypatch.setattr(pipeline, "build_geometry", None)
    monkeypatch.setattr(memory, "_groups", lambda: [tmp_path])
    of_a_container(tmp_path, 2**30, 2**29, version)
    model = PTU(landmarks=None)
    with pytest.raises(MemoryError, match=r"all 12000 points need about 0\.\d GB, but 0\.5 GB are"):
        model.fit(points)
    assert not hasattr(model, "n_features_in_")
    of_a_container(tmp_path, 2**32, 2**29, version)
    with pytest.raises(TypeError):  # it starts
        model.fit(points)


def test_a_second_look_when_the_texture_is_known(monkeypatch):
    """The same size is refused for a curved sheet, which has more edges, and not for a cloud."""
    smooth = swiss_roll(1500, n_features=20).points
    rough = np.random.default_rng(0).standard_normal(smooth.shape)
    monkeypatch.setattr(planning, "free_bytes", lambda: 9_000_000)
    with pytest.warns(UserWarning, match="the data are no sheet"):
        PTU(landmarks=10).fit(rough)
    monkeypatch.setattr(pipeline, "tangent_frames", None)
    with pytest.raises(MemoryError, match=r"10 landmarks of 1500 points need about 10 MB"):
        PTU(landmarks=10).fit(smooth)


_LIMITED = """
import json, resource, sys, warnings
warnings.simplefilter("ignore")
from ptunfold import PTU, memory, planning
from ptunfold.datasets import swiss_roll
from ptunfold.kernels.principal import gather_offsets

def limit_to(room):
    used = memory.psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))

def outcome(model, points):
    before = dict(model.__dict__)
    try:
        model.fit(points)
    except MemoryError as error:
        assert model.__dict__.keys() == before.keys()
        return str(error)
    return "done"

points, told = swiss_roll(1500).points, {}
model = PTU(landmarks=None, n_jobs=2)
limit_to(10**7)
told["no room for threads"] = outcome(model, points)
limit_to(15 * 10**8)
told["room"] = outcome(model, points[:400])
told["kernels"] = len(gather_offsets.signatures)
told["all of many"] = outcome(model, swiss_roll(20_000).points)
planning.free_bytes = lambda: 10**15
told["tight"] = []
more = swiss_roll(4000).points  # 70 MB of distances
for megabytes in (1, 10, 40, 400):
    limit_to(megabytes * 10**6)
    # One thread: that one of several has found no room as it began takes 20 seconds to be known.
    told["tight"].append(outcome(PTU(landmarks=None, n_jobs=1), more))
for megabytes in (1,):
    limit_to(megabytes * 10**6)
    told["tight"].append(outcome(PTU(landmarks=40, n_jobs=1), more.astype("f4")))
limit_to(10**9)
told["later"] = outcome(model, points)
print(json.dumps(told))
"""


@on_linux
def test_a_limit_of_address_space():
    told = json.loads(run_python("-c", _LIMITED))
    assert "2 threads need about" in told["no room for threads"]
    assert "pass n_jobs=1" in told["no room for threads"]
    assert told["room"] == told["later"] == "done"
    assert told["kernels"] == 2  # those of float32 too: later there may be no room to load them
    assert "all 20000 points need about 1.7 GB, but" in told["all of many"]
    tight = set(told["tight"])
    assert len(tight - {"done"}) == 1
    assert "memory ran out during the fit; pass landmarks" in tight.pop() + str(tight)
    assert told["tight"][-2] == "done"


def test_memory_that_runs_out_is_said_with_advice(monkeypatch):
    points = s_with_hole(500).points
    model = PTU().fit(points)
    before = model.embedding_

    def full(*args, **options):
        raise MemoryError

    monkeypatch.setattr(pipeline, "connected", full)
    with pytest.raises(MemoryError, match="ran out during the fit; pass landmarks or") as caught:
        model.fit(points[:300])
    assert model.embedding_ is before
    # Who keeps the error does not keep the arrays.
    place = caught.value.__cause__.__traceback__
    names = []
    while place is not None:
        names.append(place.tb_frame.f_code.co_name)
        assert names[-1] != "build" or not place.tb_frame.f_locals
        place = place.tb_next
    assert "build" in names
    with pytest.raises(MemoryError, match="the search for paths; pass fewer sources"):
        geodesic_distances(points)
    monkeypatch.setattr(estimator, "distances_of", full)
    with pytest.raises(MemoryError, match="the search for paths; pass fewer sources"):
        model.distances()
    monkeypatch.setattr(estimator, "check_new_points", full)
    with pytest.raises(MemoryError, match="the placement of points; pass fewer points at a time"):
        model.transform(points)


def test_threads_that_cannot_be_started(monkeypatch):
    points = s_with_hole(600).points
    start, n_started = threading.Thread.start, []

    def second_fails(thread):
        n_started.append(thread)
        if len(n_started) % 2 == 0:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", second_fails)
    model = PTU(n_jobs=2)
    with pytest.raises(MemoryError, match="ran out during the fit; pass landmarks"):
        model.fit(points)
    assert not any(thread.is_alive() for thread in n_started)
    assert not hasattr(model, "embedding_")
    monkeypatch.undo()
    assert model.fit(points).embedding_.shape == (600, 2)


@pytest.mark.parametrize("when", ["before", "during"])
def test_the_command_says_one_sentence(monkeypatch, tmp_path, when):
    np.savetxt(tmp_path / "a.csv", s_with_hole(600).points, delimiter=",")
    if when == "before":
        monkeypatch.setattr(planning, "free_bytes", lambda: 10**6)
        said = "not enough memory (the distances between all 600 points need about"
    else:
        monkeypatch.setattr(pipeline, "connected", lambda *args, **options: np.empty(1 << 50))
        said = "not enough memory (memory ran out during the fit; pass landmarks"
    options = ["-o", str(tmp_path / "b.csv"), "--landmarks", "none"]
    done = CliRunner().invoke(app, ["embed", str(tmp_path / "a.csv"), *options])
    assert done.exit_code == 1
    assert said in done.stderr
    assert done.stderr.splitlines()[-1].startswith("ptunfold: there is not enough memory")
    assert not (tmp_path / "b.csv").exists()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_moves", [0, 1, 2])
def test_what_denoising_given_distances_takes_is_counted(dtype, n_moves):
    points = swiss_roll(1500, seed=0).points
    matrix = cdist(points, points).astype(dtype)
    members = np.argsort(matrix, axis=1)[:, :5]
    weights = np.tile([-0.4, 0.1, 0.1, 0.1, 0.1], (len(points), 1))
    tracemalloc.start()
    try:
        space = taken(matrix, "precomputed")
        for _ in range(n_moves):
            space = space.moved(members, weights)
        space.candidates(slice(0, len(points)), 10)  # as the search for neighbours does
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    settings = resolve_auto(replace(OPEN, denoise=n_moves), Texture("noisy", 1.0), len(points))
    found = needs_of(
        Matrix(matrix), settings, "noisy", n_components=2, n_given=matrix.nbytes, n_jobs=2
    )
    assert peak < found.laying < 1.25 * peak + 16e6  # graph and frames are not measured here


def test_relaxation_takes_what_is_counted():
    assert (needs._ANCHORS, needs._PLACED_TOGETHER) == (relaxation.N_ANCHORS, relaxation._COLUMNS)


@pytest.mark.filterwarnings("ignore:the neighbour graph has", "ignore:the tangent planes explain")
def test_room_is_asked_for_before_a_solid_is_built(monkeypatch):
    """Where a graph of fewer neighbours looks truer, one of more is built to see if it closes."""
    events, build = [], pipeline._Builder.build

    def built(self, *args):
        events.append("built")
        return build(self, *args)

    monkeypatch.setattr(pipeline._Builder, "build", built)
    monkeypatch.setattr(attempts, "is_truer", lambda *args, **options: True)
    points = np.random.default_rng(0).normal(size=(900, 12))
    options = replace(OPEN, intrinsic_dim=3)
    pipeline.build_geometry(points, options, check=lambda *known: events.append("asked"))
    assert events == ["asked", "built", "asked", "built"]
    events.clear()
    pipeline.build_geometry(points[:700], options, check=lambda *known: events.append("asked"))
    assert events == ["asked", "built"]
