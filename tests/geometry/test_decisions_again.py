"""That data are looked at again: in the dimensions that are left, in larger neighbourhoods."""

from dataclasses import replace

import numpy as np
import pytest

from ptunfold import build_graph
from ptunfold.geometry import decisions
from ptunfold.geometry.decisions import look_at, resolve_auto
from ptunfold.geometry.texture import Texture, texture_of
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


@pytest.mark.parametrize(
    ("kinds", "n_points", "scale", "n_looks"),
    [
        # As it is, or as far as there is room: 22 neighbourhoods of 84 for each scale.
        (["noisy"], 50_000, 1, 1),
        (["smooth"], 50_000, 1, 1),
        (["very noisy"] * 4, 3695, 1, 1),
        (["very noisy"] * 4, 3696, 2, 2),
        (["very noisy"] * 4, 14_784, 8, 4),
        # No farther than needed, and not where there is no noise to be seen any more.
        (["very noisy", "noisy", "noisy"], 50_000, 2, 2),
        (["very noisy", "very noisy", "smooth"], 50_000, 2, 3),
        # Of what looks rough, noise may show later, or never.
        (["rough", "rough", "very noisy", "noisy"], 50_000, 8, 4),
        (["rough"] * 4, 50_000, 1, 4),
        # A neighbourhood of all points would take too long.
        (["very noisy"] * 4, 250_000, 4, 3),
        (["very noisy"] * 4, 1_000_000, 1, 1),
    ],
)
def test_neighborhoods_grow_until_they_are_wider_than_the_noise(
    kinds, n_points, scale, n_looks, monkeypatch
):
    looked = []

    def texture_of(points, graph, dim, *, scale=1, n_jobs):
        looked.append(scale)
        return Texture(kinds[len(looked) - 1], 0.8, scale=scale)

    monkeypatch.setattr(decisions, "texture_of", texture_of)
    points = np.broadcast_to(np.float64(0), (n_points, 1))
    _, texture = look_at(points, None, replace(OPEN, may_shrink=False), Run())
    assert looked == [2**k for k in range(n_looks)]
    assert texture.scale == scale
    settings = resolve_auto(OPEN, texture, n_points)
    assert settings.denoise_scale == scale
    assert settings.denoise_neighbors == (84 if texture.kind == "very noisy" else 48)


def test_more_points_are_no_harm_in_noise():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 3000)
    circle = np.column_stack((np.cos(angle), np.sin(angle), np.cos(2 * angle)))
    noisy = circle + 0.06 * np.random.default_rng(1).standard_normal(circle.shape)
    options = replace(OPEN, intrinsic_dim=1, may_shrink=False)
    graph = build_graph(noisy)
    assert texture_of(noisy, graph, 1).kind == "rough"
    _, texture = look_at(noisy, graph, options, Run())
    assert (texture.kind, texture.scale) == ("very noisy", 2)
