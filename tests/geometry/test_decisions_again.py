"""That data are looked at again in the dimensions that are left."""

from dataclasses import replace

import pytest

from ptunfold.geometry import decisions
from ptunfold.geometry.decisions import look_at
from ptunfold.geometry.texture import Texture
from ptunfold.threads import Run
from tests.geometry.test_decisions import OPEN


@pytest.fixture
def looks(monkeypatch):
    asked = []

    def texture_of(points, graph, dim, *, n_jobs):
        asked.append((points, graph, dim))
        return Texture("noisy" if dim > 1 else "smooth", 1.0)

    monkeypatch.setattr(decisions, "texture_of", texture_of)
    monkeypatch.setattr(decisions, "has_auto", lambda options, n_points: True)
    monkeypatch.setattr(decisions, "with_dimension", lambda options, *_: options)
    return asked


@pytest.mark.parametrize("fewer", [1, 2])
def test_noisy_data_are_looked_at_again_without_thin_dimensions(looks, fewer, monkeypatch):
    def without_thin_ones(options, *_):
        return options if fewer == options.intrinsic_dim else replace(options, intrinsic_dim=fewer)

    monkeypatch.setattr(decisions, "without_thin_ones", without_thin_ones)
    options, texture = look_at("points", "graph", OPEN, Run())
    assert options.intrinsic_dim == fewer
    assert texture.kind == ("smooth" if fewer == 1 else "noisy")
    assert looks == [("points", "graph", dim) for dim in ((2, 1) if fewer == 1 else (2,))]


def test_dimensions_that_were_asked_for_stay(looks, monkeypatch):
    monkeypatch.setattr(decisions, "without_thin_ones", None)
    options, _ = look_at("points", "graph", replace(OPEN, may_shrink=False), Run())
    assert options.intrinsic_dim == 2
    assert len(looks) == 1
