"""Distances on disk: the same bits as in memory, whatever happens on the way."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ptunfold import PTU, Disk
from ptunfold.datasets import s_with_hole, spherical_cap, swiss_roll
from ptunfold.engines import array_files
from ptunfold.engines.disk import Store
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.io import partial
from ptunfold.io.outputs import PART


@pytest.fixture(scope="module")
def points():
    points = swiss_roll(1500).points
    return np.concatenate((points, points[:30]))  # copies have rows of their own


@pytest.fixture
def counted(monkeypatch):
    """Count the blocks that are computed."""
    blocks = []
    write = OneWayRows.write

    def counting(self, block, rows, first_row):
        blocks.append(block.start)
        write(self, block, rows, first_row)

    monkeypatch.setattr(OneWayRows, "write", counting)
    return blocks


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_same_bits_as_in_memory(points, dtype, n_jobs, tmp_path):
    points = points.astype(dtype)
    in_memory = PTU(n_jobs=n_jobs, landmarks=None).fit(points)
    on_disk = PTU(engine=Disk(tmp_path / "store"), n_jobs=n_jobs).fit(points)
    np.testing.assert_array_equal(on_disk.embedding_, in_memory.embedding_)
    np.testing.assert_array_equal(on_disk.eigenvalues_, in_memory.eigenvalues_)


def test_the_store_is_in_numpys_format(points, tmp_path):
    model = PTU(engine=Disk(str(tmp_path / "store"))).fit(points)
    folder = tmp_path / "store" / "component-0"
    bands = np.load(folder / "bands.npy", mmap_mode="r")
    assert bands.dtype == np.float64
    first = bands[: 256 * len(points)].reshape(256, len(points))
    found = np.sort(np.sqrt(first[0]))
    wanted = np.sort(model.distances(), axis=1)
    assert np.abs(wanted - found).max(axis=1).min() < 1e-6  # one of the points has this row
    assert not (folder / "rows.npy").exists()  # nobody needs it any more


def test_a_full_store_is_only_read(points, counted, tmp_path):
    first = PTU(engine=Disk(tmp_path / "store")).fit(points)
    assert counted
    counted.clear()
    again = PTU(engine=Disk(tmp_path / "store", resume=True)).fit(points)
    assert not counted
    np.testing.assert_array_equal(again.embedding_, first.embedding_)


def test_blocks_that_are_done_are_not_computed_again(points, counted, tmp_path, monkeypatch):
    class StopError(Exception):
        pass

    counting = OneWayRows.write

    def stopping(self, block, rows, first_row):
        if len(counted) == 5:
            raise StopError
        counting(self, block, rows, first_row)

    monkeypatch.setattr(OneWayRows, "write", stopping)
    with pytest.raises(StopError):
        PTU(engine=Disk(tmp_path / "store"), n_jobs=1).fit(points)
    assert len(counted) == 5
    done = set(counted)
    counted.clear()
    monkeypatch.setattr(OneWayRows, "write", counting)
    resumed = PTU(engine=Disk(tmp_path / "store", resume=True)).fit(points)
    assert counted
    assert not done & set(counted)
    np.testing.assert_array_equal(resumed.embedding_, PTU(landmarks=None).fit(points).embedding_)


def test_what_is_damaged_is_computed_again(points, counted, tmp_path, monkeypatch):
    from ptunfold.engines.disk import Store

    def stop(self, run):
        raise KeyboardInterrupt

    folder = tmp_path / "store" / "component-0"
    with monkeypatch.context() as patch:
        patch.setattr(Store, "fold", stop)
        with pytest.raises(KeyboardInterrupt):
            PTU(engine=Disk(tmp_path / "store")).fit(points)
    rows = np.load(folder / "rows.npy", mmap_mode="r+")
    rows[700, 3] += 1  # as after a loss of power
    rows.flush()
    n_blocks = len(counted)
    counted.clear()
    expected = PTU(landmarks=None).fit(points).embedding_
    counted.clear()
    resumed = PTU(engine=Disk(tmp_path / "store", resume=True)).fit(points)
    assert len(counted) == 1 < n_blocks
    np.testing.assert_array_equal(resumed.embedding_, expected)

    bands = np.load(folder / "bands.npy", mmap_mode="r+")
    bands[1000] = -1
    bands.flush()
    resumed = PTU(engine=Disk(tmp_path / "store", resume=True)).fit(points)
    np.testing.assert_array_equal(resumed.embedding_, expected)


def test_components_have_stores_of_their_own(tmp_path):
    points = s_with_hole(300).points
    points = np.concatenate((points, points[:200] + 100))
    how = {"disconnected": "separate", "n_neighbors": 8}
    apart = PTU(**how, engine=Disk(tmp_path / "store")).fit(points)
    np.testing.assert_array_equal(apart.embedding_, PTU(**how).fit(points).embedding_)
    assert sorted(os.listdir(tmp_path / "store")) == ["component-0", "component-1"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_neighbors": 12}, "belongs to other data"),
        ({"step": "chord", "tangent": "pca"}, "belongs to other data"),
        ({"engine": False}, "resume=True"),
    ],
)
def test_other_parameters_are_refused(points, change, message, tmp_path):
    PTU(engine=Disk(tmp_path / "store")).fit(points)
    disk = Disk(tmp_path / "store", resume="engine" not in change)
    with pytest.raises(ValueError, match=message):
        PTU(**change | {"engine": disk}).fit(points)


def test_other_data_and_other_folders_are_refused(points, tmp_path):
    PTU(engine=Disk(tmp_path / "store")).fit(points)
    moved = points.copy()
    moved[7, 1] += 1e-9
    for other in (moved, points.astype(np.float32), points[::-1]):
        with pytest.raises(ValueError, match="belongs to other data"):
            PTU(engine=Disk(tmp_path / "store", resume=True)).fit(other)
    (tmp_path / "mine" / "component-0").mkdir(parents=True)
    (tmp_path / "mine" / "component-0" / "thesis.txt").write_text("all of it")
    with pytest.raises(ValueError, match="no store of distances"):
        PTU(engine=Disk(tmp_path / "mine")).fit(points)
    assert (tmp_path / "mine" / "component-0" / "thesis.txt").read_text() == "all of it"


SCRIPT = """
import sys
import numpy as np
from ptunfold import PTU, Disk
points = np.load(sys.argv[1])
np.save(sys.argv[3], PTU(engine=Disk(sys.argv[2], resume=True), n_jobs=2).fit(points).embedding_)
"""


def test_killed_again_and_again(tmp_path):
    points = swiss_roll(4000).points.astype(np.float32)
    np.save(tmp_path / "points.npy", points)
    words = [sys.executable, "-c", SCRIPT, tmp_path / "points.npy", tmp_path / "store"]
    words.append(tmp_path / "found.npy")
    chance = random.Random(7)
    marks = tmp_path / "store" / "component-0" / "store.json"
    done_before, n_kills = 0, 0
    for _ in range(3):
        process = subprocess.Popen(words, stderr=subprocess.PIPE)
        started = time.monotonic()
        seen = marks.stat().st_mtime if marks.exists() else None
        while process.poll() is None and time.monotonic() - started < 60:
            # From the moment on when it has the store in hand.
            if seen is not None or marks.exists():
                break
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 3 if seen is not None else 0.3))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            n_kills += 1
        _, said = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), said.decode()
        rows_done = marks.with_name("rows-done.npy")
        if rows_done.exists() and marks.with_name("rows.npy").exists():
            done = np.count_nonzero(np.load(rows_done) >= 0)
            assert done >= done_before  # nothing is forgotten
            done_before = done
    assert n_kills >= 2
    subprocess.run(words, check=True, timeout=200)
    np.testing.assert_array_equal(
        np.load(tmp_path / "found.npy"), PTU(landmarks=None).fit(points).embedding_
    )


def test_a_disk_that_is_too_small(points, tmp_path, monkeypatch):
    from ptunfold.engines import disk

    monkeypatch.setattr(disk.shutil, "disk_usage", lambda path: type("", (), {"free": 1000})())
    with pytest.raises(ValueError, match="on a larger disk"):
        PTU(engine=Disk(tmp_path / "store")).fit(points)


def test_files_of_others_stay(points, tmp_path):
    folder = tmp_path / "store" / "component-0"
    folder.mkdir(parents=True)
    (folder / ".my-file.txt").write_text("mine")
    with pytest.raises(ValueError, match="no store of distances"):
        PTU(engine=Disk(tmp_path / "store")).fit(points)
    assert (folder / ".my-file.txt").read_text() == "mine"


def test_two_fits_in_one_folder(points, tmp_path):
    from ptunfold.engines.disk import Store

    PTU(engine=Disk(tmp_path / "store")).fit(points)
    told = json.loads((tmp_path / "store" / "component-0" / "store.json").read_text())
    held = Store(
        tmp_path / "store" / "component-0",
        told["n_rows"],
        np.dtype(told["dtype"]),
        told["bounds"],
        told["fingerprint"],
        resume=True,
    )
    with pytest.raises(ValueError, match="another fit is at work"):
        PTU(engine=Disk(tmp_path / "store", resume=True)).fit(points)
    del held
    PTU(engine=Disk(tmp_path / "store", resume=True)).fit(points)


@pytest.mark.parametrize("name", ["rows-done.npy", "bands-done.npy", "bands.npy", "store.json"])
def test_files_that_a_loss_of_power_has_emptied(points, name, tmp_path):
    expected = PTU(engine=Disk(tmp_path / "store")).fit(points).embedding_
    (tmp_path / "store" / "component-0" / name).write_bytes(b"")
    again = PTU(engine=Disk(tmp_path / "store", resume=True))
    if name.endswith("-done.npy"):
        np.testing.assert_array_equal(again.fit(points).embedding_, expected)
    else:
        with pytest.raises(ValueError, match="is damaged; remove"):
            again.fit(points)


def test_other_curvature_is_another_store(tmp_path):
    """Only in this do the two connections differ."""
    points = spherical_cap(500).points
    first = PTU(engine=Disk(tmp_path / "kept")).fit(points)
    second = PTU(coherence=1.0, landmarks=None).fit(points)
    np.testing.assert_array_equal(first.connection_.steps, second.connection_.steps)
    assert first.connection_.curvature is not None
    assert second.connection_.curvature is None
    with pytest.raises(ValueError, match="other data or other parameters"):
        PTU(coherence=1.0, engine=Disk(tmp_path / "kept", resume=True)).fit(points)


def store(folder, resume=False):
    return Store(folder, 10, np.dtype("f8"), [0, 10], "made from", resume=resume)


def test_what_a_kill_leaves_is_no_hindrance(tmp_path):
    """An empty title, or a file that has not got its name."""
    (tmp_path / "store.json").touch()
    (tmp_path / f"{PART}0123456789abcdef.npy").touch()
    store(tmp_path, resume=True).close()
    (tmp_path / f"{PART}0123456789abcdef.npy").touch()
    store(tmp_path, resume=True).close()
    assert not list(tmp_path.glob(f"{PART}*"))
    # What is at work is left alone.
    one = store(tmp_path, resume=True)
    (tmp_path / f"{PART}0123456789abcdef.npy").touch()
    with pytest.raises(ValueError, match="another fit is at work"):
        store(tmp_path, resume=True)
    assert list(tmp_path.glob(f"{PART}*"))
    one.close()


def test_a_folder_of_others_is_as_it_was(tmp_path):
    (tmp_path / "mine").touch()
    with pytest.raises(ValueError, match="no store of distances"):
        store(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


def test_a_full_disk_while_it_begins(tmp_path, monkeypatch):
    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store(tmp_path)
    monkeypatch.undo()
    assert not list(tmp_path.iterdir())
    store(tmp_path).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is locked here")
def test_where_there_are_no_locks(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(partial.fcntl, "flock", flock)
    store(tmp_path).close()
    store(tmp_path, resume=True).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_a_forked_process_keeps_no_lock(tmp_path):
    """It has the file open too; and when it ends, the lock of the parent stays."""
    code = f"""
import os, sys, time
from pathlib import Path
from tests.engines.test_disk import store
folder = Path({str(tmp_path / "kept")!r})
one = store(folder)
waiting, go_on = os.pipe()
child = os.fork()
if not child:
    os.read(waiting, 1)
    os._exit(0)
one.close()
other = store(folder, resume=True)  # though the child is there
os.write(go_on, b"1")
os.waitpid(child, 0)
child = os.fork()
if not child:
    other.close()
    os._exit(0)
os.waitpid(child, 0)
try:
    store(folder, resume=True)
except ValueError as error:
    print(error)
"""
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "another fit is at work" in done.stdout


def test_where_files_are_read_at_one_place_only(tmp_path, points, monkeypatch):
    """As on Windows."""
    for name in ("preadv", "pwrite"):
        monkeypatch.delattr(os, name)
    monkeypatch.setattr(array_files, "_MOST_AT_ONCE", 1000)
    found = PTU(engine=Disk(tmp_path / "kept"), n_jobs=2).fit(points[:500])
    expected = PTU(landmarks=None).fit(points[:500])
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
