"""The page itself: one file of HTML with everything in it."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from ptunfold.caller import warn
from ptunfold.explorer.borders import Borders
from ptunfold.explorer.columns import Column
from ptunfold.explorer.comparison import Comparison
from ptunfold.explorer.measures import OTHERS, SCORES
from ptunfold.explorer.scales import Scale
from ptunfold.explorer.widget import make_widget
from ptunfold.io.outputs import whole_file
from ptunfold.kernels.spreading import Doubts
from ptunfold.threads import Run, check_not_stopped, run_together
from ptunfold.types import Connection, FloatArray, IntArray

_MOST_EXACT = 200_000  # points; coordinates of more are rounded
_MOST_FEATURES = 4_000_000  # numbers
_MOST_NAMED = 100  # features on a card
_LEVELS = 65534  # of a rounded number in 16 bits; one more stands for a gap
_WIDEST_STEP = 4.0  # edge lengths that a step of 16 bits may have
_FARTHEST = 1000.0  # extents from the origin, where 32 bits are enough
_LONGEST_NAME = 60  # letters; file systems take 255 bytes
_EFFORT = 1  # of zlib: 6 takes half as long again, and saves a hundredth
_SOME, _WORTH_IT = 1 << 14, 0.9  # bytes that tell whether an array gets smaller, and by how much
_MOST_LETTERS = 1 << 22  # of a script element: browsers copy what they have of it again and again
_AT_ONCE = 1 << 22  # bytes to compress
_GZIP = 31  # zlib's word for a gzip container with the largest window


@dataclass(frozen=True)
class Page:
    """A page for a browser, complete in itself.

    In a notebook it shows itself; :meth:`widget` shows it there with its selection in Python.

    Attributes
    ----------
    html : str
        The page.
    n_points : int
        How many points it shows.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import s_with_hole
    >>> model = PTU().fit(s_with_hole(300).points)
    >>> page = model.explore(title="a sheet")
    >>> "a sheet" in page.html
    True
    """

    html: str
    n_points: int = 0

    def save(self, path: str | Path) -> None:
        """Write the page to a file; one that is there is replaced when the new one is whole.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> model = PTU().fit(s_with_hole(300).points)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.explore().save(Path(folder) / "sheet.html")
        ...     print((Path(folder) / "sheet.html").read_text(encoding="utf-8")[:15])
        <!doctype html>
        """
        with whole_file(path) as name:
            Path(name).write_text(self.html, encoding="utf-8")

    def widget(self) -> Any:
        """Make a widget of the page, whose selection and path Python reads and sets.

        It works in JupyterLab, Jupyter Notebook and VS Code, and needs anywidget:
        ``pip install 'ptunfold[widget]'``.

        Returns
        -------
        widget : anywidget.AnyWidget, or Page
            With ``selection``, the list of the points that are selected, ascending, and ``path``,
            the pair of points between which a path is shown, or None. What is selected in the page
            arrives there, and what is assigned is shown in the page; ``observe(function,
            "selection")`` calls a function at every change. Without anywidget it is the page
            itself, with a warning.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> model = PTU().fit(s_with_hole(300).points)
        >>> widget = model.explore().widget()
        >>> widget.selection = [3, 1, 4]
        >>> model.embedding_[widget.selection].shape
        (3, 2)
        """
        try:
            return make_widget(self.html, self.n_points)
        except ModuleNotFoundError as error:
            warn(
                f"this is the page without its selection in Python, because {error.name} is not "
                "installed; install it with pip install 'ptunfold[widget]'"
            )
            return self

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own, as notebooks ask for."""
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="ptunfold explorer" '
            'style="width: 100%; height: 720px; border: 1px solid #ccc"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Page({len(self.html) / 1e6:.1f} MB of HTML; save(path) writes it)"


def make_page(
    points: FloatArray,
    embedding: FloatArray,
    *,
    title: str,
    names: list[str],
    columns: list[Column],
    axes: list[Scale] | None = None,
    color: str | None = None,
    pictures: Any = None,
    is_pixels: bool = False,
    span: FloatArray | None = None,
    connection: Connection | None = None,
    doubts: Doubts | None = None,
    std: FloatArray | None = None,
    example: tuple[int, int] | None = None,
    borders: Borders | None = None,
    others: Sequence[Comparison] = (),
    quality: dict[str, list[float | None]] | None = None,
    said: str = "",
    n_jobs: int | None = None,
    no_paths: str = "",
) -> Page:
    """Put points, embedding, columns and the connection on a page.

    ``axes`` are the scales of features and coordinates. Of more than three features the first
    three principal components are shown. ``span`` has the
    points in coordinates of their span, which have the same distances; features that are pixels of
    ``pictures`` (n_points, height, width, channels) need no card; without a connection there are no
    paths, and ``no_paths`` is said instead. ``doubts`` and ``std`` (n_points, c, c) tell how sure
    paths and places are; ``example`` are the ends of a path to begin with, ``borders`` those of
    seams, ``others`` embeddings to compare with and ``quality`` the scores of all, the first one's
    in front. ``said`` is a sentence on the fit.
    """
    box = _Box()
    n_points, n_features = points.shape
    is_exact = n_points <= _MOST_EXACT
    box.add("embedding", embedding, is_exact=is_exact)
    is_named = n_features <= _MOST_NAMED and not is_pixels
    # Distances in space are the same in the span of the points.
    told = points if span is None or is_named else span
    has_features = n_features <= 3 or told.size <= _MOST_FEATURES
    if has_features:
        box.add("features", told, is_exact=is_exact)
    if n_features > 3:
        box.add("input", PCA(3, random_state=0).fit_transform(points), is_exact=False)
    described = []
    for index, column in enumerate(columns):
        name = f"column{index}"
        if column.labels is not None:
            box.store(name, column.values.astype(np.int32))
        elif column.is_score:
            box.add(name, column.values, is_exact=is_exact)
        else:
            box.store(name, _as_given(column.values))
        described.append(
            {
                "name": column.name,
                "array": name,
                "labels": column.labels,
                "is_score": column.is_score,
                "about": SCORES.get(column.name) if column.is_score else None,
                "scale": _described(column.scale),
            }
        )
    if pictures is not None:
        box.store("images", pictures)
    if std is not None and embedding.shape[1] == 2:
        box.store("ellipses", std.reshape(-1, 4)[:, [0, 1, 3]].astype(np.float32))
    if borders is not None:
        box.store("border_points", borders.points.astype(np.int32))
        box.store("border_seams", borders.seams.astype(np.uint8))
        box.store("border_along", borders.along.astype(np.float32))
    for index, other in enumerate(others):
        box.add(f"other{index}", other.places, is_exact=is_exact)
    meta = {
        "title": title,
        "file_name": re.sub(r"[^\w.-]+", "-", title)[:_LONGEST_NAME].strip(".-") or "ptunfold",
        "points": n_points,
        "components": embedding.shape[1],
        "n_features": told.shape[1],
        "features": names if is_named and has_features else [],
        "input_title": "data" if n_features <= 3 else "data, three principal components",
        "columns": described,
        "about": OTHERS,
        "axes": None if axes is None else list(map(_described, axes)),
        "color": color,
        "image_shape": None if pictures is None else list(pictures.shape[1:]),
        "no_paths": no_paths,
        "said": said,
        "example": None if example is None else list(example),
        "others": [other.name for other in others],
        "quality": quality or {},
        "dim": None if connection is None else connection.intrinsic_dim,
        "step_scale": None if connection is None else _store_connection(box, connection, doubts),
        "noise": 0.0 if doubts is None else doubts.noise,
        "bars": None if doubts is None else [doubts.factor, doubts.middle, doubts.power],
    }
    return Page(_fill({**meta, "arrays": box.entries}, box.scripts(n_jobs)), n_points)


def _described(scale: Scale) -> dict[str, Any]:
    return {"kind": scale.kind, "start": scale.start, "period": scale.period}


def _store_connection(box: _Box, connection: Connection, doubts: Doubts | None) -> float | None:
    """Store each edge once: its ends, its length, its rotation and its steps from both ends.

    Returns what steps are to be multiplied with, beside the length of the edge; None if they are
    stored as they are.
    """
    graph = connection.graph
    forth = np.flatnonzero(graph.tails < graph.indices)
    back = graph.reverse[forth]
    lengths = graph.lengths[forth]
    steps = np.stack((connection.steps[forth], connection.steps[back]), axis=1)
    box.store("counts", np.bincount(graph.tails[forth], minlength=graph.n_points).astype(np.uint32))
    box.store("heads", graph.indices[forth].astype(np.int32))
    box.store("lengths", lengths.astype(np.float32))
    if connection.coherence is not None:
        box.store("coherence", np.rint(65535 * connection.coherence[forth]).astype(np.uint16))
    if doubts is not None:
        box.store("tilts", doubts.tilts[forth].astype(np.float32))
        box.store("bends", doubts.bends[forth].astype(np.float32))
    if connection.curvature is not None:
        box.store("curvature", connection.curvature.astype(np.float32))
    box.store("rotations", np.rint(32767 * connection.rotations[forth]).astype(np.int16))
    reach = np.abs(steps).max(axis=(1, 2), initial=0)
    if (reach > _WIDEST_STEP * lengths).any():  # lengths of the caller's own, of any meaning
        box.store("steps", steps.astype(np.float32))
        return None
    # Relative to the edge, so that short edges are as exact as long ones.
    share = np.divide(
        steps, lengths[:, None, None], out=np.zeros_like(steps), where=lengths[:, None, None] > 0
    )
    scale = float(np.abs(share).max(initial=1e-9)) / 32767
    box.store("steps", np.rint(share / scale).astype(np.int16))
    return scale


class _Box:
    """Arrays on their way into the page."""

    def __init__(self) -> None:
        self.entries: dict[str, Any] = {}
        self._arrays: list[tuple[str, Any, bool]] = []

    def add(self, name: str, values: FloatArray | IntArray, *, is_exact: bool) -> None:
        """Add numbers, in as many bits as they need or in 16 for the range of each column."""
        if is_exact:
            self.store(name, _as_short(np.asarray(values, dtype=np.float64)))
            return
        table = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        is_there = np.isfinite(table)
        low = np.where(is_there, table, np.inf).min(axis=0)
        high = np.where(is_there, table, -np.inf).max(axis=0)
        low = np.where(np.isfinite(low), low, 0)
        unit = np.where(high > low, high - low, 1) / _LEVELS
        levels = np.where(is_there, np.rint((table - low) / unit), _LEVELS + 1)
        self.store(name, levels.astype(np.uint16), low=low.tolist(), unit=unit.tolist())

    def store(self, name: str, array: Any, **more: Any) -> None:
        """Add an array as it is."""
        array = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        raw = array.reshape(-1).view(np.uint8)
        some = raw[len(raw) // 2 :][:_SOME].tobytes()
        is_worth_it = len(zlib.compress(some, _EFFORT)) < _WORTH_IT * len(some)
        told = {"id": f"data-{name}", "dtype": array.dtype.name, "packed": is_worth_it}
        self.entries[name] = {**told, **more}
        self._arrays.append((name, raw, is_worth_it))

    def scripts(self, n_jobs: int | None) -> list[str]:
        """Write all arrays as elements of a page."""
        return run_together([partial(_script, *one) for one in self._arrays], Run(n_jobs))


def _script(name: str, raw: Any, is_packed: bool) -> str:
    text = base64.b64encode(_packed(raw) if is_packed else raw.data).decode("ascii")
    parts = [text[at : at + _MOST_LETTERS] for at in range(0, max(len(text), 1), _MOST_LETTERS)]
    return "\n".join(
        f'<script type="text/plain" id="data-{name}-{index}">{part}</script>'
        for index, part in enumerate(parts)
    )


def _packed(raw: Any) -> bytes:
    """Compress bytes, some at a time: Ctrl-C is not heard within."""
    packer, parts = zlib.compressobj(_EFFORT, wbits=_GZIP), []
    for start in range(0, len(raw), _AT_ONCE):
        check_not_stopped()
        parts.append(packer.compress(raw[start : start + _AT_ONCE].data))
    return b"".join((*parts, packer.flush()))


def _as_given(values: FloatArray | IntArray) -> FloatArray:
    """Keep every digit of a caller's numbers: 32 bits will do for whole numbers that fit in."""
    known = values[np.isfinite(values)]
    is_small = ((np.rint(known) == known) & (np.abs(known) <= 1 << 24)).all()
    return values.astype(np.float32 if is_small else np.float64)


def _as_short(values: FloatArray) -> FloatArray:
    """Use 32 bits, unless they are too few: for large whole numbers, or far from the origin."""
    short = values.astype(np.float32)
    finite = np.where(np.isfinite(values), values, 0)
    table = finite.reshape(len(values), -1)
    is_far = np.abs(table).max(axis=0, initial=0) > _FARTHEST * np.ptp(table, axis=0)
    is_whole = (np.rint(table) == table).all(axis=0)
    is_kept = (short.reshape(table.shape) == values.reshape(table.shape)).all(axis=0)
    is_kept |= np.isnan(values.reshape(table.shape)).any(axis=0) & ~is_whole
    needs_more = (is_far | is_whole) & ~is_kept
    return values if needs_more.any() else short


def _fill(meta: dict[str, Any], arrays: list[str]) -> str:
    """Put the data into the page that was bundled for them."""
    page = files("ptunfold.explorer").joinpath("page.html").read_text(encoding="utf-8")
    said = json.dumps(meta, ensure_ascii=False, allow_nan=False)
    # Inside a script element only this character could end it; halves of characters, as names of
    # files have them, cannot be written but as escapes.
    said = said.replace("<", "\\u003c").encode("utf-8", "backslashreplace").decode("utf-8")
    scripts = [f'<script type="application/json" id="meta">{said}</script>', *arrays]
    before, after = page.split("<!-- data -->")
    return before + "\n".join(scripts) + after
