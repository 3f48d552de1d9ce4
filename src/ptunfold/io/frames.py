"""Parquet and Feather files, and AnnData: what other libraries read and write."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Self

import numpy as np

from ptunfold.io.arrays import check_memory
from ptunfold.io.table import Parts, RefusedError, Table, refused_if_damaged
from ptunfold.io.text import check_names
from ptunfold.types import FloatArray

ARROW = {".parquet", ".feather", ".arrow"}
_BUFFER = 1 << 20  # bytes of a column that are read together


def arrow_library() -> Any:
    """Import pyarrow, or say how to install it."""
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as error:
        raise RefusedError(
            "parquet and Feather files need pyarrow; pip install 'ptunfold[tables]'"
        ) from error
    return pyarrow


def read_arrow(content: bytes | Path, name: str, ending: str, most_bytes: float) -> Table:
    """Read a parquet or Feather file."""
    arrow = arrow_library()
    source = content if isinstance(content, Path) else io.BytesIO(content)
    if ending == ".parquet":
        about = arrow.parquet.read_metadata(source)
        # Repeated values take next to nothing in a file, and eight bytes each in memory.
        check_memory(8.0 * about.num_rows * about.num_columns, most_bytes, name)
        if not isinstance(source, Path):
            source.seek(0)
        table = arrow.parquet.read_table(source)
    else:
        table = arrow.feather.read_table(source)
    names = [str(column) for column in table.column_names]
    check_names(names, name)
    index = _index_of(table.schema)
    return Table(names, list(table.columns), table, is_named=True, index=index)


def _index_of(schema: Any) -> frozenset[str]:
    known = (schema.pandas_metadata or {}).get("index_columns", [])
    return frozenset(column for column in known if isinstance(column, str))


class ParquetParts(Parts):
    """A parquet file, as many rows at a time as one likes.

    Parameters
    ----------
    path : path
        The file.
    name : str
        What it is called in messages.
    """

    is_named = True

    def __init__(self, path: Path, name: str) -> None:
        self._name = name
        library = arrow_library()
        with refused_if_damaged(name):
            # Without these a group of rows is in memory as a whole, and there may be one in all.
            self._file = library.parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)
            about, schema = self._file.metadata, self._file.schema_arrow
        self.names = [str(column) for column in schema.names]
        check_names(self.names, name)
        self._index = _index_of(schema)
        self.total = self._n_rows = about.num_rows
        self._n_done = 0
        self._group_rows = [about.row_group(g).num_rows for g in range(about.num_row_groups)]
        n_bytes = sum(about.row_group(g).total_byte_size for g in range(about.num_row_groups))
        # Repeated values take next to nothing in a file, and eight bytes each in memory.
        self.n_bytes_a_row = max(n_bytes / max(self._n_rows, 1), 8.0 * about.num_columns)
        self._batches: Any = None
        self._left: Any = None  # of the last batch

    def read(self, n_rows: int | None = None) -> Table | None:
        """Read so many rows, or all; None if there are no more."""
        arrow = arrow_library()
        n_left = self._n_rows - self._n_done
        n_rows = n_left if n_rows is None else min(n_rows, n_left)
        if not n_rows or not self.names:
            return None
        with refused_if_damaged(self._name):
            found = self._take(n_rows)
        table = arrow.Table.from_batches(found, schema=self._file.schema_arrow)
        part = Table(
            self.names,
            list(table.columns),
            table,
            is_named=True,
            index=self._index,
            first_row=self._n_done,
            is_last=n_rows == n_left,
        )
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
        self._batches = self._left = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._batches = self._left = None
        self._file.close()

    def _take(self, n_rows: int) -> list[Any]:
        """Take batches from the file that have so many rows together."""
        found = []
        while n_rows:
            if self._left is None or not self._left.num_rows:
                self._left = self._next_batch(n_rows)
            found.append(self._left.slice(0, n_rows))
            self._left = self._left.slice(n_rows)
            n_rows -= found[-1].num_rows
        return found

    def _next_batch(self, n_rows: int) -> Any:
        if self._batches is not None:
            return next(self._batches)
        # Groups of rows that were read before need not be looked at.
        first, n_before = 0, 0
        while n_before + self._group_rows[first] <= self._n_done:
            n_before += self._group_rows[first]
            first += 1
        groups = range(first, len(self._group_rows))
        self._batches = self._file.iter_batches(n_rows, row_groups=groups)
        n_skipped = self._n_done - n_before
        while True:
            batch = next(self._batches)
            if batch.num_rows > n_skipped:
                return batch.slice(n_skipped)
            n_skipped -= batch.num_rows


def with_columns(table: Table, added: dict[str, FloatArray]) -> Any:
    """Return a table of Arrow with more columns; types and metadata of one that was read stay."""
    arrow = arrow_library()
    whole = table.source
    if not isinstance(whole, arrow.Table):
        whole = arrow.table(dict(zip(table.names, table.columns, strict=True)))
    for name, values in added.items():
        if name in whole.column_names:
            whole = whole.drop_columns([name])
        whole = whole.append_column(name, arrow.array(values))
    return whole


def write_arrow(path: Path, table: Table, added: dict[str, FloatArray]) -> None:
    """Write a parquet or Feather file."""
    arrow, whole = arrow_library(), with_columns(table, added)
    if path.suffix.lower() == ".parquet":
        arrow.parquet.write_table(whole, path)
    else:
        arrow.feather.write_feather(whole, str(path))


def read_anndata(path: Path, most_bytes: float) -> Table:
    """Read an AnnData: its principal components if they are there, else X."""
    try:
        import anndata
        import h5py
    except ImportError as error:
        raise RefusedError(".h5ad files need anndata; pip install 'ptunfold[anndata]'") from error
    with h5py.File(path, "r") as file:
        sizes: list[float] = []

        def measure(_: str, node: Any) -> None:
            if isinstance(node, h5py.Dataset) and node.shape is not None:
                sizes.append(float(np.prod(node.shape, dtype=float)) * node.dtype.itemsize)

        file.visititems(measure)
        check_memory(sum(sizes), most_bytes, str(path))
    content = anndata.read_h5ad(path)
    has_components = "X_pca" in content.obsm
    matrix = content.obsm["X_pca"] if has_components else content.X
    if matrix is None:
        raise RefusedError(f'{path} has neither X nor obsm["X_pca"]; put one there')
    if hasattr(matrix, "toarray"):
        check_memory(float(np.prod(matrix.shape, dtype=float)) * 8, most_bytes, str(path))
        matrix = matrix.toarray()
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise RefusedError(f"{path} holds no numbers in rows and columns; put them into X")
    matrix = matrix.astype(np.uint8) if matrix.dtype.kind == "b" else matrix
    names = [f"x{place}" for place in range(matrix.shape[1])]
    given = [str(name) for name in content.var_names]
    is_named = (
        not has_components
        and content.var_names.is_unique
        and given != [str(place) for place in range(len(given))]
    )
    left_out = {"X": "there are components"} if has_components and content.X is not None else {}
    return Table(
        given if is_named else names,
        list(matrix.T),
        content,
        is_named=is_named,
        place='obsm["X_pca"]' if has_components else "X",
        left_out=left_out,
    )
