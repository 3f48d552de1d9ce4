"""Progress bars: one for each long stage, silent unless asked for."""

from __future__ import annotations

import os
from threading import RLock
from typing import Any, Self
from weakref import WeakSet

from tqdm.auto import tqdm

_shown: WeakSet[Any] = WeakSet()


def _begin_in_child() -> None:
    """Give bars a lock of their own, if a thread of the parent may have been drawing one."""
    if _shown:
        _shown.clear()
        tqdm.set_lock(RLock())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)


def stage(
    description: str,
    total: int | None,
    unit: str,
    enabled: bool,
    *,
    n_done: int | None = None,
    delay: float = 0.0,
) -> Any:
    """Return a bar to be advanced with ``update``; a context manager.

    ``total`` is None where it cannot be known. Given ``n_done``, how many were done before, there
    are so many that thousands are counted. Nothing is shown before ``delay`` seconds are over.
    """
    if not enabled:
        return _Silence()
    start = {} if n_done is None else {"initial": n_done, "unit_scale": True}
    bar = tqdm(total=total, desc=f"{description:<12}", unit=f" {unit}", delay=delay, **start)
    _shown.add(bar)
    return bar


class _Silence:
    """No bar at all: even a disabled one of tqdm would start a thread."""

    def update(self, n: int = 1) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass
