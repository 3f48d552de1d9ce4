"""What is left to the data, and how it is decided."""

from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest

from ptunfold import build_graph
from ptunfold.datasets import swiss_roll
from ptunfold.geometry.decisions import (
    _moved,
    has_auto,
    may_thin,
    resolve_auto,
    with_dimension,
    without_thin_ones,
)
from ptunfold.geometry.texture import Texture
from ptunfold.threads import Run
from ptunfold.types import Options

OPEN = Options(
    graph="knn",
    n_neighbors=None,
    radius=None,
    search="auto",
    disconnected="bridge",
    is_pruned=False,
    intrinsic_dim=2,
    may_shrink=True,
    tangent_neighbors=None,
    tangent=None,
    step=None,
    denoise=None,
    coherence=None,
)
SAME = ("graph", "radius", "search", "disconnected", "is_pruned", "intrinsic_dim", "may_shrink")
SAME += ("coherence",)


@pytest.mark.parametrize(
    ("kind", "n_points", "tangent", "n_tangent", "step", "denoise", "n_denoise", "n_wide"),
    [
        (None, 1000, "pca", 15, "chord", 0, 48, 0),
        ("flat", 1000, "pca", 15, "chord", 0, 48, 0),
        ("rough", 1000, "pca", 15, "chord", 0, 48, 0),
        ("smooth", 1000, "quadratic", 18, "arc", 0, 48, 24),
        ("noisy", 1000, "robust", 48, "arc", 3, 48, 24),
        ("very noisy", 1000, "robust", 48, "arc", 3, 84, 24),
        # No more neighbours than there are, and no surface over too large a part of the data.
        ("very noisy", 43, "robust", 42, "arc", 3, 42, 24),
        ("smooth", 43, "quadratic", 18, "arc", 0, 42, 24),
        ("smooth", 42, "pca", 15, "arc", 0, 41, 24),
        ("smooth", 11, "pca", 10, "arc", 0, 10, 24),
    ],
)
def test_the_table(kind, n_points, tangent, n_tangent, step, denoise, n_denoise, n_wide):
    texture = None if kind is None else Texture(kind, 0.9)
    found = asdict(resolve_auto(OPEN, texture, n_points))
    assert found == {name: getattr(OPEN, name) for name in SAME} | {
        "n_neighbors": 10,
        "tangent": tangent,
        "tangent_neighbors": n_tangent,
        "step": step,
        "denoise": denoise,
        "denoise_neighbors": n_denoise,
        "denoise_scale": 1,
        "n_wide": n_wide,
    }


def test_surfaces_in_noise_are_as_wide_as_the_texture_says():
    found = resolve_auto(OPEN, Texture("noisy", 0.9, 4), 400)
    assert (found.tangent_neighbors, found.denoise_neighbors) == (24, 24)


def test_what_was_asked_for_stays():
    asked = replace(
        OPEN, n_neighbors=4, tangent="pca", step="chord", denoise=1, tangent_neighbors=7
    )
    found = asdict(resolve_auto(asked, Texture("very noisy", 0.9), 1000))
    assert found == asdict(asked) | {"denoise_neighbors": 84, "denoise_scale": 1, "n_wide": 0}
    for n_tangent, tangent in ((10, "pca"), (11, "quadratic")):
        some = replace(OPEN, tangent_neighbors=n_tangent)
        assert resolve_auto(some, Texture("smooth", 0.9), 1000).tangent == tangent
    assert resolve_auto(replace(OPEN, denoise=0), Texture("noisy", 0.9), 1000).denoise == 0


@pytest.mark.parametrize(
    ("change", "n_points", "n_wide"),
    [
        ({}, 200_000, 24),
        ({}, 200_001, 0),
        ({"intrinsic_dim": 1}, 1000, 12),
        ({"n_neighbors": 10}, 1000, 0),
        ({"radius": 0.5}, 1000, 0),
        ({"graph": "mutual"}, 1000, 0),
        ({"step": "chord"}, 1000, 0),
    ],
)
def test_when_there_are_more_edges(change, n_points, n_wide):
    options = replace(OPEN, **change)
    assert resolve_auto(options, Texture("smooth", 1.0), n_points).n_wide == n_wide


def test_what_is_open():
    closed = replace(OPEN, n_neighbors=5, tangent="pca", step="arc", denoise=0)
    assert not has_auto(closed, 1000)
    for name in ("tangent", "step", "denoise", "n_neighbors"):
        assert has_auto(replace(closed, **{name: None}), 1000)
    assert not has_auto(replace(closed, n_neighbors=None), 200_001)
    assert may_thin(OPEN)
    assert not may_thin(closed)
    assert not may_thin(replace(OPEN, graph="radius"))


def test_a_sheet_is_explained_but_for_noise():
    assert Texture("noisy", 0.75).is_sheet
    assert not Texture("noisy", 0.74).is_sheet
    assert Texture("noisy", 0.9).without_noise.kind == "smooth"
    assert Texture("noisy", 0.89).without_noise.kind == "rough"


def test_a_curve_in_two_dimensions_has_one():
    angle = np.linspace(0, 6, 400)
    rng = np.random.default_rng(0)
    for width, dim in ((0, 1), (1, 2)):
        curve = np.column_stack((np.cos(angle), np.sin(angle), width * rng.random(400)))
        found = with_dimension(OPEN, curve, build_graph(curve), Run())
        assert found.intrinsic_dim == dim


def test_a_strip_no_wider_than_its_noise_has_one_dimension():
    rng = np.random.default_rng(0)
    for width, dim in ((0.2, 1), (10, 2)):
        strip = rng.random((600, 2)) * [10, width]
        strip = np.column_stack((strip, np.zeros(600))) + 0.15 * rng.standard_normal((600, 3))
        found = without_thin_ones(OPEN, strip, build_graph(strip), Run())
        assert found.intrinsic_dim == dim
    few = swiss_roll(527).points
    assert without_thin_ones(OPEN, few, build_graph(few), Run()) is OPEN


def test_how_far_points_are_apart_far_from_the_origin():
    """A mean of float32 in float32 made the data wider, and any way of denoising short."""
    points = (1000 + np.random.default_rng(0).random((100_000, 3))).astype(np.float32)
    moved, extent = _moved(SimpleNamespace(points=points, surface=points))
    assert moved == 0
    assert extent == pytest.approx(3 * 100_000 / 12, rel=0.01)
