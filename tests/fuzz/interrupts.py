"""Ctrl-C at random moments: everything ends soon, nothing is left, and the next time is right.

``python tests/fuzz/interrupts.py 50`` interrupts a process that fits, transforms, saves and so on
in a loop, and the command, at that many moments.
"""

from __future__ import annotations

import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np

SECONDS = 2.0  # within which all has to end
# The search has the most moments: there threads that outlived Ctrl-C ended the process.
ACTIONS = ("neighbors", "fit", "neighbors", "transform", "neighbors", "save", "neighbors")
ACTIONS += ("explore", "store", "command")


class Victim:
    """What is interrupted, in a process of its own: it does one thing until Ctrl-C comes."""

    def __init__(self, folder: Path) -> None:
        from ptunfold import PTU, Disk
        from ptunfold.datasets import s_with_hole
        from ptunfold.geometry.neighbors import neighbor_lists

        self.make, self.disk = PTU, Disk
        self.folder = folder
        self.search = neighbor_lists
        self.many = s_with_hole(10_000, seed=1).points
        self.points = s_with_hole(1500, seed=2).points
        self.others = s_with_hole(700, seed=3).points
        self.model = PTU(n_jobs=2).fit(self.others)
        self.expected = {name: self._answer(name) for name in dict.fromkeys(ACTIONS[:-1])}
        self.n_threads = self._threads()

    def do(self, name: str) -> None:
        if name == "neighbors":
            self.search(self.many.copy(), 10, n_jobs=2)  # a copy, which Ctrl-C sets free
        elif name == "fit":
            self.model.fit(self.points)
        elif name == "transform":
            vars(self.model._fitted).pop("_extension", None)
            self.model.transform(self.points)
            self.model.inverse_transform(self.model.embedding_)
        elif name == "save":
            self.model.save(self.folder / "model.safetensors")
        elif name == "explore":
            self.model.explore(self.folder / "page.html")
        elif name == "store":
            for part in sorted((self.folder / "store").rglob("*"), reverse=True):
                part.rmdir() if part.is_dir() else part.unlink()
            self.make(n_jobs=2, engine=self.disk(self.folder / "store")).fit(self.points)

    def interrupted(self, name: str) -> list[str]:
        """Do one thing over and over, until Ctrl-C; returns what is wrong afterwards."""
        before = dict(vars(self.model))
        files = self._files()
        try:
            print("started", flush=True)
            while True:
                self.do(name)
                if name == "fit":
                    vars(self.model).update(before)
        except KeyboardInterrupt:
            print("stopped", flush=True)
        wrong = []
        deadline = time.monotonic() + 0.2  # the system takes a moment to take leave of a thread
        while self._threads() > self.n_threads and time.monotonic() < deadline:
            time.sleep(0.01)
        if self._threads() > self.n_threads:
            wrong.append(f"{self._threads()} threads, {self.n_threads} before")
        if threading.active_count() > 1:
            wrong.append(f"threads are left: {threading.enumerate()}")
        after = dict(vars(self.model))
        changed = [key for key in {*before, *after} if before.get(key) is not after.get(key)]
        if changed:
            wrong.append(f"the estimator has changed: {changed}")
        left = {file for file in self._files() - files if Path(file).name.startswith((".", "tmp"))}
        if left:
            wrong.append(f"files are left: {sorted(left)}")
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            wrong.append("Ctrl-C is not what it was")
        if not np.array_equal(self._answer(name, goes_on=True), self.expected[name]):
            wrong.append("the next result is another one")
        return wrong

    def _answer(self, name: str, goes_on: bool = False) -> np.ndarray:
        if name == "neighbors":
            return np.concatenate(self.search(self.many, 10, n_jobs=2))
        if name == "fit":
            return self.make(n_jobs=2).fit_transform(self.points)
        if name == "transform":
            return self.model.transform(self.points)
        if name == "store":
            model = self.make(n_jobs=2, engine=self.disk(self.folder / "store", resume=goes_on))
            return model.fit_transform(self.points)
        # What was there before the interrupt, or what was to come: both are whole.
        path = self.folder / ("model.safetensors" if name == "save" else "page.html")
        if not path.exists():
            self.do(name)
        if name == "save":
            return self.make.load(path).embedding_
        return np.frombuffer(path.read_bytes(), dtype=np.uint8)

    def _files(self) -> set[str]:
        return {str(file) for file in self.folder.rglob("*")}

    @staticmethod
    def _threads() -> int:
        return len(os.listdir("/proc/self/task"))

    def obey(self) -> None:
        print("ready", flush=True)
        for line in sys.stdin:
            print(json.dumps(self.interrupted(line.strip())), flush=True)


class Process:
    """The victim, seen from outside."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--victim", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        assert self.said(240) == "ready"

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put("")

    def said(self, seconds: float) -> str:
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return f"nothing for {seconds} s"
        return line or f"ended with exit code {self.process.wait()}"

    def interrupt(self, name: str, delay: float) -> tuple[list[str], float]:
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        assert self.said(60) == "started"
        time.sleep(delay)
        start = time.perf_counter()
        self.process.send_signal(signal.SIGINT)
        said = self.said(30)
        seconds = time.perf_counter() - start
        if said != "stopped":
            return [f"the process said: {said}"], seconds
        said = self.said(60)
        return (json.loads(said) if said.startswith("[") else [f"the process {said}"]), seconds

    def close(self) -> None:
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()


def interrupt_command(folder: Path, delay: float | None) -> tuple[list[str], float]:
    """Interrupt the command; without a delay let it end, and return the seconds it takes."""
    folder.mkdir()
    table = folder / "in.csv"
    np.savetxt(table, np.random.default_rng(0).normal(size=(1500, 3)), delimiter=",")
    options = ["-o", "out.csv", "--save", "model.safetensors", "--explore", "page.html"]
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "ptunfold", "embed", "in.csv", *options, "--n-jobs", "2"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    if delay is not None:
        time.sleep(delay)
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
    try:
        said = process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return ["the command did not end"], time.perf_counter() - start
    seconds = time.perf_counter() - start
    found = {file.name for file in folder.iterdir()} - {"in.csv"}
    outputs = {"out.csv", "model.safetensors", "page.html"}
    # Before Python has begun with the package, the signal itself ends the process.
    allowed = {0: [outputs], 130: [set(), outputs], -signal.SIGINT: [set(), outputs]}
    wrong = []
    if found not in allowed.get(process.returncode, []):
        wrong.append(f"exit code {process.returncode} and files {sorted(found)}")
    if "ptunfold/" in said and "Traceback" in said:
        wrong.append(f"a traceback: {said}")
    return wrong, seconds


def run(n_moments: int, seed: int = 0) -> Counter[str]:
    """Interrupt at random moments; counts what was found wrong, by action, and prints it."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    slowest: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        victim = Process(folder / "victim")
        takes = interrupt_command(folder / "whole", None)[1] if n_moments > len(ACTIONS) else 5.0
        for moment in range(n_moments):
            action = ACTIONS[moment % len(ACTIONS)]
            if action == "command":
                wrong, seconds = interrupt_command(
                    folder / f"command-{moment}", rng.uniform(0.1, takes)
                )
            else:
                wrong, seconds = victim.interrupt(action, rng.uniform(0, 1))
                if victim.process.poll() is not None:
                    victim.close()
                    victim = Process(folder / f"victim-{moment}")
            if seconds > SECONDS:
                wrong.append(f"took {seconds:.1f} s to end")
            slowest[action] = max(slowest.get(action, 0), seconds)
            for words in wrong:
                print(f"{action}: {words}", flush=True)
            found[f"{action}: {'; '.join(wrong)}" if wrong else "right"] += 1
        victim.close()
    print("slowest:", ", ".join(f"{name} {took:.2f} s" for name, took in slowest.items()))
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["--victim"]:
        Victim(Path(sys.argv[2])).obey()
    else:
        # What a shell starts in the background ignores Ctrl-C, and so would all that it starts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        counts = run(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
        print(dict(counts))
        sys.exit(set(counts) != {"right"})
