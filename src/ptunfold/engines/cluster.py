"""Distances on the workers of a Dask cluster; needs dask and distributed."""

from __future__ import annotations

import uuid
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import DTypeLike

from ptunfold.engines.base import Engine
from ptunfold.engines.cluster_tasks import (
    Scratch,
    bands_in,
    columns_of,
    fold_slab,
    make_scratch,
    mean_rows,
    n_points_of,
    opened,
    products_of_slabs,
    remove_scratch,
    slab_rows,
)
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.geodesics.squares import BandSquares, plan_slabs, sum_of_products
from ptunfold.memory import free_bytes
from ptunfold.progress import stage
from ptunfold.threads import cut
from ptunfold.types import Connection, FloatArray, IntArray

_SOURCES_TOGETHER = 4  # landmarks of a task
_TASKS_A_THREAD = 2  # at least, so that nobody waits long for the last


class ClusterEngine(Engine):
    """The workers of the Dask client that is there, or of one that is made for the fit.

    Parameters
    ----------
    n_jobs : int, optional
        The number of workers of a cluster that is made here, as in scikit-learn.
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
    ) -> ClusterSquares:
        """Estimate all squared distances in an arranged component."""
        client, dtype = self.client, np.dtype(dtype)
        rows_of = self._hold(
            client.scatter(OneWayRows(connection, position), broadcast=True, hash=False)
        )
        slabs = plan_slabs(len(position))
        name = f"{self.scratch}/{len(self._held)}"
        folders = client.run(make_scratch, name, on_error="ignore")
        # Workers that come later are left out if they are on another machine.
        machine = _one_machine(folders) if len(folders) == len(client.nthreads()) else None
        scratch = Scratch(name, is_shared=machine is not None)
        how_to: dict[str, Any] = {"pure": False, "workers": machine}
        rows: list[Any] = []  # those of the slabs below
        bands: list[Any] = []
        # From the last slab to the first: what a slab needs of others is there when it is done.
        for slab in reversed(slabs):
            across = (slab.start, slab.stop)
            below = rows
            if not scratch.is_shared:
                below = [client.submit(columns_of, one, *across, **how_to) for one in rows]
            own = client.submit(slab_rows, rows_of, *across, dtype, scratch, **how_to)
            folded = client.submit(fold_slab, own, below, slab.start, scratch, **how_to)
            rows, bands = [own, *rows], [folded, *bands]
        # Rows are let go as soon as nothing on the cluster needs them any more.
        del rows, below, own
        self._hold(bands)
        _wait_for(client, bands, how["progress"])
        return ClusterSquares(client, bands, len(position), dtype, machine)

    def one_way_rows(self, connection: Connection, position: IntArray) -> Any:
        """Refuse: rows of a cluster stay on it."""
        raise ValueError('engine="dask" keeps distances on the cluster; pass no store')

    def rows(self, connection: Connection) -> ClusterRows:
        """Prepare distances from single sources in a connected graph."""
        return ClusterRows(
            self.client, self._hold(self.client.scatter(connection, broadcast=True, hash=False))
        )

    def _hold(self, futures: Any) -> Any:
        self._held.append(futures)
        return futures

    def close(self, *, is_broken: bool) -> None:
        """Free the memory and the disks of the cluster; stop it if it was made for the fit."""
        try:
            if is_broken:
                # From the last to the first: what others depend on goes after them.
                for futures in reversed(self._held):
                    self.client.cancel(futures)
            self._held.clear()
            with suppress(OSError):  # a worker that died this moment, or the scheduler
                self.client.run(remove_scratch, self.scratch, on_error="ignore")
        finally:
            if self._own is not None:
                self.client.close()
                self._own.close()


class ClusterSquares:
    """Squared distances on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
        The way to the workers.
    bands : list of Future
        The bands of each slab, as `plan_slabs` cuts them.
    n_points : int
        The number of rows and columns.
    dtype : numpy.dtype
        Of the distances.
    machine : list of str, optional
        The machine whose workers all see the bands of each other.
    """

    def __init__(
        self,
        client: Any,
        bands: list[Any],
        n_points: int,
        dtype: np.dtype[Any],
        machine: list[str] | None = None,
    ) -> None:
        self.client, self.bands = client, bands
        self.n_points, self.dtype = n_points, dtype
        self.machine = machine

    def near(self, vectors: FloatArray) -> FloatArray:
        """Leave vectors where they are."""
        return vectors

    def multiply(self, factor: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Multiply the matrix with ``factor`` (n_points, n_vectors), in float64."""
        slabs = plan_slabs(self.n_points)
        there = self.client.scatter(factor, hash=False)
        n_tasks = len(slabs)
        if self.machine is not None:
            n_tasks = min(_TASKS_A_THREAD * _n_threads(self.client), n_tasks)
        tasks = [
            self.client.submit(
                products_of_slabs,
                [slab.start for slab in slabs[first::n_tasks]],
                self.bands[first::n_tasks],
                there,
                pure=False,
                workers=self.machine,
            )
            for first in range(n_tasks)
        ]
        products: list[Any] = [None] * len(slabs)
        for first, found in enumerate(self.client.gather(tasks)):
            products[first::n_tasks] = found
        return sum_of_products(slabs, products, self.n_points)

    def whole(self) -> FloatArray:
        """Return the matrix itself in float64."""
        bands = []
        for slab, flat in zip(plan_slabs(self.n_points), self.bands, strict=True):
            numbers = self.client.submit(opened, flat, pure=False, workers=self.machine).result()
            bands += bands_in(numbers, slab.start, self.n_points)
        return BandSquares(bands).whole()


class ClusterRows:
    """Distances from single sources, the mean of both directions, computed on a cluster.

    Parameters
    ----------
    client : distributed.Client
        The way to the workers.
    connection : Future
        The connection.
    """

    def __init__(self, client: Any, connection: Any) -> None:
        self.client, self.connection = client, connection

    def new_rows(self, n_rows: int, dtype: DTypeLike) -> FloatArray:
        """Make room for rows (n_rows, n_points), here."""
        n_points = self.client.submit(n_points_of, self.connection).result()
        return np.empty((n_rows, n_points), dtype=dtype)

    def fill(
        self, sources: IntArray, rows: FloatArray, *, n_jobs: int | None, progress: bool
    ) -> None:
        """Write the distances from all ``sources`` into ``rows`` (n_sources, n_points)."""
        from distributed import as_completed

        n_tasks = _TASKS_A_THREAD * _n_threads(self.client)
        together = min(max(len(sources) // n_tasks, 1), _SOURCES_TOGETHER)
        blocks = cut(len(sources), together)
        tasks = {
            self.client.submit(
                mean_rows, self.connection, sources[block], rows.dtype, pure=False
            ): block
            for block in blocks
        }
        with stage("distances", len(sources), "sources", progress) as bar:
            for task in as_completed(list(tasks), loop=self.client.loop):
                block = tasks.pop(task)
                rows[block] = _result(task)
                bar.update(block.stop - block.start)


def _one_machine(folders: dict[str, Any]) -> list[str] | None:
    """Return the machine, as a list, if all workers share a folder of it."""
    from distributed.comm import get_address_host

    hosts = {get_address_host(address) for address in folders}
    return list(hosts) if len(hosts) == len(set(folders.values())) == 1 else None


def _n_threads(client: Any) -> int:
    return max(sum(client.nthreads().values()), 1)


def _wait_for(client: Any, futures: list[Any], progress: bool) -> None:
    """Wait for slabs, and raise what goes wrong with one of them."""
    from distributed import as_completed

    with stage("distances", len(futures), "slabs", progress) as bar:
        for future in as_completed(futures, loop=client.loop):
            if future.status != "finished":  # else it stays where it is
                _result(future)
            bar.update(1)


def _result(future: Any) -> Any:
    """Return what a task has found."""
    try:
        return future.result()
    except CancelledError as error:
        raise RuntimeError(
            "all workers that had the graph are gone, and the fit with them; fit again, with more "
            "than one worker"
        ) from error


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
