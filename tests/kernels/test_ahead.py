import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ptunfold import progress
from ptunfold.kernels import ahead

FITS = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from numba.core.dispatcher import Dispatcher
from ptunfold import PTU
from ptunfold.datasets import petals, swiss_roll
from ptunfold.kernels.ahead import kernels_of_a_fit

dtype, dim = sys.argv[1], int(sys.argv[2])
for kernel, arguments in kernels_of_a_fit(dtype, dim):
    kernel.compile(arguments)

def compiled():
    return {
        (name, kernel, arguments)
        for name, module in sys.modules.items() if name.startswith("ptunfold.kernels.")
        for kernel, value in vars(module).items() if isinstance(value, Dispatcher)
        for arguments in value.overloads
    }

known = compiled()
if dim == 1:
    sheets = [np.column_stack((np.sort(np.random.default_rng(0).random(200)), np.zeros(200)))]
else:
    sheets = [swiss_roll(400).points, swiss_roll(1100).points, petals(400).points]
for points in sheets:
    PTU(dim, n_jobs=1).fit(points.astype(dtype))
new = {(name, kernel) for name, kernel, _ in compiled() - known}
assert not new, new
"""


@pytest.mark.parametrize(("dtype", "dim"), [("float64", 2), ("float32", 2), ("float64", 1)])
def test_a_fit_of_a_sheet_compiles_nothing_more(dtype, dim):
    subprocess.run([sys.executable, "-c", FITS, dtype, str(dim)], check=True)


class Kernel:
    """Counts how often it is compiled."""

    __module__ = "kernels"

    def __init__(self, name):
        self.__name__, self.types = name, []
        self._cache = SimpleNamespace(_cache_file=None)
        self.overloads = {}

    def compile(self, arguments):
        self.types.append(arguments)


def test_nothing_is_tried_before_it_is_needed():
    """Vector instructions take half a second to try, and rows from landmarks have none."""
    code = (
        "import sys\n"
        "from ptunfold import PTU\n"
        "from ptunfold.datasets import swiss_roll\n"
        "PTU(landmarks=64, n_jobs=2).fit(swiss_roll(1500).points)\n"
        "assert 'ptunfold.kernels.trees' in sys.modules\n"
        "assert 'ptunfold.kernels.chosen_lanes' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_each_kernel_is_compiled_by_one_process(tmp_path):
    needed = [(Kernel(name), ("types",)) for name in "abcde"]
    one, other = (ahead.compile_share(str(tmp_path), needed) for _ in range(2))
    turns = [next(one), next(other), next(other), *one, *other]
    assert len(turns) == len(needed)
    assert [kernel.types for kernel, _ in needed] == [[("types",)]] * len(needed)


@pytest.fixture
def started(monkeypatch):
    """Processes that are started, and do nothing."""
    found = []

    def start(command, **options):
        process = SimpleNamespace(command=command, ended=[])
        process.wait = lambda: process.ended.append("waited for")
        process.kill = lambda: process.ended.append("killed")
        found.append(process)
        return process

    monkeypatch.setattr(ahead.subprocess, "Popen", start)
    return found


def use(monkeypatch, n_kernels):
    needed = [(Kernel(str(number)), ()) for number in range(n_kernels)]
    for name in ("kernels_of_any_fit", "kernels_of_a_fit"):
        monkeypatch.setattr(ahead, name, lambda dtype, dim: needed)
    return [kernel for kernel, _ in needed]


def room():
    return 1e12


@pytest.mark.parametrize(("free", "n_others"), [(1e8, 0), (9e8, 2), (1e12, 3)])
def test_no_more_processes_than_memory_holds(monkeypatch, started, free, n_others):
    use(monkeypatch, 20)
    ahead.compile_ahead.__wrapped__("float64", 2, 4, lambda: free)
    assert len(started) == n_others


def test_where_nothing_is_kept_nothing_is_compiled_for_others(monkeypatch, started):
    for kernel in use(monkeypatch, 20):
        del kernel._cache
        kernel._cache = None
    ahead.compile_ahead.__wrapped__("float64", 2, 4, room)
    assert not started


def test_a_process_that_cannot_be_started(monkeypatch, started):
    """The fit goes on, and compiles by itself; those that were started end."""
    use(monkeypatch, 20)
    start = ahead.subprocess.Popen

    def start_two(*arguments, **options):
        if len(started) == 2:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return start(*arguments, **options)

    monkeypatch.setattr(ahead.subprocess, "Popen", start_two)
    ahead.compile_ahead.__wrapped__("float64", 2, 4, room)
    assert len(started) == 2
    assert all("killed" in process.ended for process in started)


def test_as_many_processes_as_there_are_cores(monkeypatch, started):
    kernels = use(monkeypatch, 20)
    ahead.compile_ahead.__wrapped__("float64", 2, 4, room)
    assert len(started) == 3  # beside this one
    assert all(len(kernel.types) == 1 for kernel in kernels)
    assert all("waited for" in process.ended for process in started)
    assert not Path(started[0].command[3]).exists()


def test_nobody_who_watches_no_bar(monkeypatch, started):
    """Even a bar that is not shown would leave a thread behind."""
    shown = []
    monkeypatch.setattr(ahead, "is_watched", lambda: False)
    monkeypatch.setattr(progress, "tqdm", lambda **how: shown.append(how))
    use(monkeypatch, 20)
    ahead.compile_ahead.__wrapped__("float64", 2, 2, room)
    assert not shown


@pytest.mark.parametrize(("n_kernels", "n_jobs"), [(20, 1), (3, 4)])
def test_no_process_for_one_core_or_a_few_kernels(monkeypatch, started, n_kernels, n_jobs):
    kernels = use(monkeypatch, n_kernels)
    ahead.compile_ahead.__wrapped__("float64", 2, n_jobs, room)
    assert not started
    assert not any(kernel.types for kernel in kernels)


@pytest.mark.parametrize("program", ["", None, "/opt/studio"])
def test_a_program_with_python_inside_is_not_started(monkeypatch, started, program):
    use(monkeypatch, 20)
    monkeypatch.setattr(sys, "executable", program)
    ahead.compile_ahead.__wrapped__("float64", 2, 4, room)
    assert not started


def test_an_interrupt_leaves_no_process(monkeypatch, started):
    def interrupt(arguments):
        raise KeyboardInterrupt

    use(monkeypatch, 20)[2].compile = interrupt
    with pytest.raises(KeyboardInterrupt):
        ahead.compile_ahead.__wrapped__("float64", 2, 3, room)
    assert all("killed" in process.ended for process in started)
    assert not Path(started[0].command[3]).exists()
