"""How the time of each stage grows with the number of points."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ptunfold.datasets import swiss_roll
from ptunfold.geodesics.distances import transport_distances
from ptunfold.geometry.connection import connect
from ptunfold.geometry.frames import estimate_frames
from ptunfold.geometry.graph import build_graph
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.sections.common import Extent

_REPEATS = 7  # the quickest counts: other work on the machine only ever slows
# The paper's order of each stage, and the exponent that it may have here.
_STAGES = {
    "graph": ("n log n", 1.5),
    "frames": ("n", 1.5),
    "connection": ("n", 1.5),
    "distances": ("n² log n", 2.5),
}


def timing(extent: Extent) -> Section:
    """Measure the orders of growth."""
    sizes = [1000, 2000, 4000] if extent.is_quick else [1000, 2000, 4000, 8000]
    seconds: dict[str, list[float]] = {name: [] for name in _STAGES}
    _time_stages(200)  # to have everything compiled
    for size in sizes:
        for name, value in _time_stages(size).items():
            seconds[name].append(value)
    section = Section(
        "timing",
        "How the time grows",
        "Swiss roll in R³, stages of the paper's method on one thread, the quickest of seven.",
        header=["stage", *map(str, sizes), "growth"],
    )
    for name, (order, bound) in _STAGES.items():
        exponent = float(np.polyfit(np.log(sizes), np.log(seconds[name]), 1)[0])
        growth = f"n^{exponent:.2f}"
        section.rows.append([name, *(f"{value:.3f} s" for value in seconds[name]), growth])
        section.claims.append(Claim(f"{name}: order", order, growth, exponent <= bound))
    return section


def _time_stages(n_points: int) -> dict[str, float]:
    """Time the stages, in seconds."""
    seconds: dict[str, float] = {}

    def measure(name: str, work: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        times = []
        for _ in range(_REPEATS):
            start = time.perf_counter()
            result = work(*arguments, **options)
            times.append(time.perf_counter() - start)
        seconds[name] = min(times)
        return result

    points = swiss_roll(n_points).points
    graph = measure("graph", build_graph, points)
    frames = measure("frames", estimate_frames, points, graph)
    connection = measure("connection", connect, points, graph, frames)
    measure("distances", transport_distances, connection, dtype=np.float32)
    return seconds
