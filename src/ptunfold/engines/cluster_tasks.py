"""What the workers of a Dask cluster do, and the files on their disks."""

from __future__ import annotations

import os
import platform
import shutil
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.geodesics.bands import BAND
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.geodesics.rows import MeanRows
from ptunfold.geodesics.squares import slab_product
from ptunfold.kernels.lanes import LANES
from ptunfold.kernels.tiles import square_mirrored
from ptunfold.threads import single_threaded_blas
from ptunfold.types import Connection, FloatArray, IntArray


@dataclass(frozen=True)
class Scratch:
    """Where arrays lie that several workers share, or that outlive the worker that made them.

    Parameters
    ----------
    name : str
        The folder, below the one that Dask gives to all workers of a machine.
    is_shared : bool
        Whether all workers see the same folder. Then arrays are passed on by their names.
    """

    name: str
    is_shared: bool = False

    def folder(self) -> Path:
        """Return the folder of this worker."""
        from distributed import get_worker

        return _shared_folder(get_worker()) / self.name


@dataclass(frozen=True)
class FileArray:
    """The name of a file of NumPy's format that all workers see."""

    path: str


def opened(array: FloatArray | FileArray) -> FloatArray:
    """Return an array that was passed on by its name, or as it is."""
    return _mapped(array.path) if isinstance(array, FileArray) else array


@cache
def _mapped(path: str) -> FloatArray:
    """Map a file, once for all tasks of a fit: the first look at a page is what takes time."""
    return np.asarray(np.load(path, mmap_mode="r"))


def slab_rows(
    rows_of: OneWayRows, start: int, stop: int, dtype: np.dtype[Any], scratch: Scratch
) -> FloatArray | FileArray:
    """Compute the rows ``start:stop``, one way; or find them, if this machine did so before."""
    n_nodes = len(rows_of.owned) - 1
    first_node = int(rows_of.position[start])
    last_node = int(rows_of.position[stop - 1]) + 1
    nodes = slice(first_node // LANES * LANES, min(-(-last_node // LANES) * LANES, n_nodes))
    first, last = (int(rows_of.owned[node]) for node in (nodes.start, nodes.stop))

    def write(rows: FloatArray) -> None:
        if (first, last) == (start, stop):
            rows_of.write(nodes, rows, start)
            return
        more = np.empty((last - first, rows.shape[1]), dtype=dtype)  # whole groups of lanes
        rows_of.write(nodes, more, first)
        rows[...] = more[start - first : stop - first]

    shape = (stop - start, len(rows_of.position))
    return _made_once(scratch, f"rows-{start}.npy", shape, dtype, write)


def columns_of(rows: FloatArray, start: int, stop: int) -> FloatArray:
    """Take some columns out of rows; they are copied only if they have to travel."""
    return rows[:, start:stop]


def fold_slab(
    rows: FloatArray | FileArray,
    below: Sequence[FloatArray | FileArray],
    start: int,
    scratch: Scratch,
) -> FloatArray | FileArray:
    """Make the bands of a slab: squares of the means of both directions.

    Parameters
    ----------
    rows : (n_slab, n_rows)
        The rows of the slab, one way.
    below : sequence of arrays
        The columns of the slab in the rows of the slabs below it, the other way; or whole rows.
    start : int
        The first row of the slab.
    scratch : Scratch
        Where the bands go.

    Returns
    -------
    bands : (n_numbers,)
        One after the other, as `bands_in` finds them.
    """
    rows = opened(rows)
    n_slab, n_rows = rows.shape
    slab = slice(start, start + n_slab)

    def write(flat: FloatArray) -> None:
        columns = [opened(block) for block in below]
        columns = [block[:, slab] if block.shape[1] == n_rows else block for block in columns]
        for top, band in zip(range(0, n_slab, BAND), bands_in(flat, start, n_rows), strict=True):
            across = slice(top, top + len(band))
            upper = rows[across, start + top :]
            left = 0
            for block in (rows[top:, slab], *columns):
                part = slice(left, left + len(block))
                square_mirrored(upper[:, part], block[:, across], band[:, part])
                left = part.stop

    size = sum(min(BAND, n_slab - top) * (n_rows - start - top) for top in range(0, n_slab, BAND))
    return _made_once(scratch, f"bands-{start}.npy", (size,), rows.dtype, write)


def bands_in(flat: FloatArray, start: int, n_rows: int) -> list[FloatArray]:
    """Cut the numbers of a slab that starts at row ``start`` into its bands."""
    bands = []
    while len(flat):
        width = n_rows - start
        height = min(BAND, width, len(flat) // width)
        bands.append(flat[: height * width].reshape(height, width))
        flat, start = flat[height * width :], start + height
    return bands


def products_of_slabs(
    starts: Sequence[int], flats: Sequence[FloatArray | FileArray], factor: FloatArray
) -> list[FloatArray]:
    """Multiply the bands of some slabs, with one thread."""
    with single_threaded_blas():
        return [
            slab_product(start, bands_in(opened(flat), start, len(factor)), factor)
            for start, flat in zip(starts, flats, strict=True)
        ]


def mean_rows(connection: Connection, sources: IntArray, dtype: np.dtype[Any]) -> FloatArray:
    """Compute distances from some sources, the mean of both directions."""
    rows = np.empty((len(sources), connection.graph.n_points), dtype=dtype)
    MeanRows(connection).fill(sources, rows, n_jobs=1, progress=False)
    return rows


def n_points_of(connection: Connection) -> int:
    """Count the points."""
    return connection.graph.n_points


def make_scratch(name: str, dask_worker: Any) -> tuple[str, int, int]:
    """Make the folder of this machine; return what only workers have in common that share it."""
    folder = _shared_folder(dask_worker) / name
    folder.mkdir(parents=True, exist_ok=True)
    status = folder.stat()
    # Another machine may see the same folder, but not at once what was written to it.
    return platform.node(), status.st_dev, status.st_ino


def remove_scratch(name: str, dask_worker: Any) -> None:
    """Remove the folder of this machine."""
    _mapped.cache_clear()
    shutil.rmtree(_shared_folder(dask_worker) / name, ignore_errors=True)


def _shared_folder(worker: Any) -> Path:
    """Return the folder that all workers of a machine share."""
    return Path(worker.local_directory).parent


def _made_once(
    scratch: Scratch,
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    write: Callable[[FloatArray], None],
) -> FloatArray | FileArray:
    """Have an array written into a file, which gets its name when that is done.

    If the file is there it is taken as it is: the worker that made it may have died. Without a
    folder, or room on the disk, the array is in memory.
    """
    path = scratch.folder() / name
    if not path.exists():
        part = path.with_name(f".{uuid.uuid4().hex}.npy")
        array = _in_file(part, shape, dtype)
        try:
            write(array)
            with suppress(OSError):  # it is in memory, or the fit is over
                part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        if not (scratch.is_shared and path.exists()):
            return np.asarray(array)
    return FileArray(str(path)) if scratch.is_shared else opened(FileArray(str(path)))


def _in_file(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> FloatArray:
    """Make an array in a new file, or in memory if that does not work."""
    try:
        allocate = os.posix_fallocate  # not on every system
        array: FloatArray = np.lib.format.open_memmap(path, "w+", dtype=dtype, shape=shape)
        with path.open("rb+") as file:  # no hole that a full disk could not fill later
            allocate(file.fileno(), 0, path.stat().st_size)
    except (AttributeError, OSError):
        path.unlink(missing_ok=True)
        return np.empty(shape, dtype=dtype)
    return array
