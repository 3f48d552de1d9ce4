"""Small errors put into geometry, geodesics and embedding: how many of them do the tests find?

    python tests/mutants.py --sample 200 --seed 0 --jobs 2

Every test runs once and it is noted which functions it calls. For each mutant those tests run that
call what was changed, the quickest first, until one fails, hangs or crashes. A mutant lives in the
memory of one process only: a loader puts its tree where the module is imported, and kernels come
from the tree and from Numba's cache as they are.
"""

import argparse
import importlib
import json
import multiprocessing
import os
import pkgutil
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest

# The script is started by its name, and finds the package only now.
sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "src")]

from tests.mutations import PACKAGES, ROOT, all_mutants, functions_of, mutated  # noqa: E402

WIDER = ("blocks", "estimator", "landmark_mode", "claims", "real_data", "corner_cases")
WIDER += ("every_attribute", "records", "validation", "metrics", "few_points")
NOTES = ROOT / "build" / "mutants.json"  # what the tests call; of a file again when it has changed
SLOWEST, OWN, ALL = 20, 30, 90  # seconds: of one test, of a module's own tests, of all for a mutant
MEMORY = 10 << 30


class Noting:
    """Notes how long each test takes, and which functions it calls."""

    def __init__(self):
        self.notes, self.called, self.shared, self.failed = {}, set(), set(), set()

    def __call__(self, frame, event, _):
        if event == "call" and "/ptunfold/" in frame.f_code.co_filename:
            self.called.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.called, start = set(), time.perf_counter()
        sys.setprofile(self)
        threading.setprofile(self)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            if item.nodeid not in self.failed:
                called = [f"{Path(file).relative_to(ROOT)}:{line}" for file, line in self.called]
                called = [one for one in called if one.split("/")[2] in PACKAGES]
                self.notes[item.nodeid] = time.perf_counter() - start, called

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        """What a fixture of a whole file calls, its later tests depend on as well."""
        self.called |= self.shared
        try:
            return (yield)
        finally:
            self.shared |= self.called if fixturedef.scope == "module" else set()

    def pytest_runtest_logreport(self, report):
        self.failed |= set() if report.passed else {report.nodeid}


class Choosing:
    """Runs the given tests in their order."""

    def __init__(self, tests):
        self.order = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items):
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order),
            key=lambda item: self.order[item.nodeid],
        )


def run_tests(files, plugin, *options):
    # Modules whose doctests run would be loaded by pytest, to make more of their assertions.
    fixed = ("-q", "-n", "0", "-p", "no:cacheprovider", "--assert=plain")
    return pytest.main([*files, *fixed, *options], [plugin])


def note(file, folder):
    plugin = Noting()
    run_tests([file], plugin)
    (Path(folder) / file.replace("/", ".")).write_text(json.dumps(plugin.notes))


class Hook:
    """Puts a mutant where its module is imported."""

    def __init__(self, mutant):
        self.module = mutant.file[len("src/") : -len(".py")].replace("/", ".")
        self.path, self.tree = str(ROOT / mutant.file), mutated(mutant)

    def find_spec(self, name, path=None, target=None):
        if name != self.module:
            return None
        loader = SourceFileLoader(name, self.path)
        loader.get_code = lambda _: compile(self.tree, self.path, "exec")
        return spec_from_file_location(name, self.path, loader=loader)


def try_mutant(mutant, rounds):
    sys.meta_path.insert(0, Hook(mutant))
    for tests in rounds:
        files = sorted({test.split("::")[0] for test in tests})
        limit = f"--timeout={5 * SLOWEST}"
        if tests and run_tests(files, Choosing(tests), "-x", limit) != pytest.ExitCode.OK:
            os._exit(1)
    os._exit(0)


def quiet(target, *given):
    """Run in a group of processes of its own, without a word and with bounded memory."""
    os.setsid()
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    target(*given)


FORKING = multiprocessing.get_context("fork")


def in_child(target, *given, seconds):
    """Tell whether it ended well within its time."""
    child = FORKING.Process(target=quiet, args=(target, *given))
    child.start()
    child.join(seconds)
    if child.exitcode is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.join()
    return child.exitcode == 0


def notes_of_tests(jobs):
    """Return for each test its duration and what it calls; what did not change is not run again."""
    files = [*(ROOT / "tests" / f"test_{name}.py" for name in WIDER)]
    for package in (*PACKAGES, "diagnostics"):
        files += sorted((ROOT / "tests" / package).glob("test_*.py"))
        files += sorted((ROOT / "src/ptunfold" / package).glob("[a-z]*.py"))
    known = json.loads(NOTES.read_text()) if NOTES.exists() else {}
    names = {str(file.relative_to(ROOT)): sha256(file.read_bytes()).hexdigest() for file in files}
    new = [name for name, digest in names.items() if known.get(name, [""])[0] != digest]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda name: in_child(note, name, folder, seconds=1200), new))
        for name in new:
            found = Path(folder, name.replace("/", "."))
            if not found.exists():
                sys.exit(f"the tests of {name} did not come to an end")
            known[name] = names[name], json.loads(found.read_text())
    NOTES.parent.mkdir(exist_ok=True)
    NOTES.write_text(json.dumps(known))
    return {test: about for name in names for test, about in known[name][1].items()}


def rounds_of(mutant, notes):
    """Choose the tests that call what was changed: those of its own module, then the others."""
    lines = {f"{mutant.file}:{line}" for line in functions_of(mutant)}
    tests = sorted((seconds, test) for test, (seconds, calls) in notes.items() if lines & {*calls})
    stem, rounds = Path(mutant.file).stem, []
    for is_own, most in ((True, OWN), (False, ALL)):
        chosen, total = [], 0.0
        for seconds, test in tests:
            if (stem in Path(test.split("::")[0]).stem) == is_own and seconds < SLOWEST:
                total += seconds
                chosen += [test] if total < most else []
        rounds.append(chosen)
    return rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--numbers", type=int, nargs="*", help="these mutants only")
    given = parser.parse_args()
    os.chdir(ROOT)
    # What is loaded here, no mutant has to load: libraries, and kernels, which see no change.
    for name in ("hypothesis", "sklearn.neighbors", "scipy.sparse.csgraph", "ptunfold.datasets"):
        importlib.import_module(name)
    kernels = importlib.import_module("ptunfold.kernels")
    for module in pkgutil.iter_modules(kernels.__path__, "ptunfold.kernels."):
        importlib.import_module(module.name)

    notes = notes_of_tests(given.jobs)
    mutants = all_mutants()
    chosen = [mutants[number] for number in given.numbers or ()]
    chosen = chosen or random.Random(given.seed).sample(mutants, given.sample)

    def is_killed(mutant):
        rounds = rounds_of(mutant, notes)
        killed = not in_child(try_mutant, mutant, rounds, seconds=5 * (OWN + ALL))
        outcome = "killed" if killed else f"SURVIVED {sum(map(len, rounds))} tests"
        change = f"`{mutant.before}` → `{mutant.after}`"
        print(f"{mutant.number} {mutant.file[13:]}:{mutant.line} {change} {outcome}", flush=True)
        return killed

    with ThreadPoolExecutor(given.jobs) as pool:
        killed = sum(pool.map(is_killed, chosen))
    n, share = len(chosen), killed / len(chosen)
    # Wilson's interval of 95 %.
    middle, z = (share + 1.92 / n) / (1 + 3.84 / n), 1.96
    half = z / (1 + 3.84 / n) * (share * (1 - share) / n + 0.96 / n**2) ** 0.5
    print(
        f"{killed} of {n} killed, of {len(mutants)} in all: {share:.1%}, "
        f"between {middle - half:.1%} and {middle + half:.1%}"
    )


if __name__ == "__main__":
    main()
