"""The field's benchmark: what it counts as right is right, and shortcuts are pruned."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.sparse import csr_matrix

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import field
import field_report
import orc

from ptunfold.datasets import swiss_roll


def test_scores_of_a_perfect_method_are_perfect(monkeypatch):
    data = swiss_roll(60)
    perfect = field.METHODS["Isomap"].__class__(
        lambda points, n_components, seed: (data.coordinates, 3 * data.distances()), "", True
    )
    monkeypatch.setitem(field.METHODS, "perfect", perfect)
    distances = field.measure_distances("perfect", data, 0)
    assert distances == pytest.approx({"scaled": 0, "rank": 1}, abs=1e-9)
    embedding = field.measure_embedding("perfect", data, 0)
    assert embedding == pytest.approx({"rigid": 0, "linear": 0}, abs=1e-9)


def test_the_best_factor_is_the_best():
    rng = np.random.default_rng(0)
    exact = rng.uniform(1, 2, 200)
    found = exact * rng.lognormal(1, 0.5, 200)
    tried = [field.distance_error(found * factor, exact) for factor in np.geomspace(0.01, 1, 2000)]
    assert field.scaled_error(found, exact) <= min(tried) + 1e-9


def test_an_embedding_with_nan_fails(monkeypatch):
    broken = field.METHODS["Isomap"].__class__(lambda *_: (np.full((5, 2), np.nan), None), "")
    monkeypatch.setitem(field.METHODS, "broken", broken)
    with pytest.raises(ValueError, match="NaN"):
        field.places_of("broken", np.zeros((5, 3)), 0)


def test_pruning_by_curvature_removes_a_planted_shortcut_alone():
    line = np.arange(45.0)[:, None] + np.random.default_rng(0).uniform(0, 0.1, (45, 1))
    graph = orc.neighbour_graph(line, 8).tolil()
    graph[3, 41] = graph[41, 3] = 1.0
    pruned = orc.prune(graph.tocsr())
    assert pruned[3, 41] == 0
    assert pruned.nnz == graph.nnz - 2


def test_curvature_is_one_in_a_crowd_and_least_on_a_bridge():
    linked = block_diag(np.ones((5, 5)), np.ones((5, 5))) - np.eye(10)
    linked[0, 9] = linked[9, 0] = 1
    edges, found = orc.curvatures(csr_matrix(linked))
    is_bridge = (edges == (0, 9)).all(axis=1)
    touches = np.isin(edges, (0, 9)).any(axis=1)
    assert found[is_bridge] == pytest.approx(-2)
    assert found[~touches] == pytest.approx(1)


def test_a_report_tells_what_failed(tmp_path):
    pytest.importorskip("matplotlib")
    good = {"roll|0": {"linear": 1.0, "rigid": 2.0}, "roll|1": {"linear": 3.0, "rigid": 4.0}}
    kept = {
        "embedding": {
            "PTU": good,
            "LTSA": {"roll|0": {"failed": "ValueError: singular"}},
            "UMAP": {"roll|0": {"failed": "more than 60 s"}},
            "PHATE": {"roll|0": {"failed": "not installed: No module named 'phate'"}},
        }
    }
    here = {"machine": "a machine", "load": 0.0, "packages": {"ptunfold": "1"}}
    field_report.write_report(kept, here, "", tmp_path)
    page = (tmp_path / "field.md").read_text(encoding="utf-8")
    assert "| PTU | 2 (3) |" in page
    assert "| LTSA | fails |" in page
    assert "LTSA: ValueError: singular (embedding, roll)" in page
    assert "| UMAP | more than 60 s |" in page
    assert "- PHATE: not installed" in page
    assert "| PHATE | fails" not in page
    assert (tmp_path / "field_embedding.png").stat().st_size > 1000
