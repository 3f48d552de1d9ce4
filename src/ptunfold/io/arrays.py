"""Arrays of NumPy: what a file says of itself is checked before memory is asked for."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from ptunfold.io.table import Parts, RefusedError, Table
from ptunfold.memory import in_words

_USUAL = ("X", "x", "points", "data")


def read_array(content: bytes | Path, name: str, most_bytes: float) -> Table:
    """Read a .npy file."""
    file: Any = content.open("rb") if isinstance(content, Path) else io.BytesIO(content)
    with file:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        n_bytes = _declared(file, name).n_bytes
        _check_length(n_bytes, size - file.tell(), name)
        check_memory(n_bytes, most_bytes, name)
        file.seek(0)
        array = npy.read_array(file, allow_pickle=False)
    return _as_table({"x": array}, name, None)


def read_arrays(content: bytes | Path, name: str, most_bytes: float) -> Table:
    """Read a .npz file."""
    arrays = {}
    with zipfile.ZipFile(content if isinstance(content, Path) else io.BytesIO(content)) as packed:
        members = [one for one in packed.infolist() if one.filename.endswith(".npy")]
        total = 0
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
    return _as_table(arrays, name, arrays)


def write_arrays(file: BinaryIO, arrays: dict[str, Any]) -> None:
    """Write a .npz file; unlike ``numpy.savez`` with any names."""
    with zipfile.ZipFile(file, "w", allowZip64=True) as packed:
        for name, array in arrays.items():
            with packed.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(array), allow_pickle=False)


def check_memory(n_bytes: float, most_bytes: float, name: str) -> None:
    """Refuse what does not fit into memory, before it is read."""
    if n_bytes > most_bytes:
        raise RefusedError(
            f"{name} holds {in_words(n_bytes)} when it is unpacked, and {in_words(most_bytes)} of "
            "memory are free; take a part of it"
        )


class ArrayParts(Parts):
    """An array of two dimensions in a .npy file, as many rows at a time as one likes.

    It is read, not mapped into memory: what is mapped counts as memory of the process.

    Parameters
    ----------
    file : file or pipe
        Open for reading bytes, at its start.
    name : str
        What the file is called in messages.
    n_bytes : int, optional
        How long the file is; None for a pipe.
    most_bytes : float
        The most memory that rows may take.
    """

    is_named = False

    def __init__(self, file: Any, name: str, n_bytes: int | None, most_bytes: float) -> None:
        self._name, self._most_bytes = name, most_bytes
        header = self._header = _declared(file, name)
        if len(header.shape) != 2 or header.dtype.kind not in "fiu":
            raise _no_table([f"x {header.shape} {header.dtype}"], 0, name)
        if n_bytes is not None:
            _check_length(header.n_bytes, n_bytes - file.tell(), name)
        elif header.is_fortran:  # the first row is not whole before the end
            check_memory(header.n_bytes, most_bytes, name)
            file = io.BytesIO(file.read())
        self._file = file
        self._start = 0 if n_bytes is None else file.tell()
        self._next = 0  # number of those in the file
        self.total = self._n_rows = header.shape[0]
        self._width = header.shape[1]
        self.names = [f"x{place}" for place in range(self._width)]
        self.n_bytes_a_row = 8.0 * self._width
        self._n_done = 0

    def read(self, n_rows: int | None = None) -> Table | None:
        """Read so many rows, or all; None if there are no more."""
        n_left = self._n_rows - self._n_done
        n_rows = n_left if n_rows is None else min(n_rows, n_left)
        if not n_rows or not self._width:
            return None
        check_memory(n_rows * self.n_bytes_a_row, self._most_bytes, self._name)
        if self._header.is_fortran:
            starts = (place * self._n_rows + self._n_done for place in range(self._width))
            columns = [self._numbers(start, n_rows) for start in starts]
        else:
            rows = self._numbers(self._n_done * self._width, n_rows * self._width)
            columns = list(rows.reshape(n_rows, self._width).T)
        part = Table(self.names, columns, first_row=self._n_done, is_last=n_rows == n_left)
        self._n_done += n_rows
        return part

    @property
    def done(self) -> int:
        """How many rows were read."""
        return self._n_done

    @property
    def position(self) -> dict[str, int]:
        """Where the next rows are."""
        return {"row": self._n_done}

    def seek(self, position: dict[str, int]) -> None:
        """Go on at a position in the same file."""
        self._n_done = position["row"]

    def _numbers(self, start: int, count: int) -> Any:
        size = self._header.dtype.itemsize
        if start != self._next:  # never so in a pipe
            self._file.seek(self._start + start * size)
        content = self._file.read(count * size)
        _check_length(count * size, len(content), self._name)
        self._next = start + count
        return np.frombuffer(content, dtype=self._header.dtype)


class _Header(NamedTuple):
    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        """Number of bytes that have to follow."""
        # In whole numbers of Python, which have no largest one.
        return math.prod(self.shape) * self.dtype.itemsize


def _declared(file: Any, name: str) -> _Header:
    """Read what an array says of itself."""
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    header = _Header(*read(file))
    if header.dtype.hasobject:
        raise RefusedError(f"{name} holds Python objects, which are not read; save it as numbers")
    return header


def _check_length(n_asked: int, n_there: int, name: str) -> None:
    if n_asked > n_there:
        raise RefusedError(
            f"{name} cannot be read; it may be damaged (its header asks for {n_asked:,} bytes, and "
            f"{n_there:,} are there)"
        )


def _as_table(arrays: dict[str, Any], name: str, source: Any) -> Table:
    tables = [key for key, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiu"]
    chosen = next((key for key in _USUAL if key in tables), None)
    if chosen is None:
        if len(tables) != 1:
            found = [f"{key} {array.shape} {array.dtype}" for key, array in arrays.items()]
            raise _no_table(found, len(tables), name)
        chosen = tables[0]
    array = arrays[chosen]
    names = [f"x{place}" for place in range(array.shape[1])]
    left_out = {key: "another array" for key in arrays if key != chosen}
    place = f"array {chosen}" if source is not None else ""
    return Table(names, list(array.T), source, place=place, left_out=left_out)


def _no_table(found: list[str], n_tables: int, name: str) -> RefusedError:
    return RefusedError(
        f"{name} has {n_tables} arrays of two dimensions and numbers "
        f"({', '.join(found) or 'none at all'}); name one X"
    )
