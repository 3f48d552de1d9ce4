"""What squares and rows on a Dask cluster have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from ptunfold.progress import stage
from ptunfold.types import FloatArray

TASKS_A_THREAD = 2  # at least, so that nobody waits long for the last
_ATTEMPTS = 4


def as_array(rows: dict[int, Any], stop: int, n_columns: int, dtype: np.dtype[Any]) -> Any:
    """Look at rows on a cluster, which are listed by the first of them, as a Dask array.

    ``stop`` is where the last ones end.
    """
    from dask import array

    starts = sorted(rows)
    return array.concatenate(
        [
            array.from_delayed(rows[first], (last - first, n_columns), dtype)
            for first, last in pairwise([*starts, stop])
        ]
    )


def try_again(work: Callable[[], Any], repair: Callable[[], None] = lambda: None) -> Any:
    """Do something on the cluster; again if workers went away with what it needs.

    It may be the graph, of which Dask keeps one copy where nobody waits for it.
    """
    for attempt in range(_ATTEMPTS):
        try:
            if attempt:
                repair()
            return work()
        except (CancelledError, TimeoutError) as error:
            # Dask keeps the error, and the error would keep all that was at hand.
            trouble = error.with_traceback(None)
    raise RuntimeError(
        "workers of the cluster died again and again, and the fit with them; look into their logs "
        "(memory, most often), and fit again"
    ) from trouble


def wait_for(client: Any, futures: list[Any], sizes: list[int], *, progress: bool) -> None:
    """Wait for rows of ``sizes``, show how many there are, and raise what goes wrong with some."""
    from distributed import as_completed

    n_rows = dict(zip(futures, sizes, strict=True))
    with stage("distances", sum(sizes), "sources", progress) as bar:
        for future in as_completed(futures, loop=client.loop):
            if future.status != "finished":  # else it stays where it is
                future.result()
            bar.update(n_rows[future])


def stop(client: Any, futures: list[Any]) -> None:
    """Let results go, and stop what is not done, even if somebody still has the futures.

    To cancel what is done would be too much: Dask's scheduler goes on to the tasks that need it,
    and fails if nobody waits for these.
    """
    unfinished = [future for future in futures if not future.done()]
    if unfinished:
        client.cancel(unfinished)
    for future in futures:
        future.release()


@contextmanager
def sent(array: FloatArray) -> Iterator[Any]:
    """Have an array on a worker for a while, if Dask works with a cluster; else in its graph."""
    import dask
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    if client is None:
        yield dask.delayed(array)
        return
    there = client.scatter(array, hash=False)
    try:
        yield there
    finally:
        there.release()  # after an error others may still hold it


def n_threads(client: Any) -> int:
    """Count the threads of all workers."""
    return max(sum(client.nthreads().values()), 1)
