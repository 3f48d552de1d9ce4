"""What the command tells about itself and the machine, and what shells ask it."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import ptunfold
from ptunfold import PTU
from ptunfold.cli import app
from ptunfold.cli.doctor import Trial, _trials

COMMAND = Path(sys.executable).parent / "ptunfold"


def run(*words):
    return CliRunner().invoke(app, words)


@pytest.mark.parametrize("command", [[COMMAND], [sys.executable, "-m", "ptunfold"]], ids=str)
def test_version(command):
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"ptunfold {ptunfold.__version__}\n")


def test_version_is_that_of_the_package():
    assert ptunfold.__version__ == version("ptunfold")


@pytest.mark.parametrize(
    ("shell", "asked"),
    [
        ("bash", {"COMP_WORDS": "ptunfold di", "COMP_CWORD": "1"}),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "ptunfold di"}),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": "ptunfold di", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        ),
        (
            "powershell",
            {
                "_TYPER_COMPLETE_ARGS": "ptunfold di",
                "_TYPER_COMPLETE_WORD_TO_COMPLETE": "di",
            },
        ),
    ],
)
def test_shells_complete_commands(shell, asked):
    environment = os.environ | asked | {"_PTUNFOLD_COMPLETE": f"complete_{shell}"}
    done = subprocess.run([COMMAND], env=environment, capture_output=True, text=True, timeout=60)
    assert "diagnose" in done.stdout
    assert "transform" not in done.stdout


def test_shells_complete_options():
    asked = {"COMP_WORDS": "ptunfold embed --n-c", "COMP_CWORD": "2"}
    environment = os.environ | asked | {"_PTUNFOLD_COMPLETE": "complete_bash"}
    done = subprocess.run([COMMAND], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["--n-components"]


def test_doctor_finds_a_sound_installation():
    done = run("doctor", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["ptunfold"].startswith(f"{ptunfold.__version__} in ")
    assert f"numpy {version('numpy')}" in said["needed"]
    assert f"matplotlib {version('matplotlib')}" in said["optional"]
    assert "pytest" not in json.dumps(said)
    names = [trial["name"] for trial in said["trials"]]
    assert names[:3] == ["flat ring", "S with a hole", "part of a ball"]
    assert all(trial["holds"] for trial in said["trials"]), said["trials"]


def test_doctor_without_trials():
    done = run("doctor", "--no-test")
    assert done.exit_code == 0
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["cores"].split()[0].isdecimal()
    assert "GB free" in lines["memory"]
    assert "flat" not in lines


class Wrong(PTU):
    """Distances that are a per cent too long."""

    def distances(self, *args, **options):
        return 1.01 * super().distances(*args, **options)


class Broken(PTU):
    """One that cannot be saved."""

    def save(self, path):
        raise OSError("no room")


def test_doctor_notices_wrong_distances():
    trials = _trials(Wrong)
    found = [next(trials) for _ in range(3)]
    assert not any(trial.holds for trial in found)
    assert all("e-02 off" in trial.found or "9.9e-03 off" in trial.found for trial in found)


def test_doctor_goes_on_after_an_error(monkeypatch):
    monkeypatch.setattr(
        "ptunfold.datasets.swiss_roll", lambda _: type("Few", (), {"points": np.eye(3)})
    )
    *_, saved, last = _trials(Broken)
    assert (saved.holds, saved.found) == (False, "OSError: no room")
    assert last.name == "all distances"


def test_doctor_ends_with_an_error_where_something_fails(monkeypatch):
    failed = Trial("there and back", False, "OSError: no room", 0.1)
    monkeypatch.setattr("ptunfold.cli.doctor._trials", lambda _: [failed])
    done = run("doctor")
    assert done.exit_code == 1
    assert "there and back FAILS: OSError: no room (0.1 s)" in done.stdout
