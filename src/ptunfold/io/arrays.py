"""Arrays of NumPy: what a file says of itself is checked before memory is asked for."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from ptunfold.io.table import RefusedError, Table
from ptunfold.memory import in_words

_USUAL = ("X", "x", "points", "data")


def read_array(content: bytes | Path, name: str, most_bytes: float) -> Table:
    """Read a .npy file."""
    file: Any = content.open("rb") if isinstance(content, Path) else io.BytesIO(content)
    with file:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        n_bytes = _declared(file, name)
        if n_bytes > size - file.tell():
            raise RefusedError(
                f"{name} cannot be read; it may be damaged (its header asks for {n_bytes:,} bytes, "
                f"and {size - file.tell():,} are there)"
            )
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
                n_bytes = _declared(file, f"{member.filename} in {name}")
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


def _declared(file: Any, name: str) -> int:
    """Read the header of an array; how many bytes it says will follow."""
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise RefusedError(f"{name} holds Python objects, which are not read; save it as numbers")
    # In whole numbers of Python, which have no largest one.
    n_bytes = dtype.itemsize
    for length in shape:
        n_bytes *= length
    return n_bytes


def _as_table(arrays: dict[str, Any], name: str, source: Any) -> Table:
    tables = [key for key, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiu"]
    chosen = next((key for key in _USUAL if key in tables), None)
    if chosen is None:
        if len(tables) != 1:
            found = [f"{key} {array.shape} {array.dtype}" for key, array in arrays.items()]
            raise RefusedError(
                f"{name} has {len(tables)} arrays of two dimensions and numbers "
                f"({', '.join(found) or 'none at all'}); name one X"
            )
        chosen = tables[0]
    array = arrays[chosen]
    names = [f"x{place}" for place in range(array.shape[1])]
    left_out = {key: "another array" for key in arrays if key != chosen}
    place = f"array {chosen}" if source is not None else ""
    return Table(names, list(array.T), source, place=place, left_out=left_out)
