"""Fits in threads, in processes and in workers of others: the bits of a fit in the main thread."""

import hashlib
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import joblib
import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock
from sklearn.model_selection import GridSearchCV
from tqdm.auto import tqdm

import ptunfold
from ptunfold import PTU, forks, threads
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.geometry.neighbors import edge_lengths, neighbor_lists
from ptunfold.progress import stage
from ptunfold.threads import Run, cut, run_blocks
from tests.test_threads import n_blas_threads

pytestmark = pytest.mark.filterwarnings("ignore:the tangent planes explain")
OF_OTHERS = ("pymp-", "dask-")  # they go when this process does
PACKAGE = Path(ptunfold.__file__).parent


def points(number):
    """Make points of several kinds: neighbours by a tree or by products, float64 or float32."""
    rng = np.random.default_rng(number)
    return (
        swiss_roll(300, noise=0.01 * number, seed=number).points,
        rng.normal(size=(200, 30)),
        s_with_hole(250, seed=number).points,
        rng.normal(size=(150, 5)).astype(np.float32),
    )[number % 4]


def fit(number, n_jobs=2):
    """Fit, and hash everything that depends on the points."""
    model = PTU(n_jobs=n_jobs).fit(points(number))
    placed = model.transform(points(number)[:20])
    return hashlib.sha256(model.embedding_.tobytes() + placed.tobytes()).hexdigest()


@pytest.fixture(scope="module")
def expected():
    """Return what the main thread of this process comes to."""
    return [fit(number, n_jobs=1) for number in range(4)]


@pytest.fixture(scope="module", autouse=True)
def _workers_end():
    """Workers of joblib wait for the next test, which need not start its own."""
    yield
    joblib.externals.loky.get_reusable_executor().shutdown()


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Return the client of a cluster with one process of two threads."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            dashboard_address=":0",  # another run of the tests may have the usual port
            local_directory=str(tmp_path_factory.mktemp("scratch")),
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def _nothing_is_left(expected, monkeypatch, tmp_path):  # the last is made before, elsewhere
    work = Path(tempfile.mkdtemp())  # names of sockets in it must be short
    monkeypatch.chdir(work)
    monkeypatch.setattr(tempfile, "tempdir", str(work))
    before, n_before = set(threading.enumerate()), n_blas_threads()
    yield
    assert n_blas_threads() == n_before
    left = [thread.name for thread in set(threading.enumerate()) - before]
    assert not any("ptunfold" in name for name in left), left
    files = [file.name for file in work.iterdir()]
    monkeypatch.undo()
    with suppress(OSError):  # what others left goes when this process does
        work.rmdir()
    assert not [name for name in files if not name.startswith(OF_OTHERS)]


class Counted(threading.Thread):
    """A thread of the package that is counted from when it is made: how soon it begins is luck."""

    lock, at_work, most, n_inside = threading.Lock(), 0, 0, 0

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        with Counted.lock:
            Counted.at_work += 1
            Counted.most = max(Counted.most, Counted.at_work)

    def run(self):
        try:
            super().run()
        finally:
            with Counted.lock:
                Counted.at_work -= 1


@contextmanager
def counted():
    """Count threads; several may do so at once, and the last to leave puts things back."""
    with Counted.lock:
        Counted.n_inside += 1
        if Counted.n_inside == 1:
            Counted.before = threads.Thread, threads.n_cores
            threads.Thread, threads.n_cores = Counted, lambda: 4
    try:
        yield
    finally:
        with Counted.lock:
            Counted.n_inside -= 1
            if not Counted.n_inside:
                threads.Thread, threads.n_cores = Counted.before


def n_at_work(number, n_jobs=None):
    """Fit, and tell how many threads the package had at work at once in this process.

    There are cores enough to tempt it, whatever there are.
    """
    with counted():
        Counted.most = Counted.at_work
        run_blocks(lambda block: None, cut(20, 1), Run(n_jobs))
        fit(number, n_jobs)
    return Counted.most + 1  # that of the caller


class Scored(PTU):
    """What a search over parameters needs; the score is the number of threads at work."""

    def score(self, X, y=None):
        return n_at_work(2, self.n_jobs)


def wide():
    """Hash a search for neighbours that OpenMP's threads share."""
    lists = neighbor_lists(np.random.default_rng(0).normal(size=(3000, 30)), 10)
    return hashlib.sha256(b"".join(np.ascontiguousarray(each) for each in lists)).hexdigest()


def measured(*dtypes):
    """Hash what one kernel, which is compiled in a second, makes of points of some types."""
    random = np.random.default_rng(0).normal(size=(50, 3))
    ends = np.arange(49), np.arange(1, 50)
    found = {dtype: edge_lengths(random.astype(dtype), *ends).tobytes() for dtype in dtypes}
    return hashlib.sha256(b"".join(found[dtype] for dtype in sorted(found))).hexdigest()


def start(expression, folder=PACKAGE.parent, **environment):
    """Start a process that prints what is asked for."""
    paths = [str(folder), str(Path(__file__).parents[1])]
    return subprocess.Popen(
        [sys.executable, "-c", f"from tests.test_processes import *; print({expression})"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Return what it printed, and what it said besides."""
    out, said = process.communicate()
    assert process.returncode == 0, said
    return out.strip(), said


@pytest.mark.parametrize("n_threads", [2, 4])
def test_fits_at_once_in_threads(expected, n_threads):
    numbers = [*range(4)] * 3
    with ThreadPoolExecutor(n_threads) as executor:
        assert list(executor.map(fit, numbers)) == expected * 3


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_inside_joblib(expected, backend):
    with joblib.parallel_config(backend):
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(fit)(number) for number in range(4))
    assert found == expected


def test_every_core_is_at_work_by_default():
    assert n_at_work(0) == 4
    assert n_at_work(0, 1) == 1
    assert n_at_work(0, 3) == 3


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_workers_of_joblib_take_a_core_each(backend):
    """Two workers, two threads, however many cores there are."""
    with joblib.parallel_config(backend):
        parallel = joblib.Parallel(n_jobs=2)
        # Those of threads all count the same process.
        assert parallel(joblib.delayed(n_at_work)(number) for number in range(4)) == [1] * 4
        if backend != "threading":
            assert max(parallel(joblib.delayed(n_at_work)(number, 2) for number in range(2))) == 2


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_search_over_parameters_takes_a_core_for_each_fit(backend):
    with joblib.parallel_config(backend):
        search = GridSearchCV(Scored(), {"n_neighbors": [8, 9]}, cv=2, refit=False, n_jobs=2)
        search.fit(points(0))
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], 1)
    # Not where it does one fit after the other.
    alone = GridSearchCV(Scored(), {"n_neighbors": [8]}, cv=2, refit=False, n_jobs=1)
    assert alone.fit(points(0)).cv_results_["mean_test_score"] == 4


def check_that_tasks_take_a_core_each(client):
    assert client.gather(client.map(n_at_work, range(4), pure=False)) == [1] * 4
    with client.as_current(), joblib.parallel_config("dask"):
        found = joblib.Parallel()(joblib.delayed(n_at_work)(number) for number in range(4))
    assert found == [1] * 4
    assert n_at_work(0) == 4  # here there is no task


def test_inside_a_worker_of_dask(expected, client):
    assert client.gather(client.map(fit, range(4))) == expected
    check_that_tasks_take_a_core_each(client)


def test_inside_threads_of_dask():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        check_that_tasks_take_a_core_each(client)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_in_processes_of_their_own(expected, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as executor:
        assert list(executor.map(fit, range(2))) == expected[:2]
        assert list(executor.map(n_at_work, range(2))) == [1, 1]  # a worker takes a core


def forked(call, *arguments):
    """Call a function in a child that has everything of this process but its threads."""
    end, start_of_pipe = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(60)
        os.write(start_of_pipe, call(*arguments).encode())
        os._exit(0)
    os.close(start_of_pipe)
    with open(end) as file:
        answer = file.read()
    return answer if os.waitpid(child, 0)[1] == 0 else "no answer"


def everything_forked():
    """Fork while a thread fits, and after all that leaves threads or locks behind."""
    fitting = threading.Thread(target=fit, args=(0,))  # which loads all kernels
    fitting.start()
    meanwhile = [forked(fit, 0) for _ in range(2)]
    fitting.join()
    # A thread that is half way through importing kernels.
    name = "ptunfold.kernels.batches"
    sys.modules.pop(name)
    importing = threading.Thread(target=fit, args=(0,))
    importing.start()
    while name not in sys.modules:
        time.sleep(0.001)
    meanwhile.append(forked(fit, 0))
    importing.join()
    answers = [wide(), forked(wide), *meanwhile, fit(0), forked(fit, 0), forked(forked, fit, 0)]
    for lock in (threads._lock, global_compiler_lock):
        is_held = threading.Event()

        def hold(lock=lock, is_held=is_held):
            with lock:
                is_held.set()
                time.sleep(0.5)

        holder = threading.Thread(target=hold)
        holder.start()
        is_held.wait()
        # Points of a kind that was not fitted: there are kernels to load.
        answers.append(forked(fit, 0) if lock is threads._lock else forked(fit, 3))
        holder.join()
    return " ".join(answers)


class Slow:
    """A property, and a lock, that one thread is in the middle of when a child is forked."""

    inside, go_on = threading.Event(), threading.Event()
    lock = forks.Lock()

    def wait(self):
        if threading.current_thread() is not threading.main_thread():
            Slow.inside.set()
            Slow.go_on.wait()
        return "done"

    @forks.cached_property
    def worked_out(self):
        return self.wait()

    def locked(self):
        with self.lock:
            return self.wait()


def forked_inside():
    """Fork while another thread is inside each of a fit's own locks, as far as they can be told."""
    answers = []
    for one in (lambda: Slow().worked_out, Slow().locked):
        Slow.inside.clear()
        Slow.go_on.clear()
        thread = threading.Thread(target=one)
        thread.start()
        Slow.inside.wait()
        answers.append(forked(one))
        Slow.go_on.set()
        thread.join()
        answers.append(one())  # the parent's lock is as it was
    return " ".join(answers)


def forked_while_threads_are_at_work():
    """Fork while another thread has BLAS held to one thread, and one draws a bar."""
    inside, go_on = threading.Event(), threading.Event()
    before = n_blas_threads()

    def work():
        with threads.single_threaded_blas(), stage("a bar", 3, "parts", True), tqdm.get_lock():
            inside.set()
            go_on.wait()

    def child():
        after = n_blas_threads()
        with threads.single_threaded_blas(), stage("its own", 3, "parts", True) as bar:
            bar.update()
            held = n_blas_threads()
        return f"{after == before} {held} {n_blas_threads() == before}"

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    answers = [forked(child)]
    go_on.set()
    thread.join()
    # The one that forks comes out again, there as here.
    with threads.single_threaded_blas():
        answers.append(forked(lambda: str(n_blas_threads())))
    return " ".join([*answers, str(n_blas_threads() == before)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_a_child_forgets_the_threads_that_it_has_not():
    found, _ = finish(start("forked_while_threads_are_at_work()", OPENBLAS_NUM_THREADS="2"))
    assert found.split() == ["True", "{1}", "True", "{1}", "True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_forked_while_another_thread_works_something_out():
    found, _ = finish(start("forked_inside()"))
    assert found.split() == ["done"] * 4


def test_no_lock_of_a_library_in_the_package():
    """Each is one that a fork is no danger to, or says beside it why it need not be."""
    of_their_own = {
        "threads.py": "held before a fork, by a hook",
        "geodesics/distances.py": "made and dropped in one call, which a child does not go on with",
        "progress.py": "made in the child",
        "engines/cluster.py": "a client of Dask does not outlive a fork",
    }
    for file in PACKAGE.rglob("*.py"):
        lines = file.read_text().splitlines()
        imports = [line for line in lines if re.match("from (threading|functools) import", line)]
        named = re.findall(r"\b(?:Lock|RLock|cached_property)\b", " ".join(imports))
        where = file.relative_to(PACKAGE).as_posix()
        assert not named or where in of_their_own, where


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_forked_during_and_after_a_fit(expected):
    # In a process of its own, because one with threads of others may not be forked.
    found, _ = finish(start("everything_forked()"))
    assert found.split() == [wide()] * 2 + [expected[0]] * 7 + [expected[3]]


def test_one_thread_for_everything(expected):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    found, _ = finish(start("fit(0), fit(1)", **dict.fromkeys(names, "1")))
    assert found.split() == expected[:2]


@pytest.mark.skipif(os.name != "posix", reason="folders of the user have other names")
@pytest.mark.parametrize("is_all", [False, True])
def test_a_cache_that_cannot_be_written(tmp_path, is_all):
    # Files in the places of folders stop the superuser too.
    (tmp_path / "file").touch()
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "file" / "kept")}
    if is_all:
        package = tmp_path / "copy" / "ptunfold"
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
        (package / "kernels" / "__pycache__").touch()
        environment |= {"folder": package.parent, "XDG_CACHE_HOME": str(tmp_path / "file")}
        environment |= {"HOME": str(tmp_path / "file")}
    found, said = finish(start("measured('f4', 'f8')", **environment))
    assert found == measured("f4", "f8")
    assert said.count("compiled code cannot be kept") == is_all


@pytest.mark.long
def test_an_empty_cache_filled_by_two_at_once(tmp_path):
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    both = [start(f"measured({types})", **kept) for types in ("'f4', 'f8'", "'f8', 'f4'")]
    third = "measured('f8', 'f4')"
    found = [finish(process)[0] for process in both] + [finish(start(third, **kept))[0]]
    assert found == [measured("f4", "f8")] * 3
    assert list(tmp_path.glob("kept/*/*.nbc"))
    assert not list(tmp_path.glob("kept/*/*.tmp.*"))
