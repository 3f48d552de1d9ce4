"""What `make demo` shows."""

import importlib.util
from pathlib import Path

import pytest

from ptunfold import PTU

PETALS = Path(__file__).parents[1] / "examples" / "petals.py"


@pytest.fixture
def petals(monkeypatch):
    spec = importlib.util.spec_from_file_location("petals", PETALS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    small = module.petals
    monkeypatch.setattr(module, "petals", lambda n_points, **how: small(300, **how))
    return module


def test_compiling_is_not_counted(petals, tmp_path, monkeypatch, capsys):
    """By a clock that goes on with the fits alone, of which the first is slow."""
    clock, n_fits = [0.0], []

    def slow(self, *arguments, _fit=PTU.fit, **options):
        clock[0] += 1 if n_fits else 1000
        n_fits.append(1)
        return _fit(self, *arguments, **options)

    monkeypatch.setattr(PTU, "fit", slow)
    monkeypatch.setattr(petals.time, "perf_counter", lambda: clock[0])
    petals.main(str(tmp_path / "a.png"), str(tmp_path / "a.html"))
    said = capsys.readouterr().out
    (row,) = [line for line in said.splitlines() if line.startswith("PTU")]
    assert float(row.split()[-1]) < 10
    assert "Seconds are those of a second call" in said
    assert (tmp_path / "a.png").exists()
    assert (tmp_path / "a.html").exists()
