"""How lane width, bucket width and block size were chosen: nanoseconds a (source, node).

Each variant runs in a copy of the package with one constant changed, in fresh processes.
"""

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import ptunfold

ROUNDS = 3
PACKAGE = Path(ptunfold.__file__).parent
MEASURE = """
import sys, time
import numpy as np
from ptunfold import build_graph, connect, estimate_frames
from ptunfold.datasets import filled_torus, s_with_hole, swiss_roll
from ptunfold.geodesics.arrangement import arrange
from ptunfold.geodesics.distances import OneWayRows, fold_directions
for make, dim in ((swiss_roll, 2), (s_with_hole, 2), (filled_torus, 3)):
    points = make(int(sys.argv[1])).points
    graph = build_graph(points)
    connection = connect(points, graph, estimate_frames(points, graph, 15, dim))
    arrangement = arrange(connection, np.arange(len(points)))
    position = np.sort(arrangement.position)
    fold_directions(OneWayRows(arrangement.connection, position), np.float32)
    start = time.process_time()
    fold_directions(OneWayRows(arrangement.connection, position), np.float32)
    print(1e9 * (time.process_time() - start) / len(points) ** 2)
"""
VARIANTS = [
    ("lanes", "kernels/lanes.py", r"^LANES = \d+", "LANES = {}", [8, 16, 32]),
    (
        "operations",
        "kernels/chosen_lanes.py",
        r'"PTUNFOLD_LANES"\)',
        '"PTUNFOLD_LANES", "{}")',
        ["vectors", "plain"],
    ),
    (
        "bucket width",
        "geodesics/distances.py",
        r"^_BUCKET_WIDTH = [\d.]+",
        "_BUCKET_WIDTH = {}",
        [0.25, 0.5, 0.7, 1.0, 1.5, 2.0],
    ),
    (
        "batches a block",
        "geodesics/blocks.py",
        r"^_MOST_BATCHES = \d+",
        "_MOST_BATCHES = {}",
        [1, 4, 8, 32],
    ),
]


def variant(folder, file, pattern, line):
    """Copy the package and change one line of it."""
    copy = Path(folder) / "ptunfold"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    text, n_changed = re.subn(pattern, line, (copy / file).read_text(), flags=re.MULTILINE)
    assert n_changed == 1, f"{pattern} is not in {file}"
    (copy / file).write_text(text)


def measure(folder, n_points):
    command = [sys.executable, "-c", MEASURE, str(n_points)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def main(n_points):
    print(f"CPU nanoseconds a (source, node), n = {n_points}, one thread, median of {ROUNDS}\n")
    print("| what | value | swiss roll | S with a hole | torus, d = 3 | mean |")
    print("|" + " --- |" * 6)
    for name, file, pattern, template, values in VARIANTS:
        with tempfile.TemporaryDirectory() as root:
            folders = {value: f"{root}/{value}" for value in values}
            for value, folder in folders.items():
                variant(folder, file, pattern, template.format(value))
            # In rounds, so that a busy spell of the machine hits all values alike.
            rounds = [
                {value: measure(folder, n_points) for value, folder in folders.items()}
                for _ in range(ROUNDS)
            ]
        for value in values:
            numbers = [
                statistics.median(column)
                for column in zip(*(results[value] for results in rounds), strict=True)
            ]
            cells = [f"{number:.1f}" for number in [*numbers, statistics.mean(numbers)]]
            print(f"| {name} | {value} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
