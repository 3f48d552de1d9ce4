"""What a fit needs, what there is, and a word before it does not fit."""

from __future__ import annotations

import math
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import psutil
from joblib import cpu_count

from ptunfold.threads import effective_n_jobs, hold_buffers

# What any process can still find.
_LEAST = 100_000_000
# Of address space: kernels, which are loaded or compiled when they are first needed; for each
# thread its stack, its heap and buffers of two libraries; and what is free between arrays.
_CODE, _A_THREAD, _GAPS = 200_000_000, 145_000_000, 30_000_000
_prepared = [0]  # threads
_are_loaded: list[bool] = []
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class NoRoomError(MemoryError):
    """Memory that is too small, in a sentence that says what to do."""


@contextmanager
def advised(doing: str, advice: str) -> Iterator[None]:
    """Say what to do where memory runs out, whoever finds out; libraries do not.

    Examples
    --------
    >>> with advised("the fit", "pass fewer points"):
    ...     raise MemoryError
    Traceback (most recent call last):
    ptunfold.memory.NoRoomError: memory ran out during the fit; pass fewer points
    """
    try:
        prepare_threads(1)
        yield
    except NoRoomError:
        raise
    except MemoryError as error:
        # Who keeps the error, as a notebook does, would keep all that was being worked on.
        traceback.clear_frames(error.__traceback__)
        raise NoRoomError(f"memory ran out during {doing}; {advice}") from error


def with_advice(
    doing: str, advice: str
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Do so for a whole function; parameters as in `advised`."""

    # Not by `advised` itself, which would stand between a warning and the caller's line.
    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @wraps(function)
        def run(*args: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
            with advised(doing, advice):
                return function(*args, **options)

        return run

    return decorate


def free_bytes() -> int:
    """Return the memory that can still be used, within the limits of container and process."""
    free = int(psutil.virtual_memory().available)
    for group in _groups():
        for limit, used, files in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            try:
                room = int((group / limit).read_text()) - int((group / used).read_text())
                statistics = (group / "memory.stat").read_text().split()
            except (OSError, ValueError):  # no such group, or no limit
                continue
            # Files that were read and are kept in case they are read again make room at once.
            kept = dict(zip(statistics[::2], statistics[1::2], strict=False)).get(files, "0")
            free = min(free, room + int(kept))
    return int(max(min(max(free, _LEAST), address_space() - _GAPS), 0))


def address_space() -> float:
    """Return the address space that the process may still take (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # not on this system
        return math.inf
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return math.inf
    return limit - psutil.Process().memory_info().vms


def prepare_threads(n_jobs: int | None) -> None:
    """Under a limit of address space, take now what libraries cannot do without later, or raise.

    Where linear algebra finds no room for its buffers it ends the process.
    """
    n_threads = max(effective_n_jobs(n_jobs), cpu_count())
    room = address_space()
    if math.isinf(room) or n_threads <= _prepared[0]:
        return
    needed = _CODE + n_threads * _A_THREAD
    if room < needed:
        raise NoRoomError(
            f"{n_threads} threads need about {in_words(needed)} of address space, but "
            f"{in_words(max(room, 0))} are left; pass n_jobs=1, or raise the limit (ulimit -v)"
        )
    hold_buffers(n_threads)
    _prepared[0] = n_threads


def load_kernels(estimator: Callable[..., Any], n_jobs: int | None) -> None:
    """Under a limit of address space, load now what there may be no room for later.

    The compiler ends the process where it finds none. The estimator that is made is fitted to a few
    points of each kind.
    """
    if math.isinf(address_space()):
        return
    prepare_threads(n_jobs)
    if _are_loaded:
        return
    _are_loaded.append(True)  # now, for the fits below
    rng = np.random.default_rng(0)
    rough, sheet = rng.standard_normal((600, 20)), rng.random((600, 2))
    smooth = np.column_stack((np.cos(3 * sheet[:, 0]), np.sin(3 * sheet[:, 0]), sheet[:, 1]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for points in (rough, smooth, smooth + 0.02 * rng.standard_normal(smooth.shape)):
                for dtype in (np.float32, np.float64):
                    for landmarks in (9, None):
                        made = estimator(landmarks=landmarks, n_jobs=n_jobs)
                        made.fit(points.astype(dtype))
    except BaseException:
        _are_loaded.clear()
        raise


@cache
def _groups() -> list[Path]:
    """List the control groups of this process, from its own to the root."""
    roots = [Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory")]
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return roots
    groups = []
    for line in lines:
        own = line.split(":", 2)[-1].strip("/")
        for root in roots:
            group = root / own if own else root
            groups += [group, *(parent for parent in group.parents if parent.is_relative_to(root))]
    return list(dict.fromkeys(groups))


def in_words(n_bytes: float) -> str:
    """Write a size in gigabytes, or megabytes below a tenth of one.

    Examples
    --------
    >>> in_words(7.25e9), in_words(3e6)
    ('7.2 GB', '3 MB')
    """
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.0f} MB"
