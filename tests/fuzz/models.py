"""Damage model files in thousands of ways: an error in words, or a model that works.

    python tests/fuzz/models.py 20000 [seed]

Cases run in a process of their own, under a limit of memory and of time. What ends it, hangs, asks
for too much memory or gives numbers that are none is told by the number of the case, which makes
the same file again: ``python tests/fuzz/models.py --case 1234 [seed]``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from safetensors.numpy import load, save

from ptunfold import PTU
from ptunfold.datasets import s_with_hole, swiss_roll
from ptunfold.geometry import stages
from ptunfold.io.models import checksum

_BATCH = 500
_SECONDS = 300  # for a batch
# Bytes above what the process has when all is compiled; threads take some of it for themselves.
_ROOM = (1 << 31) + (os.cpu_count() or 1) * (1 << 27)
_NUMBERS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-310, -1.0, 0.0, 2.0, 1e30, 1e-30)
_WHOLE = (-1, -2, 2**31 - 1, -(2**31), 2**62, -(2**63), 10**6, 0, 1, 7, 40)
_DTYPES = (np.float64, np.float32, np.float16, np.int64, np.int32, np.uint64, np.int8, np.bool_)
_ODD = (None, -1, 0, 2, 10**9, 1e400, -0.5, "x", "auto", True, [], [1, 2], {}, "../../x", "\0")


def make_models() -> list[bytes]:
    """Fit small models of many kinds and return their files."""
    rng = np.random.default_rng(0)
    sheet = s_with_hole(50).points
    two = np.concatenate((rng.random((30, 3)), rng.random((12, 3)) + 9))
    copies = np.concatenate((sheet[:30], sheet[:8], sheet[:4]))
    fits = [
        (PTU(), sheet),
        (PTU(landmarks=8), sheet.astype(np.float32)),
        (PTU(disconnected="separate", n_neighbors=4), two),
        (PTU(disconnected="largest", n_neighbors=4), two),
        (PTU(denoise=1, step="arc"), swiss_roll(60, noise=0.02).points),
        (PTU(), rng.normal(size=(40, 8))),
        (PTU(coherence=1), rng.normal(size=(40, 8))),
        (PTU(), s_with_hole(30, n_features=40).points),
        (PTU(n_components=1), np.linspace(0, 1, 30)[:, None] ** np.arange(1, 3)),
        (PTU(step="chord", tangent="pca"), copies),
        (PTU(), swiss_roll(60, n_features=30, noise=0.01).points),
    ]
    files = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, (model, points) in enumerate(fits):
            with mock.patch.object(stages, "MOST_UNORDERED", 40 if number % 3 else 10**6):
                model.fit(points)
            model.save(Path(folder) / "model")
            files.append((Path(folder) / "model").read_bytes())
    return files


def mutant(content: bytes, rng: np.random.Generator) -> bytes:
    """Damage a file: its bytes, its arrays or its header; the last two with a right checksum."""
    kind = rng.integers(10)
    if kind < 3:
        return _damaged_bytes(content, rng)
    if kind == 3:
        return _damaged_sizes(content, rng)
    arrays = {name: array.copy() for name, array in load(content).items()}
    header = json.loads(_about(content)["header"])
    for _ in range(rng.integers(1, 4)):
        if kind == 4:
            _damage_header(header, rng)
        else:
            _damage_arrays(arrays, rng)
    return _as_file(arrays, json.dumps(header))


def _about(content: bytes) -> dict[str, str]:
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + size])["__metadata__"]


def _as_file(arrays: dict[str, np.ndarray], header: str, version: str = "2") -> bytes:
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    about = {
        "format": "ptunfold model",
        "version": version,
        "header": header,
        "checksum": checksum(arrays, header),
    }
    return save(arrays, about)


def _damaged_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    kind, place = rng.integers(5), int(rng.integers(len(content)))
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content + rng.bytes(int(rng.integers(1, 100)))
    if kind == 2:
        changed[place : place + 64] = rng.bytes(len(changed[place : place + 64]))
    else:
        last = len(content) if kind == 3 else 8 + int.from_bytes(content[:8], "little")
        for _ in range(rng.integers(1, 9)):
            changed[int(rng.integers(last))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _damaged_sizes(content: bytes, rng: np.random.Generator) -> bytes:
    """Let the list of arrays claim other shapes, types and places than there are."""
    size = int.from_bytes(content[:8], "little")
    listed = json.loads(content[8 : 8 + size])
    names = [name for name in listed if name != "__metadata__"]
    entry = listed[names[rng.integers(len(names))]]
    kind = rng.integers(6)
    if kind == 0:
        entry["shape"] = [int(rng.choice((2**40, 2**62, 0, 3, 10**9)))] * len(entry["shape"])
    elif kind == 1:
        entry["data_offsets"] = [0, int(rng.choice((2**42, 0, 8, 2**63)))]
    elif kind == 2:
        entry["dtype"] = str(rng.choice(("F64", "I64", "BF16", "F8_E4M3", "BOOL", "U8", "X", "F4")))
    elif kind == 3:
        listed["__metadata__"]["version"] = str(rng.choice(("1", "9", "²", "", "-1", "٣")))
    elif kind == 4:
        del listed["__metadata__"][str(rng.choice(("format", "version", "header", "checksum")))]
    else:
        listed["__metadata__"]["header"] = str(
            rng.choice(("[" * 10**5, "{}", "", "NaN", "9" * 9999))
        )
        arrays = load(content)
        return _as_file(arrays, listed["__metadata__"]["header"])
    text = json.dumps(listed).encode()
    claimed = len(text) if rng.integers(8) else int(rng.choice((0, 2**40, 2**63, 5)))
    return claimed.to_bytes(8, "little") + text + content[8 + size :]


def _damage_header(header: dict, rng: np.random.Generator) -> None:
    part = header if rng.integers(3) == 0 else header.get("parameters", header)
    if not isinstance(part, dict):
        return
    names = list(part)
    value = _ODD[rng.integers(len(_ODD))]
    if rng.integers(6) == 0 or not names:
        part["more"] = value
    elif rng.integers(6) == 0:
        del part[names[rng.integers(len(names))]]
    else:
        part[names[rng.integers(len(names))]] = value


def _damage_arrays(arrays: dict[str, np.ndarray], rng: np.random.Generator) -> None:
    names = sorted(arrays)
    if not names:
        return
    name, other = (names[rng.integers(len(names))] for _ in range(2))
    array = arrays[name]
    kind = rng.integers(14)
    if kind < 5 and array.size:  # one entry, or a few
        values = _WHOLE if array.dtype.kind in "iu" else _NUMBERS
        with np.errstate(all="ignore"):
            value = np.array(values[rng.integers(len(values))]).astype(array.dtype)
        flat = array.reshape(-1)
        flat[rng.integers(array.size, size=rng.choice((1, 1, 3, array.size)))] = value
        arrays[name] = flat.reshape(array.shape)
    elif kind == 5:
        arrays[name] = array[: int(rng.integers(len(array) + 1))] if array.ndim else array
    elif kind == 6:
        arrays[name] = np.concatenate((array, array[-1:])) if array.ndim else array
    elif kind == 7:
        arrays[name] = (array.ravel(), array[None], array.T, array[..., :0])[rng.integers(4)]
    elif kind == 8:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[name] = array.astype(_DTYPES[rng.integers(len(_DTYPES))])
    elif kind == 9:
        arrays[name], arrays[other] = arrays[other], arrays[name]
    elif kind == 10:
        del arrays[name]
    elif kind == 11:
        arrays[f"{name}{rng.integers(3)}"] = array
    elif kind == 12 and array.size:
        arrays[name] = rng.permutation(array)
    elif kind == 13 and array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            arrays[name] = array * array.dtype.type(rng.choice((1e-200, 1e-30, 1e30, 1e200, 0, -1)))


def use(model: PTU) -> None:
    """Call everything that kernels work for; numbers must be some."""
    labels = model.component_labels_
    is_in, is_one = labels >= 0, labels.max() == 0 and labels.min() == 0
    fitted = model._fitted
    given = fitted.geometry.points[fitted.geometry.place] if fitted.given is None else fitted.given
    n_points = len(labels)
    _finite(model.transform(given[is_in][:3]))
    near = given[:3] + given.std(dtype=np.float64) / 7
    _finite(model.transform(near, return_info=True)[1].distance)
    _finite(model.inverse_transform(model.embedding_[is_in][:3]))
    rows, whole = model.distances([0, n_points - 1]), model.distances()
    if is_one:
        _finite(rows)
        _finite(whole)
    assert not np.isnan(whole[np.ix_(is_in, is_in)]).any(), "NaN among distances"
    for ends in ((0, n_points - 1), (3, 9)):
        try:
            path = model.path(*ends)
        except ValueError as error:
            if "no path leads" not in str(error):
                raise
        else:
            _finite(path.points)
            _finite([path.forward, path.backward, path.graph_length])
    scores = model.scores()
    assert all(len(score) == n_points for score in scores.values())
    if is_one:
        _finite(scores["coherence"])
    _finite([model.transport_.explained, model.transport_.coherence])
    assert model.orientation_.n_conflicts >= 0
    repr(model)


def _finite(values: object) -> None:
    assert np.isfinite(np.asarray(values)).all(), "numbers that are none"


def run_case(number: int, seed: int, models: list[bytes], path: Path) -> str:
    """Run one case: "refused", "works", or raise what must not be."""
    rng = np.random.default_rng((seed, number))
    path.write_bytes(mutant(models[number % len(models)], rng))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = PTU.load(path)
        except ValueError as error:
            if str(path) not in str(error):
                raise
            return "refused"
        use(model)
        return "works"


def run_batch(start: int, stop: int, seed: int, folder: Path) -> dict[str, int]:
    """Run cases in this process under a limit of memory, and note each before it starts."""
    models = [file.read_bytes() for file in sorted(folder.glob("*.model"))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in sorted(folder.glob("*.model")):
            use(PTU.load(file))  # compiled before the limit holds
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _ROOM, used + _ROOM))
    counts: dict[str, int] = {}
    for number in range(start, stop):
        (folder / "now").write_text(str(number))
        try:
            outcome = run_case(number, seed, models, folder / "case")
        except BaseException:
            outcome = "FAILED"
            print(f"case {number}:\n{traceback.format_exc()}", flush=True)
        counts[outcome] = counts.get(outcome, 0) + 1
    return counts


def run(n_cases: int, seed: int = 0) -> dict[str, int]:
    """Run all cases, each batch in a process; count what came of them."""
    total: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, content in enumerate(make_models()):
            (folder / f"{number:02d}.model").write_bytes(content)
        start = 0
        while start < n_cases:
            stop = min(start + _BATCH, n_cases)
            command = [sys.executable, __file__, "--batch", str(start), str(stop), str(seed), name]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
                ended, said = done.returncode, done.stdout
            except subprocess.TimeoutExpired as error:
                ended, said = "time", (error.stdout or b"").decode()
            lines = said.splitlines()
            print("\n".join(line for line in lines if not line.startswith("{")), end="", flush=True)
            if ended == 0:
                counts = json.loads(lines[-1])
            else:
                start = stop = int((folder / "now").read_text()) + 1
                counts = {"FAILED": 1}
                print(f"case {stop - 1} ended the process ({ended})")
                if ended != "time":
                    print(done.stderr[-2000:])
            for outcome, count in counts.items():
                total[outcome] = total.get(outcome, 0) + count
            start = stop
    return total


if __name__ == "__main__":
    if sys.argv[1] == "--batch":
        first, last, seed = map(int, sys.argv[2:5])
        print(json.dumps(run_batch(first, last, seed, Path(sys.argv[5]))))
    elif sys.argv[1] == "--case":
        seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
        with tempfile.TemporaryDirectory() as folder:
            print(run_case(int(sys.argv[2]), seed, make_models(), Path(folder) / "case"))
    else:
        began = time.perf_counter()
        found = run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
        print(f"{found} in {time.perf_counter() - began:.0f} s")
        sys.exit("FAILED" in found)
