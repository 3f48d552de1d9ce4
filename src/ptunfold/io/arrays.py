"""Arrays of NumPy: what a file says of itself is checked before memory is asked for."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from ptunfold.io.table import Parts, RefusedError, Table, check_memory

_USUAL = ("X", "x", "points", "data")


class ArrayParts(Parts):
    """An array of two dimensions in a .npy file, or a pipe, whose length is not known.

    It is read, not mapped into memory: what is mapped counts as memory of the process.
    """

    def __init__(self, file: Any, name: str, n_bytes: int | None, most_bytes: float) -> None:
        header = self._header = _declared(file, name)
        if len(header.shape) != 2 or min(header.shape) < 0 or header.dtype.kind not in "fiu":
            raise _no_table([f"x {header.shape} {header.dtype}"], 0, name)
        if n_bytes is not None:
            _check_length(header.n_bytes, n_bytes - file.tell(), name)
        elif header.is_fortran:  # the first row is not whole before the end
            check_memory(header.n_bytes, most_bytes, name)
            file, n_bytes = io.BytesIO(file.read()), header.n_bytes
        total, self._width = header.shape
        super().__init__(name, _names(self._width), total)
        self.n_bytes_a_row, self.most_bytes = 8.0 * self._width, most_bytes
        self._file, self._start = file, 0 if n_bytes is None else file.tell()
        self._next = 0  # number of those in the file

    def _rows(self, n_rows: int) -> Table:
        if self._header.is_fortran:
            n_all = self._header.shape[0]
            starts = (place * n_all + self.n_done for place in range(self._width))
            columns = [self._numbers(start, n_rows) for start in starts]
        else:
            rows = self._numbers(self.n_done * self._width, n_rows * self._width)
            columns = list(rows.reshape(n_rows, self._width).T)
        return Table(self.names, columns)

    def _numbers(self, start: int, count: int) -> Any:
        size = self._header.dtype.itemsize
        if start != self._next:  # never so in a pipe
            self._file.seek(self._start + start * size)
        content = self._file.read(count * size)
        _check_length(count * size, len(content), self.name)
        self._next = start + count
        return np.frombuffer(content, dtype=self._header.dtype)


def read_npz(
    source: Path | BinaryIO, name: str, most_bytes: float, wanted: str | None = None
) -> Table:
    """Read a .npz file: one of its arrays is the table, the one that is wanted if it is there."""
    arrays, total = {}, 0
    with zipfile.ZipFile(source) as packed:
        members = [one for one in packed.infolist() if one.filename.endswith(".npy")]
        for member in members:
            with packed.open(member) as file:
                n_bytes = _declared(file, f"{member.filename} in {name}").n_bytes
                there = member.file_size - file.tell()
            if n_bytes != there:
                raise RefusedError(
                    f"{member.filename} in {name} is damaged: its header asks for {n_bytes:,} "
                    f"bytes, and {there:,} are there"
                )
            total += n_bytes
        check_memory(total, most_bytes, name)
        for member in members:
            with packed.open(member) as file:
                arrays[member.filename.removesuffix(".npy")] = npy.read_array(file)
    tables = [key for key, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiu"]
    only = tables[0] if len(tables) == 1 else None
    chosen = next((key for key in (wanted, *_USUAL) if key in tables), only)
    if chosen is None:
        found = [f"{key} {array.shape} {array.dtype}" for key, array in arrays.items()]
        raise _no_table(found, len(tables), name)
    columns = list(arrays[chosen].T)
    left_out = {key: "another array" for key in arrays if key != chosen}
    return Table(_names(len(columns)), columns, arrays, place=f"array {chosen}", left_out=left_out)


def write_npz(path: Path, arrays: dict[str, Any]) -> None:
    """Write a .npz file; unlike ``numpy.savez`` with any names."""
    with zipfile.ZipFile(path, "w", allowZip64=True) as packed:
        for name, array in arrays.items():
            with packed.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(array), allow_pickle=False)


def npy_head(n_rows: int, n_columns: int, dtype: Any) -> bytes:
    """Return how a .npy file starts; the length does not depend on the rows."""
    file = io.BytesIO()
    about = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (n_rows, n_columns)}
    npy.write_array_header_1_0(file, about)
    return file.getvalue()


class _Header(NamedTuple):
    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]
    n_bytes: int  # have to follow


def _declared(file: Any, name: str) -> _Header:
    """Read what an array says of itself."""
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read(file)
    if dtype.hasobject:
        raise RefusedError(f"{name} holds Python objects, which are not read; save it as numbers")
    # In whole numbers of Python, which have no largest one.
    return _Header(shape, is_fortran, dtype, math.prod(shape) * dtype.itemsize)


def _check_length(n_asked: int, n_there: int, name: str) -> None:
    if n_asked > n_there:
        raise RefusedError(
            f"{name} cannot be read; it may be damaged (its header asks for {n_asked:,} bytes, and "
            f"{n_there:,} are there)"
        )


def _names(n_columns: int) -> list[str]:
    return [f"x{place}" for place in range(n_columns)]


def _no_table(found: Sequence[str], n_tables: int, name: str) -> RefusedError:
    return RefusedError(
        f"{name} has {n_tables} arrays of two dimensions and numbers "
        f"({', '.join(found) or 'none at all'}); name one X"
    )
