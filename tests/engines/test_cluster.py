"""A Dask cluster of processes: the same bits as threads, whatever becomes of its workers."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import CancelledError

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.engines import cluster, cluster_files, cluster_tools
from ptunfold.engines.cluster_files import plan_shares
from ptunfold.geodesics.blocks import plan_batches
from ptunfold.geodesics.squares import plan_slabs
from tests.engines.clusters import client, distributed, nothing_is_kept, points, two_workers

__all__ = ["client", "points"]  # fixtures

# What distributed and tornado leave open when a cluster is closed is not ours to close.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """A client of workers that do not see each other's files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folders = (tmp_path_factory.mktemp(place) for place in "ab")
        with two_workers(*folders) as cluster, distributed.Client(cluster) as client:
            yield client


@pytest.fixture(params=["together", "apart"])
def either(request, client, apart):
    """A client of each kind."""
    chosen = client if request.param == "together" else apart
    with chosen.as_current():
        yield chosen


@pytest.fixture
def kinds(monkeypatch):
    """The kinds of squares that were made."""
    told = []
    for kind in (cluster.FileSquares, cluster.ClusterSquares):

        def telling(self, *args, _kind=kind, _make=kind.__init__, **how):
            _make(self, *args, **how)
            told.append(_kind)

        monkeypatch.setattr(kind, "__init__", telling)
    return told


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bits_as_threads(either, points, dtype):
    points = points.astype(dtype)
    found = PTU(engine="dask").fit(points)
    expected = PTU().fit(points)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    np.testing.assert_array_equal(found.eigenvalues_, expected.eigenvalues_)


def test_files_are_shared_on_one_machine(client, points, kinds):
    with client.as_current():
        PTU(engine="dask").fit(points)
    assert kinds == [cluster.FileSquares]


def test_rows_are_a_dask_array_between_machines(apart, points, kinds):
    with apart.as_current():
        PTU(engine="dask").fit(points)
    assert kinds == [cluster.ClusterSquares]


@pytest.mark.parametrize("trouble", ["full disk", "no folder", "client elsewhere", "little memory"])
def test_files_that_cannot_be_shared(client, points, kinds, monkeypatch, trouble):
    def full(*args, **how):
        raise OSError(28, "No space left on device")

    if trouble == "full disk":
        monkeypatch.setattr(cluster_files, "fold_files", full)
    elif trouble == "no folder":  # as for a worker on a machine that has come since
        place = cluster.ClusterEngine._folder_here
        monkeypatch.setattr(
            cluster.ClusterEngine, "_folder_here", lambda *args: place(*args) / "missing"
        )
    elif trouble == "client elsewhere":
        monkeypatch.setattr(cluster, "is_here", lambda *place: False)
    else:
        monkeypatch.setattr(cluster, "free_bytes", lambda: 1 << 20)
    with client.as_current():
        found = PTU(engine="dask").fit(points).embedding_
        assert nothing_is_kept(client)
    assert kinds == [cluster.ClusterSquares]
    np.testing.assert_array_equal(found, PTU().fit(points).embedding_)


def holder_of_the_graph(client):
    """Have Dask drop what nobody waits for, all copies but one, and find that one."""
    client.amm.run_once()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        (holders,) = (
            workers
            for key, workers in client.who_has().items()
            if str(key).startswith("OneWayRows")
        )
        if len(holders) == 1:
            return holders[0]
        time.sleep(0.05)
    raise AssertionError(f"the graph is still on {holders}")


@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_during_scaling(points, tmp_path, monkeypatch):
    points = points.astype(np.float32)
    expected = PTU().fit(points).embedding_
    calls = []
    multiply = cluster.ClusterSquares._multiply
    with (
        two_workers(tmp_path / "a", tmp_path / "b") as two,
        distributed.Client(two) as client,
    ):
        pids = client.run(os.getpid)

        def killing(self, factor):
            calls.append(factor.shape)
            if len(calls) == 2:
                os.kill(pids[holder_of_the_graph(client)], signal.SIGKILL)
                time.sleep(0.5)
            return multiply(self, factor)

        monkeypatch.setattr(cluster.ClusterSquares, "_multiply", killing)
        found = PTU(engine="dask").fit(points).embedding_
    assert len(calls) > 2
    np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore")
def test_the_graph_is_lost_before_the_rows_are_there(points, tmp_path, monkeypatch):
    """With the only worker that has it."""
    expected = PTU().fit(points).embedding_
    calls = []
    wait = cluster_tools.RowTasks.wait
    with two_workers(tmp_path) as one, distributed.Client(one) as client:
        pids = list(client.run(os.getpid).values())

        def killing(*args):
            calls.append(1)
            if len(calls) == 1:
                os.kill(pids[0], signal.SIGKILL)
            wait(*args)

        monkeypatch.setattr(cluster_tools.RowTasks, "wait", killing)
        found = PTU(engine="dask").fit(points).embedding_
    assert len(calls) > 1
    np.testing.assert_array_equal(found, expected)


def test_trouble_without_end_is_told(client, points, monkeypatch):
    def cancelled(*args, **how):
        raise CancelledError

    monkeypatch.setattr(cluster_tools.RowTasks, "wait", cancelled)
    with client.as_current(), pytest.raises(RuntimeError, match="died again and again"):
        PTU(engine="dask").fit(points)


def test_a_worker_that_dies_after_its_rows_are_used(points, tmp_path, monkeypatch):
    """Nobody computes them again."""
    multiply = cluster.FileSquares.multiply
    seen = []
    with two_workers(tmp_path) as one, distributed.Client(one) as client:

        def looking(self, factor, n_jobs=None):
            seen.append([key for key in client.futures if "share_of_rows" in str(key)])
            seen.append([file for file in tmp_path.rglob("*.npy") if file.is_file()])
            return multiply(self, factor, n_jobs)

        monkeypatch.setattr(cluster.FileSquares, "multiply", looking)
        PTU(engine="dask").fit(points)
    assert seen
    assert not any(seen)


def test_a_cluster_that_is_gone_at_the_end(points, tmp_path, monkeypatch):
    """The client has all that it needs by then."""
    expected = PTU().fit(points).embedding_
    multiply = cluster.FileSquares.multiply
    with two_workers(tmp_path) as one, distributed.Client(one):

        def closing(self, factor, n_jobs=None):
            one.close()
            return multiply(self, factor, n_jobs)

        monkeypatch.setattr(cluster.FileSquares, "multiply", closing)
        found = PTU(engine="dask").fit(points).embedding_
    np.testing.assert_array_equal(found, expected)


def test_components_and_small_sets(either):
    points = s_with_hole(300).points
    points = np.concatenate((points, points[:100] + 100))
    how = {"disconnected": "separate", "n_neighbors": 8}
    found = PTU(**how, engine="dask").fit(points)
    np.testing.assert_array_equal(found.embedding_, PTU(**how).fit(points).embedding_)


def test_nothing_stays_on_the_cluster(either, points):
    PTU(engine="dask").fit(points)
    assert nothing_is_kept(either)


@pytest.mark.parametrize("moment", ["rows", "fold", "rows apart", "products apart"])
def test_a_cancelled_fit_frees_the_cluster(client, apart, points, monkeypatch, moment):
    """While tasks are at work."""
    delays = iter([0, 0.02, 0.05, 0.1])

    def interrupted(*args, **how):
        time.sleep(next(delays))
        raise KeyboardInterrupt

    chosen = apart if "apart" in moment else client
    place, name = {
        "rows": (cluster_tools.RowTasks, "wait"),
        "fold": (cluster_files, "fold_files"),
        "rows apart": (cluster_tools.RowTasks, "wait"),
        "products apart": (chosen, "gather"),
    }[moment]
    monkeypatch.setattr(place, name, interrupted)
    with chosen.as_current():
        errors = []  # as notebooks keep them
        for _ in range(4):
            with pytest.raises(KeyboardInterrupt) as error:
                PTU(engine="dask", progress=True).fit(points)
            errors.append(error)
        assert nothing_is_kept(chosen)


def test_a_store_is_refused(client, points, tmp_path):
    with client.as_current(), pytest.raises(ValueError, match="pass no store"):
        PTU(engine="dask", store=tmp_path / "store").fit(points)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("places", ["aa", "ab"])
def test_a_worker_that_is_killed_changes_nothing(tmp_path, places):
    points = swiss_roll(6000).points.astype(np.float32)
    expected = PTU().fit(points).embedding_
    log = tmp_path / "computed"
    log.touch()
    # Workers tell in a file what they compute.
    code = (
        "from ptunfold.geodesics.distances import OneWayRows\n"
        "write = OneWayRows.write\n"
        "def told(self, block, rows, first_row):\n"
        f"    with open({str(log)!r}, 'a') as file:\n"
        "        file.write(f'{block.start}\\n')\n"
        "    write(self, block, rows, first_row)\n"
        "OneWayRows.write = told\n"
    )
    with (
        two_workers(*(tmp_path / place for place in places)) as two,
        distributed.Client(two) as client,
    ):
        plugin = Tell(code)
        client.register_plugin(plugin)
        pids = list(client.run(os.getpid).values())
        assert len(pids) == 2
        killed = []

        def kill():
            while len(log.read_text().split()) < 8:
                time.sleep(0.01)
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

        thread = threading.Thread(target=kill)
        thread.start()
        found = PTU(engine="dask").fit(points).embedding_
        thread.join()
    assert killed
    np.testing.assert_array_equal(found, expected)
    computed = log.read_text().split()
    # What a worker had in hand is computed again, one slab or share of each at most.
    n_together = max(plan_slabs(len(points))[0].stop, plan_shares(len(points), 2)[0].stop)
    n_blocks = n_together // plan_batches(len(points))[0].stop
    assert len(computed) <= len(set(computed)) + 2 * (n_blocks + 1)
    assert len(set(computed)) > 4 * n_blocks


class Tell(distributed.WorkerPlugin):
    """Run some code on every worker, also on those that start later."""

    name = "tell"

    def __init__(self, code):
        self.code = code

    def setup(self, worker):
        exec(self.code, {})


SCRIPT = """
import numpy as np
from ptunfold import PTU
from ptunfold.datasets import swiss_roll
if __name__ == "__main__":
    points = swiss_roll(700).points
    for options in ({}, {"landmarks": 30}):
        found = PTU(engine="dask", n_jobs=2, **options).fit(points).embedding_
        assert np.array_equal(found, PTU(**options).fit(points).embedding_)
    print("same")
"""


def test_a_cluster_of_its_own(tmp_path):
    """In a process that never had a client."""
    (tmp_path / "fit.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, tmp_path / "fit.py"],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=tmp_path,
    )
    assert done.stdout.strip() == "same", done.stderr


def test_what_else_is_on_the_cluster_stays(either, points, monkeypatch):
    mine = either.submit(sum, [1, 2, 3], pure=False)
    assert mine.result() == 6

    def fails(*args, **how):
        raise RuntimeError("for a test")

    monkeypatch.setattr(cluster_tools.RowTasks, "wait", fails)
    with pytest.raises(RuntimeError, match="for a test"):
        PTU(engine="dask", progress=True).fit(points)
    time.sleep(1)
    assert mine.status == "finished"
    assert mine.result() == 6
    monkeypatch.undo()
    np.testing.assert_array_equal(
        PTU(engine="dask").fit(points).embedding_, PTU().fit(points).embedding_
    )


def test_inside_a_task_it_is_refused(client, points):
    def fit(points):
        from ptunfold import PTU

        try:
            PTU(engine="dask").fit(points)
        except ValueError as error:
            return str(error)

    assert "would wait for itself" in client.submit(fit, points[:300], pure=False).result()


@pytest.mark.filterwarnings("ignore")
def test_no_workers():
    points = swiss_roll(300).points
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        pytest.raises(ValueError, match="has no workers"),
    ):
        PTU(engine="dask").fit(points)
