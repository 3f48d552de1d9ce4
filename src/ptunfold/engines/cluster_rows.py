"""Distances from single sources, on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.engines.cluster_tasks import every_column, mean_rows
from ptunfold.engines.cluster_tools import TASKS_A_THREAD, as_array, n_threads, stop, try_again
from ptunfold.progress import stage
from ptunfold.threads import cut
from ptunfold.types import Connection, FloatArray, IntArray

_SOURCES_TOGETHER = 4  # landmarks of a task
_LOST = ("cancelled", "error")


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
        n_tasks = TASKS_A_THREAD * n_threads(self.client)
        together = min(max(len(sources) // n_tasks, 1), _SOURCES_TOGETHER)
        first = at.indices(rows.n_rows)[0]
        missing = [first + block.start for block in cut(len(sources), together)]
        for start, block in zip(missing, cut(len(sources), together), strict=True):
            rows.sources[start] = sources[block]
        self._submit(rows, missing)
        with stage("distances", len(sources), "sources", progress) as bar:
            try_again(lambda: self._wait(rows, missing, bar), lambda: self._repair(rows))

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
        columns: list[Any] = []
        if rows.some is not None:
            steps = [rows.step] * len(wanted)
            columns = self.client.map(every_column, list(wanted), steps, pure=False)
            wanted = dict(zip(columns, wanted.values(), strict=True))
        try:
            for task in as_completed(list(wanted), loop=self.client.loop):
                start = wanted.pop(task)
                n_rows = len(rows.sources[start])
                if rows.some is not None:
                    rows.some[start : start + n_rows] = task.result()
                elif task.status != "finished":  # else it stays where it is
                    task.result()
                missing.remove(start)
                bar.update(n_rows)
        finally:
            stop(self.client, columns)

    def _repair(self, rows: RowsThere) -> None:
        """Send the graph again, and have rows computed that nobody has any more."""
        self._send()
        self._submit(rows, [start for start, task in rows.tasks.items() if task.status in _LOST])

    def use(self, rows: RowsThere, n_rows: int, work: Callable[[Any], Any]) -> Any:
        """Call ``work`` with the first ``n_rows`` of rows, as a Dask array."""

        def work_there() -> Any:
            n_points = self.connection.graph.n_points
            return work(as_array(rows.tasks, n_rows, n_points, rows.dtype))

        with self.client.as_current():
            return try_again(work_there, lambda: self._repair(rows))


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
