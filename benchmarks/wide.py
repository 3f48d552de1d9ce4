"""PTU against scikit-learn's Isomap on data with many features: alternating, medians and spread.

``make bench`` runs it and writes a table to ``benchmarks/results/wide.md``.
"""

import os
import platform
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import Isomap

from ptunfold import PTU
from ptunfold.datasets import letter_a

RESULTS = Path(__file__).parent / "results"
REPEATS = 5


def tables():
    """Yield names and points: two sets of images, and a table with six causes."""
    rng = np.random.default_rng(0)
    yield "digits", load_digits().data
    letters = letter_a(700, size=32).points
    yield "a letter, noisy", letters + 0.2 * letters.std() * rng.normal(size=letters.shape)
    causes, effects = rng.normal(size=(250, 6)), rng.normal(size=(6, 5000))
    yield "six causes", np.tanh(0.3 * causes @ effects) + 0.1 * rng.normal(size=(250, 5000))


def seconds_of(model, points):
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(points)
    return time.perf_counter() - wall, time.process_time() - cpu


def in_words(seconds):
    return f"{statistics.median(seconds):.2f} | {min(seconds):.2f} - {max(seconds):.2f}"


def main():
    warnings.simplefilter("ignore")  # PTU says that these are no sheets
    lines = [
        f"Data with many features, float64, {len(os.sched_getaffinity(0))} cores "
        f"({platform.machine()}), warm cache; medians of {REPEATS}, alternating. PTU: as it comes. "
        "Isomap: 10 neighbours.\n",
        "| data | points | features | PTU s | spread | Isomap s | spread | Isomap / PTU | of CPU |",
        "|" + " --- |" * 9,
    ]
    for name, points in tables():
        methods = PTU(), Isomap(n_neighbors=10, n_jobs=-1)
        for model in methods:
            model.fit(points)
        runs = [[seconds_of(model, points) for model in methods] for _ in range(REPEATS)]
        (ours, our_cpu), (theirs, their_cpu) = (
            zip(*seconds, strict=True) for seconds in zip(*runs, strict=True)
        )
        ratio, of_cpu = (
            statistics.median(other) / statistics.median(own)
            for own, other in ((ours, theirs), (our_cpu, their_cpu))
        )
        shape = f"{points.shape[0]} | {points.shape[1]}"
        walls = f"{in_words(ours)} | {in_words(theirs)}"
        lines.append(f"| {name} | {shape} | {walls} | {ratio:.2f} | {of_cpu:.2f} |")
    text = "\n".join(lines)
    print(text)
    (RESULTS / "wide.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
