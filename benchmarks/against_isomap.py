"""PTU against scikit-learn's Isomap: fresh processes, alternating, medians and spread.

Run it with ``make bench``. Sizes can be given: ``python benchmarks/against_isomap.py 1000 5000``.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

ONE_FIT = Path(__file__).with_name("one_fit.py")
REPEATS = 3


def run(method, points, features, seed):
    command = [sys.executable, str(ONE_FIT), method]
    command += ["--points", str(points), "--features", str(features), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(sizes):
    print("swiss roll with a hole, float64, all cores; median of", REPEATS, "(least - most)")
    print(f"{'n':>6} {'D':>3}  {'method':<7} {'seconds':>8}  {'spread':<15} {'MB':>6} {'error':>7}")
    for points in sizes:
        for features in (3, 50):
            runs = {"isomap": [], "ptu": []}
            for seed in range(REPEATS):
                for method, results in runs.items():
                    results.append(run(method, points, features, seed))
            medians = {}
            for method, results in runs.items():
                walls = [result["wall"] for result in results]
                medians[method] = statistics.median(walls)
                megabytes = statistics.median(result["peak_bytes"] for result in results) / 1e6
                error = statistics.median(result["error"] for result in results)
                spread = f"({min(walls):.2f} - {max(walls):.2f})"
                print(
                    f"{points:6} {features:3}  {method:<7} {medians[method]:8.2f}  {spread:<15} "
                    f"{megabytes:6.0f} {error:7.2%}"
                )
            print(f"{'':12}PTU is {medians['isomap'] / medians['ptu']:.2f} times as fast")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1000, 2000, 5000])
