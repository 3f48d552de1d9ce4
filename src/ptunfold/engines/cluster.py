"""Distances on the workers of a Dask cluster; needs dask and distributed."""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.engines.base import Engine
from ptunfold.engines.cluster_files import FileSquares
from ptunfold.engines.cluster_rows import ClusterRows
from ptunfold.engines.cluster_squares import ClusterSquares, SlabRows
from ptunfold.engines.cluster_tasks import is_here, make_scratch, remove_scratch
from ptunfold.engines.cluster_tools import RowTasks, stop
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.geodesics.squares import Squares
from ptunfold.memory import free_bytes
from ptunfold.needs import bytes_of_all_distances
from ptunfold.threads import effective_n_jobs
from ptunfold.types import Connection, IntArray

_COMFORTABLE = 0.5  # of the memory that is free: files take some too, while there is enough


class ClusterEngine(Engine):
    """The workers of the Dask client that is there, or of one that is made for the fit.

    Parameters
    ----------
    n_jobs : int, optional
        The number of workers of a cluster that is made here; one for every core by default.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        distributed = _distributed()
        if _is_in_task(distributed):
            raise ValueError(
                'engine="dask" inside a task of a cluster would wait for itself; pass '
                'engine="threads" there'
            )
        self._own: Any = None
        try:
            self.client = distributed.default_client()
        except ValueError:
            n_workers = effective_n_jobs(n_jobs)
            self._own = distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                dashboard_address=None,
                memory_limit=free_bytes() // n_workers,
            )
            try:
                self.client = distributed.Client(self._own, set_as_default=False)
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
        self.scratch = f"ptunfold-{uuid.uuid4().hex}"
        self._held: list[Any] = []

    def squares(
        self, connection: Connection, position: IntArray, dtype: DTypeLike, **how: Any
    ) -> Squares:
        """Estimate all squared distances in an arranged component."""
        tasks = RowTasks(
            self.client,
            OneWayRows(connection, position),
            np.dtype(dtype),
            self._hold,
            progress=how["progress"],
        )
        name = f"{self.scratch}/{len(self._held)}"
        folder = self._folder_here(name, tasks.n_rows, tasks.dtype)
        if folder is not None:
            with suppress(OSError):  # a full disk, or a worker elsewhere that has come since
                return FileSquares(tasks, folder)
        return ClusterSquares(
            SlabRows(tasks, name),
            tasks.n_rows,
            tasks.dtype,
            client=self.client,
            scratch=name,
            hold=self._hold,
        )

    def _folder_here(self, name: str, n_rows: int, dtype: np.dtype[Any]) -> Path | None:
        """Return a folder for all rows that all workers and this process see.

        None if there is no such folder, or no room for the squares in memory.
        """
        n_bytes = n_rows**2 * dtype.itemsize
        told = self.client.run(make_scratch, name, n_bytes, on_error="ignore")
        if len(set(told.values())) != 1 or len(told) != len(self.client.nthreads()):
            return None
        (place,) = set(told.values())
        if place is None or not is_here(*place):
            return None
        has_room = bytes_of_all_distances(n_rows, dtype.itemsize) <= _COMFORTABLE * free_bytes()
        return Path(place[0]) if has_room else None

    def one_way_rows(self, connection: Connection, position: IntArray) -> Any:
        """Refuse: rows of a cluster are not for a store."""
        raise ValueError('engine="dask" keeps distances on the cluster; pass no store')

    def rows(self, connection: Connection) -> ClusterRows:
        """Prepare distances from single sources in a connected graph."""
        return ClusterRows(self.client, connection, self._hold)

    def _hold(self, futures: Any) -> Any:
        self._held.append(futures)
        return futures

    def close(self, *, is_broken: bool) -> None:
        """Free the memory and the disks of the cluster; stop it if it was made for the fit."""
        try:
            # From the last to the first: what others depend on goes after them. Not by forgetting
            # alone, because Dask keeps errors, and they keep what was at hand.
            for futures in reversed(self._held):
                stop(self.client, futures if isinstance(futures, list) else [futures])
            self._held.clear()
            with suppress(Exception):  # of a cluster that is gone; the fit may be whole
                self.client.run(remove_scratch, self.scratch, on_error="ignore")
        finally:
            if self._own is not None:
                try:
                    self.client.close()
                finally:
                    self._own.close()


def _is_in_task(distributed: Any) -> bool:
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ValueError(
            "engine=\"dask\" needs dask and distributed; pip install 'ptunfold[dask]'"
        ) from error
    return distributed
