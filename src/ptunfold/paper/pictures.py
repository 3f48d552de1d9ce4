"""Pictures of the report: panels side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptunfold import show
from ptunfold.embedding.alignment import aligned
from ptunfold.paper.methods import Run
from ptunfold.types import FloatArray


def canvas(n_panels: int, *, size: float = 3.1, n_columns: int = 4, has_3d: bool = False) -> Any:
    """Return a figure and its axes, in rows of at most ``n_columns``."""
    from matplotlib.figure import Figure

    n_columns = min(n_panels, n_columns)
    n_rows = -(-n_panels // n_columns)
    figure = Figure(figsize=(size * n_columns, size * n_rows), layout="constrained")
    axes = []
    for index in range(n_panels):
        kind = "3d" if has_3d and index == 0 else None
        axes.append(figure.add_subplot(n_rows, n_columns, index + 1, projection=kind))
    return figure, axes


def panel(ax: Any, places: FloatArray, color: FloatArray, title: str) -> None:
    """Draw an embedding without axes."""
    show.embedding(places, color, ax).axis("off")
    ax.set_title(title, fontsize=9)


def side_by_side(
    points: FloatArray, color: FloatArray, panels: Sequence[tuple[str, FloatArray]]
) -> Any:
    """Draw the data in space, and embeddings beside them, turned as the first of them is."""
    figure, axes = canvas(1 + len(panels), has_3d=True)
    show.data(points, color, axes[0]).set(xticks=[], yticks=[], zticks=[])
    axes[0].set_title("data", fontsize=9)
    first = panels[0][1]
    for ax, (title, places) in zip(axes[1:], panels, strict=True):
        panel(ax, aligned(places, first), color, title)
    return figure


def error_maps(runs: dict[str, Run], exact: FloatArray) -> Any:
    """Draw embeddings in the colours of their errors, up to 1 % of the box."""
    figure, axes = canvas(len(runs), size=3.6)
    for ax, (name, run) in zip(axes, runs.items(), strict=True):
        show.error(run.places, exact, ax, largest=0.01).axis("off")
        ax.set_title(name, fontsize=9)
    return figure


def image_maps(
    panels: Sequence[tuple[str, FloatArray, FloatArray]],
    shape: tuple[int, ...],
    *,
    cmap: str = "gray_r",
) -> Any:
    """Draw embeddings with images in their places: titles, places, images."""
    figure, axes = canvas(len(panels), size=5, n_columns=2)
    for ax, (title, places, images) in zip(axes, panels, strict=True):
        show.thumbnails(places, images, shape, ax, cmap=cmap).axis("off")
        ax.set_title(title, fontsize=9)
    return figure
