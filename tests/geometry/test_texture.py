"""What is left to the data, as their texture settles it."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from ptunfold import build_graph
from ptunfold.datasets import swiss_roll
from ptunfold.geometry.texture import (
    Texture,
    is_open,
    settle,
    with_dimension,
    without_noise,
    without_thin_ones,
)
from ptunfold.types import Settings

OPEN = Settings(
    n_neighbors=10,
    radius=None,
    graph="knn",
    intrinsic_dim=2,
    tangent_neighbors=0,
    step="auto",
    disconnected="bridge",
    search="auto",
    tangent="auto",
    denoise=-1,
    is_pruned=False,
    n_wide=24,
)


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
    assert asdict(settle(OPEN, texture, n_points)) == asdict(OPEN) | {
        "tangent": tangent,
        "tangent_neighbors": n_tangent,
        "step": step,
        "denoise": denoise,
        "denoise_neighbors": n_denoise,
        "n_wide": n_wide,
    }


def test_what_was_asked_for_stays():
    asked = replace(OPEN, tangent="pca", step="chord", denoise=1, tangent_neighbors=7)
    found = settle(asked, Texture("very noisy", 0.9), 1000)
    assert asdict(found) == asdict(asked) | {"denoise_neighbors": 84, "n_wide": 0}
    for n_tangent, tangent in ((10, "pca"), (11, "quadratic")):
        some = replace(OPEN, tangent_neighbors=n_tangent)
        assert settle(some, Texture("smooth", 0.9), 1000).tangent == tangent


def test_what_is_open():
    closed = replace(OPEN, tangent="pca", step="arc", denoise=0, n_wide=0)
    assert not is_open(closed)
    for change in ({"tangent": "auto"}, {"step": "auto"}, {"denoise": -1}, {"n_wide": 1}):
        assert is_open(replace(closed, **change))


def test_a_sheet_is_explained_but_for_noise():
    assert Texture("noisy", 0.75).is_sheet
    assert not Texture("noisy", 0.74).is_sheet
    assert without_noise(Texture("noisy", 0.9)).kind == "smooth"
    assert without_noise(Texture("noisy", 0.89)).kind == "rough"


def test_a_curve_in_two_dimensions_has_one():
    angle = np.linspace(0, 6, 400)
    rng = np.random.default_rng(0)
    for width, dim in ((0, 1), (1, 2)):
        curve = np.column_stack((np.cos(angle), np.sin(angle), width * rng.random(400)))
        found = with_dimension(OPEN, curve, build_graph(curve))
        assert (found.intrinsic_dim, found.n_wide) == (dim, 12 * dim)


def test_a_strip_no_wider_than_its_noise_has_one_dimension():
    rng = np.random.default_rng(0)
    for width, dim in ((0.2, 1), (10, 2)):
        strip = rng.random((600, 2)) * [10, width]
        strip = np.column_stack((strip, np.zeros(600))) + 0.15 * rng.standard_normal((600, 3))
        found = without_thin_ones(OPEN, strip, build_graph(strip))
        assert (found.intrinsic_dim, found.n_wide) == (dim, 12 * dim)
    few = swiss_roll(84).points
    assert without_thin_ones(OPEN, few, build_graph(few)) is OPEN
