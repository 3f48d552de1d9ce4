"""Build the package and try it as a stranger would: ``make release-check``.

An sdist and a wheel are built, looked into, and installed each into an environment of its own,
where the commands and the code of the README and a smoke test run, outside the sources.
"""

from __future__ import annotations

import argparse
import email
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = 2_000_000
LICENCES = ("LICENSE", "src/ptunfold/explorer/LICENSES.txt")  # of the package, of what is bundled

SMOKE = """
import numpy as np
import ptunfold
from ptunfold import PTU
from ptunfold.datasets import s_with_hole

assert ptunfold.__version__ == "{version}", ptunfold.__version__
assert "site-packages" in ptunfold.__file__, ptunfold.__file__
sheet = s_with_hole(1000)
model = PTU().fit(sheet.points)
true = sheet.distances([0])[0]
off = np.abs(model.distances([0])[0] - true)[1:].mean() / true.mean()
assert off < 1e-3, off
model.save("model.safetensors")
again = PTU.load("model.safetensors")
assert np.array_equal(again.embedding_, model.embedding_)
assert "three" in open(model.explore("page.html") and "page.html", encoding="utf-8").read()
print(f"distances are {{off:.1e}} off")
"""


def contents(file):
    """Return names and sizes of what is in an archive, names without the folder of an sdist."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            return {one.filename: one.file_size for one in archive.infolist()}
    with tarfile.open(file) as archive:
        return {one.name.partition("/")[2]: one.size for one in archive if one.isfile()}


def metadata(file):
    """Read what an archive says about itself."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
            text = archive.read(name)
    else:
        with tarfile.open(file) as archive:
            (name,) = (
                one for one in archive.getnames() if one.count("/") == 1 and "PKG-INFO" in one
            )
            text = archive.extractfile(name).read()
    return email.message_from_bytes(text)


def complaints(file, version):
    """List what is wrong with an archive."""
    said, names = metadata(file), contents(file)
    found = []

    def want(is_right, sentence):
        if not is_right:
            found.append(f"{file.name}: {sentence}")

    want(file.stat().st_size < MOST_BYTES, f"{file.stat().st_size / 1e6:.1f} MB are too many")
    want(said["Name"] == "ptunfold", f"is called {said['Name']}")
    want(said["Version"] == version, f"is version {said['Version']}, not {version}")
    want(said["License-Expression"] == "BSD-3-Clause AND MIT", "names another licence")
    want(said["Requires-Python"] == ">=3.11", f"wants Python {said['Requires-Python']}")
    want(
        set(said.get_all("License-File") or ()) == set(LICENCES), "does not name the licence files"
    )
    want("# ptunfold" in said.get_payload(), "has no description")
    for licence in LICENCES:
        want(any(name.endswith(licence) for name in names), f"lacks {licence}")
    read = ("explorer/page.html", "explorer/widget.js", "engines/paths.cu", "engines/squares.cu")
    for needed in (*read, "py.typed"):
        want(any(name.endswith(f"ptunfold/{needed}") for name in names), f"lacks {needed}")
    for requirement in said.get_all("Requires-Dist") or ():
        plain = requirement.partition(";")[0]
        is_bound = ">=" in plain or plain.startswith("ptunfold[")
        want(is_bound, f"depends on {plain.strip()} without a lower bound")
    stray = [name for name in names if re.search(r"__pycache__|\.pyc$|\.nb[ci]$|\.env", name)]
    want(not stray, f"has {stray[:3]} in it")
    if file.suffix == ".whl":
        others = {name.split("/")[0] for name in names} - {"ptunfold"}
        want(all(name.endswith(".dist-info") for name in others), f"brings {sorted(others)}")
    return found


def readme_parts():
    """Return the Python code of the README, and the lines that call the command."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    return code, re.findall(r"^ptunfold .*$", "\n".join(blocks), flags=re.MULTILINE)


def run(*words, **options):
    """Run a program, and show its end if it fails."""
    print("$", *(str(word) if "\n" not in str(word) else "..." for word in words), flush=True)
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}\nended with {done.returncode}")
    return done.stdout


def try_out(file, uv, python, version):
    """Install an archive where nothing else is, and use it."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        run(uv, "venv", "--quiet", "--python", python, there / "env")
        tools = there / "env" / ("Scripts" if os.name == "nt" else "bin")
        run(uv, "pip", "install", "--quiet", "--python", tools / "python", file)
        # Nothing of this process may show the way to the sources.
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        here = {"cwd": there, "env": clean | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}}
        assert run(tools / "ptunfold", "--version", **here) == f"ptunfold {version}\n"
        assert "Usage" in run(tools / "python", "-m", "ptunfold", "--help", **here)
        print(run(tools / "ptunfold", "doctor", **here))
        print(run(tools / "python", "-c", SMOKE.format(version=version), **here))
        code, commands = readme_parts()
        assert commands
        for command in commands:
            run(*command.split(), **here)
        assert (there / "flat.csv").read_text().count("\n") > 1000
        run(tools / "python", "-W", "error::DeprecationWarning", "-c", code, **here)


def main():
    """Build, look, try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uv", default="uv", help="the program uv")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "dist")
    options = parser.parse_args()
    source = (ROOT / "src" / "ptunfold" / "__init__.py").read_text()
    version = re.search(r'^__version__ = "(.+)"$', source, flags=re.MULTILINE)[1]
    for old in options.output.glob("ptunfold-*"):
        old.unlink()
    run(options.uv, "build", "--quiet", "--out-dir", options.output, ROOT)
    files = sorted(options.output.glob("ptunfold-*"))
    assert sorted(file.suffix for file in files) == [".gz", ".whl"], files
    found = [complaint for file in files for complaint in complaints(file, version)]
    if found:
        sys.exit("\n".join(found))
    for file in files:
        try_out(file, options.uv, sys.executable, version)
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB, works\n")


if __name__ == "__main__":
    main()
