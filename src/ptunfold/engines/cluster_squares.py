"""All squared distances of a component, on the workers of a Dask cluster."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ptunfold.engines.cluster_tasks import (
    Scratch,
    fold_slab,
    make_scratch,
    opened,
    products_of_slabs,
    slab_rows,
    tiles_in,
)
from ptunfold.engines.cluster_tools import TASKS_A_THREAD, as_array, try_again
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.geodesics.squares import Tile, plan_slabs, sum_of_products, whole_of
from ptunfold.progress import stage
from ptunfold.types import FloatArray

_NUMBERS_A_PAIR = 1.6  # in files: rows, half as many squares, and some more at the diagonal


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
        try_again(lambda: self._make(progress))

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
                columns = as_array(rows, self.n_points, self.n_points, self.dtype)[:, slab]
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
        return cast("FloatArray", try_again(lambda: self._multiply(factor), self.make))

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
        n_tasks = min(TASKS_A_THREAD * self.n_threads, n_slabs)
        if not (self.scratch.is_shared and all(slab.done() for slab in self.folded)):
            n_tasks = n_slabs
        turn = 2 * n_tasks
        return [
            [*range(first, n_slabs, turn), *range(turn - 1 - first, n_slabs, turn)]
            for first in range(n_tasks)
        ]

    def whole(self) -> FloatArray:
        """Return the matrix itself in float64."""
        return cast("FloatArray", try_again(self._whole, self.make))

    def _whole(self) -> FloatArray:
        tiles: list[Tile] = []
        for slab, flat in zip(plan_slabs(self.n_points), self.folded, strict=True):
            numbers = self.client.submit(opened, flat, pure=False).result()
            tiles += tiles_in(numbers, slab, self.n_points)
        return whole_of(tiles, self.n_points)


def _wait_for(client: Any, futures: list[Any]) -> None:
    """Show how many slabs there are, and raise what goes wrong with one of them."""
    from distributed import as_completed

    with stage("distances", len(futures), "slabs", True) as bar:
        for future in as_completed(futures, loop=client.loop):
            if future.status != "finished":  # else it stays where it is
                future.result()
            bar.update(1)
