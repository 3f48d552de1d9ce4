"""A Dask cluster of processes: the same bits as threads, whatever becomes of its workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pytest

from ptunfold import PTU, Disk
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.engines import cluster
from ptunfold.threads import Run, cut, run_blocks
from tests.engines.clusters import check_nothing_is_kept, client, distributed, points, two_workers

__all__ = ["client", "points"]  # fixtures

# What distributed and tornado leave open when a cluster is closed is not ours to close.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

LANDMARKS = [
    {"landmarks": 40},
    {"landmarks": 40, "landmark_selection": "random", "random_state": 0},
]
WAYS = [{"landmarks": None}, *LANDMARKS]


def check_same(found, expected):
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    np.testing.assert_array_equal(found.eigenvalues_, expected.eigenvalues_)
    np.testing.assert_array_equal(found.landmarks_, expected.landmarks_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("way", WAYS)
def test_same_bits_as_threads(client, points, dtype, way):
    points = points.astype(dtype)
    with client.as_current():
        found = PTU(engine="dask", **way).fit(points)
        check_nothing_is_kept(client)
    check_same(found, PTU(**way).fit(points))


def test_a_picture_that_is_relaxed(client):
    points = np.random.default_rng(0).normal(size=(500, 8))
    with pytest.warns(UserWarning, match="no sheet"), client.as_current():
        found = PTU(engine="dask").fit(points)
    with pytest.warns(UserWarning, match="no sheet"):
        check_same(found, PTU().fit(points))


def test_components_and_small_sets(client):
    points = s_with_hole(300).points
    points = np.concatenate((points, points[:100] + 100))
    how = {"disconnected": "separate", "n_neighbors": 8}
    with client.as_current():
        found = PTU(**how, engine="dask").fit(points)
    check_same(found, PTU(**how).fit(points))


def test_a_store(client, points, tmp_path, monkeypatch):
    """Filled by workers, and gone on with by threads."""
    expected = PTU(landmarks=None).fit(points)
    with client.as_current():
        found = PTU(engine=Disk(tmp_path / "whole", engine="dask")).fit(points)
    check_same(found, expected)
    compute, calls = cluster.Sent.compute, []

    def stopping(self, *arguments):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return compute(self, *arguments)

    monkeypatch.setattr(cluster.Sent, "compute", stopping)
    with client.as_current(), pytest.raises(KeyboardInterrupt):
        PTU(engine=Disk(tmp_path / "half", engine="dask")).fit(points)
    done = np.load(tmp_path / "half" / "component-0" / "rows-done.npy")
    assert 0 < np.count_nonzero(done != done.max()) < len(done)
    check_same(PTU(engine=Disk(tmp_path / "half", resume=True)).fit(points), expected)


class Tell(distributed.WorkerPlugin):
    """Have every worker, also those that start later, write a line for each block or row."""

    name = "tell"

    def __init__(self, log):
        self.code = (
            "from ptunfold.geodesics import distances, rows\n"
            "def telling(place, name):\n"
            "    work = getattr(place, name)\n"
            "    def told(self, what, *others):\n"
            f"        with open({str(log)!r}, 'a') as file:\n"
            "            file.write(f'{getattr(what, \"start\", what)}\\n')\n"
            "        return work(self, what, *others)\n"
            "    setattr(place, name, told)\n"
            "telling(distances.OneWayRows, 'write')\n"
            "telling(rows.MeanRows, 'write')\n"
        )

    def setup(self, worker):
        exec(self.code, {})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("n_workers", "way"), [(1, WAYS[0]), pytest.param(2, WAYS[1], marks=pytest.mark.long)]
)
def test_a_worker_that_is_killed_changes_nothing(tmp_path, n_workers, way):
    """With what it had in hand and, if it was the only one, with all that was sent to it."""
    points = swiss_roll(4000).points.astype(np.float32)
    expected = PTU(**way).fit(points)
    log = tmp_path / "computed"
    log.touch()
    with (
        two_workers(*(tmp_path / place for place in "ab"[:n_workers])) as some,
        distributed.Client(some) as client,
    ):
        client.register_plugin(Tell(log))
        pids = list(client.run(os.getpid).values())
        assert len(pids) == n_workers
        killed = []

        def kill():
            while len(log.read_text().split()) < 8:
                time.sleep(0.01)
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

        thread = threading.Thread(target=kill)
        thread.start()
        found = PTU(engine="dask", **way).fit(points)
        thread.join()
        assert killed
        check_nothing_is_kept(client)
    check_same(found, expected)
    computed = log.read_text().split()
    assert len(set(computed)) > 10
    assert len(computed) <= len(set(computed)) + 20  # what was done is not done again


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_comes_later_takes_part(tmp_path):
    points = swiss_roll(4000).points.astype(np.float32)
    seen = []
    compute = cluster._one_way

    def watched(rows_of, block, dtype):
        return compute(rows_of, block, dtype), distributed.get_worker().address

    class Watching(cluster.Sent):
        def compute(self, work, *arguments):
            if work is not compute:
                return super().compute(work, *arguments)
            rows, address = super().compute(watched, *arguments)
            if not seen:
                some.scale(2)
                client.wait_for_workers(2, timeout=60)
            seen.append(address)
            return rows

    with (
        distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=":0") as some,
        distributed.Client(some) as client,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(cluster, "Sent", Watching)
        patch.setattr(cluster, "_MOST_IN_FLIGHT", 2)
        found = PTU(engine="dask").fit(points)
    assert len(set(seen)) == 2
    check_same(found, PTU(landmarks=None).fit(points))


def test_trouble_without_end_is_told(client, points, monkeypatch):
    def cancelled(*arguments, **how):
        raise CancelledError

    monkeypatch.setattr(distributed.Future, "result", cancelled)
    with client.as_current(), pytest.raises(RuntimeError, match="died again and again"):
        PTU(engine="dask").fit(points)


@pytest.mark.parametrize("way", WAYS[:2])
def test_a_fit_that_is_stopped_frees_the_cluster(client, points, monkeypatch, way):
    """While tasks are at work, and what else is on the cluster stays."""
    mine = client.submit(sum, [1, 2, 3], pure=False)
    assert mine.result() == 6
    compute, calls = cluster.Sent.compute, []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return compute(self, *arguments)

    errors = []  # as notebooks keep them
    with client.as_current():
        with monkeypatch.context() as patch:
            patch.setattr(cluster.Sent, "compute", interrupted)
            for _ in range(3):
                calls.clear()
                with pytest.raises(KeyboardInterrupt) as error:
                    PTU(engine="dask", **way).fit(points)
                errors.append(error)
        assert mine.status == "finished"
        assert mine.result() == 6
        del mine
        check_nothing_is_kept(client)
        check_same(PTU(engine="dask", **way).fit(points), PTU(**way).fit(points))


def test_few_blocks_are_in_flight(client, points, monkeypatch):
    compute, at_work, most = cluster.Sent.compute, [], []

    def counted(self, *arguments):
        at_work.append(1)
        most.append(len(at_work))
        try:
            return compute(self, *arguments)
        finally:
            at_work.pop()

    monkeypatch.setattr(cluster.Sent, "compute", counted)
    with client.as_current():
        PTU(engine="dask", n_jobs=1).fit(points)
    assert 1 < max(most) <= 4  # two workers of one thread


SCRIPT = """
import numpy as np
from ptunfold import PTU
from ptunfold.datasets import swiss_roll
if __name__ == "__main__":
    points = swiss_roll(700).points
    found = PTU(engine="dask", n_jobs=2).fit(points).embedding_
    assert np.array_equal(found, PTU().fit(points).embedding_)
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


def test_inside_a_task_it_is_refused(client, points):
    def fit(points):
        from ptunfold import PTU

        try:
            PTU(engine="dask").fit(points)
        except ValueError as error:
            return str(error)

    assert "would wait for itself" in client.submit(fit, points[:300], pure=False).result()


@pytest.mark.parametrize("is_stored", [False, True])
def test_workers_that_are_too_small(tmp_path, is_stored):
    """What a worker does not hold is refused before it starts, and not killed again and again."""
    engine = Disk(tmp_path / "kept", engine="dask") if is_stored else "dask"
    with (
        distributed.LocalCluster(
            1, processes=False, threads_per_worker=2, memory_limit="300MB", dashboard_address=":0"
        ) as small,
        distributed.Client(small),
        pytest.raises(MemoryError, match=r"with 2 threads needs about .* its limit is 0.3 GB"),
    ):
        PTU(engine=engine).fit(swiss_roll(300).points)


@pytest.mark.filterwarnings("ignore")
def test_no_workers():
    points = swiss_roll(300).points
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        distributed.Client(empty),
        pytest.raises(ValueError, match="has no workers"),
    ):
        PTU(engine="dask").fit(points)


class Stuck:
    """Tasks of workers in this process: the first one interrupts it, and none comes back."""

    has_begun, is_over, done = threading.Event(), threading.Event(), []


def stuck(what, number):
    if not Stuck.has_begun.is_set():
        Stuck.has_begun.set()
        os.kill(os.getpid(), signal.SIGINT)
    Stuck.is_over.wait(100)
    Stuck.done.append(number)


def test_ctrl_c_while_a_task_never_comes_back():
    with (
        distributed.LocalCluster(
            1, processes=False, threads_per_worker=2, dashboard_address=":0"
        ) as one,
        distributed.Client(one) as client,
    ):
        sent = cluster.Sent(client, np.zeros(3))
        with pytest.raises(KeyboardInterrupt):
            run_blocks(
                lambda block: sent.compute(stuck, block.start), cut(20, 1), Run(), n_threads=2
            )
        left = list(Stuck.done)
        Stuck.is_over.set()
    assert not left


class Slow:
    """A task that is at work for a while, and whose result takes two attempts to arrive."""

    def __init__(self, trouble):
        self.statuses, self.trouble, self.patience = ["pending"] * 3, [trouble], []

    @property
    def status(self):
        return self.statuses.pop() if self.statuses else "finished"

    def result(self, timeout):
        assert not self.statuses  # it is done
        self.patience.append(timeout)
        if self.trouble:
            raise self.trouble.pop()
        return "found"


@pytest.mark.parametrize("trouble", [TimeoutError(), UnboundLocalError("result")])
def test_a_result_may_take_long_to_arrive(trouble):
    """With half a second of patience it never came, or Dask failed: 20 000 points in float32."""
    task = Slow(trouble)
    assert cluster._result_of(task) == "found"
    assert len(task.patience) == 2
    assert min(task.patience) > 10
