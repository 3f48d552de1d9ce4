"""What the workers of a Dask cluster do, and the files on their disks."""

from __future__ import annotations

import os
import platform
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.geodesics.bands import BAND
from ptunfold.geodesics.distances import OneWayRows
from ptunfold.geodesics.rows import MeanRows
from ptunfold.geodesics.squares import fold_band, plan_slabs, slab_product
from ptunfold.kernels.lanes import LANES
from ptunfold.threads import cut, single_threaded_blas
from ptunfold.types import Connection, FloatArray, IntArray, aligned


def share_of_rows(
    rows_of: OneWayRows, start: int, stop: int, path: str, dtype: np.dtype[Any]
) -> None:
    """Write the rows ``start:stop``, one way, into a file, unless it is there."""
    file = Path(path)
    if not file.exists():
        shape = (stop - start, len(rows_of.position))
        _write(file, shape, dtype, _row_blocks(rows_of, start, stop, dtype))


def slab_rows(
    rows_of: OneWayRows, start: int, stop: int, scratch: str, dtype: np.dtype[Any]
) -> FloatArray:
    """Compute the rows ``start:stop``, one way; or find them, if this machine did so before."""

    def blocks() -> Iterator[FloatArray]:
        return _row_blocks(rows_of, start, stop, dtype)

    shape = (stop - start, len(rows_of.position))
    return _made_once(scratch, f"rows-{start}.npy", shape, dtype, blocks)


def _row_blocks(
    rows_of: OneWayRows, start: int, stop: int, dtype: np.dtype[Any]
) -> Iterator[FloatArray]:
    """Compute rows in blocks that are still in the cache when they go into a file."""
    n_nodes, n_rows = len(rows_of.owned) - 1, len(rows_of.position)
    first_node = int(rows_of.position[start]) // LANES * LANES  # whole groups of lanes
    last_node = min(-(-(int(rows_of.position[stop - 1]) + 1) // LANES) * LANES, n_nodes)
    size = rows_of.blocks[0].stop
    room = np.empty((0, n_rows), dtype=dtype)  # for every block
    for node in range(first_node, last_node, size):
        nodes = slice(node, min(node + size, last_node))
        first, last = (int(rows_of.owned[node]) for node in (nodes.start, nodes.stop))
        if len(room) < last - first:
            room = np.empty((last - first, n_rows), dtype=dtype)
        rows_of.write(nodes, room, first)
        yield room[max(start - first, 0) : min(stop, last) - first]


def fold_slab(
    rows: FloatArray, below: Sequence[FloatArray], start: int, scratch: str | None = None
) -> FloatArray:
    """Make the bands of a slab.

    Parameters
    ----------
    rows : (n_slab, n_rows)
        The rows of the slab, one way.
    below : sequence of arrays
        The columns of the slab in the rows of the slabs below it, the other way.
    start : int
        The first row of the slab.
    scratch : str, optional
        Where the bands go, on disk.

    Returns
    -------
    bands : (n_numbers,)
        One after the other, as `bands_in` finds them.
    """
    n_slab, n_rows = rows.shape
    slab = slice(start, start + n_slab)
    firsts = [one.start for one in plan_slabs(n_rows) if one.start >= slab.stop]

    def bands() -> Iterator[FloatArray]:
        for own in cut(n_slab, BAND):
            top = start + own.start
            mirrors = [(top, rows[own.start :, slab])]
            mirrors += zip(firsts, below, strict=True)
            across = ((first, mirror[:, own]) for first, mirror in mirrors)
            yield fold_band(top, rows[own, top:], across).ravel()

    size = sum(height * width for height, width in _band_shapes(slab, n_rows))
    return _made_once(scratch, f"squares-{start}.npy", (size,), rows.dtype, bands)


def bands_in(flat: FloatArray, slab: slice, n_rows: int) -> list[FloatArray]:
    """Find the bands of a slab, whose numbers follow each other."""
    shapes = _band_shapes(slab, n_rows)
    ends = np.cumsum([height * width for height, width in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)]


def _band_shapes(slab: slice, n_rows: int) -> list[tuple[int, int]]:
    bands = cut(slab.stop - slab.start, BAND)
    return [(band.stop - band.start, n_rows - slab.start - band.start) for band in bands]


def product_of_slab(slab: slice, flat: FloatArray, factor: FloatArray) -> FloatArray:
    """Multiply the bands of a slab, with one thread."""
    flat, factor = aligned(flat), aligned(factor)
    with single_threaded_blas():
        return slab_product(slab.start, bands_in(flat, slab, len(factor)), factor)


def mean_rows(connection: Connection, sources: IntArray, dtype: np.dtype[Any]) -> FloatArray:
    """Compute distances from some sources, the mean of both directions."""
    rows = np.empty((len(sources), connection.graph.n_points), dtype=dtype)
    MeanRows(connection).fill(sources, rows, n_jobs=1, progress=False)
    return rows


def every_column(rows: FloatArray, step: int) -> FloatArray:
    """Take every ``step``-th column out of rows."""
    return rows[:, ::step]


def make_scratch(name: str, n_bytes: int, dask_worker: Any) -> tuple[str, int, int] | None:
    """Make the folder of this machine; return what only workers have in common that share it.

    None, and no folder, if files of ``n_bytes`` in all cannot be kept there.
    """
    folder = _folder_of_machine(dask_worker, name)
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder).free < n_bytes:
        with suppress(OSError):  # files that are there already are still of use
            folder.rmdir()
        return None
    status = folder.stat()
    return str(folder), status.st_dev, status.st_ino


def is_here(folder: str, device: int, inode: int) -> bool:
    """Tell whether this process sees the folder that a worker has told of, and may write there."""
    try:
        status = Path(folder).stat()
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (device, inode) and os.access(folder, os.W_OK)


def remove_scratch(name: str, dask_worker: Any) -> None:
    """Remove the folder of this machine."""
    remove(_shared_folder(dask_worker) / name)


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it.

    Under another name first: a task that is still at work finds no place for its file, and ends.
    """
    gone = folder.with_name(f"{folder.name}-{uuid.uuid4().hex}")
    with suppress(OSError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def _shared_folder(worker: Any) -> Path:
    """Return the folder that all workers of a machine share."""
    return Path(worker.local_directory).parent


def _folder_of_machine(worker: Any, name: str) -> Path:
    """Return a folder that no other machine uses, nor this one after it was started again.

    Both might find files there whose numbers have not arrived.
    """
    with suppress(OSError):
        started = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return _shared_folder(worker) / name / f"{platform.node()}-{started}"
    return _shared_folder(worker) / name / platform.node()


def _made_once(
    scratch: str | None,
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    parts: Callable[[], Iterator[FloatArray]],
) -> FloatArray:
    """Have an array written into a file, part by part, and map it.

    If the file is there it is taken as it is: the worker that made it may have died. Without a
    folder, or room on the disk, the array is in memory.
    """
    if scratch is not None:
        from distributed import get_worker

        path = _folder_of_machine(get_worker(), scratch) / name
        has_place = path.parent.is_dir()
        try:
            if not path.exists():
                _write(path, shape, dtype, parts())
            return np.asarray(np.load(path, mmap_mode="r"))
        except OSError:
            if has_place and not path.parent.is_dir():
                raise  # the fit is over
    array = np.empty(shape, dtype=dtype)
    first = 0
    for part in parts():
        array[first : first + len(part)] = part
        first += len(part)
    return array


def _write(
    path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], parts: Iterator[FloatArray]
) -> None:
    """Write a file part by part, each used up before the next; it gets its name when it is whole.

    Pages of memory that come with a large write are large themselves: what is mapped later is
    there several times faster than pages that came one by one, by writing to mapped memory.
    """
    unfinished = path.with_name(f".{uuid.uuid4().hex}.npy")
    try:
        with unfinished.open("xb") as file:
            what = {"descr": dtype.str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, what)
            for part in parts:
                file.write(part.data)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    unfinished.replace(path)  # nothing is there to replace it if the fit is over
