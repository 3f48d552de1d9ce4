"""Ctrl-C among a million points: everything ends within two seconds.

``python tests/fuzz/many_points.py 20`` interrupts a process that fits, transforms, saves and draws
so many points, at that many random moments.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

N_POINTS, N_LANDMARKS = 1_000_000, 100
SECONDS = 2.0  # within which all has to end
# The longest has the most moments.
ACTIONS = ("fit", "fit", "transform", "fit", "save", "fit", "explore")
LATEST = {"fit": 25.0, "transform": 10.0, "save": 2.0, "explore": 60.0}  # moment, in seconds


def obey(folder: Path) -> None:
    """Do what is asked for over and over, until Ctrl-C comes."""
    import numpy as np

    from ptunfold import PTU
    from ptunfold.datasets import swiss_roll

    points = swiss_roll(N_POINTS, hole=0.4).points.astype(np.float32)
    model = PTU(landmarks=N_LANDMARKS).fit(points)
    actions = {
        "fit": lambda: PTU(landmarks=N_LANDMARKS).fit(points),
        "transform": lambda: model.transform(points[::2] + np.float32(1e-3)),
        "save": lambda: model.save(folder / "model.safetensors"),
        "explore": lambda: model.explore(folder / "page.html"),
    }
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            print("started", flush=True)
            while True:
                actions[line.strip()]()
        except KeyboardInterrupt:
            print("stopped", flush=True)


def main(n_moments: int) -> int:
    """Interrupt at random moments; returns how often it took too long."""
    rng, n_late = random.Random(0), 0
    slowest = dict.fromkeys(ACTIONS, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        victim = subprocess.Popen(
            [sys.executable, __file__, "--victim", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        said = victim.stdout.readline().strip()
        for moment in range(n_moments):
            action = ACTIONS[moment % len(ACTIONS)]
            victim.stdin.write(f"{action}\n")
            victim.stdin.flush()
            said = victim.stdout.readline().strip()
            assert said == "started", f"{action}: the process said {said!r}"
            delay = rng.uniform(0, LATEST[action])
            time.sleep(delay)
            start = time.perf_counter()
            victim.send_signal(signal.SIGINT)
            said = victim.stdout.readline().strip()
            seconds = time.perf_counter() - start
            assert said == "stopped", f"{action}: the process said {said!r}"
            slowest[action] = max(slowest[action], seconds)
            if seconds > SECONDS:
                n_late += 1
                print(f"{action} after {delay:.1f} s: took {seconds:.1f} s to end", flush=True)
        victim.stdin.close()
        victim.wait()
    print("slowest:", ", ".join(f"{name} {took:.2f} s" for name, took in slowest.items()))
    print(f"{n_moments} moments, {n_late} late")
    return n_late


if __name__ == "__main__":
    if sys.argv[1:2] == ["--victim"]:
        obey(Path(sys.argv[2]))
    else:
        # What a shell starts in the background ignores Ctrl-C, and so would all that it starts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.exit(main(int(sys.argv[1])) > 0)
