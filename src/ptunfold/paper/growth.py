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

_REPEATS = 7  # the quickest counts: other work on the machine only ever slows


def stage_exponents(sizes: list[int]) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Time the stages at several sizes; seconds, and exponents of growth, by name of the stage."""
    seconds: dict[str, list[float]] = {}

    def measure(name: str, work: Callable[..., Any]) -> Any:
        times = []
        for _ in range(_REPEATS):
            start = time.perf_counter()
            result = work()
            times.append(time.perf_counter() - start)
        seconds.setdefault(name, []).append(min(times))
        return result

    for n_points in [200, *sizes]:  # the first only to have everything compiled
        points = swiss_roll(n_points).points
        graph = measure("graph", lambda p=points: build_graph(p))
        frames = measure("frames", lambda p=points, g=graph: estimate_frames(p, g))
        connection = measure("connection", lambda p=points, g=graph, f=frames: connect(p, g, f))
        measure("distances", lambda c=connection: transport_distances(c, dtype=np.float32))
    seconds = {name: values[1:] for name, values in seconds.items()}
    growth = {
        name: float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
        for name, values in seconds.items()
    }
    return seconds, growth
