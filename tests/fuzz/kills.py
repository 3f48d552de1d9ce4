"""A command that carries rows, killed at any moment and gone on with: the bytes of the whole.

``python tests/fuzz/kills.py 20`` kills it 20 times.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from ptunfold import PTU
from ptunfold.cli import app
from ptunfold.datasets import s_with_hole


def run(n_kills: int, model: Path, source: Path, seed: int = 0) -> Counter[str]:
    """Kill until the output is there, again and again; count what became of it."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = ["transform", str(model), str(source), "--chunk-size", "100", "-o"]
        start = [sys.executable, "-m", "ptunfold", *words]
        whole, output = folder / "whole.csv", folder / "out.csv"
        assert app([*words, str(whole)], standalone_mode=False) in (None, 0)
        for _ in range(n_kills):
            process = subprocess.Popen([*start, str(output), "--resume"], stderr=subprocess.PIPE)
            assert process.stderr is not None
            process.stderr.readline()  # the columns used
            time.sleep(rng.uniform(0, 0.3))
            process.kill()
            process.communicate()
            if not output.exists():
                was_killed = process.returncode == -signal.SIGKILL
                found["right" if was_killed else f"ended with {process.returncode}"] += 1
                continue
            found[_compared(output, whole)] += 1
            output.unlink()
        if not output.exists():
            assert app([*words, str(output), "--resume"], standalone_mode=False) in (None, 0)
            found[_compared(output, whole)] += 1
        left = sorted(file.name for file in folder.iterdir())
        if left != ["out.csv", "whole.csv"]:
            found[f"left {left}"] += 1
    return found


def _compared(output: Path, whole: Path) -> str:
    return "right" if output.read_bytes() == whole.read_bytes() else "other bytes"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        points = s_with_hole(600, seed=1).points
        PTU().fit(points[:300]).save(Path(place, "m.safetensors"))
        np.savetxt(Path(place, "in.csv"), np.tile(points[300:], (100, 1)), delimiter=",")
        counts = run(
            int(sys.argv[1]) if len(sys.argv) > 1 else 20,
            Path(place, "m.safetensors"),
            Path(place, "in.csv"),
        )
    print(dict(counts))
    sys.exit(set(counts) != {"right"})
