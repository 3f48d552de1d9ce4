"""What the package takes from others: named with its licence, and locked for development."""

import json
import re
import tomllib
from importlib.resources import files
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def test_licences_of_what_is_bundled():
    said = files("ptunfold.explorer").joinpath("LICENSES.txt").read_text(encoding="utf-8")
    packages = json.loads((ROOT / "explorer" / "package-lock.json").read_text())["packages"]
    # Tools for building are marked; the build fails if one of them gets into the page.
    bundled = {
        f"{place.rpartition('node_modules/')[2]} {package['version']} ({package['license']})"
        for place, package in packages.items()
        if place and not package.get("dev")
    }
    assert set(re.findall(r"^\S+ \S+ \(.+\)$", said, flags=re.MULTILINE)) == bundled
    assert len(re.findall("Permission is hereby granted", said)) == len(bundled) > 0
    # Whoever hands a page on hands the licences on.
    page = files("ptunfold.explorer").joinpath("page.html").read_text(encoding="utf-8")
    assert f"/*!\n{said}*/" in page


def test_lock_file_has_what_is_asked_for():
    lock = (ROOT / "requirements-dev.lock").read_text()
    assert not re.search(r"://|file:|^-|^/", lock, flags=re.MULTILINE)
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert all("--hash=sha256:" in entry for entry in entries)
    locked: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock, flags=re.MULTILINE):
        locked.setdefault(canonicalize_name(name), []).append(version)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    dev = Requirement(extras["dev"][0])
    assert dev.name == project["name"]
    asked = project["dependencies"] + extras["dev"][1:] + [x for e in dev.extras for x in extras[e]]
    for requirement in map(Requirement, asked):
        versions = locked.get(canonicalize_name(requirement.name), [])
        assert versions, f"{requirement} is not in the lock file; make lock"
        assert all(requirement.specifier.contains(version) for version in versions), requirement


def test_no_product_of_indices_in_32_bits():
    """With NumPy 1.26 the product of ends of edges with any number has no more."""
    package = ROOT / "src" / "ptunfold"
    found = [
        f"{file.name}: {line.strip()}"
        for file in package.rglob("*.py")
        if file.parent.name != "kernels"  # Numba has rules of its own
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.search(r"\* np\.int64\(|\) \* np\.int64|@ \[\w+\.n_points, 1\]", line)
    ]
    assert not found
