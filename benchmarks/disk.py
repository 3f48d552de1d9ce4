"""A full fit on disk within a bound of memory, against the same fit in memory.

``python benchmarks/disk.py [points]`` writes ``benchmarks/results/disk.md``. Each fit runs in a
process of its own, whose peak resident size is read from the system.
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RESULTS = Path(__file__).with_name("results")


def one(n_points, store):
    import warnings

    import numpy as np

    from ptunfold import PTU, Disk
    from ptunfold.datasets import swiss_roll

    warnings.simplefilter("ignore")
    small = swiss_roll(1500).points.astype(np.float32)
    PTU(n_jobs=-1, landmarks=None).fit(small)  # compiles
    sheet = swiss_roll(n_points, hole=0.4)
    points = sheet.points.astype(np.float32)
    folder = Path(store) / "fit" if store else None
    start = time.perf_counter()
    model = PTU(n_jobs=-1, landmarks=None, engine=Disk(folder) if store else "threads").fit(points)
    seconds = time.perf_counter() - start
    written = sum(file.stat().st_size for file in folder.rglob("*.npy")) if store else 0
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                "written": written,
                "sum": float(np.abs(model.embedding_).sum(dtype=np.float64)),
            }
        )
    )


def run(n_points, store):
    words = [sys.executable, __file__, "--one", str(n_points), store]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main(n_points):
    lines = [
        f"# {n_points} points, all distances, float32, two cores",
        "",
        f"The matrix of all distances has {4 * n_points**2 / 1e9:.1f} GB.",
        "",
        "| where | seconds | peak resident, GB | on disk at the end, GB | same bits |",
        "|" + " --- |" * 5,
    ]
    folder = tempfile.mkdtemp()
    try:
        results = {"disk": run(n_points, folder), "memory": run(n_points, "")}
    finally:
        shutil.rmtree(folder)
    same = results["disk"]["sum"] == results["memory"]["sum"]
    for name, found in results.items():
        lines.append(
            f"| {name} | {found['seconds']:.0f} | {found['peak'] / 1e9:.2f} | "
            f"{found['written'] / 1e9:.1f} | {'yes' if same else 'NO'} |"
        )
    text = "\n".join(lines) + "\n"
    print(text)
    (RESULTS / "disk.md").write_text(text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(int(sys.argv[2]), sys.argv[3])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 40_000)
