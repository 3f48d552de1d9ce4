"""What the workers of a Dask cluster do, and the files on their disks."""

from __future__ import annotations

import platform
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.geodesics.distances import OneWayRows
from ptunfold.geodesics.rows import MeanRows
from ptunfold.geodesics.squares import Tile, plan_slabs, plan_tiles, slab_product
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

        return _folder_of_machine(get_worker(), self.name)


@dataclass(frozen=True)
class FileArray:
    """The name of a file of NumPy's format, for workers that see it."""

    path: str


def opened(array: FloatArray | FileArray) -> FloatArray:
    """Return an array that was passed on by its name, or as it is.

    It is mapped, and let go after use: what is mapped counts as memory of the worker.
    """
    if isinstance(array, FileArray):
        return np.asarray(np.load(array.path, mmap_mode="r"))
    return array


def slab_rows(
    rows_of: OneWayRows, start: int, stop: int, dtype: np.dtype[Any], scratch: Scratch
) -> FloatArray | FileArray:
    """Compute the rows ``start:stop``, one way; or find them, if this machine did so before."""
    n_nodes, n_rows = len(rows_of.owned) - 1, len(rows_of.position)
    # Whole groups of lanes, in blocks that are still in the cache when they go into the file.
    first_node = int(rows_of.position[start]) // LANES * LANES
    last_node = min(-(-(int(rows_of.position[stop - 1]) + 1) // LANES) * LANES, n_nodes)
    size = rows_of.blocks[0].stop

    def blocks() -> Iterator[FloatArray]:
        room = np.empty((0, n_rows), dtype=dtype)  # for every block
        for node in range(first_node, last_node, size):
            nodes = slice(node, min(node + size, last_node))
            first, last = (int(rows_of.owned[node]) for node in (nodes.start, nodes.stop))
            if len(room) < last - first:
                room = np.empty((last - first, n_rows), dtype=dtype)
            rows_of.write(nodes, room, first)
            yield room[max(start - first, 0) : min(stop, last) - first]

    return _made_once(scratch, f"rows-{start}.npy", (stop - start, n_rows), dtype, blocks)


def fold_slab(
    rows: FloatArray | FileArray,
    below: Sequence[FloatArray | FileArray],
    start: int,
    scratch: Scratch,
) -> FloatArray | FileArray:
    """Make the tiles of a slab: squares of the means of both directions.

    Parameters
    ----------
    rows : (n_slab, n_rows)
        The rows of the slab, one way.
    below : sequence of arrays
        The columns of the slab in the rows of the slabs below it, the other way; or whole rows.
    start : int
        The first row of the slab.
    scratch : Scratch
        Where the tiles go.

    Returns
    -------
    tiles : (n_numbers,)
        One after the other, as `tiles_in` finds them.
    """
    rows = opened(rows)
    n_slab, n_rows = rows.shape
    slab = slice(start, start + n_slab)
    plan = plan_tiles(slab, n_rows)

    def tiles() -> Iterator[FloatArray]:
        room = np.empty(max(map(_size, plan)), dtype=rows.dtype)  # for every tile
        ahead = [one for one in plan_slabs(n_rows) if one.start >= start]
        blocks = list(zip(ahead, (rows, *below), strict=True))
        for stop, together in groupby(plan, lambda place: place[1].stop):
            mirrors = [(one, opened(block)) for one, block in blocks if one.stop <= stop]
            del blocks[: len(mirrors)]
            for across, columns in together:
                tile = room[: _size((across, columns))].reshape(across.stop - across.start, -1)
                for one, mirror in mirrors:
                    first = max(one.start, columns.start)
                    side = across if mirror.shape[1] == n_rows else _moved(across, -start)
                    square_mirrored(
                        rows[_moved(across, -start), first : one.stop],
                        mirror[first - one.start :, side],
                        tile[:, first - columns.start : one.stop - columns.start],
                    )
                yield tile.ravel()

    size = sum(map(_size, plan))
    return _made_once(scratch, f"squares-{start}.npy", (size,), rows.dtype, tiles)


def tiles_in(flat: FloatArray, slab: slice, n_rows: int) -> Iterator[Tile]:
    """List the tiles of a slab, whose numbers follow each other."""
    first = 0
    for rows, columns in plan_tiles(slab, n_rows):
        last = first + _size((rows, columns))
        yield rows, columns, flat[first:last].reshape(rows.stop - rows.start, -1)
        first = last


def _size(place: tuple[slice, slice]) -> int:
    rows, columns = place
    return (rows.stop - rows.start) * (columns.stop - columns.start)


def _moved(place: slice, by: int) -> slice:
    return slice(place.start + by, place.stop + by)


def products_of_slabs(
    slabs: Sequence[slice], flats: Sequence[FloatArray | FileArray], factor: FloatArray
) -> list[FloatArray]:
    """Multiply some slabs, with one thread."""
    with single_threaded_blas():
        return [
            slab_product(slab.start, tiles_in(opened(flat), slab, len(factor)), factor)
            for slab, flat in zip(slabs, flats, strict=True)
        ]


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

    None if files of ``n_bytes`` in all cannot be kept there.
    """
    folder = _folder_of_machine(dask_worker, name)
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder).free < n_bytes:
        return None
    status = folder.stat()
    return str(folder), status.st_dev, status.st_ino


def remove_scratch(name: str, dask_worker: Any) -> None:
    """Remove the folder of this machine."""
    folder = _shared_folder(dask_worker) / name
    # Under another name first: a task that is still at work finds no place for its file.
    gone = folder.with_name(f"{name}-{uuid.uuid4().hex}")
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
    scratch: Scratch,
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    parts: Callable[[], Iterator[FloatArray]],
) -> FloatArray | FileArray:
    """Have an array written into a file, part by part; a part is used up before the next.

    If the file is there it is taken as it is: the worker that made it may have died. Without a
    folder, or room on the disk, the array is in memory.
    """
    path = scratch.folder() / name
    if not (path.exists() or _is_written(path, shape, dtype, parts)):
        array = np.empty(shape, dtype=dtype)
        first = 0
        for part in parts():
            array[first : first + len(part)] = part
            first += len(part)
        return array
    named = FileArray(str(path))
    return named if scratch.is_shared else opened(named)


def _is_written(
    path: Path,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    parts: Callable[[], Iterator[FloatArray]],
) -> bool:
    """Write a file, which gets its name when it is whole; or find that the disk takes none.

    Pages of memory that come with a large write are large themselves: what a worker maps later is
    there several times faster than pages that came one by one, by writing to mapped memory.
    """
    unfinished = path.with_name(f".{uuid.uuid4().hex}.npy")
    try:
        with unfinished.open("xb") as file:
            what = {"descr": dtype.str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, what)
            for part in parts():
                file.write(part.data)
    except OSError:
        unfinished.unlink(missing_ok=True)
        return False
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    unfinished.replace(path)  # nothing is there to replace it if the fit is over
    return True
