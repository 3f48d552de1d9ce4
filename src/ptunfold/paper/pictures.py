"""Pictures of the report: panels side by side, all at the same scale of colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptunfold.paper.methods import aligned
from ptunfold.types import FloatArray


def canvas(n_panels: int, *, height: float = 3.0, n_columns: int = 4, has_3d: bool = False) -> Any:
    """Return a figure and its axes, in rows of at most ``n_columns``."""
    from matplotlib.figure import Figure

    n_columns = min(n_panels, n_columns)
    n_rows = -(-n_panels // n_columns)
    figure = Figure(figsize=(3.1 * n_columns, height * n_rows), layout="constrained")
    axes = []
    for place in range(n_panels):
        kind = "3d" if has_3d and place == 0 else None
        axes.append(figure.add_subplot(n_rows, n_columns, place + 1, projection=kind))
    return figure, axes


def scatter(ax: Any, places: FloatArray, color: Any, title: str, **options: Any) -> None:
    """Draw points of the plane, or of space on 3-D axes, with equal scales."""
    style = {"c": color, "s": 3, "linewidths": 0, **options}
    if not isinstance(color, str):
        style.setdefault("cmap", "viridis")
    ax.scatter(*places.T, **style)
    ax.set_title(title, fontsize=9)
    ax.set_aspect("equal")
    if hasattr(ax, "zaxis"):
        ax.set(xticks=[], yticks=[], zticks=[])
    else:
        ax.axis("off")


def side_by_side(
    points: FloatArray, color: FloatArray, panels: Sequence[tuple[str, FloatArray]]
) -> Any:
    """Draw the data in space, and embeddings beside them, turned as the first of them is."""
    figure, axes = canvas(1 + len(panels), has_3d=True)
    middle = points - points.mean(axis=0)
    if points.shape[1] > 3:
        _, _, axis = np.linalg.svd(middle[:: max(1, len(middle) // 2000)], full_matrices=False)
        middle = middle @ axis[:3].T
    scatter(axes[0], middle, color, "data")
    first = panels[0][1]
    for ax, (title, places) in zip(axes[1:], panels, strict=True):
        scatter(ax, aligned(places, first)[:, :2], color, title)
    return figure


def thumbnails(
    ax: Any, places: FloatArray, images: FloatArray, shape: tuple[int, ...], title: str
) -> None:
    """Draw points of the plane, and some images where they belong, none over another."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    scatter(ax, places, "0.7", title)
    side = 0.11 * np.ptp(places, axis=0).max()
    shown = np.empty((0, 2))
    for index in np.random.default_rng(0).permutation(len(places)):
        here = places[index]
        if len(shown) and np.abs(shown - here).max(axis=1).min() < side:
            continue
        shown = np.vstack((shown, here))
        picture = np.clip(images[index].reshape(shape), 0, 1)
        box = OffsetImage(picture, zoom=20 / shape[0], cmap="gray_r")
        ax.add_artist(AnnotationBbox(box, here, frameon=False))
