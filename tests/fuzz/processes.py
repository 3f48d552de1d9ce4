"""Processes that fill one cache of compiled code, are killed and damage it: every fit is right.

``python tests/fuzz/processes.py 3`` does so three times, each from an empty cache, and once where
nothing can be kept. A round compiles everything several times, for a few minutes.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ptunfold

FIT = """
import hashlib, warnings
from ptunfold import PTU
from ptunfold.datasets import swiss_roll
warnings.filterwarnings("error", category=RuntimeWarning)
parts = [
    PTU().fit_transform(swiss_roll(300, noise=0.02).points.astype(dtype)).tobytes()
    for dtype in ({})
]
print(hashlib.sha256(b"".join(sorted(parts))).hexdigest())
"""
ORDERS = ("'f4', 'f8'", "'f8', 'f4'")
PACKAGE = Path(ptunfold.__file__).parent


def start(order: str, kept: Path, **environment: str) -> subprocess.Popen[str]:
    """Start a process that fits points of two types, in some order."""
    return subprocess.Popen(
        [sys.executable, "-c", FIT.format(order)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(kept), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> str:
    out, said = process.communicate()
    return out.strip() if process.returncode == 0 else f"{process.returncode}: {said}"


def damage(kept: Path, rng: random.Random) -> None:
    """Cut some files short, and put some in the places of others of the same kernel."""
    files = sorted(kept.glob("*/*.nb?"))
    for file in rng.sample(files, len(files) // 4):
        file.write_bytes(file.read_bytes()[: rng.randrange(file.stat().st_size)])
    for first in sorted(kept.glob("*/*.1.nbc")):
        second = first.with_name(first.name.replace(".1.nbc", ".2.nbc"))
        if second.exists() and rng.random() < 0.5:
            shutil.copy(first, second)


def without_a_cache(folder: Path) -> str:
    """Fit where files are in the places of all folders that code could be kept in."""
    package, file = folder / "copy" / "ptunfold", folder / "file"
    file.touch()
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "kernels" / "__pycache__").touch()
    places = {"XDG_CACHE_HOME": str(file), "HOME": str(file), "PYTHONPATH": str(package.parent)}
    return answer(start(ORDERS[0], file / "kept", **places))


def main(n_rounds: int) -> int:
    rng = random.Random()
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        answers.append(without_a_cache(Path(folder)))
        for number in range(n_rounds):
            kept = Path(folder) / str(number)
            both = [start(order, kept) for order in ORDERS]
            victim = start(ORDERS[0], kept)
            time.sleep(rng.uniform(5, 30))
            victim.kill()
            victim.communicate()
            answers += [answer(process) for process in both]
            answers.append(answer(start(ORDERS[1], kept)))
            damage(kept, rng)
            answers += [answer(start(ORDERS[0], kept)) for _ in range(2)]
    wrong = [each for each in answers if each != answers[0] or len(each) != 64]
    print(f"{len(answers)} processes, {len(wrong)} wrong", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
