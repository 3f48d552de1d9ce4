"""Parquet and Feather files, AnnData and images: what other libraries read and write."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ptunfold.io.kinds import Kinds
from ptunfold.io.table import Parts, RefusedError, Table, check_memory
from ptunfold.io.text import check_names
from ptunfold.types import FloatArray

IMAGES = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif"}
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


class ParquetParts(Parts):
    """A parquet file."""

    def __init__(self, source: Path | BinaryIO, name: str, most_bytes: float) -> None:
        # Without these a group of rows is in memory as a whole, and there may be one in all.
        self._file = arrow_library().parquet.ParquetFile(
            source, pre_buffer=False, buffer_size=_BUFFER
        )
        about = self._file.metadata
        groups = [about.row_group(place) for place in range(about.num_row_groups)]
        self._group_rows = [group.num_rows for group in groups]
        n_bytes = sum(group.total_byte_size for group in groups)
        # Repeated values take next to nothing in a file, and eight bytes each in memory.
        self.n_bytes_a_row = max(n_bytes / max(about.num_rows, 1), 8.0 * about.num_columns)
        self.most_bytes = most_bytes
        names = list(self._file.schema_arrow.names)
        check_names(names, name)
        super().__init__(name, names, about.num_rows, is_named=True)
        self._batches: Any = None
        self._left: Any = None  # of the last batch

    def _rows(self, n_rows: int) -> Table:
        if self._batches is None:
            self._batches = self._batches_of(n_rows)
            self._left = next(self._batches)
        found = []
        while n_rows:
            if not self._left.num_rows:
                self._left = next(self._batches)
            found.append(self._left.slice(0, n_rows))
            self._left = self._left.slice(n_rows)
            n_rows -= found[-1].num_rows
        schema = self._file.schema_arrow
        return _arrow_table(arrow_library().Table.from_batches(found, schema=schema))

    def _batches_of(self, size: int) -> Iterator[Any]:
        """Take batches from the file; groups of rows that were read before are not looked at."""
        first, n_skipped = 0, self.n_done
        while n_skipped >= self._group_rows[first]:
            n_skipped -= self._group_rows[first]
            first += 1
        for batch in self._file.iter_batches(size, row_groups=range(first, len(self._group_rows))):
            n_before = min(n_skipped, batch.num_rows)
            n_skipped -= n_before
            yield batch.slice(n_before)

    def close(self) -> None:
        """Let go of the file."""
        self._batches = self._left = None
        self._file.close()


def read_feather(source: Path | BinaryIO, name: str) -> Table:
    """Read a Feather file."""
    table = arrow_library().feather.read_table(source)
    check_names(table.column_names, name)
    return _arrow_table(table)


def _arrow_table(table: Any) -> Table:
    known = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = frozenset(column for column in known if isinstance(column, str))
    first = table.schema.field(0) if table.num_columns else None
    if first is not None and first.name == "" and arrow_library().types.is_integer(first.type):
        index |= {""}  # as in a text, from which it may come
    return Table(table.column_names, table.columns, table, is_named=True, index=index)


def with_columns(table: Table, added: dict[str, FloatArray], kinds: Kinds | None = None) -> Any:
    """Return a table of Arrow with more columns; types and metadata of one that was read stay.

    Of a part, `kinds` holds the columns of texts to what those of the parts before are.
    """
    arrow = arrow_library()
    whole = table.source
    if not isinstance(whole, arrow.Table):
        # Together: a table of Arrow without columns has no rows that others could be added to.
        columns = (kinds or Kinds()).typed(table).items()
        kept = {name: column for name, column in columns if name not in added} | added
        return arrow.table({name: _as_arrow_takes_it(column) for name, column in kept.items()})
    for name, values in added.items():
        if name in whole.column_names:
            whole = whole.drop_columns([name])
        whole = whole.append_column(name, arrow.array(values))
    return whole


def _as_arrow_takes_it(column: Any) -> Any:
    """Return numbers in the order of bytes and of a size that every machine has, and texts."""
    if isinstance(column, np.ma.MaskedArray):
        return arrow_library().array(column.data, mask=np.ma.getmaskarray(column))
    if isinstance(column, list):
        return _as_text(column)
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "fiu":
        return column
    native = column.dtype.newbyteorder("=")
    return column.astype(np.float64 if native.itemsize > 8 else native, copy=False)


def _as_text(texts: list[Any]) -> Any:
    """Return texts for Arrow, with other letters, as on a terminal, for bytes that are no text."""
    try:
        return arrow_library().array(texts)
    except UnicodeEncodeError:  # in the name of a file
        return [text.encode("utf-8", "backslashreplace").decode() for text in texts]


def read_anndata(
    path: Path,
    most_bytes: float,
    wanted: str | None = None,
    features: Sequence[str] = (),
) -> Table:
    """Read an AnnData: what is wanted of ``obsm``, else principal components, else X.

    X comes before components if it has all `features` that are asked for by their names.
    """
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
    given = _names_of(content)
    is_asked_for = bool(features) and content.X is not None and set(features) <= set(given)
    keys = (wanted,) if is_asked_for else (wanted, "X_pca")
    key = next((key for key in keys if key in content.obsm), None)
    matrix = content.X if key is None else content.obsm[key]
    what = "components" if key == "X_pca" else "places"
    if matrix is None:
        raise RefusedError(f'{path} has neither X nor obsm["X_pca"]; put one there')
    if hasattr(matrix, "toarray"):
        check_memory(float(np.prod(matrix.shape, dtype=float)) * 8, most_bytes, str(path))
        matrix = matrix.toarray()
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise RefusedError(f"{path} holds no numbers in rows and columns; put them into X")
    matrix = matrix.astype(np.uint8) if matrix.dtype.kind == "b" else matrix
    is_named = key is None and bool(given)
    names = given if is_named else [f"x{place}" for place in range(matrix.shape[1])]
    label, about, renamed = _named_apart(content, names)
    return Table(
        names,
        list(matrix.T),
        content,
        is_named=is_named,
        labels={label: list(map(str, content.obs_names))},
        beside={name: _plain(content.obs[column]) for name, column in about.items()},
        renamed=renamed,
        place="X" if key is None else f'obsm["{key}"]',
        left_out={} if key is None or content.X is None else {"X": f"there are {what}"},
    )


def _names_of(content: Any) -> list[str]:
    """List the names of the columns of X; none if they are numbers by default, or not apart."""
    names = [str(name) for name in content.var_names]
    is_plain = names == [str(place) for place in range(len(names))]
    return [] if is_plain or not content.var_names.is_unique else names


def _named_apart(content: Any, names: list[str]) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Call what is known of observations as none of the columns is called that are read.

    Returns how their names are called, the columns of ``obs`` by what they are called, and what is
    not called as in the file.
    """
    label, columns = str(content.obs_names.name or ""), list(content.obs)
    taken = {*names, *map(str, columns), label}
    renamed: dict[str, str] = {}

    def free(name: str, what: str) -> str:
        while name in taken:
            name = f"obs_{name}"
        taken.add(name)
        renamed[name] = what
        return name

    kept = set(names)
    about = {
        free(str(name), f'obs["{name}"]') if str(name) in kept else str(name): name
        for name in columns
    }
    if label in kept or label in about:
        label = free(label, "the names of the observations")
    return label, about, renamed


def _plain(column: Any) -> Any:
    """Return a column of pandas as an array of numbers, or as texts, empty where there is none."""
    values = column.to_numpy()
    if values.dtype.kind in "fiub":
        return values
    is_there = column.notna()
    return [str(value) if there else "" for value, there in zip(values, is_there, strict=True)]


def lost_of(table: Table, *, has_columns: bool) -> list[str]:
    """List what of an AnnData is not among the columns that were read from it, if they go out."""
    content = table.source
    found = [] if has_columns else [f'obs["{name}"]' for name in content.obs]
    found += [part for part in ("X", "raw") if getattr(content, part) is not None]
    for part in ("obsm", "layers", "obsp", "varm", "varp"):
        # From AnnData 0.13 on, X is a layer too, and has no name there.
        found += [f'{part}["{name}"]' for name in getattr(content, part) if name is not None]
    found += [part for part in ("var", "uns") if len(getattr(content, part).keys())]
    return [name for name in found if not has_columns or name != table.place]


def read_images(folder: Path, most_bytes: float) -> Table:
    """Read the images of a folder, in the order of their names, as numbers from 0 to 1."""
    everything = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
    files = [file for file in everything if file.suffix.lower() in IMAGES and file.is_file()]
    if not files:
        raise RefusedError(
            f"there is no image in {folder}; the endings are {', '.join(sorted(IMAGES))}"
        )
    left_out = {file.name: "no image" for file in everything if file not in set(files)}
    rows: Any = None
    shape: tuple[int, ...] = ()
    for place, file in enumerate(files):
        pixels, lost = _read_image(file)
        if rows is None:
            shape = pixels.shape
            check_memory(4 * pixels.size * len(files), most_bytes, str(folder))
            rows = np.empty((len(files), pixels.size), dtype=np.float32)
        if pixels.shape != shape:
            raise RefusedError(
                f"{file} has the shape {pixels.shape}, and {files[0].name} has {shape}; images "
                "of one size and kind are needed"
            )
        rows[place] = pixels.ravel()
        left_out |= {f"{what} of {file.name}": why for what, why in lost.items()}
    names = [file.name for file in files]
    return Table(["file"], [names], rows, shape, left_out=left_out)


def _read_image(file: Path) -> tuple[FloatArray, dict[str, str]]:
    """Read one image; and what of it is lost, with why."""
    try:
        from PIL import Image
    except ImportError as error:
        raise RefusedError("images need Pillow; pip install 'ptunfold[plot]'") from error
    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            warnings.simplefilter("ignore", UserWarning)  # of what stands beside the pixels
            with Image.open(file) as image:
                lost = _what_is_lost(image)
                return _pixels(image), lost
    except bombs as error:
        raise RefusedError(
            f"{file} has more pixels than are read ({Image.MAX_IMAGE_PIXELS:,}); make it smaller"
        ) from error
    except MemoryError:
        raise
    except Exception as error:  # each format has errors of its own kinds
        raise RefusedError(f"{file} is no image, or a damaged one ({error})") from error


def _pixels(image: Any) -> FloatArray:
    if image.mode == "F":
        return np.asarray(image, dtype=np.float32)
    if image.mode.startswith("I"):  # 16 bits; Pillow has called them I, of 32, in some versions
        return np.asarray(image, dtype=np.float32) / np.float32(65535)
    if image.mode in ("1", "LA"):
        image = image.convert("L")
    plain = image if image.mode in ("L", "RGB") else image.convert("RGB")
    return np.asarray(plain, dtype=np.float32) / np.float32(255)


def _what_is_lost(image: Any) -> dict[str, str]:
    lost = {}
    raw = image.tile[0][3] if image.tile else ""
    raw = raw[0] if isinstance(raw, tuple) and raw else raw
    if isinstance(raw, str) and ";16" in raw and not image.mode.startswith("I"):
        lost["the lower 8 of 16 bits"] = "Pillow reads colours in 8"
    if image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info:
        lost["transparency"] = "it is no colour"
    if getattr(image, "n_frames", 1) > 1:
        lost["all but the first picture"] = "one a file is read"
    return lost
