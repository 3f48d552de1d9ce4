"""Parquet and Feather files, and AnnData: what other libraries read and write."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.io.arrays import check_memory
from ptunfold.io.table import RefusedError, Table
from ptunfold.io.text import check_names
from ptunfold.types import FloatArray

ARROW = {".parquet", ".feather", ".arrow"}


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
    known = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = frozenset(column for column in known if isinstance(column, str))
    return Table(names, list(table.columns), table, is_named=True, index=index)


def write_arrow(path: Path, table: Table, added: dict[str, FloatArray]) -> None:
    """Write a parquet or Feather file; types and metadata of one that was read stay."""
    arrow = arrow_library()
    whole = table.source
    if not isinstance(whole, arrow.Table):
        whole = arrow.table(dict(zip(table.names, table.columns, strict=True)))
    for name, values in added.items():
        if name in whole.column_names:
            whole = whole.drop_columns([name])
        whole = whole.append_column(name, arrow.array(values))
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
