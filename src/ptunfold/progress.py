"""Progress bars: one for each long stage, silent unless asked for."""

from __future__ import annotations

from typing import Any, Self

from tqdm.auto import tqdm


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
    return tqdm(total=total, desc=f"{description:<12}", unit=f" {unit}", delay=delay, **start)


class _Silence:
    """No bar at all: even a disabled one of tqdm would start a thread."""

    def update(self, n: int = 1) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass
