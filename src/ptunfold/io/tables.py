"""Tables and arrays in and out: a table goes out as it came in, with columns more."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from ptunfold.io.arrays import read_array, read_arrays, write_arrays
from ptunfold.io.files import whole_file
from ptunfold.io.frames import ARROW, arrow_library, read_anndata, read_arrow, write_arrow
from ptunfold.io.images import read_images
from ptunfold.io.table import Table, refused_if_damaged
from ptunfold.io.text import TEXT, read_text, write_text
from ptunfold.types import FloatArray

ARRAYS = {".npy", ".npz"}
ENDINGS = [*TEXT, *sorted(ARROW), *sorted(ARRAYS), ".h5ad"]
STREAM = Path("-")  # standard input or output
FOLDER = "a folder"
# How files begin that have no name to tell their kind.
_STARTS = {
    b"\x93NUMPY": ".npy",
    b"PK": ".npz",
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"\x89HDF": ".h5ad",
}


def read_table(
    path: str | Path, *, has_header: bool | None = None, most_bytes: float = np.inf
) -> Table:
    """Read a file, a pipe, or a folder of images of one size.

    Parameters
    ----------
    path : str or path
        The file; "-" for standard input.
    has_header : bool, optional
        Whether the first line of a text holds names; by default that is found out.
    most_bytes : float
        The most memory that the content may take.

    Raises
    ------
    ValueError
        If it is not there, of an unknown kind, empty, damaged, or too large.
    """
    path = Path(path)
    return read_kind(path, kind_of(path), has_header, most_bytes)


def read_kind(path: Path, kind: Kind, has_header: bool | None, most_bytes: float) -> Table:
    """Read a file whose kind is known; see `read_table`."""
    if kind.ending == FOLDER:
        return read_images(path, most_bytes)
    content: bytes | Path = path
    if kind.pipe is not None:
        with kind.pipe:
            content = kind.pipe.read()
    table = _read(content, kind.name, kind.ending, has_header, most_bytes)
    if not table.n_rows:
        raise ValueError(f"{kind.name} has no rows")
    return table


class Kind(NamedTuple):
    """What a file is called in messages, its ending, and itself if it is a pipe."""

    name: str
    ending: str
    pipe: Pipe | None


class Pipe:
    """A pipe that tells how it starts, and is read from there.

    Examples
    --------
    >>> pipe = Pipe(io.BytesIO(b"1,2"))
    >>> pipe.start, pipe.read(2), pipe.read()
    (b'1,2', b'1,', b'2')
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self.start = self._unread = file.read(max(map(len, _STARTS)))

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes, or all that come."""
        if size < 0:
            found, self._unread = self._unread + self._file.read(), b""
            return found
        found, self._unread = self._unread[:size], self._unread[size:]
        return found + self._file.read(size - len(found)) if len(found) < size else found

    def read1(self, size: int) -> bytes:
        """Read what is there, at most so many bytes."""
        if self._unread:
            return self.read(min(size, len(self._unread)))
        found: bytes = self._file.read1(size)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not sys.stdin.buffer:
            self._file.close()


def kind_of(path: Path) -> Kind:
    """Find out of what kind a file or a pipe is.

    Raises
    ------
    ValueError
        If it is not there, or of no kind that is known.
    """
    name, ending, pipe = str(path), path.suffix.lower(), None
    if path.is_dir():
        return Kind(name, FOLDER, None)
    if path == STREAM:
        name, pipe = "standard input", Pipe(sys.stdin.buffer)
    elif not path.exists():
        raise ValueError(f"there is no file {path}")
    elif not path.is_file():
        pipe = Pipe(path.open("rb"))
    if pipe is not None and ending not in ENDINGS:
        starts = (kind for start, kind in _STARTS.items() if pipe.start.startswith(start))
        ending = next(starts, ".csv")
    if ending not in ENDINGS:
        raise ValueError(
            f"{path} is of no kind that is known; the endings are {', '.join(ENDINGS)}"
        )
    return Kind(name, ending, pipe)


def _read(
    content: bytes | Path, name: str, ending: str, has_header: bool | None, most_bytes: float
) -> Table:
    if ending in TEXT:
        file = content.open("rb") if isinstance(content, Path) else io.BytesIO(content)
        with file:
            return read_text(file, name, ending, has_header)
    if ending == ".h5ad" and not isinstance(content, Path):
        raise ValueError("an .h5ad file cannot be read from a pipe; pass its name")
    with refused_if_damaged(name):
        if ending in ARROW:
            return read_arrow(content, name, ending, most_bytes)
        if ending == ".npy":
            return read_array(content, name, most_bytes)
        if ending == ".npz":
            return read_arrays(content, name, most_bytes)
        assert isinstance(content, Path)
        return read_anndata(content, most_bytes)


def check_output(path: str | Path, table: Table | None = None) -> None:
    """Check that a table can be written to a file of this name, before the work starts."""
    path = Path(path)
    if path == STREAM:
        return
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(
            f"{path} has no ending that is known; the endings are {', '.join(ENDINGS)}"
        )
    if ending in ARROW:
        arrow_library()
    if ending == ".h5ad" and table is not None and not hasattr(table.source, "obsm"):
        raise ValueError(f"{path} can only be made from a .h5ad file; choose another ending")


def write_table(
    path: str | Path, table: Table, added: dict[str, FloatArray], key: str = "X_ptu"
) -> None:
    """Write a table with more columns, in the format that the ending names.

    Parameters
    ----------
    path : str or path
        The file, written whole or not at all.
    table : Table
        What was read.
    added : dict of (n_rows,) arrays
        The new columns; one of the same name is replaced.
    key : str
        What the new columns are called together in .npz and .h5ad files.
    """
    path = Path(path)
    check_output(path, table)
    ending = path.suffix.lower()
    stacked = np.column_stack(list(added.values()))
    with whole_file(path) as part:
        if ending in TEXT:
            # Names of files may hold bytes that are no text.
            with part.open("w", newline="", encoding="utf-8", errors="surrogateescape") as text:
                write_text(text, table, added, ending)
        elif ending in ARROW:
            write_arrow(part, table, added)
        elif ending == ".npy":
            with part.open("wb") as file:
                np.save(file, stacked)
        elif ending == ".npz":
            arrays = table.source if isinstance(table.source, dict) else {}
            with part.open("wb") as file:
                write_arrays(file, {**arrays, key: stacked})
        else:
            table.source.obsm[key] = stacked
            try:
                table.source.write_h5ad(part)
            except Exception as error:  # h5py has errors of its own kinds
                raise OSError(str(error)) from error
