"""All squared distances of a component, from rows in files that workers write and we see."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ptunfold.engines.cluster_tasks import remove, share_of_rows
from ptunfold.engines.cluster_tools import RowTasks, n_threads, stop, try_again
from ptunfold.geodesics.bands import BAND
from ptunfold.geodesics.squares import BandSquares, fold_band
from ptunfold.threads import cut, run_blocks
from ptunfold.types import FloatArray

_MOST_BANDS = 8  # in a share


class FileSquares(BandSquares):
    """Squared distances in memory, from rows that workers of this machine write into files.

    Rows are the work of the cluster. What follows takes less time than to tell workers of it, so
    threads of this process do it, as many as the workers have.

    Parameters
    ----------
    tasks : RowTasks
        What has the rows computed.
    folder : path
        The same for all workers and for this process.
    """

    def __init__(self, tasks: RowTasks, folder: Path) -> None:
        self.n_jobs = min(n_threads(tasks.client), os.cpu_count() or 1)
        shares = plan_shares(tasks.n_rows, n_threads(tasks.client))
        shared = folder / "shares"
        shared.mkdir()
        files = [RowFile(shared / f"{share.start}.npy", share) for share in shares]

        def write() -> None:
            futures = tasks.start(share_of_rows, shares, [str(file.path) for file in files])
            try:
                tasks.wait(futures, shares)
            finally:  # also if all went well: nobody has to compute again what a worker takes along
                stop(tasks.client, futures)

        try:
            try_again(write)
            super().__init__(fold_files(files, n_jobs=self.n_jobs))
        finally:
            remove(shared)

    def multiply(self, factor: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Multiply the matrix with ``factor`` (n_points, n_vectors), in float64."""
        return super().multiply(factor, self.n_jobs)


def plan_shares(n_rows: int, n_workers: int) -> list[slice]:
    """Cut rows into shares of whole bands: smaller and smaller, so that all end at one time.

    Examples
    --------
    >>> [(share.stop - share.start) // 256 for share in plan_shares(10_240, 2)]
    [7, 6, 5, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1]
    """
    shares, start = [], 0
    while start < n_rows:
        n_bands = -(-(n_rows - start) // BAND)
        stop = min(start + BAND * min(-(-n_bands // (3 * n_workers)), _MOST_BANDS), n_rows)
        shares.append(slice(start, stop))
        start = stop
    return shares


@dataclass(frozen=True)
class RowFile:
    """Some rows of a matrix in a file of NumPy's format."""

    path: Path
    rows: slice

    @cached_property
    def array(self) -> FloatArray:
        """The rows, mapped."""
        return np.asarray(np.load(self.path, mmap_mode="r"))


def fold_files(files: list[RowFile], *, n_jobs: int) -> list[FloatArray]:
    """Collect rows of one-way distances into squares of the means of both directions.

    Parameters
    ----------
    files : list of RowFile
        All rows, in shares of whole bands.
    n_jobs : int
        Number of threads.

    Returns
    -------
    bands : list of arrays
        The upper half of the matrix, as `new_bands` describes it.
    """
    homes = [index for index, file in enumerate(files) for _ in cut(len(file.array), BAND)]
    bands: list[FloatArray] = [np.empty(0)] * len(homes)

    def fold(block: slice) -> None:
        for index in range(block.start, block.stop):
            bands[index] = _fold_band(index * BAND, files[homes[index] :])

    run_blocks(fold, cut(len(homes), 1), n_jobs=n_jobs)
    return bands


def _fold_band(top: int, files: list[RowFile]) -> FloatArray:
    """Make a band from the file that has its rows, and the files below."""
    rows = files[0].array[top - files[0].rows.start :][:BAND, top:]
    across = slice(top, top + len(rows))
    firsts = [max(file.rows.start, top) for file in files]
    mirrors = (
        (first, file.array[first - file.rows.start :, across])
        for first, file in zip(firsts, files, strict=True)
    )
    return fold_band(top, rows, mirrors)
