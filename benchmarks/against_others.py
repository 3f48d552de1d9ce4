"""PTU beside UMAP, PaCMAP and PHATE, each as it comes: seconds, memory, how true pictures are.

``python benchmarks/against_others.py 1000 10000 100000 --output benchmarks/results/others.md``

The error allows the picture any linear map, so that nobody is blamed for a scale: what is left is
what is bent, torn or folded. Methods that are not installed are left out (``pip install
umap-learn pacmap phate``). Each fit is a process of its own, after a small one that compiles.
"""

import argparse
import json
import statistics
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

REPEATS = 3


def methods():
    from sklearn.manifold import Isomap

    from ptunfold import PTU

    yield "PTU", lambda points: PTU().fit_transform(points)
    try:
        from umap import UMAP

        yield "UMAP", lambda points: UMAP().fit_transform(points)
    except ImportError:
        pass
    try:
        from pacmap import PaCMAP

        yield "PaCMAP", lambda points: PaCMAP().fit_transform(points)
    except ImportError:
        pass
    try:
        from phate import PHATE

        yield "PHATE", lambda points: PHATE(verbose=0).fit_transform(points)
    except ImportError:
        pass
    yield "Isomap", lambda points: Isomap(n_neighbors=10).fit_transform(points)


def one_fit(name, n_points, seed):
    from one_fit import peak_bytes, resident_bytes, timed

    from ptunfold.datasets import swiss_roll
    from ptunfold.embedding.alignment import embedding_error

    warnings.simplefilter("ignore")
    embed = dict(methods())[name]
    embed(swiss_roll(1200).points.astype(np.float32))
    data = swiss_roll(n_points, hole=0.4, seed=seed)
    points, before = data.points.astype(np.float32), resident_bytes()
    found, wall, _ = timed(lambda: embed(points))
    error = embedding_error(np.asarray(found, dtype=float), data.coordinates, is_affine=True)
    return {"wall": wall, "memory": peak_bytes() - before, "error": error}


def measure(name, n_points, seed, most_seconds):
    command = [sys.executable, __file__, str(n_points), "--fit", name, "--seed", str(seed)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=most_seconds)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--fit", help="fit this method alone, and print what was measured")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most-seconds", type=float, default=600, help="for a fit")
    parser.add_argument("--output")
    given = parser.parse_args()
    if given.fit:
        print(json.dumps(one_fit(given.fit, given.sizes[0], given.seed)))
        return
    lines = [
        "# PTU beside other methods",
        "",
        f"Swiss roll with a hole in R³, float32; medians of {REPEATS} seeds, each fit in a process "
        "of its own. The error",
        "is what is left after the best linear map to the sheet.",
        "",
        "| points | method | seconds | spread | of PTU's | MB | error |",
        "|" + " --- |" * 7,
    ]
    print("\n".join(lines))
    for n_points in given.sizes:
        ours = None
        for name, _ in methods():
            runs = [measure(name, n_points, seed, given.most_seconds) for seed in range(REPEATS)]
            runs = [run for run in runs if run is not None]
            if not runs:
                most = f"more than {given.most_seconds:g}, or no room"
                row = f"| {n_points} | {name} | {most} | | | | |"
            else:
                wall, memory, error = (
                    statistics.median(run[key] for run in runs)
                    for key in ("wall", "memory", "error")
                )
                ours = ours or wall
                walls = [run["wall"] for run in runs]
                row = (
                    f"| {n_points} | {name} | {wall:.2f} | {min(walls):.2f} - {max(walls):.2f} | "
                    f"{wall / ours:.1f} | {memory / 1e6:.0f} | {error:.2%} |"
                )
            lines.append(row)
            print(row, flush=True)
    if given.output:
        Path(given.output).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
