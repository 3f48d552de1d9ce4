"""Blocks of distances by the workers of a Dask cluster; needs dask and distributed.

The workers compute, and keep nothing: blocks come here as they are done, and are folded into
memory or a store as those of threads are. So they have the same bits, and Dask alone cares for
workers that come and go.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from threading import Lock
from typing import Any, Self

import numpy as np

from ptunfold.engines.base import Engine
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.geodesics.rows import MeanRows
from ptunfold.memory import NoRoomError, free_bytes, in_words
from ptunfold.needs import Needs
from ptunfold.threads import Run, check_not_stopped, cut, effective_n_jobs, run_blocks
from ptunfold.types import Connection, FloatArray, IntArray

_IN_FLIGHT, _MOST_IN_FLIGHT = 2, 64  # blocks for each thread of the cluster, and in all
_ATTEMPTS = 4
_LEAST_PAUSE, _LONGEST_PAUSE = 1e-3, 0.1  # seconds between looks at a task
_PATIENCE = 60.0  # for the way of a result


class ClusterEngine(Engine):
    """The workers of the Dask client that is there, or ``n_jobs`` workers made for the fit."""

    name = "dask"

    def __init__(self, n_jobs: int | None = None) -> None:
        self.distributed, self.n_jobs = _distributed(), n_jobs
        self.client: Any = None
        self._own: Any = None
        self._sent: list[Sent] = []

    def __enter__(self) -> Self:
        try:
            self.client = self.distributed.default_client()
        except ValueError:
            n_workers = effective_n_jobs(self.n_jobs)
            self._own = self.distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                dashboard_address=None,
                memory_limit=free_bytes() // n_workers,
            )
            try:
                self.client = self.distributed.Client(self._own, set_as_default=False)
            except BaseException:
                self._own.close()
                raise
        if self.client.asynchronous:
            raise ValueError(
                'engine="dask" needs a client that waits; make it with asynchronous=False'
            )
        if not self.client.nthreads():
            raise ValueError(
                "the cluster of the Dask client has no workers; start some, and fit again"
            )
        return self

    def blocks(self, connection: Connection, position: IntArray) -> ClusterBlocks:
        """Prepare one-way distances in an arranged component, block by block."""
        return ClusterBlocks(connection, position, self._send)

    def rows(self, connection: Connection) -> ClusterRows:
        """Prepare distances from single sources in a connected graph."""
        return ClusterRows(connection, self._send)

    def check_room(self, needs: Needs, n_landmarks: int | None) -> None:
        """Refuse a fit that the memory of a worker does not hold; Dask would kill it."""
        for n_threads, limit in self.client.run_on_scheduler(_workers):
            needed = needs.worker(n_threads, n_landmarks)
            if limit and needed > limit:
                raise NoRoomError(
                    f"a worker of the cluster with {n_threads} threads needs about "
                    f"{in_words(needed)}, but its limit is {in_words(limit)}; start workers with "
                    "more memory or fewer threads, or fit a part of the points and transform the "
                    "rest"
                )

    def _send(self, what: Any) -> Sent:
        self._sent.append(Sent(self.client, what))
        return self._sent[-1]

    def close(self) -> None:
        """Free the memory of the cluster; stop it if it was made for the fit."""
        try:
            with suppress(Exception):  # of a cluster that is gone; the fit may be whole
                for sent in self._sent:
                    sent.release()
        finally:
            if self._own is not None:
                try:
                    self.client.close()
                finally:
                    self._own.close()


class Sent:
    """Something that all workers have, and the tasks that use it."""

    def __init__(self, client: Any, what: Any) -> None:
        from distributed import KilledWorker

        self.client, self._what = client, what
        self._killed, self._lock = KilledWorker, Lock()
        self._held = client.scatter(what, broadcast=True, hash=False)

    @property
    def n_in_flight(self) -> int:
        """How many tasks are worth starting at a time."""
        n_threads = sum(self.client.nthreads().values())
        return min(max(_IN_FLIGHT * n_threads, 1), _MOST_IN_FLIGHT)

    def compute(self, work: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
        """Have ``work`` done with what was sent, and wait for the result."""
        trouble: BaseException | None = None
        for _ in range(_ATTEMPTS):
            sent = self._held
            future = self.client.submit(work, sent, *arguments, pure=False)
            try:
                return _result_of(future)
            except (CancelledError, TimeoutError) as error:
                trouble = error.with_traceback(None)  # it would keep all that is at hand
                with self._lock:  # what was sent has gone, with the only worker that had it
                    if self._held is sent:
                        sent.release()
                        self._held = self.client.scatter(self._what, broadcast=True, hash=False)
            except self._killed as error:
                trouble = error.with_traceback(None)
                break
            except BaseException:
                future.cancel()
                raise
            finally:
                future.release()  # now: errors keep what was at hand
        raise RuntimeError(
            "workers of the cluster died again and again, and the fit with them; look into their "
            "logs (memory, most often), and fit again"
        ) from trouble

    def release(self) -> None:
        """Let the workers forget it."""
        self._held.release()


def _result_of(future: Any) -> FloatArray:
    """Wait for a task, so that Ctrl-C is heard though it never comes back."""
    pause = _LEAST_PAUSE
    while True:
        # Not by a short patience with the result: its way, begun anew each time, may take longer.
        while future.status == "pending":
            check_not_stopped()
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        try:
            found: FloatArray = future.result(timeout=_PATIENCE)
            return found
        # The latter of Dask itself, where a wait that is over is cancelled.
        except (TimeoutError, UnboundLocalError):
            if future.status == "error":  # of the task itself
                raise
        check_not_stopped()


class ClusterBlocks:
    """One-way distances, block by block, as `OneWayRows` makes them, by workers."""

    def __init__(
        self, connection: Connection, position: IntArray, send: Callable[[Any], Sent]
    ) -> None:
        rows_of = OneWayRows(connection, position)
        self.blocks, self.owned, self.dtype = rows_of.blocks, rows_of.owned, None
        self._sent = send(rows_of)

    def n_threads(self, n_jobs: int | None) -> int:
        """Tell how many blocks are asked for at a time, each by a thread that waits for it."""
        return self._sent.n_in_flight

    def write(self, block: slice, rows: FloatArray, first_row: int) -> None:
        """Write the rows of a block of nodes into ``rows``, which begins at ``first_row``."""
        first, last = (int(self.owned[node]) for node in (block.start, block.stop))
        own = slice(first - first_row, last - first_row)
        rows[own] = self._sent.compute(_one_way, block, rows.dtype.str)


class ClusterRows:
    """Distances from single sources, the mean of both directions, by workers."""

    def __init__(self, connection: Connection, send: Callable[[Any], Sent]) -> None:
        self._sent = send(connection)

    def fill(self, sources: IntArray, rows: FloatArray, run: Run) -> None:
        """Write the distances from all ``sources`` into ``rows`` (n_sources, n_points)."""

        def handle(block: slice) -> None:
            rows[block] = self._sent.compute(_mean, sources[block], rows.dtype.str)

        blocks, n_threads = cut(len(sources), 1), self._sent.n_in_flight
        run_blocks(handle, blocks, run, "distances", "sources", n_threads=n_threads)


def _one_way(rows_of: OneWayRows, block: slice, dtype: str) -> FloatArray:
    """Compute the rows of a block of nodes, one way."""
    first, last = rows_of.owned[block.start], rows_of.owned[block.stop]
    rows = np.empty((last - first, len(rows_of.position)), dtype=dtype)
    rows_of.write(block, rows, first)
    return rows


def _mean(connection: Connection, sources: IntArray, dtype: str) -> FloatArray:
    """Compute the rows of some sources, the mean of both directions."""
    rows = np.empty((len(sources), connection.graph.n_points), dtype=dtype)
    MeanRows(connection).fill(sources, rows, Run(n_jobs=1))
    return rows


def _workers(dask_scheduler: Any) -> list[tuple[int, int]]:
    """List threads and limit of memory of each worker, where the scheduler is."""
    return [
        (worker.nthreads, worker.memory_limit or 0) for worker in dask_scheduler.workers.values()
    ]


def _distributed() -> Any:
    """Import Dask's distributed, and see that this is no task of a cluster."""
    try:
        import distributed
    except ImportError as error:
        raise ValueError(
            "engine=\"dask\" needs dask and distributed; pip install 'ptunfold[dask]'"
        ) from error
    try:
        distributed.get_worker()
    except ValueError:
        return distributed
    raise ValueError(
        'engine="dask" inside a task of a cluster would wait for itself; pass engine="threads" '
        "there"
    )
