"""Distances on disk: block by block, so that a fit can be stopped at any moment and go on later."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from ptunfold.engines.array_files import OPEN, ArrayFile, open_array, open_marks
from ptunfold.engines.base import Engine
from ptunfold.geodesics.arrangement import Arrangement
from ptunfold.geodesics.rows import Blocks, Rows
from ptunfold.geodesics.squares import BAND, BandSquares, Squares, plan_bands
from ptunfold.io.outputs import PART
from ptunfold.io.partial import BINARY, let_go, take_lock
from ptunfold.kernels.inputs import connection_arrays
from ptunfold.kernels.tiles import square_mirrored
from ptunfold.memory import in_words
from ptunfold.needs import Needs
from ptunfold.threads import Run, cut, effective_n_jobs, run_blocks
from ptunfold.types import Connection, FloatArray, IntArray, Settings

_VERSION = 2
_COLUMNS = 1 << 30  # bytes
_FILES = {"rows.npy", "rows-done.npy", "bands.npy", "bands-done.npy"}


class StoreEngine(Engine):
    """Another engine, and a folder that distances are kept in, those of a component in its own."""

    is_stored = True

    def __init__(self, engine: Engine, folder: Any, *, resume: bool) -> None:
        self.engine, self.folder, self.resume = engine, Path(folder), resume
        self.name = engine.name
        self._stores: list[Store] = []

    def __enter__(self) -> Self:
        self.engine.__enter__()
        return self

    def geometry(self, points: FloatArray, settings: Settings) -> Any:
        """Prepare frames of points; None if threads do them best."""
        return self.engine.geometry(points, settings)

    def arrange(self, connection: Connection, nodes: IntArray) -> Arrangement:
        """Take a component out of a connection, as `blocks` wants it."""
        return self.engine.arrange(connection, nodes)

    def blocks(self, connection: Connection, position: IntArray) -> Blocks:
        """Prepare one-way distances in an arranged component, block by block."""
        return self.engine.blocks(connection, position)

    def rows(self, connection: Connection) -> Rows:
        """Prepare distances from single sources in a connected graph."""
        return self.engine.rows(connection)

    def squares(
        self, connection: Connection, position: IntArray, dtype: DTypeLike, run: Run
    ) -> Squares:
        """Estimate all squared distances in an arranged component, and keep them."""
        rows_of = self.blocks(connection, position)
        dtype = np.dtype(dtype) if rows_of.dtype is None else rows_of.dtype
        folder = self.folder / f"component-{len(self._stores)}"
        store = Store(
            folder,
            len(position),
            dtype,
            [rows_of.owned[block.start] for block in rows_of.blocks] + [len(position)],
            _fingerprint(connection, position, dtype),
            resume=self.resume,
        )
        self._stores.append(store)
        store.fill(rows_of, run)
        store.fold(run)
        return StoredSquares(store)

    def bytes_of_all(self, needs: Needs) -> float:
        """Tell how much memory a fit by all distances needs here."""
        return needs.stored()

    def check_room(self, needs: Needs, n_landmarks: int | None) -> None:
        """Refuse a fit that does not fit where the other engine works."""
        self.engine.check_room(needs, n_landmarks)

    def close(self) -> None:
        """Let the folder go, for other fits."""
        for store in self._stores:
            store.close()
        self.engine.close()


class Store:
    """One-way distances by rows, and then the squares of their means by bands, in NumPy's files.

    A block of rows is written first and marked afterwards, with its checksum; what is not marked,
    or does not fit its mark, is computed again. The same holds for bands. Files are read and
    written piece by piece and never mapped, so that memory stays bounded. Block b has the rows
    ``bounds[b]:bounds[b + 1]``; the fingerprint names what the distances are made from.
    """

    _title = -1  # a lock for as long as it is open, of the process that opened it
    _owner = 0

    def __init__(
        self,
        folder: Path,
        n_rows: int,
        dtype: np.dtype[Any],
        bounds: list[int],
        fingerprint: str,
        *,
        resume: bool,
    ) -> None:
        self.n_rows, self.dtype, self.bounds = n_rows, dtype, [int(bound) for bound in bounds]
        self.tops = list(range(0, n_rows, BAND))
        heights = [min(BAND, n_rows - top) for top in self.tops]
        sizes = [height * (n_rows - top) for height, top in zip(heights, self.tops, strict=True)]
        self.starts = np.concatenate(([0], np.cumsum(sizes)))
        self.folder = folder
        told = {
            "version": _VERSION,
            "fingerprint": fingerprint,
            "n_rows": n_rows,
            "dtype": dtype.name,
            "bounds": self.bounds,
        }
        folder.mkdir(parents=True, exist_ok=True)
        with self._locked_title() as title:
            self._claim(title, told, resume)
        self._check_room()
        self.rows_done = open_marks(folder / "rows-done.npy", len(self.bounds) - 1)
        self.bands_done = open_marks(folder / "bands-done.npy", len(self.tops))
        self.bands = open_array(folder / "bands.npy", (int(self.starts[-1]),), dtype)
        for index in np.flatnonzero(self.bands_done[:] != OPEN).tolist():
            if zlib.crc32(self.band(index).data) != self.bands_done[index]:
                self.bands_done[index] = OPEN
        if not (folder / "rows.npy").exists():
            self.rows_done[:] = OPEN  # they are removed when all bands are there

    @property
    def is_full(self) -> bool:
        """Whether all bands are there."""
        return bool((self.bands_done[:] != OPEN).all())

    @contextmanager
    def _locked_title(self) -> Iterator[Path]:
        """Keep other fits away from the folder as long as this one is there."""
        title = self.folder / "store.json"
        is_new = not title.exists()
        while self._title < 0:
            self._title = os.open(title, os.O_RDWR | os.O_CREAT | BINARY, 0o666)
            self._owner = os.getpid()
            if not take_lock(self._title):
                self.close()
                raise ValueError(
                    f"another fit is at work in {self.folder}; wait for it, or pass another folder"
                )
            is_there = title.exists() and os.path.samestat(os.fstat(self._title), title.stat())
            if not is_there:  # another process has given it up in between
                self.close()
        try:
            yield title
        except BaseException:
            if is_new and not os.fstat(self._title).st_size:
                with suppress(OSError):  # where files that are open stay
                    title.unlink()
            self.close()
            raise

    def _claim(self, title: Path, told: dict[str, Any], resume: bool) -> None:
        """Make the folder ours, or see that it is; the title is empty where nothing was begun."""
        content = title.read_bytes()
        others = {file.name for file in self.folder.iterdir()} - {title.name}
        halves = {name for name in others if name.startswith(PART)}  # that were not finished
        if not content and not others - halves <= _FILES:
            raise ValueError(
                f"{self.folder} has files in it that are no store of distances; pass an empty "
                "or a new folder"
            )
        for half in halves:
            (self.folder / half).unlink()
        if not content and not others - halves:
            try:
                title.write_text(json.dumps(told), encoding="utf-8")
                os.fsync(self._title)
            except BaseException:
                os.truncate(title, 0)
                raise
            return
        if not resume:
            raise ValueError(
                f"{self.folder} has distances in it already; pass Disk(..., resume=True) to go on "
                "with them, or another folder"
            )
        try:
            found = dict(json.loads(content))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{title} is damaged; remove the folder and start again") from error
        if found.get("version") != _VERSION:
            raise ValueError(
                f"{self.folder} was written by another version of ptunfold; remove it and start "
                "again"
            )
        if found != told:
            raise ValueError(
                f"{self.folder} belongs to other data or other parameters; pass those that it was "
                "begun with, or another folder"
            )

    def close(self) -> None:
        """Let the folder go, for other fits."""
        if self._title >= 0:
            if os.getpid() == self._owner:  # or a forked process would let go of it, or keep it
                let_go(self._title)
            os.close(self._title)
        self._title = -1

    def __del__(self) -> None:
        self.close()

    def _check_room(self) -> None:
        """Say before the work starts if the disk is too small."""
        wanted = {"rows.npy": self.n_rows**2, "bands.npy": int(self.starts[-1])}
        needed = 0
        for name, count in wanted.items():
            file = self.folder / name
            # Files are sparse: only what was written takes room.
            written = _n_written(file) if file.exists() else 0
            needed += max(count * self.dtype.itemsize - written, 0)
        free = shutil.disk_usage(self.folder).free
        is_full = (self.folder / "bands.npy").exists() and not (self.folder / "rows.npy").exists()
        if needed > free and not is_full:
            raise ValueError(
                f"the distances between {self.n_rows} points need {in_words(needed)} of disk, but "
                f"{in_words(free)} are free at {self.folder}; pass a folder on a larger disk, or "
                "landmarks"
            )

    def fill(self, rows_of: Blocks, run: Run) -> None:
        """Compute and write the rows that are missing."""
        if self.is_full:
            return  # all that rows are needed for is there
        rows_file = open_array(self.folder / "rows.npy", (self.n_rows, self.n_rows), self.dtype)

        def handle(block: slice) -> None:
            for index in range(block.start, block.stop):
                first, last = self.bounds[index : index + 2]
                shape = (last - first, self.n_rows)
                if self.rows_done[index] != OPEN:
                    found = rows_file.read(first * self.n_rows, shape)
                    if zlib.crc32(found.data) == self.rows_done[index]:
                        continue
                rows = np.empty(shape, dtype=self.dtype)
                rows_of.write(rows_of.blocks[index], rows, first)
                rows_file.write(first * self.n_rows, rows)
                self.rows_done[index] = zlib.crc32(rows.data)

        blocks, n_threads = cut(len(self.bounds) - 1, 1), rows_of.n_threads(run.n_jobs)
        run_blocks(handle, blocks, run, "distances", "blocks", n_threads=n_threads)
        rows_file.close()

    def fold(self, run: Run) -> None:
        """Write the bands that are missing: squares of the means of both directions."""
        if self.is_full:
            (self.folder / "rows.npy").unlink(missing_ok=True)
            return
        rows_file = open_array(self.folder / "rows.npy", (self.n_rows, self.n_rows), self.dtype)
        blocks = plan_bands(self.n_rows)
        # Columns for each thread, and no more than a gigabyte of them.
        n_bytes = self.n_rows * blocks[0].stop * self.dtype.itemsize
        n_jobs = min(effective_n_jobs(run.n_jobs), max(_COLUMNS // n_bytes, 1))

        def handle(block: slice) -> None:
            indices = [
                index
                for index in range(block.start // BAND, -(-block.stop // BAND))
                if self.bands_done[index] == OPEN
            ]
            if not indices:
                return
            # Of all rows below: read together, because a row lies far from the next.
            wide = block.stop - block.start
            columns = np.empty((self.n_rows - block.start, wide), dtype=self.dtype)
            for row in range(len(columns)):
                start = (block.start + row) * self.n_rows + block.start
                columns[row] = rows_file.read(start, (wide,))
            for index in indices:
                self._fold_band(index, rows_file, columns, block.start)

        run_blocks(handle, blocks, Run(n_jobs, run.verbose), "directions", "rows")
        rows_file.close()
        (self.folder / "rows.npy").unlink(missing_ok=True)

    def _fold_band(self, index: int, rows_file: ArrayFile, columns: FloatArray, left: int) -> None:
        top = self.tops[index]
        height = min(BAND, self.n_rows - top)
        band = np.empty((height, self.n_rows - top), dtype=self.dtype)
        for row in range(height):
            band[row] = rows_file.read((top + row) * self.n_rows + top, (self.n_rows - top,))
        across = slice(top - left, top - left + height)
        square_mirrored(band, columns[top - left :, across], band)
        self.bands.write(int(self.starts[index]), band)
        self.bands_done[index] = zlib.crc32(band.data)

    def band(self, index: int) -> FloatArray:
        """Read a band of squares."""
        top = self.tops[index]
        shape = (min(BAND, self.n_rows - top), self.n_rows - top)
        return self.bands.read(int(self.starts[index]), shape)


class StoredSquares(BandSquares):
    """The squares of a full store, each band read when it is asked for."""

    def __init__(self, store: Store) -> None:
        self.store, self.dtype, self.n_points = store, store.dtype, store.n_rows

    def band(self, index: int) -> FloatArray:
        """Read a band."""
        return self.store.band(index)


def _n_written(file: Path) -> int:
    """Tell how many bytes of disk a file has; where none is sparse, all of them."""
    about = file.stat()
    return about.st_blocks * 512 if hasattr(about, "st_blocks") else about.st_size


def _fingerprint(connection: Connection, position: IntArray, dtype: np.dtype[Any]) -> str:
    """Name what distances are made from: every parameter has gone into the connection."""
    total = hashlib.sha256(dtype.name.encode())
    graph, *others = connection_arrays(connection)  # all that kernels see
    for array in (*graph, *others, position):
        total.update(str((array.shape, array.dtype.str)).encode())
        total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return total.hexdigest()
