"""Tables and arrays in and out: a table goes out as it came in, with columns more."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.io import arrays, foreign
from ptunfold.io.outputs import whole_file
from ptunfold.io.table import (
    Parts,
    RefusedError,
    Table,
    WholeTable,
    listed,
    refused_if_damaged,
)
from ptunfold.io.text import TEXT, TextParts, text_of
from ptunfold.types import FloatArray

ENDINGS = [*TEXT, *sorted(foreign.ARROW), ".npy", ".npz", ".h5ad"]
STREAM = Path("-")  # standard input or output
PLACES = "X_ptu"  # what the coordinates are called together
# How files begin that have no name to tell their kind.
_STARTS = {
    b"\x93NUMPY": ".npy",
    b"PK\x03\x04": ".npz",
    b"PK\x05\x06": ".npz",
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"\x89HDF": ".h5ad",
}
# Of a part in memory, and the most rows: with more of them each takes no less time.
_A_PART = 1 << 25
_MOST_ROWS = 1 << 17


def read_table(path: str | Path, **options: Any) -> Table:
    """Read a whole file; options as of `open_parts`."""
    with open_parts(Path(path), **options) as parts:
        table = parts.read()
    if table is None:
        raise ValueError(f"{parts.name} has no rows")
    return table


@contextmanager
def open_parts(
    path: Path,
    *,
    has_header: bool | None = None,
    most_bytes: float = np.inf,
    wanted: str | None = None,
    features: Sequence[str] = (),
) -> Iterator[Parts]:
    """Open a file, a pipe or a folder of images of one size, to be read part by part.

    Texts, .npy and parquet files are; what else there is comes in one part. "-" is standard input.

    Whether the first line of a text holds names is found out unless it is said. Of several arrays
    in a file the one that is `wanted` is read, if it is there, and of an AnnData X if it has all
    `features`. What is not there, of an unknown kind, empty, damaged or larger than `most_bytes` is
    refused, by a ValueError; what comes later when it is read.
    """
    if path.is_dir():
        yield WholeTable(str(path), foreign.read_images(path, most_bytes))
        return
    if path != STREAM and not path.exists():
        raise ValueError(f"there is no file {path}")
    name, ending, pipe = str(path), path.suffix.lower(), None
    if path == STREAM:
        if sys.stdin is None:
            raise ValueError("standard input is closed; pipe a table into it, or name a file")
        name, pipe = "standard input", Pipe(sys.stdin.buffer)
    elif not path.is_file():
        pipe = Pipe(path.open("rb"))
    if pipe is not None and ending not in ENDINGS:
        starts = (kind for start, kind in _STARTS.items() if pipe.start.startswith(start))
        ending = next(starts, ".csv")
    if ending not in ENDINGS:
        raise ValueError(
            f"{path} is of no kind that is known; the endings are {', '.join(ENDINGS)}"
        )
    with path.open("rb") if pipe is None else io.BufferedReader(pipe) as file:
        n_bytes = path.stat().st_size if pipe is None else None
        if ending in TEXT:
            yield TextParts(file, name, ending, has_header, n_bytes)
            return
        with refused_if_damaged(name):
            if ending == ".npy":
                parts: Parts = arrays.ArrayParts(file, name, n_bytes, most_bytes)
            else:
                content = path if pipe is None else io.BytesIO(file.read())
                parts = _parts_of(content, name, ending, most_bytes, (wanted, features))
        with closing(parts):
            yield parts


def _parts_of(
    content: Any,
    name: str,
    ending: str,
    most_bytes: float,
    choice: tuple[str | None, Sequence[str]],
) -> Parts:
    if ending == ".parquet":
        return foreign.ParquetParts(content, name, most_bytes)
    if ending in foreign.ARROW:
        return WholeTable(name, foreign.read_feather(content, name))
    if ending == ".npz":
        return WholeTable(name, arrays.read_npz(content, name, most_bytes, choice[0]))
    if not isinstance(content, Path):
        raise RefusedError("an .h5ad file cannot be read from a pipe; pass its name")
    return WholeTable(name, foreign.read_anndata(content, most_bytes, *choice))


class Pipe(io.RawIOBase):
    """A pipe that tells how it starts, and is read from there."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.start = self._unread = file.read(max(map(len, _STARTS)))

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there."""
        found = self._unread[: len(buffer)] or self._file.read1(len(buffer))
        self._unread = self._unread[len(found) :]
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Close it, unless others may still want to read."""
        if self._file is not sys.stdin.buffer:
            self._file.close()
        super().close()


def usual_rows(parts: Parts) -> int:
    """Return how many rows make a part of some tens of megabytes."""
    return int(np.clip(_A_PART / max(parts.n_bytes_a_row, 1.0), 1, _MOST_ROWS))


def check_output(path: Path, table: Table | None = None) -> None:
    """Check that a table can be written to a file of this name, before the work starts."""
    if path == STREAM:
        return
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(
            f"{path} has no ending that is known; the endings are {', '.join(ENDINGS)}"
        )
    if ending in foreign.ARROW:
        foreign.arrow_library()
    if ending == ".h5ad" and table is not None and not hasattr(table.source, "obsm"):
        raise ValueError(f"{path} can only be made from a .h5ad file; choose another ending")


def replaced(path: Path, table: Table, names: Sequence[str], key: str) -> str:
    """Name what of a table will not be in a file, since something new has its name there."""
    ending = path.suffix.lower()
    if ending == ".npz":
        is_there = isinstance(table.source, dict) and key in table.source
        return f"array {key}" if is_there else ""
    if ending == ".h5ad":
        return f'obsm["{key}"]' if key in table.source.obsm else ""
    columns = [name for name in table.written if name in names]
    return f"columns {listed(columns)}" if columns and ending != ".npy" else ""


def renamed(path: Path, table: Table) -> list[str]:
    """List what of a table will have another name in a file, where its own is taken."""
    if path.suffix.lower() in (".npy", ".npz", ".h5ad"):
        return []  # there are no columns
    return [f"{what} to {name}" for name, what in table.renamed.items() if name in table.written]


def lost(path: Path, table: Table) -> list[str]:
    """List what of an AnnData will not be in a file of another kind."""
    ending = path.suffix.lower()
    if not hasattr(table.source, "obsm") or ending == ".h5ad":
        return []
    return foreign.lost_of(table, has_columns=ending not in (".npy", ".npz"))


def rows_as_bytes(
    ending: str, table: Table, added: dict[str, FloatArray], with_names: bool = True
) -> bytes:
    """Return what a .npy file without its head, or a text by default, has for rows of a table."""
    if ending == ".npy":
        return np.column_stack(list(added.values())).tobytes()
    return text_of(table, added, ending or table.style.ending or ".csv", with_names=with_names)


def write_table(path: Path, table: Table, added: dict[str, FloatArray], key: str = PLACES) -> None:
    """Write a table with more columns, in the format that the ending names, whole or not at all.

    A column of the same name is replaced; `key` names all new ones in .npz and .h5ad files.
    """
    check_output(path, table)
    ending = path.suffix.lower()
    new = np.column_stack(list(added.values()))
    with whole_file(path) as part:
        if ending in TEXT or ending == ".npy":
            head = arrays.npy_head(len(new), len(added), new.dtype) if ending == ".npy" else b""
            part.write_bytes(head + rows_as_bytes(ending, table, added))
        elif ending == ".parquet":
            foreign.arrow_library().parquet.write_table(foreign.with_columns(table, added), part)
        elif ending in foreign.ARROW:
            foreign.arrow_library().feather.write_feather(
                foreign.with_columns(table, added), str(part)
            )
        elif ending == ".npz":
            others = table.source if isinstance(table.source, dict) else {}
            arrays.write_npz(part, {**others, key: new})
        else:
            table.source.obsm[key] = new
            try:
                table.source.write_h5ad(part)
            except Exception as error:  # h5py has errors of its own kinds
                raise OSError(str(error)) from error
