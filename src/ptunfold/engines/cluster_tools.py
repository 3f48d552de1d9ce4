"""What squares and rows on a Dask cluster have in common."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from itertools import pairwise
from typing import Any

import numpy as np

TASKS_A_THREAD = 2  # at least, so that nobody waits long for the last
_ATTEMPTS = 4


def as_array(rows: dict[int, Any], stop: int, n_columns: int, dtype: np.dtype[Any]) -> Any:
    """Look at rows on a cluster, which are listed by the first of them, as a Dask array.

    ``stop`` is where the last ones end.
    """
    from dask import array

    starts = sorted(rows)
    return array.concatenate(
        [
            array.from_delayed(rows[first], (last - first, n_columns), dtype)
            for first, last in pairwise([*starts, stop])
        ]
    )


def try_again(work: Callable[[], Any], repair: Callable[[], None] = lambda: None) -> Any:
    """Do something on the cluster; again if workers went away with what it needs.

    It may be the graph, of which Dask keeps one copy where nobody waits for it, or a file that a
    worker on a new machine does not see.
    """
    for attempt in range(_ATTEMPTS):
        try:
            if attempt:
                repair()
            return work()
        except (CancelledError, FileNotFoundError, TimeoutError) as error:
            # Dask keeps the error, and the error would keep all that was at hand.
            trouble = error.with_traceback(None)
    raise RuntimeError(
        "workers of the cluster died again and again, and the fit with them; look into their logs "
        "(memory, most often), and fit again"
    ) from trouble


def n_threads(client: Any) -> int:
    """Count the threads of all workers."""
    return max(sum(client.nthreads().values()), 1)
