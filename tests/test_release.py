"""What a release promises about itself, and the check that looks at archives."""

import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import ptunfold
from tests.release import LICENCES, complaints, readme_parts

ROOT = Path(__file__).parents[1]
METADATA = """Metadata-Version: 2.4
Name: ptunfold
Version: 1.2
License-Expression: BSD-3-Clause AND MIT
License-File: LICENSE
License-File: src/ptunfold/explorer/LICENSES.txt
Requires-Python: >=3.11
Requires-Dist: numpy>=1.26
Requires-Dist: ptunfold[plot]; extra == "docs"

# ptunfold
"""
FILES = [
    "ptunfold/explorer/page.html",
    "ptunfold/explorer/widget.js",
    "ptunfold/engines/paths.cu",
    "ptunfold/engines/squares.cu",
    "ptunfold/py.typed",
    *(f"ptunfold-1.2.dist-info/licenses/{name}" for name in LICENCES),
]


def wheel(path, said=METADATA, names=FILES, more=b""):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ptunfold-1.2.dist-info/METADATA", said)
        for name in names:
            archive.writestr(name, more)
    return path


def test_a_good_wheel(tmp_path):
    assert complaints(wheel(tmp_path / "ptunfold-1.2.whl"), "1.2") == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"said": METADATA.replace("Version: 1.2", "Version: 1.3")}, "is version 1.3, not 1.2"),
        ({"said": METADATA.replace("numpy>=1.26", "numpy")}, "numpy without a lower bound"),
        ({"said": METADATA.replace("License-File: LICENSE\n", "")}, "does not name the licence"),
        ({"said": METADATA.replace("# ptunfold", "")}, "has no description"),
        ({"names": FILES[:-1]}, "lacks src/ptunfold/explorer/LICENSES.txt"),
        ({"names": FILES[1:]}, "lacks explorer/page.html"),
        ({"names": [*FILES, "tests/x.py"]}, "brings ['ptunfold-1.2.dist-info', 'tests']"),
        ({"names": [*FILES, "ptunfold/__pycache__/x.nbc"]}, "__pycache__"),
        ({"more": bytes(400_000)}, "MB are too many"),
    ],
)
def test_complaints_about_wheels(change, complaint, tmp_path):
    (found,) = complaints(wheel(tmp_path / "ptunfold-1.2.whl", **change), "1.2")
    assert complaint in found


def test_an_sdist_is_looked_at(tmp_path):
    (tmp_path / "PKG-INFO").write_text(METADATA)
    with tarfile.open(tmp_path / "ptunfold-1.2.tar.gz", "w:gz") as archive:
        for name in ["PKG-INFO", "LICENSE", *(f"src/{name}" for name in FILES)]:
            archive.add(tmp_path / "PKG-INFO", f"ptunfold-1.2/{name}")
    found = complaints(tmp_path / "ptunfold-1.2.tar.gz", "1.2")
    assert found == []


def test_the_readme_has_something_to_try():
    code, commands = readme_parts()
    assert "PTU(n_components=2)" in code
    assert [command.split()[1] for command in commands] == ["datasets", "embed"]


def test_citation_names_the_version_and_the_paper():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert said["version"] == ptunfold.__version__
    assert said["preferred-citation"]["title"].startswith("Parallel Transport Unfolding")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"].startswith(said["license"])


def test_workflows_try_what_is_promised():
    workflows = {
        file.stem: yaml.safe_load(file.read_text())
        for file in (ROOT / ".github" / "workflows").glob("*.yml")
    }
    assert set(workflows) == {"tests", "docs", "publish"}
    matrix = workflows["tests"]["jobs"]["tests"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert matrix["python"] == promised
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    targets = (ROOT / "Makefile").read_text()
    for workflow in workflows.values():
        # Each may do no more than it needs.
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                for target in re.findall(r"^make ([a-z -]+)$", step.get("run", ""), re.MULTILINE):
                    assert all(f"\n{one}:" in targets for one in target.split()), target
    for which in workflows["tests"]["jobs"]["dependencies"]["strategy"]["matrix"]["which"]:
        assert f"\n{which}:" in targets
