"""Distances on the workers of a Dask cluster; needs dask and distributed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import pairwise
from typing import Any, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import DTypeLike

from ptunfold.engines.base import Engine
from ptunfold.engines.cluster_tasks import (
    Scratch,
    every_column,
    fold_slab,
    make_scratch,
    mean_rows,
    opened,
    products_of_slabs,
    remove_scratch,
    slab_rows,
    tiles_in,
)
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.geodesics.squares import Tile, plan_slabs, sum_of_products, whole_of
from ptunfold.memory import free_bytes
from ptunfold.progress import stage
from ptunfold.threads import cut
from ptunfold.types import Connection, FloatArray, IntArray

_SOURCES_TOGETHER = 4  # landmarks of a task
_ATTEMPTS = 4
_NUMBERS_A_PAIR = 1.6  # in files: rows, half as many squares, and some more at the diagonal
_LOST = ("cancelled", "error")
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
        name = f"{self.scratch}/{len(self._held)}"
        squares = ClusterSquares(
            self.client, OneWayRows(connection, position), np.dtype(dtype), name, self._hold
        )
        squares.make(how["progress"])
        return squares

    def one_way_rows(self, connection: Connection, position: IntArray) -> Any:
        """Refuse: rows of a cluster stay on it."""
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
            if is_broken:
                # From the last to the first: what others depend on goes after them.
                for futures in reversed(self._held):
                    _stop(self.client, futures if isinstance(futures, list) else [futures])
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
    rows_of : OneWayRows
        What makes the rows.
    dtype : numpy.dtype
        Of the distances.
    name : str
        Of the folder for the files of the workers.
    hold : callable
        Is given all futures, and keeps them.
    """

    def __init__(
        self, client: Any, rows_of: OneWayRows, dtype: np.dtype[Any], name: str, hold: Any
    ) -> None:
        self.client, self.rows_of, self.dtype = client, rows_of, dtype
        self.n_points = len(rows_of.position)
        self.scratch = Scratch(name)
        self.folded: list[Any] = []
        self.n_threads = 1
        self._hold = hold

    def make(self, progress: bool = False) -> None:
        """Compute what is not there yet."""
        _try_again(lambda: self._make(progress))

    def _make(self, progress: bool) -> None:
        client, name = self.client, self.scratch.name
        n_bytes = int(_NUMBERS_A_PAIR * self.dtype.itemsize * self.n_points**2)
        folders = client.run(make_scratch, name, n_bytes, on_error="ignore")
        threads = client.nthreads()
        self.n_threads = max(sum(threads.values()), 1)
        all_same = len(set(folders.values())) == 1 and len(folders) == len(threads)
        self.scratch = Scratch(name, is_shared=all_same and None not in folders.values())
        rows_of = self._hold(client.scatter(self.rows_of, hash=False))
        rows: dict[int, Any] = {}  # those of the slabs below, by the first of them
        slabs: list[Any] = []
        # From the last slab to the first: what a slab needs of others is there when it is done.
        for slab in reversed(plan_slabs(self.n_points)):
            across = (slab.start, slab.stop)
            below = [rows[start] for start in sorted(rows)]
            if rows and not self.scratch.is_shared:
                columns = _as_array(rows, self.n_points, self.n_points, self.dtype)[:, slab]
                below = client.compute(list(columns.to_delayed().ravel()), optimize_graph=False)
                del columns
            own = client.submit(slab_rows, rows_of, *across, self.dtype, self.scratch, pure=False)
            folded = client.submit(fold_slab, own, below, slab.start, self.scratch, pure=False)
            rows[slab.start], slabs = own, [folded, *slabs]
        # Rows are let go as soon as nothing on the cluster needs them any more.
        del rows, below, own
        self.folded = self._hold(slabs)
        if progress:  # else whoever needs a slab waits for it
            _wait_for(client, slabs)

    def near(self, vectors: FloatArray) -> FloatArray:
        """Leave vectors where they are."""
        return vectors

    def multiply(self, factor: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Multiply the matrix with ``factor`` (n_points, n_vectors), in float64."""
        return cast("FloatArray", _try_again(lambda: self._multiply(factor), self.make))

    def _multiply(self, factor: FloatArray) -> FloatArray:
        slabs = plan_slabs(self.n_points)
        there = self.client.scatter(factor, hash=False)
        groups = self._groups(len(slabs))
        # All in one message: the client sends the next one some milliseconds later.
        tasks = self.client.map(
            products_of_slabs,
            [[slabs[index] for index in group] for group in groups],
            [[self.folded[index] for index in group] for group in groups],
            [there] * len(groups),
            pure=False,
        )
        products: dict[int, FloatArray] = {}
        try:
            for group, found in zip(groups, self.client.gather(tasks), strict=True):
                products.update(zip(group, found, strict=True))
        except BaseException:
            self.client.cancel([there, *tasks])
            raise
        return sum_of_products(slabs, [products[i] for i in range(len(slabs))], self.n_points)

    def _groups(self, n_slabs: int) -> list[list[int]]:
        """Share slabs out among the tasks of a product.

        Each is alone if it has its place on some worker, or is still to be made: then its product
        follows at once. Else every task has slabs from both ends, the large and the small ones.
        """
        n_tasks = min(_TASKS_A_THREAD * self.n_threads, n_slabs)
        if not (self.scratch.is_shared and all(slab.done() for slab in self.folded)):
            n_tasks = n_slabs
        turn = 2 * n_tasks
        return [
            [*range(first, n_slabs, turn), *range(turn - 1 - first, n_slabs, turn)]
            for first in range(n_tasks)
        ]

    def whole(self) -> FloatArray:
        """Return the matrix itself in float64."""
        return cast("FloatArray", _try_again(self._whole, self.make))

    def _whole(self) -> FloatArray:
        tiles: list[Tile] = []
        for slab, flat in zip(plan_slabs(self.n_points), self.folded, strict=True):
            numbers = self.client.submit(opened, flat, pure=False).result()
            tiles += tiles_in(numbers, slab, self.n_points)
        return whole_of(tiles, self.n_points)


class ClusterRows:
    """Distances from single sources, the mean of both directions, computed and kept on a cluster.

    Parameters
    ----------
    client : distributed.Client
        The way to the workers.
    connection : Connection
        Connected.
    hold : callable
        Is given all futures, and keeps them.
    """

    def __init__(self, client: Any, connection: Connection, hold: Any) -> None:
        self.client, self.connection = client, connection
        self._hold = hold
        self._there: Any = None
        self._send()

    def _send(self) -> None:
        self._there = self._hold(self.client.scatter(self.connection, broadcast=True, hash=False))

    def new_rows(self, n_rows: int, dtype: DTypeLike) -> RowsThere:
        """Make a list of what will be on the cluster."""
        return RowsThere(n_rows, np.dtype(dtype))

    def some(self, rows: RowsThere, step: int) -> FloatArray:
        """Have every ``step``-th column come here as soon as it is there."""
        n_columns = -(-self.connection.graph.n_points // step)
        rows.step, rows.some = step, np.empty((rows.n_rows, n_columns), dtype=rows.dtype)
        return rows.some

    def fill(
        self,
        sources: IntArray,
        rows: RowsThere,
        at: slice = slice(None),
        *,
        n_jobs: int | None,
        progress: bool,
    ) -> None:
        """Have the distances from all ``sources`` computed, the rows ``at``."""
        n_tasks = _TASKS_A_THREAD * _n_threads(self.client)
        together = min(max(len(sources) // n_tasks, 1), _SOURCES_TOGETHER)
        first = at.indices(rows.n_rows)[0]
        missing = [first + block.start for block in cut(len(sources), together)]
        for start, block in zip(missing, cut(len(sources), together), strict=True):
            rows.sources[start] = sources[block]
        self._submit(rows, missing)
        with stage("distances", len(sources), "sources", progress) as bar:
            _try_again(lambda: self._wait(rows, missing, bar), lambda: self._repair(rows))

    def _submit(self, rows: RowsThere, starts: list[int]) -> None:
        tasks = self.client.map(
            mean_rows,
            [self._there] * len(starts),
            [rows.sources[start] for start in starts],
            [rows.dtype] * len(starts),
            pure=False,
        )
        rows.tasks.update(zip(starts, self._hold(tasks), strict=True))

    def _wait(self, rows: RowsThere, missing: list[int], bar: Any) -> None:
        """Wait for rows, and take them off the list."""
        from distributed import as_completed

        wanted = {rows.tasks[start]: start for start in missing}
        if rows.some is not None:
            wanted = {
                self.client.submit(every_column, task, rows.step, pure=False): start
                for task, start in wanted.items()
            }
        for task in as_completed(list(wanted), loop=self.client.loop):
            start = wanted.pop(task)
            n_rows = len(rows.sources[start])
            if rows.some is not None:
                rows.some[start : start + n_rows] = task.result()
            elif task.status != "finished":  # else it stays where it is
                task.result()
            missing.remove(start)
            bar.update(n_rows)

    def _repair(self, rows: RowsThere) -> None:
        """Send the graph again, and have rows computed that nobody has any more."""
        self._send()
        self._submit(rows, [start for start, task in rows.tasks.items() if task.status in _LOST])

    def use(self, rows: RowsThere, n_rows: int, work: Callable[[Any], Any]) -> Any:
        """Call ``work`` with the first ``n_rows`` of rows, as a Dask array."""

        def work_there() -> Any:
            n_points = self.connection.graph.n_points
            return work(_as_array(rows.tasks, n_rows, n_points, rows.dtype))

        with self.client.as_current():
            return _try_again(work_there, lambda: self._repair(rows))


class RowsThere:
    """Rows of distances on a cluster.

    Parameters
    ----------
    n_rows : int
        How many there will be.
    dtype : numpy.dtype
        Of the distances.

    Attributes
    ----------
    sources, tasks : dict
        The sources of some rows, and the future that has them, by the first of the rows.
    some : (n_rows, n_columns) or None
        Every ``step``-th column, here.
    """

    def __init__(self, n_rows: int, dtype: np.dtype[Any]) -> None:
        self.n_rows, self.dtype = n_rows, dtype
        self.sources: dict[int, IntArray] = {}
        self.tasks: dict[int, Any] = {}
        self.step, self.some = 1, cast("FloatArray | None", None)


def _as_array(rows: dict[int, Any], stop: int, n_columns: int, dtype: np.dtype[Any]) -> Any:
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


def _try_again(work: Callable[[], Any], repair: Callable[[], None] = lambda: None) -> Any:
    """Do something on the cluster; again if workers went away with what it needs.

    It may be the graph, of which Dask keeps one copy where nobody waits for it, or a file that a
    worker on a new machine does not see.
    """
    for attempt in range(_ATTEMPTS):
        try:
            if attempt:
                repair()
            return work()
        except (CancelledError, FileNotFoundError, TimeoutError) as error:
            # Dask keeps the error, and the error would keep all that was at hand.
            trouble = error.with_traceback(None)
    raise RuntimeError(
        "workers of the cluster died again and again, and the fit with them; look into their logs "
        "(memory, most often), and fit again"
    ) from trouble


def _stop(client: Any, futures: list[Any]) -> None:
    """Let results go, and stop what is not done, even if somebody still has the futures.

    To cancel what is done would be too much: Dask's scheduler goes on to the tasks that need it,
    and fails if nobody waits for these.
    """
    client.cancel([future for future in futures if not future.done()])
    for future in futures:
        future.release()


def _n_threads(client: Any) -> int:
    return max(sum(client.nthreads().values()), 1)


def _wait_for(client: Any, futures: list[Any]) -> None:
    """Show how many slabs there are, and raise what goes wrong with one of them."""
    from distributed import as_completed

    with stage("distances", len(futures), "slabs", True) as bar:
        for future in as_completed(futures, loop=client.loop):
            if future.status != "finished":  # else it stays where it is
                future.result()
            bar.update(1)


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
