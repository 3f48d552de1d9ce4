"""New points of long files: how fast `ptunfold transform` is, and what memory it takes.

``python benchmarks/stream.py [rows]`` writes ``benchmarks/results/stream.md``. Each command runs in
a process of its own, which tells its seconds without the loading of libraries, and its peak
resident size.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

RESULTS = Path(__file__).with_name("results")
KINDS = ("csv", "parquet", "npy")


def peak():
    """Read it of this process alone; the usual way counts what its parent had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def one(*words):
    from ptunfold import PTU
    from ptunfold.cli import app

    started = []

    def load(path, _load=PTU.load):
        model = _load(path)
        model.transform(model.embedding_[:, [0, 0, 1]])  # compiles
        started.append((time.perf_counter(), time.process_time()))
        return model

    warnings.simplefilter("ignore")
    PTU.load = load
    app([*words, "--force"], standalone_mode=False)
    print()
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - started[0][0],
                "cpu": time.process_time() - started[0][1],
                "peak": peak(),
            }
        )
    )


def make(folder, n_rows):
    import numpy as np
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    from ptunfold import PTU
    from ptunfold.datasets import s_with_hole

    sheet = s_with_hole(20_000).points
    PTU(landmarks=100, n_jobs=-1).fit(sheet).save(folder / "model.safetensors")
    rng = np.random.default_rng(0)
    for count in (n_rows // 10, n_rows):
        rows = sheet[rng.integers(len(sheet), size=count)] + 1e-3 * rng.normal(size=(count, 3))
        table = pyarrow.table(dict(zip("xyz", rows.T, strict=True)))
        pyarrow.csv.write_csv(table, folder / f"{count}.csv")
        pyarrow.parquet.write_table(table, folder / f"{count}.parquet")
        np.save(folder / f"{count}.npy", rows)


def main(n_rows):
    lines = [
        f"# New points from files of {n_rows // 10:,} and {n_rows:,} rows of R³, two cores",
        "",
        "A model of 20 000 points; the output is of the kind of the input.",
        "",
        "| file | rows | seconds | rows a second | seconds of a core | peak resident, MB |",
        "|" + " --- |" * 6,
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, n_rows)
        for kind in KINDS:
            for count in (n_rows // 10, n_rows):
                model, source = folder / "model.safetensors", folder / f"{count}.{kind}"
                words = ["transform", model, source, "-o", folder / f"out.{kind}"]
                done = subprocess.run(
                    [sys.executable, __file__, "--one", *map(str, words)],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                found = json.loads(done.stdout.splitlines()[-1])
                lines.append(
                    f"| .{kind} | {count:,} | {found['seconds']:.1f} | "
                    f"{count / found['seconds']:,.0f} | {found['cpu']:.1f} | "
                    f"{found['peak'] / 1e6:.0f} |"
                )
    text = "\n".join(lines) + "\n"
    print(text)
    (RESULTS / "stream.md").write_text(text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
