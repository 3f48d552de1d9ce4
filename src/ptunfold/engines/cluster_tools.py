"""What squares and rows on a Dask cluster have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ptunfold.geodesics.distances import OneWayRows
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


@dataclass(frozen=True)
class RowTasks:
    """Tasks that compute rows of one-way distances.

    Parameters
    ----------
    client : distributed.Client
        The way to the workers.
    rows_of : OneWayRows
        What makes the rows.
    dtype : numpy.dtype
        Of the distances.
    hold : callable
        Is given what has to stay on the cluster until the fit ends, and keeps it.
    progress : bool
        Show a progress bar.
    """

    client: Any
    rows_of: OneWayRows
    dtype: np.dtype[Any]
    hold: Callable[[Any], Any]
    progress: bool

    @property
    def n_rows(self) -> int:
        """Number of rows, and of columns."""
        return len(self.rows_of.position)

    def start(self, work: Callable[..., Any], parts: list[slice], names: list[str]) -> list[Any]:
        """Send the graph, and have ``work`` done for each part of the rows; return the futures."""
        there = self.hold(self.client.scatter(self.rows_of, hash=False))
        # All in one message: the client sends the next one some milliseconds later.
        futures: list[Any] = self.client.map(
            work,
            [there] * len(parts),
            [part.start for part in parts],
            [part.stop for part in parts],
            names,
            dtype=self.dtype,
            pure=False,
        )
        return futures

    def wait(self, futures: list[Any], parts: list[slice]) -> None:
        """Wait for the rows, show how many there are, and raise what goes wrong with some."""
        from distributed import as_completed

        n_rows = {
            future: part.stop - part.start for future, part in zip(futures, parts, strict=True)
        }
        with stage("distances", self.n_rows, "sources", self.progress) as bar:
            for future in as_completed(futures, loop=self.client.loop):
                if future.status != "finished":  # else it stays where it is
                    future.result()
                bar.update(n_rows[future])
