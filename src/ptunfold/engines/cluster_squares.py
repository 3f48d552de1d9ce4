"""All squared distances of a component, made from a Dask array of distances, where it lies."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, cast

import numpy as np

from ptunfold.engines.cluster_tasks import (
    bands_in,
    fold_slab,
    make_scratch,
    product_of_slab,
    slab_rows,
)
from ptunfold.engines.cluster_tools import RowTasks, as_array, sent, stop, try_again
from ptunfold.geodesics.squares import BandSquares, plan_slabs, sum_of_products
from ptunfold.types import FloatArray

_NUMBERS_A_PAIR = 1.6  # in files: rows, half as many squares, and some more at the diagonal


class ClusterSquares:
    """Squared distances on the workers of a cluster, or wherever Dask keeps arrays.

    Parameters
    ----------
    make_rows : callable
        Returns a Dask array (n_points, n_points) of one-way distances; called again if workers
        die with what it was made from.
    n_points : int
        The number of rows and columns.
    dtype : numpy.dtype
        Of the distances.
    client : distributed.Client, optional
        The way to the workers; Dask's own choice by default.
    scratch : str, optional
        The name of a folder on the disks of the workers; without it all is in their memory.
    hold : callable, optional
        Is given all futures, and keeps them.
    """

    def __init__(
        self,
        make_rows: Callable[[], Any],
        n_points: int,
        dtype: np.dtype[Any],
        *,
        client: Any = None,
        scratch: str | None = None,
        hold: Callable[[Any], Any] = lambda futures: futures,
    ) -> None:
        self.n_points, self.dtype = n_points, dtype
        self.folded: list[Any] = []
        self._make_rows, self._scratch, self._hold = make_rows, scratch, hold
        self._where = nullcontext if client is None else client.as_current
        with self._where():
            try_again(self._fold)

    def _fold(self) -> None:
        """Have the slabs of squares made; whoever needs one waits for it."""
        import dask

        slabs = plan_slabs(self.n_points)
        heights = tuple(slab.stop - slab.start for slab in slabs)
        rows = self._make_rows().rechunk((heights, (self.n_points,)))
        fold = dask.delayed(fold_slab, pure=False)
        tasks = []
        for slab in slabs:
            (own,) = _chunks(rows[slab])
            below = _chunks(rows[slab.stop :, slab]) if slab.stop < self.n_points else []
            tasks.append(fold(own, below, slab.start, self._scratch))
        # From here on nobody but the cluster has the rows, and lets them go when they are used up.
        self.folded = list(dask.persist(*tasks))
        self._hold([future for slab in self.folded for future in _futures(slab)])

    def near(self, vectors: FloatArray) -> FloatArray:
        """Leave vectors where they are."""
        return vectors

    def multiply(self, factor: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Multiply the matrix with ``factor`` (n_points, n_vectors), in float64."""
        with self._where():
            return cast("FloatArray", try_again(lambda: self._multiply(factor), self._fold))

    def _multiply(self, factor: FloatArray) -> FloatArray:
        import dask

        slabs = plan_slabs(self.n_points)
        product = dask.delayed(product_of_slab, pure=False)
        with sent(factor) as there:
            tasks = map(product, slabs, self.folded, [there] * len(slabs))
            products = dask.compute(*tasks)
        return sum_of_products(slabs, products, self.n_points)

    def whole(self) -> FloatArray:
        """Return the matrix itself in float64."""
        with self._where():
            return cast("FloatArray", try_again(self._whole, self._fold))

    def _whole(self) -> FloatArray:
        bands: list[FloatArray] = []
        for slab, flat in zip(plan_slabs(self.n_points), self.folded, strict=True):
            bands += bands_in(flat.compute(), slab, self.n_points)
        return BandSquares(bands).whole()

    def release(self) -> None:
        """Let the squares go, also if somebody still has this object after an error."""
        for slab in self.folded:
            for future in _futures(slab):
                future.release()
        self.folded = []


class SlabRows:
    """Rows of one-way distances on a cluster, as a Dask array.

    Parameters
    ----------
    tasks : RowTasks
        What has the rows computed.
    scratch : str
        The name of the folder for the files of the workers.
    """

    def __init__(self, tasks: RowTasks, scratch: str) -> None:
        self.tasks, self.scratch = tasks, scratch

    def __call__(self) -> Any:
        """Have the rows computed that no file has; return a Dask array of all of them."""
        tasks, client = self.tasks, self.tasks.client
        n_machines = len({address.rsplit(":", 1)[0] for address in client.nthreads()})
        n_bytes = _NUMBERS_A_PAIR * tasks.dtype.itemsize * tasks.n_rows**2 / max(n_machines, 1)
        client.run(make_scratch, self.scratch, int(n_bytes), on_error="ignore")
        # From the last slab to the first: what a slab needs of others is there when it is done.
        slabs = plan_slabs(tasks.n_rows)[::-1]
        futures = tasks.start(slab_rows, slabs, [self.scratch] * len(slabs))
        try:
            if tasks.progress:  # else whoever needs rows waits for them
                tasks.wait(futures, slabs)
            rows = dict(zip((slab.start for slab in slabs), futures, strict=True))
            return as_array(rows, tasks.n_rows, tasks.n_rows, tasks.dtype)
        except BaseException:
            stop(client, futures)
            raise


def _chunks(array: Any) -> list[Any]:
    return list(array.to_delayed(optimize_graph=False).ravel())


def _futures(slab: Any) -> list[Any]:
    """List the futures behind a persisted slab; none without a cluster."""
    return [value for value in slab.dask.values() if hasattr(value, "release")]
