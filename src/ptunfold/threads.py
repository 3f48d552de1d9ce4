"""Run blocks of work on threads: the one place that starts any."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_int, c_void_p
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from threading import Event, Lock, Thread, get_ident, local
from typing import Any

from joblib import cpu_count
from joblib.parallel import ThreadingBackend, get_active_backend
from threadpoolctl import ThreadpoolController

from ptunfold.interrupts import held_interrupts
from ptunfold.progress import stage

# More threads than this for each core only wait for each other, and each asks for its memory.
_MOST_PER_CORE = 4
POINTS_TOGETHER = 1 << 14  # where a point takes less than a microsecond


@dataclass(frozen=True)
class Run:
    """How stages work, whatever they do: handed on from each to the next.

    Attributes
    ----------
    n_jobs : int or None
        Number of threads, as in :class:`ptunfold.PTU`.
    verbose : bool
        Show a progress bar for each long stage.
    """

    n_jobs: int | None = None
    verbose: bool = False

    @property
    def quiet(self) -> Run:
        """The same without bars, for a stage within a stage."""
        return Run(self.n_jobs)


def effective_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads to use: what was asked for, within reason.

    None stands for every core that the process may use, unless joblib's context says how many, or
    this is a worker itself: others are at work beside it then, and it takes one.
    """
    backend, in_context = get_active_backend()
    if n_jobs is None:
        n_jobs = in_context
    if n_jobs is None:
        n_jobs = 1 if _is_worker(backend) else n_cores()
    if isinstance(n_jobs, Integral):
        n_jobs = int(n_jobs)  # small numbers of NumPy would overflow
    if not getattr(backend, "uses_threads", False):
        backend = ThreadingBackend()  # others count processes, which some processes may not start
    return min(backend.effective_n_jobs(n_jobs), _MOST_PER_CORE * n_cores())


def _is_worker(backend: Any) -> bool:
    """Tell whether this thread, or its process, is one of several that share the cores."""
    if getattr(_this_thread, "is_worker", False) or getattr(backend, "nesting_level", 0):
        return True
    # Of a pool of any kind: loky, multiprocessing, concurrent.futures, Dask's own.
    if multiprocessing.parent_process() is not None:
        return True
    distributed = sys.modules.get("distributed")  # where there is a worker, it is loaded
    try:
        return distributed is not None and distributed.get_worker() is not None
    except ValueError:
        return False


_this_thread = local()


def n_cores() -> int:
    """Count the cores that the process may use: it may be bound to others at any time."""
    bound_to = getattr(os, "sched_getaffinity", None)
    told = os.environ.get("LOKY_MAX_CPU_COUNT")
    return _n_cores(None if bound_to is None else frozenset(bound_to(0)), told)


@cache
def _n_cores(bound_to: frozenset[int] | None, told: str | None) -> int:
    """Count them once for each: it takes reading several files, and a fit asks forty times."""
    n_cores: int = cpu_count()
    return n_cores


def cut(n_items: int, size: int) -> list[slice]:
    """Cut a range into blocks of ``size``, the last one shorter.

    Examples
    --------
    >>> cut(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n_items)) for start in range(0, n_items, size)]


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep the linear algebra library from starting threads of its own.

    They would ignore ``n_jobs``, and they go on spinning for a while after their work is done,
    which takes the processor from whatever comes next. The library has one setting for all
    threads of a process: the first one to come changes it, the last one to go puts it back.
    """
    is_inside = False
    try:
        with held_interrupts(), _lock:
            _take_control()
            _limits.append((_libraries("blas").limit(limits=1), get_ident()))
            is_inside = True
        yield
    finally:
        if is_inside:
            with held_interrupts(), _lock:
                first = _limits[0][0]  # it alone has seen the setting as it was
                _limits.pop()
                if not _limits:
                    _put_back(first)


def _put_back(limit: Any) -> None:
    _take_control()
    limit.restore_original_limits()
    _take_control()


def _begin_in_child() -> None:
    """Forget the threads that a forked process does not have: they will not come out again."""
    if _limits:
        first, this_thread = _limits[0][0], get_ident()
        _limits[:] = [(first, who) for _, who in _limits if who == this_thread]
        if not _limits:
            _put_back(first)
    _lock.release()


_lock = Lock()
_limits: list[tuple[Any, int]] = []  # one for each who is inside, and its thread
if hasattr(os, "register_at_fork"):  # or a child might wait for a thread that it does not have
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_begin_in_child
    )


def _take_control() -> None:
    """Let whatever thread comes next change the setting.

    Later versions of threadpoolctl listen only to the first thread that ever did, and others are
    ignored without a word: their results would have other bits.
    """
    for library in _libraries("blas").lib_controllers:
        let_go = getattr(library, "clear_controlling_thread", None)
        if let_go is not None:
            let_go(force=True)


@cache
def _libraries(kind: str) -> ThreadpoolController:
    return ThreadpoolController().select(user_api=kind)


_process = os.getpid()


@contextmanager
def openmp_threads(n_jobs: int | None) -> Iterator[None]:
    """Let OpenMP use so many threads, which it would not be told otherwise.

    In a process that was forked, or that another one has started to share its work, only one: the
    library that GCC comes with waits forever for threads that a fork has not brought along.
    """
    may_be_forked = os.getpid() != _process or multiprocessing.parent_process() is not None
    n_threads = 1 if may_be_forked else effective_n_jobs(n_jobs)
    with _libraries("openmp").limit(limits=n_threads):  # of this thread alone
        yield


def hold_buffers(n_threads: int) -> None:
    """Let linear algebra take the buffers of so many threads, and keep them for later.

    OpenBLAS takes each when it is first needed, and ends the process if there is no room for it.
    """
    for library in _libraries("blas").lib_controllers:
        if hasattr(library.dynlib, "blas_memory_alloc"):
            take, give_back = library.dynlib.blas_memory_alloc, library.dynlib.blas_memory_free
            take.argtypes, take.restype = [c_int], c_void_p
            give_back.argtypes = [c_void_p]
            for buffer in [take(0) for _ in range(n_threads)]:
                give_back(buffer)


def run_blocks(
    work: Callable[[slice], None],
    blocks: Sequence[slice],
    run: Run = Run(),
    name: str = "",
    unit: str = "",
    *,
    n_threads: int | None = None,
) -> None:
    """Call ``work`` on each block; it has to release the GIL to use several threads.

    With one thread to use, or one block, that is the caller's. Blocks may be handled in any order,
    and must not touch each other's results. ``name`` and ``unit`` are what the bar says; without a
    name there is none.
    ``n_threads`` is their number whatever ``run`` says and the machine has: for threads that only
    wait.
    """
    total = sum(block.stop - block.start for block in blocks)
    n_threads = min(n_threads or effective_n_jobs(run.n_jobs), len(blocks))
    with stage(name, total, unit, run.verbose and bool(name)) as bar:

        def handle(block: slice) -> None:
            work(block)
            bar.update(block.stop - block.start)

        if n_threads <= 1:
            # Nothing to share: no thread has to be started.
            for block in blocks:
                check_not_stopped()
                handle(block)
            return
        _run_on_threads(handle, blocks, n_threads)


def run_together(tasks: Sequence[Callable[[], Any]], run: Run = Run()) -> list[Any]:
    """Return what each of some tasks returns, which have nothing to do with each other.

    Examples
    --------
    >>> run_together([lambda: 1 + 1, lambda: 2 * 3])
    [2, 6]
    """
    found: list[Any] = [None] * len(tasks)

    def handle(block: slice) -> None:
        found[block] = [task() for task in tasks[block]]

    run_blocks(handle, cut(len(tasks), 1), run)
    return found


def check_not_stopped() -> None:
    """Raise where the results of this thread are no longer wanted.

    For those that only wait, and between the steps of what takes long.
    """
    if any(is_stopped.is_set() for is_stopped in getattr(_this_thread, "stops", ())):
        raise InterruptedError("stopped")


def call_apart(task: Callable[[], Any]) -> Any:
    """Return what a task returns that takes long and cannot be stopped.

    It has a thread of its own, which is left to end by itself if nobody wants the result any more.
    So it must not write into what others have.

    Examples
    --------
    >>> call_apart(lambda: 2 * 3)
    6
    """
    found: list[Any] = []
    failures: list[BaseException] = []

    def work() -> None:
        _this_thread.is_worker = True
        try:
            found.append(task())
        except BaseException as error:
            failures.append(error)

    thread = Thread(target=work, name="ptunfold-apart", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
        check_not_stopped()
    if failures:
        raise failures.pop()
    return found.pop()


class _Beginning(Event):
    """What `Thread.start` waits for, but not for ever.

    Where address space is short a thread may end before it begins, and says so to nobody. One that
    begins later than that finds nothing to do.
    """

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for it, and raise if it does not come."""
        if timeout is not None:
            return super().wait(timeout)
        # Twice, because the process itself may have been stopped meanwhile.
        if super().wait(_LONGEST_BEGINNING) or super().wait(_LONGEST_BEGINNING):
            return True
        raise RuntimeError("a thread does not begin")


_LONGEST_BEGINNING = 10.0  # seconds


def _run_on_threads(run: Callable[[slice], None], blocks: Sequence[slice], n_threads: int) -> None:
    """Return, or raise, when no other thread is left: after Ctrl-C blocks in flight are finished.

    The caller's thread is one of them. Not by an executor: it loses a thread that is being started
    when Ctrl-C comes, and up to Python 3.12 a thread is taken for dead if Ctrl-C comes while it is
    waited for.
    """
    waiting = deque(blocks)
    failures: list[BaseException] = []
    is_stopped = Event()
    # Of those that this thread is one of: who stops them stops these too.
    stops = (*getattr(_this_thread, "stops", ()), is_stopped)

    def stop() -> None:
        waiting.clear()
        is_stopped.set()

    def work() -> None:
        outside = dict(_this_thread.__dict__)
        _this_thread.is_worker, _this_thread.stops = True, stops
        try:
            while True:
                check_not_stopped()
                try:
                    block = waiting.popleft()
                except IndexError:
                    return
                run(block)
        except BaseException as error:
            failures.append(error)
            stop()
        finally:
            _this_thread.__dict__.clear()
            _this_thread.__dict__.update(outside)

    def run_all() -> None:
        threads = [Thread(target=work, name=f"ptunfold-{index}") for index in range(1, n_threads)]
        started: list[Thread] = []
        try:
            for thread in threads:
                # Nothing public tells that a thread never began.
                thread._started = _Beginning()  # type: ignore[attr-defined]  # not public
                thread.start()
                started.append(thread)
            work()
        except BaseException as error:
            waiting.clear()
            if isinstance(error, RuntimeError):  # there is no room for its stack
                raise MemoryError("no thread can be started") from error
            raise
        finally:
            for thread in started:
                while thread.is_alive():
                    thread.join(0.1)  # an interrupt that another thread has caught is heard then

    # Threads come and go in there: Python forgets a Ctrl-C that comes while it takes a thread off
    # its lists.
    with held_interrupts(stop):
        run_all()
    if failures:
        raise failures.pop(0)
    check_not_stopped()
