"""What a fit needs, what there is, and a word before it does not fit."""

from __future__ import annotations

from pathlib import Path

import psutil
from joblib import effective_n_jobs

from ptunfold.types import Graph, Settings

# Edges for each neighbour, both directions counted; between 1 (all mutual) and 2.
_EDGES_A_NEIGHBOR = 1.4


def free_bytes() -> int:
    """Return the memory that can still be used, within the limits of a container."""
    free = int(psutil.virtual_memory().available)
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            group = Path("/sys/fs/cgroup")
            free = min(free, int((group / limit).read_text()) - int((group / used).read_text()))
        except (OSError, ValueError):  # no such group, or no limit
            continue
    return max(free, 0)


def bytes_of_connection(
    shape: tuple[int, int], settings: Settings, itemsize: int, n_jobs: int | None
) -> int:
    """Estimate what graph, frames and connection take, with the workspace of a search for paths."""
    n_points, n_features = shape
    dim = settings.intrinsic_dim
    n_features = min(n_features, n_points)
    edge = 24 + 8 * (dim + 1) * dim
    point = (itemsize + 8) * n_features + 8 * (dim * n_features + dim + 1)
    workspace = effective_n_jobs(n_jobs) * (48 + 16 * dim + 8 * dim**2)
    n_edges = _EDGES_A_NEIGHBOR * settings.n_neighbors * n_points
    if isinstance(settings.graph, Graph):
        n_edges = settings.graph.n_edges
    elif not isinstance(settings.graph, str):
        n_edges = 2 * settings.graph.nnz
    return int(n_edges * edge + n_points * (point + workspace))


def bytes_of_all_distances(n_points: int, itemsize: int) -> int:
    """Estimate what all distances take: one number for each pair."""
    return int(0.55 * n_points**2 * itemsize)


def bytes_of_landmark_distances(n_points: int, n_landmarks: int, itemsize: int) -> int:
    """Estimate what the distances from landmarks take, and their embedding."""
    return n_points * (n_landmarks * itemsize + 64)


def in_words(n_bytes: float) -> str:
    """Write a size in gigabytes, or megabytes below a tenth of one.

    Examples
    --------
    >>> in_words(7.25e9), in_words(3e6)
    ('7.2 GB', '3 MB')
    """
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.0f} MB"
