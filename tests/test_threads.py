"""Settings that all threads of a process share, and how many threads there are."""

import multiprocessing
import os
import subprocess
import sys
from threading import Barrier, Thread

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from ptunfold import PTU, Disk, threads
from ptunfold.datasets import flat_square, s_with_hole, swiss_roll
from ptunfold.geometry import neighbors
from ptunfold.geometry.neighbors import neighbor_lists
from ptunfold.threads import Run, cut, effective_n_jobs, run_blocks, single_threaded_blas


def n_blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.mark.usefixtures("threaded_blas")
def test_blas_gets_its_threads_back_in_whatever_order_its_users_go():
    before = n_blas_threads()
    assert before == {2}
    first, second = single_threaded_blas(), single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert n_blas_threads() == {1}
    second.__exit__(None, None, None)
    assert n_blas_threads() == before


def test_workers_that_may_start_no_processes_may_start_threads(monkeypatch):
    # As those of Dask and of pools are; joblib would warn at every step of a fit.
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert effective_n_jobs(2) == 2


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_says_how_many_threads_there_are_by_default(backend):
    with joblib.parallel_config(backend, n_jobs=2):
        assert effective_n_jobs(None) == 2
        assert effective_n_jobs(1) == 1
    with joblib.parallel_config("sequential"):
        assert effective_n_jobs(2) == 1


def test_every_core_by_default():
    """As many threads as there are cores meet at a barrier; one less would wait there."""
    n_cores = joblib.cpu_count()
    assert effective_n_jobs(None) == effective_n_jobs(-1) == n_cores
    with joblib.parallel_config("threading"):  # says nothing about their number
        assert effective_n_jobs(None) == n_cores
    barrier, most = Barrier(n_cores), []

    def work(block):
        barrier.wait(timeout=30)
        most.append(effective_n_jobs(None))

    run_blocks(work, cut(3 * n_cores, 1))
    # What is called on the threads of the package starts no more of them.
    assert most == [1 if n_cores > 1 else n_cores] * 3 * n_cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes have all cores here")
def test_cores_that_the_process_may_not_use_do_not_count():
    script = """
import os
from ptunfold.threads import effective_n_jobs
effective_n_jobs(None)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(effective_n_jobs(None))
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.strip() == "1", found.stderr


def test_joblib_says_so_for_workers_of_workers():
    def inner():
        return effective_n_jobs(None), effective_n_jobs(2)

    def outer():
        with joblib.parallel_config("threading", n_jobs=3):
            within = effective_n_jobs(None)
        nested = joblib.Parallel(2)(joblib.delayed(inner)() for _ in range(2))
        return effective_n_jobs(None), within, nested

    found = joblib.Parallel(2, prefer="threads")(joblib.delayed(outer)() for _ in range(2))
    # Threads of threads share one core each, and may not have two.
    assert found == [(1, 3, [(1, 1)] * 2)] * 2


@pytest.mark.filterwarnings("ignore:the tangent planes explain", "ignore:the neighbour graph has")
@pytest.mark.parametrize(
    "kind", ["sheet", "noisy", "wide", "apart", "radius", "landmarks", "stress"]
)
def test_one_thread_means_one_everywhere(kind, monkeypatch, tmp_path):
    """No stage falls back to the default, and OpenMP keeps to the number too."""
    rng = np.random.default_rng(0)
    sheet = s_with_hole(300).points
    points, options = {
        "sheet": (sheet, {"intrinsic_dim": "auto"}),
        "noisy": (swiss_roll(600, noise=0.01).points, {}),
        "wide": (rng.normal(size=(3000, 30)), {"landmarks": 9}),
        "apart": (np.concatenate((sheet, sheet[:80] + 50)), {}),
        "radius": (rng.normal(size=(200, 30)), {"graph": "radius", "radius": 9.0}),
        "landmarks": (flat_square(500, n_features=700).points, {"landmarks": 20}),
        "stress": (sheet, {"mds": "stress"}),
        "stored": (sheet, {"engine": Disk(tmp_path / "store")}),
    }[kind]
    asked = []

    def noted(_):  # is asked where a stage was not told how many threads to use
        asked.append("every core")
        return False

    monkeypatch.setattr(threads, "_is_worker", noted)
    model = PTU(n_jobs=1, **options).fit(points)
    model.transform(points[:50] + 1e-3)
    model.inverse_transform(model.embedding_[:50])
    model.distances([0, 1])
    model.scores()
    model.path(0, 1)
    model.explore()
    model.orientation_  # noqa: B018
    assert not asked
    PTU(**options).fit(points)
    assert asked


def test_openmp_keeps_to_the_number_of_threads(monkeypatch):
    seen = []
    limit = threads._libraries("openmp").limit

    def seeing(limits):
        seen.append(limits)
        return limit(limits=limits)

    monkeypatch.setattr(threads._libraries("openmp"), "limit", seeing)
    monkeypatch.setattr(neighbors, "_MOST_PLAIN_PRODUCTS", 0)  # not by plain products
    before = {one["filepath"]: one["num_threads"] for one in threadpool_info()}
    wide = np.random.default_rng(0).normal(size=(3000, 30))
    lists = [neighbor_lists(wide, 10, n_jobs=n_jobs) for n_jobs in (1, 2)]
    assert set(seen) == {1, 2}
    for one, other in zip(*lists, strict=True):
        np.testing.assert_array_equal(one, other)
    assert {one["filepath"]: one["num_threads"] for one in threadpool_info()} == before


class Unborn(Thread):
    """A thread that finds no room as it begins."""

    def _bootstrap_inner(self):
        raise MemoryError


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.timeout(60)
def test_a_thread_that_does_not_begin_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(threads, "Thread", Unborn)
    monkeypatch.setattr(threads, "_LONGEST_BEGINNING", 0.05)
    with pytest.raises(MemoryError, match="no thread can be started"):
        run_blocks(lambda block: None, cut(4, 1), Run(2))
