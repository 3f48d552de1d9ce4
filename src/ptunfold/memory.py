"""What a fit needs, what there is, and a word before it does not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psutil

from ptunfold.threads import effective_n_jobs
from ptunfold.types import FloatArray, Graph, Settings

# Edges for each neighbour, both directions counted; between 1 (all mutual) and 2.
_EDGES_A_NEIGHBOR = 1.4
_EDGES_A_NEIGHBOR_IN_MANY = 1.8
# What any process can still find.
_LEAST = 100_000_000
_SAMPLE = 64


def free_bytes() -> int:
    """Return the memory that can still be used, within the limits of a container."""
    free = int(psutil.virtual_memory().available)
    for group in _groups():
        for limit, used, files in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            try:
                room = int((group / limit).read_text()) - int((group / used).read_text())
                statistics = (group / "memory.stat").read_text().split()
            except (OSError, ValueError):  # no such group, or no limit
                continue
            # Files that were read and are kept in case they are read again make room at once.
            kept = dict(zip(statistics[::2], statistics[1::2], strict=False)).get(files, "0")
            free = min(free, room + int(kept))
    return max(free, _LEAST)


def _groups() -> list[Path]:
    """List the control groups of this process, from its own to the root."""
    roots = [Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory")]
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return roots
    groups = []
    for line in lines:
        own = line.split(":", 2)[-1].strip("/")
        for root in roots:
            group = root / own if own else root
            groups += [group, *(parent for parent in group.parents if parent.is_relative_to(root))]
    return list(dict.fromkeys(groups))


def bytes_of_connection(points: FloatArray, settings: Settings, n_jobs: int | None) -> int:
    """Estimate what graph, frames and connection take, with the workspace of a search for paths."""
    n_points, n_features = points.shape
    itemsize = points.dtype.itemsize
    dim = settings.intrinsic_dim
    # With more features than points the points are first copied and written in their span.
    spanning = 8 * n_points * n_features if n_features > n_points else 0
    n_features = min(n_features, n_points)
    edge = 20 + 8 * (dim + 1) * dim
    point = (itemsize + 8) * n_features + 8 * (dim * n_features + dim + 1)
    if settings.tangent not in ("pca", "smooth") or settings.denoise:
        point += 16 * n_features
    workspace = effective_n_jobs(n_jobs) * (32 + 16 * dim + 8 * dim**2)
    share = _EDGES_A_NEIGHBOR if dim <= 3 else _EDGES_A_NEIGHBOR_IN_MANY
    n_edges = share * max(settings.n_neighbors, settings.n_wide) * n_points
    if isinstance(settings.graph, Graph):
        n_edges = settings.graph.n_edges
    elif not isinstance(settings.graph, str):
        n_edges = 2 * settings.graph.nnz
    elif settings.graph == "radius":
        n_edges = n_points * _mean_degree(points, settings.radius)
    return int(n_edges * edge + n_points * (point + workspace)) + spanning


def _mean_degree(points: FloatArray, radius: float | None) -> float:
    """Count the points within a radius of a few of them."""
    sample = points[np.random.default_rng(0).integers(len(points), size=_SAMPLE)]
    counts = [
        np.count_nonzero(np.square(points - point).sum(axis=1) <= np.square(radius or 0.0))
        for point in sample
    ]
    return float(np.mean(counts))


def bytes_of_all_distances(n_points: int, itemsize: int) -> int:
    """Estimate what all distances take: one number for each pair."""
    return int(0.55 * n_points**2 * itemsize)


def bytes_of_variants(n_points: int) -> int:
    """Estimate what scaling other than classical takes: several arrays of all distances."""
    return 80 * n_points**2


def bytes_of_landmark_distances(
    n_points: int, n_columns: int, n_landmarks: int, itemsize: int
) -> int:
    """Estimate what distances from landmarks to ``n_columns`` points take, and the embedding."""
    return n_columns * n_landmarks * itemsize + n_points * 64


def in_words(n_bytes: float) -> str:
    """Write a size in gigabytes, or megabytes below a tenth of one.

    Examples
    --------
    >>> in_words(7.25e9), in_words(3e6)
    ('7.2 GB', '3 MB')
    """
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.0f} MB"
