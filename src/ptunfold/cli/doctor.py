"""The command that looks at the machine, and tries whether the package does what it promises."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from typer import Option

from ptunfold import __version__
from ptunfold.cli import options
from ptunfold.cli.app import command, estimator, tell


class Trial(NamedTuple):
    """Something that was tried: what it is, whether it holds, what was found."""

    name: str
    holds: bool
    found: str
    seconds: float


@command
def doctor(
    test: Annotated[
        bool,
        Option("--test/--no-test", help="Try distances against what is known to be true."),
    ] = True,
    as_json: options.AsJson = False,
) -> None:
    """Tell versions, cores, memory, GPU and cache, and try whether everything works here.

    The trial takes about ten seconds, and half a minute more where nothing is compiled yet. What is
    printed is what a report of an error should have. Ends with an error if something does not hold.
    """
    PTU = estimator()
    said = _machine()
    if not as_json:
        tell("\n".join(f"{name:14} {words}" for name, words in said.items()))
    trials = []
    for trial in _trials(PTU) if test else ():
        trials.append(trial)
        if not as_json:
            mark = "holds" if trial.holds else "FAILS"
            tell(f"{trial.name:14} {mark}: {trial.found} ({trial.seconds:.1f} s)")
    if as_json:
        tell(json.dumps(said | {"trials": [trial._asdict() for trial in trials]}))
    if not all(trial.holds for trial in trials):
        raise typer.Exit(1)


def _machine() -> dict[str, str]:
    """Describe what the package finds here, a line each."""
    from joblib import cpu_count
    from psutil import virtual_memory

    from ptunfold.memory import free_bytes, in_words

    needed, optional = _requirements()
    there = [name for name in optional if _version(name)]
    missing = [name for name in optional if name not in there]
    return {
        "ptunfold": f"{__version__} in {Path(__file__).parents[1]}",
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.platform()}, {platform.machine()}",
        "needed": ", ".join(f"{name} {_version(name)}" for name in needed),
        "optional": ", ".join(f"{name} {_version(name)}" for name in there) or "nothing",
        "not installed": ", ".join(missing) or "nothing",
        "cores": f"{cpu_count()} to use, of {os.cpu_count()}",
        "memory": f"{in_words(free_bytes())} free, of {in_words(virtual_memory().total)}",
        "GPU": _gpu(),
        "cache": _cache(),
        "instructions": _instructions(),
    }


def _requirements() -> tuple[list[str], list[str]]:
    """List the packages that are needed, and those that some things need, without tools."""
    needed, optional = [], []
    for line in metadata("ptunfold").get_all("Requires-Dist") or []:
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        if extra is None:
            needed.append(name)
        elif extra[1] in ("approximate", "plot", "tables", "anndata", "dask", "widget"):
            optional.append(name)
    return sorted(set(needed)), sorted(set(optional))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _gpu() -> str:
    from ptunfold.engines.cuda import CudaEngine
    from ptunfold.memory import in_words

    try:
        cupy = CudaEngine().cupy
    except ValueError as error:
        return f"none: {error}"
    device = cupy.cuda.Device()
    name = cupy.cuda.runtime.getDeviceProperties(device.id)["name"].decode()
    free, total = device.mem_info
    return f"{name}, {in_words(free)} free of {in_words(total)}, cupy {cupy.__version__}"


def _cache() -> str:
    """Say where compiled code is kept, by a kernel that every fit uses."""
    from ptunfold.kernels.development import mean_row

    kept = getattr(getattr(mean_row, "_cache", None), "cache_path", None)
    if kept is None:
        return "none: every process compiles anew; set NUMBA_CACHE_DIR to a folder"
    folder = Path(kept)
    files = list(folder.glob("*.nbc")) if folder.is_dir() else []
    size = sum(file.stat().st_size for file in files) / 1e6
    state = "writable" if os.access(_first_there(folder), os.W_OK) else "NOT writable"
    return f"{folder}, {state}, {len(files)} compiled kernels, {size:.0f} MB"


def _first_there(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())


def _instructions() -> str:
    from ptunfold.kernels.chosen_lanes import VARIANT

    return "plain loops, two to three times as slow" if VARIANT else "vectors"


def _trials(estimator: Callable[..., Any]) -> Iterator[Trial]:
    """Try what the package promises, against truths that need no other program."""
    from ptunfold.datasets import annulus, s_with_hole, spherical_cap, swiss_roll

    def error_of(data: Any, bound: float) -> tuple[bool, str]:
        model = estimator().fit(data.points)
        sources = np.arange(0, len(data.points), 20)
        true = data.distances(sources)
        off = float(np.abs(model.distances(sources) - true)[true > 0].mean() / true.mean())
        return off < bound, f"distances are {off:.1e} off, less than {bound:.0e} is right"

    def saved() -> tuple[bool, str]:
        points = s_with_hole(800).points
        model = estimator().fit(points)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.safetensors"
            model.save(file)
            again = estimator.load(file)  # type: ignore[attr-defined]  # a class, passed in
        is_same = np.array_equal(again.embedding_, model.embedding_)
        there = np.allclose(again.transform(points), model.embedding_)
        back = float(np.abs(again.inverse_transform(model.embedding_) - points).max())
        return (
            is_same and there and back < 1e-6,
            f"the same after a file, {back:.0e} off on the way back",
        )

    def quick() -> tuple[bool, str]:
        points = swiss_roll(6000).points.astype(np.float32)
        start = time.perf_counter()
        model = estimator(landmarks=None).fit(points)
        seconds = time.perf_counter() - start
        return bool(np.isfinite(model.embedding_).all()), f"6000 points in {seconds:.1f} s"

    def on_gpu() -> tuple[bool, str]:
        points = s_with_hole(2000).points
        one, other = (
            estimator(landmarks=None, engine=engine).fit(points) for engine in ("threads", "cuda")
        )
        off = float(np.abs(np.abs(one.embedding_) - np.abs(other.embedding_)).max())
        return off < 1e-3, f"coordinates differ by {off:.0e} from those by threads"

    trials: dict[str, Callable[[], tuple[bool, str]]] = {
        "flat ring": lambda: error_of(annulus(1500), 1e-9),
        "S with a hole": lambda: error_of(s_with_hole(2000), 1e-3),
        "part of a ball": lambda: error_of(spherical_cap(1500, sampling="random"), 1e-3),
        "there and back": saved,
        "all distances": quick,
    }
    if not _gpu().startswith("none"):
        trials["GPU"] = on_gpu
    for name, trial in trials.items():
        start = time.perf_counter()
        try:
            holds, found = trial()
        except Exception as error:  # the next trials may tell more
            holds, found = False, f"{type(error).__name__}: {error}"
        yield Trial(name, bool(holds), found, time.perf_counter() - start)
