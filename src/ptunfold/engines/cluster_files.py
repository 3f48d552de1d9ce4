"""All squared distances of a component in files that workers write and this process sees."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.engines.cluster_tasks import share_of_rows
from ptunfold.engines.cluster_tools import n_threads, try_again, wait_for
from ptunfold.geodesics.bands import BAND
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.geodesics.squares import BandSquares
from ptunfold.kernels.tiles import square_mirrored
from ptunfold.threads import cut, run_blocks
from ptunfold.types import FloatArray

_MOST_BANDS = 8  # in a share
_COLUMNS = 8192  # of a tile that is folded; the first one has the whole diagonal block of a band


class FileSquares(BandSquares):
    """Squared distances in files of this machine, which workers have written, mapped.

    Rows are the work of the cluster. What follows takes less time than to tell workers of it, so
    threads of this process do it, as many as the workers have.

    Parameters
    ----------
    client : distributed.Client
        The way to the workers.
    rows_of : OneWayRows
        What makes the rows.
    dtype : numpy.dtype
        Of the distances.
    folder : path
        The same for all workers and for this process.
    hold : callable
        Is given all futures, and keeps them.
    progress : bool
        Show a progress bar.
    """

    def __init__(
        self,
        client: Any,
        rows_of: OneWayRows,
        dtype: np.dtype[Any],
        folder: Path,
        hold: Callable[[Any], Any],
        *,
        progress: bool,
    ) -> None:
        self.n_jobs = min(n_threads(client), os.cpu_count() or 1)
        shares = plan_shares(len(rows_of.position), n_threads(client))
        files = [RowFile(folder / f"share-{share.start}.npy", share) for share in shares]

        def write() -> None:
            there = hold(client.scatter(rows_of, hash=False))
            tasks = client.map(
                share_of_rows,
                [there] * len(files),
                [share.start for share in shares],
                [share.stop for share in shares],
                [str(file.path) for file in files],
                dtype=dtype,
                pure=False,
            )
            sizes = [share.stop - share.start for share in shares]
            wait_for(client, hold(tasks), sizes, progress=progress)

        try:
            try_again(write)
            super().__init__(fold_files(files, n_jobs=self.n_jobs))
        finally:
            for file in files:  # what is mapped stays
                with suppress(OSError):
                    file.path.unlink()

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
        """The rows as they are in the file at any time, mapped."""
        return np.asarray(np.load(self.path, mmap_mode="r"))

    def overwrite(self, tile: FloatArray, top: int, left: int) -> None:
        """Write a tile of the matrix, whose first entry is at ``(top, left)``.

        Through the file: in mapped memory the first touch of every page would cost more.
        """
        n_columns = self.array.shape[1]
        with self.path.open("r+b") as file:
            header = file.seek(0, os.SEEK_END) - self.array.nbytes
            for row, numbers in enumerate(tile, top - self.rows.start):
                file.seek(header + (row * n_columns + left) * tile.itemsize)
                file.write(numbers.data)


def fold_files(files: list[RowFile], *, n_jobs: int) -> list[FloatArray]:
    """Put the squares of the means of both directions into the upper half of a matrix in files.

    Parameters
    ----------
    files : list of RowFile
        All rows, one way, in shares of whole bands; changed.
    n_jobs : int
        Number of threads.

    Returns
    -------
    bands : list of arrays
        The upper half, as `new_bands` describes it, mapped.
    """
    n_points = files[0].array.shape[1]
    homes = [file for file in files for _ in range(file.rows.start, file.rows.stop, BAND)]

    def fold(block: slice) -> None:
        for index in range(block.start, block.stop):
            _fold_band(index * BAND, homes[index], files)

    run_blocks(fold, cut(len(homes), 1), n_jobs=n_jobs)
    tops = range(0, n_points, BAND)
    return [_band(top, home)[:, top:] for top, home in zip(tops, homes, strict=True)]


def _fold_band(top: int, home: RowFile, files: list[RowFile]) -> None:
    band = _band(top, home)
    height, n_points = band.shape
    room = np.empty(height * _COLUMNS, dtype=band.dtype)
    for columns in cut(n_points - top, _COLUMNS):
        left, right = columns.start + top, columns.stop + top
        tile = room[: height * (right - left)].reshape(height, -1)
        for file in files:
            first, last = max(file.rows.start, left), min(file.rows.stop, right)
            if first < last:
                mirror = file.array[first - file.rows.start : last - file.rows.start]
                square_mirrored(
                    band[:, first:last],
                    mirror[:, top : top + height],
                    tile[:, first - left : last - left],
                )
        home.overwrite(tile, top, left)


def _band(top: int, home: RowFile) -> FloatArray:
    return home.array[top - home.rows.start :][:BAND]
