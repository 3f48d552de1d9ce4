"""Arrays in files of NumPy's format, piece by piece, and lists of what is done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.forks import Lock
from ptunfold.io.outputs import whole_file
from ptunfold.io.partial import BINARY
from ptunfold.types import FloatArray

OPEN = -1  # not done; no checksum is negative
_MOST_AT_ONCE = 1 << 26  # bytes, where the system copies them


class ArrayFile:
    """An array in a file of NumPy's format, read and written piece by piece."""

    def __init__(self, path: Path, offset: int, dtype: np.dtype[Any]) -> None:
        self.dtype, self.offset = dtype, offset
        self._file = os.open(path, os.O_RDWR | BINARY)
        self._lock = Lock()  # where reading moves a place that threads share

    def read(self, start: int, shape: tuple[int, ...]) -> FloatArray:
        """Read an array of ``shape`` from the number ``start`` on."""
        found = np.empty(shape, dtype=self.dtype)
        room = found.reshape(-1).view(np.uint8).data
        position = self.offset + start * self.dtype.itemsize
        while len(room):
            n_bytes = self._read_into(room, position)
            if not n_bytes:
                raise OSError("a file of the store ends too early; remove it and start again")
            room, position = room[n_bytes:], position + n_bytes
        return found

    def write(self, start: int, values: FloatArray) -> None:
        """Write numbers from the number ``start`` on."""
        left = values.reshape(-1).view(np.uint8).data
        position = self.offset + start * self.dtype.itemsize
        while len(left):
            n_bytes = self._write_from(left, position)
            left, position = left[n_bytes:], position + n_bytes

    def _read_into(self, room: memoryview, position: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._file, [room], position)
        with self._lock:
            os.lseek(self._file, position, os.SEEK_SET)
            content = os.read(self._file, min(len(room), _MOST_AT_ONCE))
        room[: len(content)] = content
        return len(content)

    def _write_from(self, content: memoryview, position: int) -> int:
        if hasattr(os, "pwrite"):
            return os.pwrite(self._file, content, position)
        with self._lock:
            os.lseek(self._file, position, os.SEEK_SET)
            return os.write(self._file, content[:_MOST_AT_ONCE])

    def close(self) -> None:
        """Let the file go."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def __del__(self) -> None:
        self.close()


def open_array(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ArrayFile:
    """Open a file with an array, and make it first if it is not there."""
    if not path.exists():
        with whole_file(path) as name, name.open("wb") as file:
            np.lib.format.write_array_header_2_0(
                file,
                {
                    "descr": np.lib.format.dtype_to_descr(dtype),
                    "fortran_order": False,
                    "shape": shape,
                },
            )
            file.truncate(file.tell() + int(np.prod(shape)) * dtype.itemsize)
    size = int(np.prod(shape)) * dtype.itemsize
    with path.open("rb") as file:
        try:
            np.lib.format.read_magic(file)
            found, _, kind = np.lib.format.read_array_header_2_0(file)
        except ValueError:
            found, kind = None, None
        if (found, kind) != (shape, dtype) or path.stat().st_size != file.tell() + size:
            raise ValueError(f"{path} is damaged; remove {path.parent} and start again")
        return ArrayFile(path, file.tell(), dtype)


def open_marks(path: Path, count: int) -> Any:
    """Open the list of checksums of what is done; it is small, and mapped."""
    if not path.exists():
        with whole_file(path) as name, name.open("wb") as file:
            np.save(file, np.full(count, OPEN, dtype=np.int64))
    try:
        marks = np.load(path, mmap_mode="r+")
    except (ValueError, EOFError):
        marks = np.empty(0)
    if marks.shape != (count,) or marks.dtype != np.int64:
        path.unlink()  # damaged: nothing counts as done
        return open_marks(path, count)
    return marks
