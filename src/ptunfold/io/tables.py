"""Tables and arrays in and out: a table goes out as it came in, with columns more."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.io.files import whole_file
from ptunfold.types import BoolArray, FloatArray

TEXT = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
ARROW = {".parquet", ".feather", ".arrow"}
ARRAYS = {".npy", ".npz"}
IMAGES = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif"}
ENDINGS = [*TEXT, *sorted(ARROW), *sorted(ARRAYS), ".h5ad"]


@dataclass(frozen=True)
class Table:
    """Columns of a file, each as it stands there.

    Attributes
    ----------
    names : list of str
        The names of the columns.
    columns : list
        For each column a list of texts, an Arrow array or a NumPy array.
    source : object
        What else the file holds: the Arrow table with its schema, an AnnData, other arrays.
    shape : tuple of int or None
        Of an image, where rows are images.
    """

    names: list[str]
    columns: list[Any]
    source: Any = None
    shape: tuple[int, ...] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def numbers(self, names: Sequence[str] | None = None) -> tuple[FloatArray, list[str]]:
        """Return some columns as numbers (n_rows, n_columns), and their names.

        Without names all columns that hold nothing but numbers and gaps; a gap is NaN.
        """
        if names is None:
            found = [
                (name, values)
                for name, column in zip(self.names, self.columns, strict=True)
                if (values := _as_numbers(column)) is not None
            ]
            if not found:
                raise ValueError(
                    f"none of the columns {', '.join(self.names)} holds numbers; name those to use"
                )
            return np.column_stack([values for _, values in found]), [name for name, _ in found]
        chosen = []
        for name in names:
            values = _as_numbers(self.columns[self._place(name)])
            if values is None:
                raise ValueError(f"column {name} does not hold numbers; choose others")
            chosen.append(values)
        return np.column_stack(chosen), list(names)

    @property
    def described(self) -> dict[str, Any]:
        """All columns, as numbers where they hold nothing else; of an AnnData its ``obs``."""
        return {name: _as_described(column) for name, column in self._columns_about.items()}

    def about(self, name: str) -> Any:
        """Return what one column says about the rows, as in ``described``.

        Of an AnnData also one of the columns that are embedded, x0, x1, ...
        """
        known = self._columns_about
        if name not in known and name not in self.names:
            raise ValueError(f"there is no column {name}; the columns are {', '.join(known)}")
        return _as_described(known[name] if name in known else self.columns[self._place(name)])

    @property
    def _columns_about(self) -> dict[str, Any]:
        if hasattr(self.source, "obsm"):
            return {str(name): column for name, column in self.source.obs.items()}
        return dict(zip(self.names, self.columns, strict=True))

    def keep(self, names: Sequence[str]) -> Table:
        """Keep some columns."""
        places = [self._place(name) for name in names]
        kept = [self.columns[place] for place in places]
        source = self.source.select(list(names)) if hasattr(self.source, "select") else self.source
        return replace(self, names=list(names), columns=kept, source=source)

    def rows(self, is_kept: BoolArray) -> Table:
        """Keep some rows."""
        columns = [_select(column, is_kept) for column in self.columns]
        source = self.source
        if hasattr(source, "filter"):
            source = source.filter(is_kept)
        elif hasattr(source, "obsm"):
            source = source[is_kept].copy()
        return replace(self, columns=columns, source=source)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"there is no column {name}; the columns are {', '.join(self.names)}")
        return self.names.index(name)


def _as_numbers(column: Any) -> FloatArray | None:
    """Return a column as float64, gaps as NaN; None if it holds anything else."""
    if isinstance(column, np.ndarray):
        return column.astype(np.float64) if column.dtype.kind in "fiu" else None
    if isinstance(column, list):
        numbers = np.empty(len(column))
        for row, text in enumerate(column):
            if text.strip().lower() in ("", "na", "nan", "null", "none"):
                numbers[row] = np.nan
                continue
            try:
                numbers[row] = float(text)
            except ValueError:
                return None
        return numbers
    import pyarrow as arrow

    if not (arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)):
        return None
    return np.array(column.cast(arrow.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _as_described(column: Any) -> Any:
    if hasattr(column, "cat"):
        return column  # pandas' categories have an order of their own
    if hasattr(column, "iloc"):
        column = column.to_numpy()
    numbers = _as_numbers(column)
    texts = column.to_pylist() if hasattr(column, "to_pylist") else column
    return np.array(texts, dtype=object) if numbers is None else numbers


def _select(column: Any, is_kept: BoolArray) -> Any:
    if isinstance(column, list):
        return [text for text, kept in zip(column, is_kept, strict=True) if kept]
    return column[is_kept] if isinstance(column, np.ndarray) else column.filter(is_kept)


def read_table(path: str | Path) -> Table:
    """Read a file, or a folder of images of one size.

    Raises
    ------
    ValueError
        If it is not there, of an unknown kind, empty, or damaged.
    """
    path = Path(path)
    if path.is_dir():
        return _read_images(path)
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    ending = path.suffix.lower()
    if ending in TEXT:
        table = _read_text(path, TEXT[ending])
    elif ending in ARROW:
        table = _read_arrow(path)
    elif ending in ARRAYS:
        table = _read_array(path)
    elif ending == ".h5ad":
        table = _read_anndata(path)
    else:
        raise ValueError(
            f"{path} is of no kind that is known; the endings are {', '.join(ENDINGS)}"
        )
    if not table.n_rows:
        raise ValueError(f"{path} has no rows")
    return table


def _read_text(path: Path, separator: str) -> Table:
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            lines = [line for line in csv.reader(file, delimiter=separator) if line]
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is no table in UTF-8 text ({error})") from error
    if not lines:
        raise ValueError(f"{path} is empty")
    names, rows = lines[0], lines[1:]
    if all(_is_number(name) for name in names):
        names, rows = [f"x{place}" for place in range(len(names))], lines
    for number, row in enumerate(rows, start=2 if rows is not lines else 1):
        if len(row) != len(names):
            raise ValueError(
                f"line {number} of {path} has {len(row)} fields, and the first has {len(names)}"
            )
    if len(set(names)) < len(names):
        raise ValueError(f"{path} has two columns of the same name; rename one")
    return Table(names, [list(column) for column in zip(*rows, strict=True)])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError(
            "parquet and Feather files need pyarrow; pip install 'ptunfold[tables]'"
        ) from error
    return pyarrow


def _read_arrow(path: Path) -> Table:
    arrow = _arrow()
    try:
        if path.suffix.lower() == ".parquet":
            table = arrow.parquet.read_table(path)
        else:
            table = arrow.feather.read_table(path)
    except (arrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} cannot be read; it may be damaged ({error})") from error
    return Table(list(table.column_names), list(table.columns), table)


def _read_array(path: Path) -> Table:
    try:
        content = np.load(path, allow_pickle=False)
        arrays = dict(content) if path.suffix.lower() == ".npz" else {"x": content}
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read; it may be damaged ({error})") from error
    tables = [
        name for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiu"
    ]
    chosen = next((name for name in ("X", "x", "points", "data") if name in tables), None)
    if chosen is None:
        if len(tables) != 1:
            raise ValueError(
                f"{path} has {len(tables)} arrays of two dimensions and numbers "
                f"({', '.join(arrays) or 'none at all'}); name one X"
            )
        chosen = tables[0]
    array = arrays[chosen]
    names = [f"x{place}" for place in range(array.shape[1])]
    return Table(names, list(array.T), arrays if path.suffix.lower() == ".npz" else None)


def _read_anndata(path: Path) -> Table:
    try:
        import anndata
    except ImportError as error:
        raise ValueError(".h5ad files need anndata; pip install 'ptunfold[anndata]'") from error
    try:
        content = anndata.read_h5ad(path)
    except Exception as error:  # h5py has errors of its own kinds
        raise ValueError(f"{path} cannot be read; it may be damaged ({error})") from error
    matrix = content.obsm.get("X_pca", content.X)
    matrix = matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
    return Table([f"x{place}" for place in range(matrix.shape[1])], list(matrix.T), content)


def _read_images(folder: Path) -> Table:
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in IMAGES)
    if not files:
        raise ValueError(f"there is no image in {folder}; the endings are {', '.join(IMAGES)}")
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise ValueError("images need Pillow; pip install 'ptunfold[plot]'") from error
    rows, shape = [], None
    for file in files:
        try:
            with Image.open(file) as image:
                plain = image if image.mode in ("L", "RGB") else image.convert("RGB")
                pixels = np.asarray(plain, dtype=np.float32) / 255
        except (UnidentifiedImageError, OSError) as error:
            raise ValueError(f"{file} is no image, or a damaged one") from error
        if shape is not None and pixels.shape != shape:
            raise ValueError(
                f"{file} has the shape {pixels.shape}, and {files[0].name} has {shape}; images "
                "of one size and kind are needed"
            )
        shape = pixels.shape
        rows.append(pixels.ravel())
    assert shape is not None
    return Table(["file"], [[file.name for file in files]], np.stack(rows), shape)


def check_output(path: str | Path) -> None:
    """Check that a table can be written to a file, before the work starts."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(
            f"{path} has no ending that is known; the endings are {', '.join(ENDINGS)}"
        )
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent}; make it, or choose another place")
    if ending in ARROW:
        _arrow()


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
    check_output(path)
    ending = path.suffix.lower()
    stacked = np.column_stack(list(added.values()))
    if ending in TEXT:
        _write_text(path, table, added, TEXT[ending])
    elif ending in ARROW:
        _write_arrow(path, table, added)
    elif ending == ".npy":
        with whole_file(path) as name, name.open("wb") as file:
            np.save(file, stacked)
    elif ending == ".npz":
        arrays = table.source if isinstance(table.source, dict) else {}
        with whole_file(path) as name, name.open("wb") as file:
            np.savez(file, **{**arrays, key: stacked})
    else:
        if not hasattr(table.source, "obsm"):
            raise ValueError(f"{path} can only be made from a .h5ad file; choose another ending")
        table.source.obsm[key] = stacked
        with whole_file(path) as name:
            table.source.write_h5ad(name)


def _write_text(path: Path, table: Table, added: dict[str, FloatArray], separator: str) -> None:
    kept = {
        name: _as_texts(column)
        for name, column in zip(table.names, table.columns, strict=True)
        if name not in added
    }
    kept |= {name: [repr(float(value)) for value in values] for name, values in added.items()}
    with whole_file(path) as name, name.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerow(kept)
        writer.writerows(zip(*kept.values(), strict=True))


def _as_texts(column: Any) -> list[str]:
    if isinstance(column, list):
        return column
    values = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    return ["" if value is None else str(value) for value in values]


def _write_arrow(path: Path, table: Table, added: dict[str, FloatArray]) -> None:
    arrow = _arrow()
    whole = table.source
    if not isinstance(whole, arrow.Table):
        whole = arrow.table(dict(zip(table.names, table.columns, strict=True)))
    for name, values in added.items():
        if name in whole.column_names:
            whole = whole.drop_columns([name])
        whole = whole.append_column(name, arrow.array(values))
    with whole_file(path) as name_of_part:
        if path.suffix.lower() == ".parquet":
            arrow.parquet.write_table(whole, name_of_part)
        else:
            arrow.feather.write_feather(whole, str(name_of_part))
