"""Distances on the workers of a Dask cluster; needs dask and distributed."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import DTypeLike

from ptunfold.engines.base import Engine
from ptunfold.geodesics.bands import BAND
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.geodesics.rows import MeanRows
from ptunfold.geodesics.squares import (
    BandSquares,
    plan_slabs,
    slab_product,
    sum_of_products,
)
from ptunfold.io.files import whole_file
from ptunfold.kernels.lanes import LANES
from ptunfold.kernels.tiles import add_mirrored, square_means
from ptunfold.memory import free_bytes
from ptunfold.progress import stage
from ptunfold.threads import cut, single_threaded_blas
from ptunfold.types import Connection, FloatArray, IntArray

_SOURCES_TOGETHER = 4  # landmarks of a task


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
        scratch = f"{self.scratch}/{len(self._held)}"
        client.run(make_scratch, scratch, on_error="ignore")
        rows = [
            client.submit(slab_rows, rows_of, slab.start, slab.stop, dtype, scratch, pure=False)
            for slab in slabs
        ]
        bands = []
        for index, slab in enumerate(slabs):
            below = [
                client.submit(columns_of, later, slab.start, slab.stop, pure=False)
                for later in rows[index + 1 :]
            ]
            bands.append(client.submit(fold_slab, rows[index], below, slab.start, pure=False))
        # Rows are let go as soon as nothing on the cluster needs them any more.
        del rows, below
        self._hold(bands)
        _wait_for(client, bands, how["progress"])
        return ClusterSquares(client, bands, len(position), dtype)

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
    """

    def __init__(self, client: Any, bands: list[Any], n_points: int, dtype: np.dtype[Any]) -> None:
        self.client, self.bands = client, bands
        self.n_points, self.dtype = n_points, dtype

    def near(self, vectors: FloatArray) -> FloatArray:
        """Leave vectors where they are."""
        return vectors

    def multiply(self, factor: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Multiply the matrix with ``factor`` (n_points, n_vectors), in float64."""
        slabs = plan_slabs(self.n_points)
        there = self.client.scatter(factor, broadcast=True, hash=False)
        products = [
            self.client.submit(product_of_slab, slab.start, bands, there, pure=False)
            for slab, bands in zip(slabs, self.bands, strict=True)
        ]
        return sum_of_products(slabs, self.client.gather(products), self.n_points)

    def whole(self) -> FloatArray:
        """Return the matrix itself in float64."""
        return BandSquares(
            [band for bands in self.client.gather(self.bands) for band in bands]
        ).whole()


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
        n_points = self.client.submit(_n_points, self.connection).result()
        return np.empty((n_rows, n_points), dtype=dtype)

    def fill(
        self, sources: IntArray, rows: FloatArray, *, n_jobs: int | None, progress: bool
    ) -> None:
        """Write the distances from all ``sources`` into ``rows`` (n_sources, n_points)."""
        from distributed import as_completed

        n_threads = max(sum(self.client.nthreads().values()), 1)
        together = min(max(len(sources) // (2 * n_threads), 1), _SOURCES_TOGETHER)
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


# What follows runs on the workers.


def slab_rows(
    rows_of: OneWayRows, start: int, stop: int, dtype: np.dtype[Any], scratch: str
) -> FloatArray:
    """Compute the rows ``start:stop``, one way; or read them, if this machine did so before.

    A copy is left on the disk of the machine: if a worker dies, what it had computed is not lost
    with it.
    """
    from distributed import get_worker

    path = _scratch_space(get_worker()) / scratch / f"{start}.npy"
    found = _read_rows(path)
    if found is not None:
        return found
    n_rows = len(rows_of.position)
    first_node = int(rows_of.position[start]) // LANES * LANES
    last_node = int(rows_of.position[stop - 1]) + 1
    n_nodes = len(rows_of.owned) - 1
    nodes = slice(first_node, min(-(-last_node // LANES) * LANES, n_nodes))
    first = int(rows_of.owned[nodes.start])
    rows = np.empty((int(rows_of.owned[nodes.stop]) - first, n_rows), dtype=dtype)
    rows_of.write(nodes, rows, first)
    rows = rows[start - first : stop - first]
    _copier().submit(_write_rows, path, rows)  # while the next one is computed
    return rows


def columns_of(rows: FloatArray, start: int, stop: int) -> FloatArray:
    """Take some columns out of rows; they are copied only if they have to travel."""
    return rows[:, start:stop]


def fold_slab(rows: FloatArray, below: Sequence[FloatArray], start: int) -> list[FloatArray]:
    """Make the bands of a slab: squares of the means of both directions.

    Parameters
    ----------
    rows : (n_slab, n_rows)
        The rows of the slab, one way.
    below : sequence of arrays
        The columns of the slab in the rows of the slabs below it, the other way.
    start : int
        The first row of the slab.
    """
    bands = []
    for top in range(0, len(rows), BAND):
        height = min(BAND, len(rows) - top)
        band = rows[top : top + height, start + top :].copy()
        across = slice(top, top + height)
        left = height
        for block in (rows[top + height :, start : start + len(rows)], *below):
            add_mirrored(band, left, block[:, across])
            left += len(block)
        square_means(band)
        bands.append(band)
    return bands


def product_of_slab(top: int, bands: list[FloatArray], factor: FloatArray) -> FloatArray:
    """Multiply the bands of a slab, with one thread."""
    with single_threaded_blas():
        return slab_product(top, bands, factor)


def mean_rows(connection: Connection, sources: IntArray, dtype: np.dtype[Any]) -> FloatArray:
    """Compute distances from some sources, the mean of both directions."""
    rows = np.empty((len(sources), connection.graph.n_points), dtype=dtype)
    MeanRows(connection).fill(sources, rows, n_jobs=1, progress=False)
    return rows


def make_scratch(scratch: str, dask_worker: Any) -> None:
    """Make the folder where `slab_rows` leaves copies; without it there are none."""
    (_scratch_space(dask_worker) / scratch).mkdir(parents=True, exist_ok=True)


def remove_scratch(scratch: str, dask_worker: Any) -> None:
    """Remove what `slab_rows` has left on the disk."""
    wait([_copier().submit(int)])  # what was to be written before is written
    shutil.rmtree(_scratch_space(dask_worker) / scratch, ignore_errors=True)


def _scratch_space(worker: Any) -> Path:
    """Return the folder that all workers of a machine share."""
    return Path(worker.local_directory).parent


def _n_points(connection: Connection) -> int:
    return connection.graph.n_points


@cache
def _copier() -> ThreadPoolExecutor:
    """Return the thread of a worker that writes copies, one after the other."""
    return ThreadPoolExecutor(1)


def _write_rows(path: Path, rows: FloatArray) -> None:
    if not path.parent.is_dir():
        return  # the fit is over, or this machine came late
    # There whole or not at all; on a full disk not at all, which harms nobody.
    with (
        suppress(OSError),
        whole_file(path, is_durable=False) as name,
        name.open("wb") as file,
    ):
        np.save(file, rows)


def _read_rows(path: Path) -> FloatArray | None:
    """Read rows that a worker of this machine has written; None if there are none."""
    try:
        rows: FloatArray = np.load(path)
    except (OSError, ValueError, EOFError):
        return None
    return rows


def _wait_for(client: Any, futures: list[Any], progress: bool) -> None:
    """Wait for slabs, and raise what goes wrong with one of them."""
    from distributed import as_completed

    with stage("distances", len(futures), "slabs", progress) as bar:
        for future in as_completed(futures, loop=client.loop):
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
