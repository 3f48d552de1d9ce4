"""Figures of data, embeddings and what lies between them; needs matplotlib.

Each function draws on ``ax``, a new one by default, and returns it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ptunfold.embedding.alignment import aligned
from ptunfold.embedding.landmark_scaling import landmark_mds
from ptunfold.explorer.columns import Column, as_column, is_categorical, scaled
from ptunfold.explorer.palette import CYCLIC, DIVERGING, GAP, KINDS, OTHERS
from ptunfold.threads import single_threaded_blas
from ptunfold.types import FloatArray
from ptunfold.validation.values import check_count, check_is_fitted

_MAP = "viridis"  # legible to the colour-blind, and in grey
_MOST_BELOW = 16  # lines in a column of a legend
_MOST_BESIDE = 40  # letters in a line of a legend: more of them leave no room for the points
_LANDMARKS = 100
_BELIEVED = 0.3  # of the way, as transport_ says it
_MOST_SOURCES = 2000
_MOST_DISTANCES = 20_000_000


def _new_ax(ax: Any, *, is_3d: bool = False) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "figures need matplotlib; install it with pip install 'ptunfold[plot]'"
        ) from error
    figure = plt.figure(layout="compressed")  # for axes of equal scales
    return figure.add_subplot(projection="3d" if is_3d else None)


def _places(model: Any) -> FloatArray:
    """Return the coordinates of a fitted model, or of an array."""
    if hasattr(model, "__sklearn_is_fitted__"):
        check_is_fitted(model)
    return _as_table(getattr(model, "embedding_", model), "the coordinates")


def _as_table(rows: Any, what: str) -> FloatArray:
    """Return an array of numbers, one row a point, in which some may be missing."""
    table = np.asarray(rows)
    if table.ndim != 2 or not table.size:
        raise ValueError(
            f"{what} have shape {table.shape}, but one row a point is needed: pass a 2-D array, or "
            "a fitted model where one will do"
        )
    if table.dtype.kind in "fiub":
        return table
    try:
        return table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} are of type {table.dtype}; pass numbers") from error


def _check_knows_distances(model: Any) -> None:
    if not hasattr(model, "__sklearn_is_fitted__"):
        raise TypeError(
            f"distances along the data are not known to {type(model).__name__}; pass the fitted PTU"
        )
    check_is_fitted(model)


def _with_columns(places: FloatArray, width: int) -> FloatArray:
    """Return the first columns, with zeros where there are fewer."""
    return np.pad(places[:, :width], ((0, 0), (0, max(0, width - places.shape[1]))))


def _size(n_points: int) -> float:
    """Choose points so large that they fill about as much of the figure whatever their number."""
    return float(np.clip(6000 / n_points, 0.3, 30))


def _scatter(ax: Any, places: FloatArray, color: Any, scale: Any, options: dict[str, Any]) -> Any:
    style: dict[str, Any] = {"s": _size(len(places)), "linewidths": 0, "c": color, **options}
    labels: list[str] = []
    if _holds_values(color, len(places)):
        name = str(getattr(color, "name", None) or "color")
        column = scaled(as_column(name, color, len(places)), scale)
        if column.labels is not None:
            style["c"], labels, colors = _as_kinds(column, style.pop("cmap", None))
        else:
            numbers = {"c": column.values, **_on_scale(column)}
            if options.get("norm") is not None:
                numbers = {**numbers, "vmin": None, "vmax": None}
            style = {**style, **numbers, **options}
            return _scatter_values(ax, places, style)
    elif scale is not None:
        raise ValueError(f"scale={scale!r} is for numbers and words; pass one a point as color")
    drawn = ax.scatter(*places.T, **style)
    ax.set_aspect("equal")
    if 0 < len(labels) <= len(KINDS):
        from matplotlib.lines import Line2D

        dot: dict[str, Any] = {"marker": "o", "linestyle": "none", "markeredgewidth": 0}
        dots = [Line2D([], [], color=one, **dot) for one in colors]
        columns = -(-len(labels) // _MOST_BELOW)
        words = [_short(label, _MOST_BESIDE // columns) for label in labels]
        words = [word.replace("$", r"\$") for word in words]  # which is no mathematics here
        ax.legend(dots, words, loc="center left", bbox_to_anchor=(1, 0.5), ncols=columns)
    return drawn


def _scatter_values(ax: Any, places: FloatArray, style: dict[str, Any]) -> Any:
    """Draw points in the colours of numbers, and in grey those without: matplotlib drops them."""
    import matplotlib as mpl

    values = np.ma.masked_invalid(np.asarray(style["c"], dtype=np.float64))
    cmap = mpl.colormaps.get_cmap(style["cmap"])
    if cmap.get_bad()[3] == 0:  # transparent, unless somebody chose a colour
        cmap = cmap.with_extremes(bad=GAP)
    least = values.min() if values.count() else 0.0
    drawn = ax.scatter(*places.T, **{**style, "c": values.filled(least), "cmap": cmap})
    ax.set_aspect("equal")
    if values.count() < len(values):
        is_drawn = np.isfinite(places).all(axis=1) if ax.name == "3d" else slice(None)
        drawn.set_array(values[is_drawn])
    return drawn


def _short(word: str, most: int) -> str:
    """Leave out the middle of a long word: names that begin alike differ at their ends."""
    kept = (most - 1) // 2
    return word if len(word) <= most else f"{word[:kept]}…{word[-kept:]}"


def _holds_values(color: Any, n_points: int) -> bool:
    """Tell whether there is one value for each point, not colours that matplotlib knows."""
    from matplotlib.colors import is_color_like

    if color is None or isinstance(color, str):
        return False
    try:
        values = np.asarray(color)
    except ValueError:  # tuples of several lengths: matplotlib knows
        return False
    is_table = values.ndim > 1 and (hasattr(color, "columns") or values.shape[-1] not in (1, 3, 4))
    if values.ndim == 0 or is_table:
        raise ValueError(
            f"color is of type {type(color).__name__} and shape {values.shape}; pass one value for "
            f"each of the {n_points} points, or a colour"
        )
    if values.ndim > 1 or is_categorical(color):
        return values.ndim == 1
    if values.dtype.kind in "fiu":
        return len(values) == n_points or len(values) not in (3, 4)  # those of one colour
    if not all(isinstance(value, str) for value in values.tolist()):
        return True  # lists and dicts among them, of which no set can be made
    # Matplotlib takes "0" and "1" for black and white; those who name kinds so do not mean that.
    return not all(
        not value.replace(".", "").isdecimal() and is_color_like(value)
        for value in set(values.tolist())
    )


def _as_kinds(column: Column, cmap: Any) -> tuple[FloatArray, list[str], FloatArray]:
    """Choose colours of the points, names for the legend, and their colours.

    The smaller ones of more kinds than colours are taken together, as on the page.
    """
    import matplotlib as mpl
    from matplotlib.colors import to_rgba, to_rgba_array

    codes, labels = column.values, list(column.labels or [])
    if cmap is not None:
        among = mpl.colormaps.get_cmap(cmap)
        is_list = hasattr(among, "colors") and len(labels) <= among.N < 256
        places = np.arange(len(labels)) if is_list else np.linspace(0, 1, len(labels))
        colors = among(places).reshape(-1, 4)
    elif len(labels) <= len(KINDS):
        colors = to_rgba_array(KINDS[: len(labels)])
    else:
        sizes = np.bincount(codes[codes >= 0], minlength=len(labels))
        largest = np.argsort(-sizes, kind="stable")[: len(KINDS) - 1]
        ranks = np.full(len(labels) + 1, len(largest))  # the last one is that of a gap
        ranks[largest], ranks[-1] = np.arange(len(largest)), -1
        codes, n_others = ranks[codes], len(labels) - len(largest)
        labels = [*(labels[code] for code in largest), f"{n_others} others"]
        colors = to_rgba_array([*KINDS[: len(largest)], OTHERS])
    return np.vstack((colors, to_rgba(GAP)))[codes], labels, colors


def _on_scale(column: Column) -> dict[str, Any]:
    """Choose matplotlib's options for numbers on their scale."""
    from matplotlib.colors import LinearSegmentedColormap

    scale, values = column.scale, np.asarray(column.values, dtype=np.float64)
    if scale.kind == "diverging":
        reach = np.abs(values[np.isfinite(values)]).max(initial=0)
        cmap = LinearSegmentedColormap.from_list("ptunfold diverging", DIVERGING)
        return {"cmap": cmap, "vmin": -reach, "vmax": reach}
    if scale.kind == "cyclic":
        cmap = LinearSegmentedColormap.from_list("ptunfold cyclic", CYCLIC)
        from_start = np.where(np.isfinite(values), values, np.nan) - scale.start
        wrapped = scale.start + np.mod(from_start, scale.period)
        return {"c": wrapped, "cmap": cmap, "vmin": scale.start, "vmax": scale.start + scale.period}
    return {"cmap": _MAP}


def data(
    points: Any, color: Any = None, ax: Any = None, *, scale: Any = None, **options: Any
) -> Any:
    """Draw points in space: as they are, or along their first three principal axes.

    Parameters
    ----------
    points : (n_points, n_features)
        The points.
    color : (n_points,), optional
        Values to colour them by: numbers, or words with a legend.
    ax : matplotlib 3-D axes, optional
        Where to draw.
    scale : str or float, optional
        How numbers turn into colours, as of :func:`embedding`.
    **options
        For matplotlib's ``scatter``.

    Returns
    -------
    ax : matplotlib axes
        With equal scales.

    Examples
    --------
    >>> from ptunfold import PTU, show
    >>> from ptunfold.datasets import s_with_hole
    >>> sheet = s_with_hole(300)
    >>> ax = show.data(sheet.points, sheet.color)
    >>> ax.name
    '3d'
    """
    points = _as_table(points, "the points").astype(np.float64)
    if points.shape[1] > 3:
        known = points[np.isfinite(points).all(axis=1)]
        middle = known.mean(axis=0) if len(known) else 0
        sample = (known - middle)[:: max(1, len(known) // 2000)]
        points = (points - middle) @ np.linalg.svd(sample, full_matrices=False)[2][:3].T
    ax = _new_ax(ax, is_3d=True)
    _scatter(ax, _with_columns(points, 3), color, scale, options)
    return ax


def embedding(
    model: Any, color: Any = None, ax: Any = None, *, scale: Any = None, **options: Any
) -> Any:
    """Draw the first two coordinates of an embedding.

    Parameters
    ----------
    model : PTU or (n_points, n_components)
        A fitted model, or coordinates.
    color : (n_points,), optional
        Values to colour points by: numbers, or words, each of which gets a colour of its own and
        a line in the legend; of more than 20 the smaller ones are taken together.
    ax : matplotlib axes, optional
        Where to draw.
    scale : str or float, optional
        How numbers turn into colours: "sequential", "diverging" around zero, "cyclic" for angles, a
        number after which they come back to where they were, or "kinds". By default as the name
        of a series and its values speak for.
    **options
        For matplotlib's ``scatter``.

    Returns
    -------
    ax : matplotlib axes
        With equal scales.

    Examples
    --------
    >>> from ptunfold import PTU, show
    >>> from ptunfold.datasets import s_with_hole
    >>> sheet = s_with_hole(300)
    >>> ax = show.embedding(PTU().fit(sheet.points), sheet.color)
    >>> ax.get_aspect()
    1.0
    """
    places = _places(model)
    ax = _new_ax(ax)
    _scatter(ax, _with_columns(places, 2), color, scale, options)
    ax.set(xlabel="first coordinate", ylabel="second coordinate")
    return ax


def tile(
    model: Any, color: Any = None, ax: Any = None, *, scale: Any = None, **options: Any
) -> Any:
    """Draw the embedding of data that close upon themselves, and pale copies of it around.

    The points on both sides of a seam have rings of the same colour, as the borders of a world map
    that belong together.

    Parameters
    ----------
    model : PTU
        A fitted model of two or three components that was cut open.
    color : array-like of shape (n_points,), optional
        Numbers, words or colours, one a point.
    ax : matplotlib axes, optional
        Where to draw.
    scale : str or float, optional
        How numbers turn into colours, as of :func:`embedding`.
    **options
        For matplotlib's ``scatter``.

    Returns
    -------
    ax : matplotlib axes
        With the drawing.

    Examples
    --------
    >>> from ptunfold import PTU, show
    >>> from ptunfold.datasets import flat_torus
    >>> model = PTU(seams="cut").fit(flat_torus(1000).points)
    >>> ax = show.tile(model, model.intrinsic_coordinates_[:, 0])
    >>> len(ax.collections)  # eight copies, the tile, and two seams
    11
    """
    _check_knows_distances(model)
    places, copies = _places(model), model.images()
    if places.shape[1] not in (2, 3):
        raise ValueError(f"{places.shape[1]} coordinates cannot be drawn; fit 2 or 3 components")
    if not len(copies):
        raise ValueError(
            f"nothing was cut open, so there are no copies (found: {model.topology_}); draw it "
            "with show.embedding"
        )
    ax = _new_ax(ax, is_3d=places.shape[1] == 3)
    for copy in copies:
        ax.scatter(*copy.T, s=_size(len(places)) / 2, linewidths=0, c=GAP)
    _scatter(ax, places, color, scale, options)
    for seam, ring in zip(model.topology_.seams, KINDS, strict=False):
        border = places[np.unique(seam.edges)]
        size = 2 * _size(len(places))
        ax.scatter(*border.T, s=size, facecolors="none", edgecolors=ring, linewidths=0.8)
    return ax


def thumbnails(
    model: Any,
    images: Any,
    shape: tuple[int, ...],
    ax: Any = None,
    *,
    size: float = 0.08,
    cmap: str = "gray",
) -> Any:
    """Draw an embedding with some of the images in their places, none over another.

    Parameters
    ----------
    model : PTU or (n_points, n_components)
        A fitted model, or coordinates.
    images : (n_points, n_pixels)
        The images.
    shape : (height, width) or (height, width, 3)
        Of an image.
    ax : matplotlib axes, optional
        Where to draw.
    size : float
        The side of an image as a share of the figure.
    cmap : str
        The colours of images of one channel.

    Returns
    -------
    ax : matplotlib axes
        With equal scales.

    Examples
    --------
    >>> from ptunfold import PTU, show
    >>> from ptunfold.datasets import letter_a
    >>> letters = letter_a(100, size=16)
    >>> ax = show.thumbnails(PTU().fit(letters.points), letters.points, letters.shape)
    >>> len(ax.images) > 10
    True
    """
    places, images = _with_columns(_places(model), 2), np.asarray(images)
    _check_images(images, shape, len(places))
    if not size > 0:
        raise ValueError(f"size={size} is no share of a figure; pass a number above 0")
    is_placed = np.isfinite(places).all(axis=1)
    places, images = places[is_placed], images[is_placed]
    ax = embedding(places, "0.7", ax)
    low, high = places.min(axis=0), places.max(axis=0)
    side = size * ((high - low).max() or 1)  # all in one place: any will do
    tall, wide = shape[0] / max(shape[:2]), shape[1] / max(shape[:2])
    top = np.nanmax(np.abs(images), initial=0) or 1
    shown = np.empty((0, 2))
    for index in np.random.default_rng(0).permutation(len(places)):
        x, y = places[index]
        # The box of an image, and a little room between two.
        apart = np.abs(shown - (x, y)) / (1.05 * side * np.array([wide, tall]))
        if len(shown) and apart.max(axis=1).min() < 1:
            continue
        shown = np.vstack((shown, (x, y)))
        half = 0.5 * side * np.array([wide, tall])
        box = (x - half[0], x + half[0], y - half[1], y + half[1])
        ax.imshow(images[index].reshape(shape) / top, extent=box, cmap=cmap, zorder=3)
    margin = 0.5 * side
    ax.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))
    return ax


def _check_images(images: Any, shape: tuple[int, ...], n_points: int) -> None:
    is_shape = len(shape) in (2, 3) and min(shape) > 0
    if not is_shape or images.shape[:1] != (n_points,) or images.size != n_points * np.prod(shape):
        raise ValueError(
            f"images of shape {images.shape} are not {n_points} of shape {tuple(shape)}; pass one "
            "row of pixels for each point, and the height and width of an image"
        )


def error(model: Any, exact: Any, ax: Any = None, *, largest: float | None = None) -> Any:
    """Draw an embedding in the colours of its error against the truth.

    Parameters
    ----------
    model : PTU or (n_points, n_components)
        A fitted model, or coordinates; it is moved rigidly onto the truth.
    exact : (n_points, n_components)
        The true coordinates.
    ax : matplotlib axes, optional
        Where to draw.
    largest : float, optional
        The error of the strongest colour, as a share of the box; the largest there is by default.

    Returns
    -------
    ax : matplotlib axes
        With equal scales and a colour bar.

    Examples
    --------
    >>> from ptunfold import PTU, show
    >>> from ptunfold.datasets import s_with_hole
    >>> sheet = s_with_hole(300)
    >>> ax = show.error(PTU().fit(sheet.points), sheet.coordinates)
    >>> ax.get_aspect()
    1.0
    """
    places, exact = _places(model), _as_table(exact, "the true coordinates").astype(np.float64)
    if places.shape != exact.shape:
        raise ValueError(
            f"the true coordinates have shape {exact.shape} and the embedding {places.shape}; "
            "pass as many rows and columns of both"
        )
    is_known = np.isfinite(places).all(axis=1) & np.isfinite(exact).all(axis=1)
    places, exact = places[is_known], exact[is_known]
    across = np.ptp(exact, axis=0).max(initial=0) if len(exact) else 0
    if not across > 0:
        raise ValueError(
            f"the true coordinates of all points with a place ({len(exact)}) are the same; pass "
            "several points that lie apart"
        )
    ax = _new_ax(ax)
    moved = aligned(places, exact)
    off = 100 * np.linalg.norm(moved - exact, axis=1) / across
    top = None if largest is None else 100 * largest
    style = {"vmin": 0, "vmax": top, "cmap": "cividis"}
    drawn = _scatter(ax, _with_columns(moved, 2), off, "sequential", style)
    ax.figure.colorbar(drawn, ax=ax, label="error, % of the box")
    return ax


def path(model: Any, start: int, end: int, ax: Any = None) -> Any:
    """Draw the shortest path between two points, unfolded into the plane.

    Parameters
    ----------
    model : PTU
        A fitted model.
    start, end : int
        The two points.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        The path along the graph, the straight line between its ends, and both their lengths. Where
        the tangent planes on the way do not agree, the distance is told and no line is drawn.

    Examples
    --------
    >>> from ptunfold import PTU, show
    >>> from ptunfold.datasets import s_with_hole
    >>> sheet = s_with_hole(300)
    >>> ax = show.path(PTU().fit(sheet.points), 0, 1)
    >>> len(ax.lines)
    2
    """
    _check_knows_distances(model)
    found = model.path(start, end)
    ax = _new_ax(ax)
    points = _with_columns(found.points, 2)
    ends = points[[0, -1]]
    ax.plot(*points.T, ".-", color="#0072b2", label=f"along the graph: {found.graph_length:.4g}")
    if not len(found.coherence) or found.coherence.mean() >= _BELIEVED:
        ax.plot(*ends.T, "--", color="#d55e00", label=f"straight: {found.distance:.4g}")
    else:
        ax.plot([], [], " ", label=f"distance: {found.distance:.4g}, as planes do not agree here")
    ax.annotate(str(start), ends[0], textcoords="offset points", xytext=(4, 4))
    ax.annotate(str(end), ends[1], textcoords="offset points", xytext=(4, 4))
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend()
    return ax


def shepard(model: Any, ax: Any = None, *, n_sources: int = 50) -> Any:
    """Draw distances in the embedding against those along the data (a Shepard diagram).

    Parameters
    ----------
    model : PTU
        A fitted model.
    ax : matplotlib axes, optional
        Where to draw.
    n_sources : int
        From how many points distances are measured.

    Returns
    -------
    ax : matplotlib axes
        Points on the diagonal keep their distance.

    Examples
    --------
    >>> from ptunfold import PTU, show
    >>> from ptunfold.datasets import s_with_hole
    >>> sheet = s_with_hole(300)
    >>> ax = show.shepard(PTU().fit(sheet.points))
    >>> ax.get_xlabel()
    'distance along the data'
    """
    check_count("n_sources", n_sources)
    sources, rows = _rows(model, n_sources)
    ax = _new_ax(ax)
    places = _places(model)
    shown = np.linalg.norm(places[sources, None] - places[None], axis=2)
    is_pair = np.isfinite(rows) & np.isfinite(shown) & (rows > 0)
    longest = rows[is_pair].max()
    ax.hexbin(rows[is_pair], shown[is_pair], gridsize=80, bins="log", cmap=_MAP, mincnt=1)
    ax.plot([0, longest], [0, longest], color="#d55e00", linewidth=1)
    ax.set(xlabel="distance along the data", ylabel="distance in the embedding")
    ax.set_aspect("equal")
    return ax


def spectrum(model: Any, ax: Any = None, *, n_values: int = 10) -> Any:
    """Draw what each coordinate contributes, shown or not.

    Parameters
    ----------
    model : PTU
        A fitted model.
    ax : matplotlib axes, optional
        Where to draw.
    n_values : int
        How many coordinates.

    Returns
    -------
    ax : matplotlib axes
        A bar for each coordinate, those of the embedding in a colour of their own: its eigenvalue
        as a share of the sizes of all eigenvalues, negative ones too, of the centred matrix of
        squared distances. Of many points a sample of up to 2000 is taken; it has fewer
        eigenvalues, so that shares are a little too large where the data are noise.

    Examples
    --------
    >>> from ptunfold import PTU, show
    >>> from ptunfold.datasets import s_with_hole
    >>> sheet = s_with_hole(300)
    >>> ax = show.spectrum(PTU().fit(sheet.points), n_values=5)
    >>> len(ax.patches)
    5
    """
    check_count("n_values", n_values)
    n_points = len(_places(model))
    sources, rows = _rows(model, int(np.clip(_MOST_DISTANCES // n_points, 100, _MOST_SOURCES)))
    ax = _new_ax(ax)
    among = rows[:, sources].astype(np.float64)
    centred = -0.5 * np.square(0.5 * (among + among.T))
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    with single_threaded_blas():
        values = np.linalg.eigvalsh(centred)[::-1]
    n_values = min(n_values, len(values))
    share = 100 * values[:n_values] / np.abs(values).sum()
    is_shown = np.arange(n_values) < _places(model).shape[1]
    ax.bar(np.arange(1, n_values + 1), share, color=np.where(is_shown, "#0072b2", "0.7"))
    ax.axhline(0, color="0.3", linewidth=0.8)
    ax.set(xlabel="coordinate", ylabel="eigenvalue, % of the sum of all |eigenvalues|")
    return ax


def residual_variance(model: Any, ax: Any = None, *, most: int = 6) -> Any:
    """Draw what embeddings of one, two and more dimensions leave unexplained.

    Parameters
    ----------
    model : PTU
        A fitted model.
    ax : matplotlib axes, optional
        Where to draw.
    most : int
        Up to how many dimensions.

    Returns
    -------
    ax : matplotlib axes
        1 − R² between distances along the data and in embeddings by classical scaling, and, of the
        model's own picture, a point.

    Examples
    --------
    >>> from ptunfold import PTU, show
    >>> from ptunfold.datasets import s_with_hole
    >>> sheet = s_with_hole(300)
    >>> ax = show.residual_variance(PTU().fit(sheet.points), most=3)
    >>> len(ax.lines[0].get_xdata())
    3
    """
    check_count("most", most)
    sources, rows = _rows(model, _LANDMARKS)
    ax = _new_ax(ax)
    most = min(most, len(sources) - 1)
    is_reached = np.isfinite(rows).all(axis=0)
    landmarks = np.searchsorted(np.flatnonzero(is_reached), sources)
    rows = rows[:, is_reached]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places = landmark_mds(rows, landmarks, most).coordinates.astype(np.float64)
    own = _places(model)[is_reached].astype(np.float64)
    left = [_left(rows, landmarks, places[:, :dim]) for dim in range(1, most + 1)]
    ax.semilogy(np.arange(1, most + 1), left, "o-", color="#0072b2", label="classical scaling")
    label, at = "the model's picture", [own.shape[1]]
    ax.semilogy(at, [_left(rows, landmarks, own)], "D", color="#d55e00", label=label)
    dims = np.arange(1, max(most, own.shape[1]) + 1)
    ax.set(xlabel="dimensions", ylabel="residual variance", xticks=dims)
    ax.legend()
    return ax


def _left(rows: FloatArray, sources: Any, places: FloatArray) -> float:
    """Measure what places (n, c) leave unexplained of the distances from some of them to all."""
    shown = np.linalg.norm(places[sources, None] - places[None], axis=2)
    return float(1 - np.corrcoef(rows.ravel(), shown.ravel())[0, 1] ** 2)


def _rows(model: Any, n_sources: int) -> tuple[Any, FloatArray]:
    """Choose points of the largest part of the data; these, and the distances from them."""
    _check_knows_distances(model)
    inside = np.flatnonzero(model.component_labels_ == 0)
    chosen = np.linspace(0, len(inside) - 1, min(n_sources, len(inside))).astype(int)
    sources = inside[np.unique(chosen)]
    return sources, model.distances(sources)
