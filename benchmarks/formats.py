"""Files for all distances: NumPy's format by pieces, mapped, and zarr.

``python benchmarks/formats.py [points]`` writes ``benchmarks/results/formats.md``; needs zarr. The
steps are those of a store: rows written block by block, the columns of a slab read from all rows
below it, bands written, and all bands read once, as every pass of the eigensolver does. Each format
has a process of its own. Files are flushed after writing, and read from the disk again.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil

from ptunfold.engines.array_files import open_array

BLOCK, SLAB, BAND = 64, 2048, 256
FORMATS = ("npy, by pieces", "npy, mapped", "zarr", "zarr, zstd")
STEPS = ("write rows", "read columns", "write bands", "read bands")


class Pieces:
    """NumPy's format, read and written by calls."""

    def __init__(self, path, n_points, height):
        self.file = open_array(path / "a.npy", (n_points, n_points), np.dtype(np.float32))
        self.n_points, self.height = n_points, height

    def write(self, top, left, values):
        """Write whole rows, or a band, which lies in one piece too."""
        self.file.write(top * self.n_points, values)

    def read(self, top, bottom, left, right):
        """Read a band, or some columns, line by line."""
        if self.height == BAND:
            return self.file.read(top * self.n_points, (bottom - top, right - left))
        found = np.empty((bottom - top, right - left), dtype=np.float32)
        for row in range(len(found)):
            found[row] = self.file.read((top + row) * self.n_points + left, (right - left,))
        return found

    def flush(self):
        """Nothing is held back."""


class Mapped:
    """NumPy's format, mapped into memory."""

    def __init__(self, path, n_points, height):
        self.n_points, self.height = n_points, height
        self.array = np.lib.format.open_memmap(
            path / "a.npy", "w+", dtype=np.float32, shape=(n_points, n_points)
        )

    def band(self, top, shape):
        """Find a band, which lies in one piece."""
        start = top * self.n_points
        return self.array.reshape(-1)[start : start + shape[0] * shape[1]].reshape(shape)

    def write(self, top, left, values):
        """Write whole rows, or a band."""
        self.band(top, values.shape)[...] = values

    def read(self, top, bottom, left, right):
        """Read a band, or some columns."""
        if self.height == BAND:
            return np.array(self.band(top, (bottom - top, right - left)))
        return np.array(self.array[top:bottom, left:right])

    def flush(self):
        """Write what is mapped, and map it anew."""
        self.array.flush()
        self.array = np.lib.format.open_memmap(self.array.filename, "r+")


class Zarr:
    """Chunks of zarr, each in a file."""

    def __init__(self, path, n_points, height, compressors=None):
        import zarr

        self.array = zarr.create_array(
            str(path / "a.zarr"),
            shape=(n_points, n_points),
            chunks=(height, SLAB),
            dtype=np.float32,
            compressors=compressors,
        )

    def write(self, top, left, values):
        """Write a block."""
        self.array[top : top + len(values), left : left + values.shape[1]] = values

    def read(self, top, bottom, left, right):
        """Read a block."""
        return self.array[top:bottom, left:right]

    def flush(self):
        """Nothing is held back."""


def opened(kind, path, n_points, height):
    if kind == "zarr, zstd":
        from zarr.codecs import ZstdCodec

        return Zarr(path, n_points, height, [ZstdCodec(level=1)])
    made = {"npy, by pieces": Pieces, "npy, mapped": Mapped, "zarr": Zarr}[kind]
    return made(path, n_points, height)


def forget(store, path):
    """Write everything to the disk, and drop it from memory."""
    store.flush()
    for name in path.rglob("*"):
        if name.is_file():
            with name.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def size_of(path):
    return sum(name.stat().st_blocks * 512 for name in path.rglob("*") if name.is_file())


def run(kind, n_points, folder):
    """Do all steps in this process; print seconds, bytes on disk and the most memory."""
    places = np.random.default_rng(0).random((n_points, 2), dtype=np.float32)

    def distances(top, bottom):
        apart = [places[top:bottom, axis, None] - places[:, axis] for axis in (0, 1)]
        return np.hypot(*apart)

    seconds = dict.fromkeys(STEPS, 0.0)
    process, peak, is_over = psutil.Process(), [0], threading.Event()

    def watch():
        while not is_over.wait(0.02):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()

    def timed(step, work, *args):
        start = time.perf_counter()
        found = work(*args)
        seconds[step] += time.perf_counter() - start
        return found

    rows_path, bands_path = Path(folder, "rows"), Path(folder, "bands")
    rows_path.mkdir()
    bands_path.mkdir()
    rows = opened(kind, rows_path, n_points, BLOCK)
    for top in range(0, n_points, BLOCK):
        timed("write rows", rows.write, top, 0, distances(top, min(top + BLOCK, n_points)))
    timed("write rows", forget, rows, rows_path)
    bands = opened(kind, bands_path, n_points, BAND)
    for left in range(0, n_points, SLAB):
        right = min(left + SLAB, n_points)
        strip = timed("read columns", rows.read, left, n_points, left, right)
        for top in range(left, right, BAND):
            bottom = min(top + BAND, right)
            band = np.ascontiguousarray(strip[top - left :, top - left : bottom - left].T)
            timed("write bands", bands.write, top, top, band)
    timed("write bands", forget, bands, bands_path)
    for top in range(0, n_points, BAND):
        timed("read bands", bands.read, top, min(top + BAND, n_points), top, n_points)
    is_over.set()
    watcher.join()
    used = (size_of(rows_path) + size_of(bands_path)) / 1e9
    print("|".join(f"{value:.2f}" for value in (*seconds.values(), used, peak[0] / 1e9)))


def main(n_points):
    lines = [
        "# Formats for all distances on disk",
        "",
        f"{n_points} points, float32, {4e-9 * n_points**2:.1f} GB of rows; seconds of reading and "
        "writing alone. Medians of 3, by turns.",
        "",
        f"| format | {' | '.join(STEPS)} | all steps | disk, GB | most memory, GB |",
        "|" + " --- |" * (len(STEPS) + 4),
    ]
    found = {kind: [] for kind in FORMATS}
    for _ in range(3):
        for kind in FORMATS:
            with tempfile.TemporaryDirectory() as folder:
                told = subprocess.run(
                    [sys.executable, __file__, kind, str(n_points), folder],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
            found[kind].append([float(value) for value in told.split("|")])
            print(kind, found[kind][-1], flush=True)
    for kind, runs in found.items():
        *seconds, used, most = np.median(runs, axis=0)
        cells = [*(f"{value:.1f}" for value in (*seconds, sum(seconds))), f"{used:.2f}"]
        lines.append(f"| {kind} | {' | '.join(cells)} | {most:.2f} |")
        print(lines[-1], flush=True)
    Path(__file__).with_name("results").joinpath("formats.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) > 3:
        run(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    else:
        main(int((sys.argv[1:] or [20_000])[0]))
