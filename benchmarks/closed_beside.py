"""Closed data beside RATS, which tears them too: how true pictures are where they are whole.

``.venv/field/bin/python benchmarks/closed_beside.py 3`` writes ``results/closed_beside.md``, in the
environment that ``make field`` makes. RATS takes most of a minute for each fit.
"""

import os
import platform
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from closed import cylinder, moebius, torus
from field_methods import METHODS

from ptunfold.datasets import sphere

N_POINTS, N_NEAR = 1000, 10
TORN = 2.0  # times the true distance of two neighbours, and more


def a_sphere(n_points, rng):
    data = sphere(n_points, seed=int(rng.integers(1 << 30)))
    return data.points, data.distances, [2 * np.pi]


SETS = {"cylinder": cylinder, "flat torus": torus, "Möbius band": moebius, "sphere": a_sphere}


def judged(places, truth, period):
    """Find the share of neighbours that are torn apart, and errors of near pairs that are not."""
    shown = np.linalg.norm(places[:, None] - places[None], axis=2)
    near = np.argsort(truth, axis=1)[:, 1 : N_NEAR + 1]
    ratios = np.take_along_axis(shown, near, 1) / np.take_along_axis(truth, near, 1)
    is_pair = (truth > 0) & (truth < period / 4) & (shown < TORN * truth)
    errors = np.abs(shown[is_pair] / truth[is_pair] - 1)
    return 100 * np.mean(ratios > TORN), 100 * np.median(errors), 100 * np.quantile(errors, 0.95)


def measure(method, name, seed):
    points, rows, periods = SETS[name](N_POINTS, np.random.default_rng(seed))
    start = time.perf_counter()
    places, _ = METHODS[method].embed(points, 2, seed)
    seconds = time.perf_counter() - start
    return (*judged(places, rows(np.arange(N_POINTS)), min(periods)), seconds)


def main(n_seeds):
    lines = [
        "# Closed data beside RATS",
        "",
        f"`benchmarks/closed_beside.py {n_seeds}` on {platform.machine()}, {os.cpu_count()} cores; "
        f"{N_POINTS} points, medians of {n_seeds} seeds. Torn: the share of the {N_NEAR} nearest "
        f"neighbours that the picture shows {TORN:g} times as far apart or more. Errors: of all "
        "pairs within a quarter of the period that are not torn, as given: half of them, 95 %.",
        "",
        "| data | method | torn % | half of the errors below % | 95 in 100 below % | seconds |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in SETS:
        for method in ("PTU", "RATS"):
            with warnings.catch_warnings(action="ignore"):
                found = np.median([measure(method, name, seed) for seed in range(n_seeds)], axis=0)
            lines.append(f"| {name} | {method} | " + " | ".join(f"{x:.2g}" for x in found) + " |")
            print(lines[-1], flush=True)
    (Path(__file__).parent / "results" / "closed_beside.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
