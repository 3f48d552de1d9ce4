"""Where the time of a fit goes, by size and number of features, and two sets with very many.

Writes a table to ``benchmarks/results/stages.md``. Each measurement is a fresh process.
"""

import statistics
import sys

from against_isomap import REPEATS, RESULTS, SIZES, measure

NAMES = ["graph", "frames", "connection", "distances", "embedding"]
# As many points as digits of one kind in MNIST, and the paper's light-stage images.
WIDE = [(5000, 784), (221, 831_744)]


def main(sizes):
    lines = []

    def say(line):
        print(line, flush=True)
        lines.append(line)

    say(f"Seconds of each stage, swiss roll with a hole, float32, medians of {REPEATS}.\n")
    say("| n | D | " + " | ".join(NAMES) + " |")
    say("|" + " --- |" * (2 + len(NAMES)))
    for points in sizes:
        for features in (3, 50):
            runs = [
                measure("stages", points=points, features=features, seed=seed)
                for seed in range(REPEATS)
            ]
            seconds = [statistics.median(run[name] for run in runs) for name in NAMES]
            cells = [f"{value:.3f} ({value / sum(seconds):.0%})" for value in seconds]
            say(f"| {points} | {features} | " + " | ".join(cells) + " |")
    say("\nA whole fit with many features; memory is what the fit adds to the process.\n")
    say("| n | D | seconds | data GB | added GB |")
    say("|" + " --- |" * 5)
    for points, features in WIDE:
        run = measure("ptu", points=points, features=features)
        say(
            f"| {points} | {features} | {run['wall']:.1f} | {points * features * 4 / 1e9:.2f} | "
            f"{run['memory'] / 1e9:.2f} |"
        )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "stages.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or SIZES)
