"""The report on the paper's claims: its measures, its pages, its command."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ptunfold.cli import app
from ptunfold.datasets import letter_a
from ptunfold.embedding.alignment import aligned, embedding_error
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import correlation, run_landmark_isomap, run_local
from ptunfold.paper.report import all_met, write_report
from ptunfold.paper.sections import SECTIONS, Extent
from ptunfold.paper.sections.image_sets import _polar_correlations

QUICK = Extent(is_quick=True)


def test_alignment_undoes_motions():
    rng = np.random.default_rng(0)
    exact = rng.random((50, 2)) + [3, 4]
    turned = exact @ [[0, 1], [-1, 0]] * [1, -1] + 7
    np.testing.assert_allclose(aligned(turned, exact), exact, atol=1e-12)
    assert embedding_error(turned, exact) < 1e-12
    skewed = exact @ [[2, 1], [0, 3]]
    assert embedding_error(skewed, exact) > 0.5
    assert embedding_error(skewed, exact, is_affine=True) < 1e-12


def test_correlation_is_that_of_the_worst_column():
    rng = np.random.default_rng(0)
    found = rng.standard_normal((400, 2))
    noise = rng.standard_normal(400)
    wanted = np.column_stack((found @ [1, 2], found @ [1, -1] / np.sqrt(2) + noise))
    assert correlation(found, wanted[:, :1]) == pytest.approx(1)
    assert correlation(found, wanted) == pytest.approx(np.sqrt(0.5), abs=0.1)


def test_polar_coordinates_of_a_cone():
    data = letter_a(300, size=20)
    turn, size = data.parameters.T
    radius, angle = size**1.5, 1.2 * turn + 0.4
    cone = np.column_stack((radius * np.cos(angle), radius * np.sin(angle))) + [5, -2]
    found = _polar_correlations(cone, data)
    assert found[0] == pytest.approx(1)
    assert found[1] == pytest.approx(np.corrcoef(size, radius)[0, 1])


def test_landmark_isomap_of_a_line():
    line = np.linspace(0, 1, 60)[:, None] * [1.0, 1.0, 0.0]
    found = run_landmark_isomap(line, np.array([0, 20, 40, 59]), 1, n_neighbors=2)
    assert embedding_error(found.places, line[:, :1] * np.sqrt(2)) < 1e-9


def test_a_local_method_that_gives_up():
    points = np.random.default_rng(0).random((8, 3))
    np.testing.assert_array_equal(run_local(points, "Hessian LLE", n_neighbors=3).places, 0)
    assert np.ptp(run_local(points, "LLE", n_neighbors=3).places) > 0


@pytest.mark.parametrize("name", ["linear", "cap", "density"])
def test_a_section(name, tmp_path):
    (section,) = write_report(tmp_path, [name], extent=QUICK, say=lambda line: None)
    assert all_met([section])
    assert section.name == name
    page = (tmp_path / "paper.html").read_text()
    assert (tmp_path / f"{name}.png").stat().st_size > 5000
    assert "data:image/png;base64," in page
    # Nothing is fetched from anywhere.
    assert not re.findall(r"(?:src|href)\s*=\s*['\"](?!data:)", page)
    for claim in section.claims:
        assert claim.here in (tmp_path / "paper.md").read_text()


def test_every_section_of_the_paper_is_there():
    assert set(SECTIONS) == {
        *("linear", "torus", "holey-s", "cap", "hills", "curved-torus", "petals", "noisy-petals"),
        *("noise", "sparse-noise", "density", "landmarks", "letter-a", "faces", "digit-zero"),
        *("light-stage", "timing"),
    }


def fake(is_met):
    def make(extent):
        claims = [Claim("water is <wet>", "wet", "dry", is_met)]
        return Section("fake", "Fake", "None.", claims, ["a"], [["b"]])

    return make


@pytest.mark.parametrize(("is_met", "code"), [(True, 0), (False, 1), (None, 0)])
def test_the_exit_code_tells(is_met, code, tmp_path, monkeypatch):
    monkeypatch.setitem(SECTIONS, "fake", fake(is_met))
    done = CliRunner().invoke(app, ["paper", "fake", "--quick", "-o", str(tmp_path / "out")])
    assert done.exit_code == code
    page = (tmp_path / "out" / "paper.html").read_text()
    assert "water is &lt;wet&gt;" in page
    word = {True: "met", False: "NOT MET", None: "not run"}[is_met]
    assert f">{word}</td>" in page
    assert ("do not hold here" in done.stderr) == (code == 1)


def test_a_figure_that_does_not_exist(tmp_path):
    done = CliRunner().invoke(app, ["paper", "petal", "-o", str(tmp_path)])
    assert done.exit_code == 1
    assert "there is no figure 'petal'; choose among linear, torus" in done.stderr


def test_the_installed_command(tmp_path):
    command = Path(sys.executable).parent / "ptunfold"
    done = subprocess.run(
        [command, "paper", "linear", "--quick", "--output", tmp_path],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert "flattens flat data exactly" in done.stdout
    assert (tmp_path / "paper.html").exists()
    wrong = subprocess.run([command, "nothing"], capture_output=True, text=True, timeout=60)
    assert wrong.returncode != 0
    assert "Traceback" not in wrong.stderr
