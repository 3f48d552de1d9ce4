"""The page in a notebook, with its selection and its path in Python; needs anywidget."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from ptunfold.validation.values import check_sources

_HEIGHT = "720px"


def make_widget(html: str, n_points: int) -> Any:
    """Put a page of so many points into a widget."""
    return _kind()(_page=html, _n_points=n_points)


@cache
def _kind() -> Any:
    """Return the class of widgets, which is made when anywidget is there to make it of."""
    import anywidget
    import traitlets

    class Selection(traitlets.TraitType):
        def validate(self, widget: Any, value: Any) -> list[int]:
            return sorted(set(check_sources(value, widget._n_points, "selection").tolist()))

    class Path(traitlets.TraitType):
        def validate(self, widget: Any, value: Any) -> tuple[int, int] | None:
            if value is None:
                return None
            ends = check_sources(value, widget._n_points, "path").tolist()
            if len(ends) != 2:
                raise ValueError(
                    f"path has {len(ends)} points; pass the first and the last one, or None"
                )
            return ends[0], ends[1]

    class ExplorerWidget(anywidget.AnyWidget):
        _esm = files("ptunfold.explorer").joinpath("widget.js").read_text(encoding="utf-8")
        _page = traitlets.Unicode().tag(sync=True)
        _n_points = traitlets.Int().tag(sync=True)
        selection = Selection(default_value=[]).tag(sync=True)
        path = Path(default_value=None, allow_none=True).tag(sync=True)

        def __init__(self, **values: Any) -> None:
            super().__init__(**{"layout": {"height": _HEIGHT}, **values})

        def __repr__(self) -> str:
            return (
                f"ExplorerWidget({self._n_points:,} points, {len(self.selection):,} selected, "
                f"path {self.path})"
            )

    return ExplorerWidget
