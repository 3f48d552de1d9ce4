"""What is compiled is kept, unless it cannot be; and what is kept is right, or not taken."""

import ast
import errno
import shutil
import signal
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numba
import numpy as np
import pytest

from ptunfold.kernels import compiling

SOURCE = """
from ptunfold.kernels.compiling import compiled

@compiled()
def double(values):
    return 2 * values[0]

@compiled("_other")
def triple(values):
    return 3 * values[0]
"""
ARRAYS = [np.array([1.5]), np.array([3])]  # numbers of the same size: one is taken for the other


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Return the folder in which Numba keeps things now."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def fresh(tmp_path):
    """Return what another process would have: kernels that were never called."""
    source = tmp_path / "doubling.py"
    source.write_text(SOURCE)

    def load():
        spec = spec_from_file_location("doubling", source)
        sys.modules["doubling"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double

    yield load
    sys.modules.pop("doubling", None)


def hits(double):
    """Call with both types; return how many of them were found."""
    assert [double(values) for values in ARRAYS] == [3.0, 6]
    return sum(double.stats.cache_hits.values())


def files(kept, ending):
    return sorted(kept.glob(f"*/*{ending}"))


def test_what_is_compiled_is_found_again(kept, fresh):
    assert hits(fresh()) == 0
    assert hits(fresh()) == 2


def test_variants_are_kept_apart(kept, fresh):
    fresh()
    sys.modules["doubling"].triple(ARRAYS[0])
    (index,) = files(kept, ".nbi")
    assert "triple_other" in index.name


@pytest.mark.parametrize("ending", ["nbi", "1.nbc", "2.nbc"])
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.99])
def test_a_damaged_file_is_written_again(kept, fresh, ending, share):
    hits(fresh())
    (file,) = files(kept, ending)
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    assert hits(fresh()) < 2
    assert hits(fresh()) == 2


def test_code_of_another_signature_is_not_taken(kept, fresh):
    # Two processes that save at once can leave the code of one under the name of the other.
    hits(fresh())
    one, other = files(kept, ".nbc")
    shutil.copy(one, other)
    assert hits(fresh()) == 1
    assert hits(fresh()) == 2


def test_a_change_in_any_kernel_makes_all_of_them_old(kept, fresh, monkeypatch):
    hits(fresh())
    monkeypatch.setattr(compiling, "_all_sources", lambda: "others")
    assert hits(fresh()) == 0


def test_a_full_disk_stops_nothing(kept, fresh, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._save_index", fail)
    assert hits(fresh()) == 0


def test_without_a_folder_a_sentence_is_said_once(kept, fresh, monkeypatch):
    kept.write_text("a file, where the folder would be")
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    compiling._say_that_nothing_is_kept.cache_clear()
    with pytest.warns(UserWarning, match="set NUMBA_CACHE_DIR to a folder") as said:
        assert hits(fresh()) == 0
    assert len(said) == 1  # for two kernels


@pytest.mark.parametrize("is_watched", [True, False])
def test_a_long_wait_is_told_once(kept, fresh, monkeypatch, capsys, is_watched):
    monkeypatch.setattr(compiling, "_patience", compiling._Patience())
    monkeypatch.setattr(compiling, "is_watched", lambda: is_watched)
    monkeypatch.setattr(compiling, "_LONG", 0.0)
    hits(fresh())
    told = capsys.readouterr().err
    assert told.count("is being compiled") == is_watched
    assert told.count("\n") == is_watched
    assert compiling._patience.begun == []
    assert compiling._patience.seconds > 0


def test_what_is_kept_is_not_waited_for(kept, fresh, monkeypatch, capsys):
    hits(fresh())
    monkeypatch.setattr(compiling, "_patience", compiling._Patience())
    monkeypatch.setattr(compiling, "is_watched", lambda: True)
    monkeypatch.setattr(compiling, "_LONG", 0.0)
    assert hits(fresh()) == len(ARRAYS)
    assert capsys.readouterr().err == ""


class Finalized:
    """What Ctrl-C raises in here is printed and forgotten, as in callbacks of LLVM."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


@pytest.fixture
def _listening():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_listening", "kept")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("is_kept", [False, True])
def test_no_interrupt_is_lost_on_the_way_to_a_kernel(fresh, is_kept):
    if is_kept:
        hits(fresh())
    double = fresh()
    load = double._cache.load_overload

    def interrupted(*arguments):
        Finalized()
        return load(*arguments)

    double._cache.load_overload = interrupted
    with pytest.raises(KeyboardInterrupt):
        double(ARRAYS[0])
    double._cache.load_overload = load
    assert hits(double) == 2 * is_kept  # the next call is right


@pytest.mark.usefixtures("_listening", "kept")
def test_an_interrupt_that_becomes_an_error_is_one_still(fresh):
    double = fresh()

    def interrupted(*arguments):
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException as error:
            raise ValueError("something else") from error

    double._cache.load_overload = interrupted
    with pytest.raises(KeyboardInterrupt) as caught:
        double(ARRAYS[0])
    assert isinstance(caught.value.__cause__, ValueError)


def sums_that_write(source):
    """Return the lines of innermost loops that sum in any order and write into an array."""
    found = []
    for function in ast.walk(ast.parse(source)):
        is_any_order = isinstance(function, ast.FunctionDef) and any(
            "fastmath=SUMS" in ast.unparse(decorator) for decorator in function.decorator_list
        )
        for loop in ast.walk(function) if is_any_order else ():
            inside = list(ast.walk(loop))[1:]
            if not isinstance(loop, ast.For) or any(isinstance(each, ast.For) for each in inside):
                continue
            changed = [each.target for each in inside if isinstance(each, ast.AugAssign)]
            written = [
                place for each in inside if isinstance(each, ast.Assign) for place in each.targets
            ]
            sums = any(isinstance(place, ast.Name) for place in changed)
            if sums and any(isinstance(place, ast.Subscript) for place in changed + written):
                found.append(loop.lineno)
    return found


def test_no_sum_in_any_order_writes_into_an_array():
    """Its order would depend on the addresses of arrays, and the last bit with it."""
    sources = sorted(Path(compiling.__file__).parent.glob("*.py"))
    sums = [source for source in sources if "fastmath=SUMS" in source.read_text()]
    assert len(sums) > 3
    assert {source.name: sums_that_write(source.read_text()) for source in sums} == {
        source.name: [] for source in sums
    }
    wrong = """
@compiled(fastmath=SUMS)
def length(points, offset):
    total = 0.0
    for column in range(3):
        offset[column] = points[0, column] - points[1, column]
        total += offset[column] ** 2
    return total
"""
    assert sums_that_write(wrong) == [5]
