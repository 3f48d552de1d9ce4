"""Planes and surfaces of neighbourhoods, against the same by linear algebra."""

import numpy as np
import pytest

from ptunfold.geometry.surface import FAR, ROUNDS, fit_quadratic
from ptunfold.kernels.surfaces import distances_from_planes, fit_surfaces, principal_axes


def bowls(dim, n_features, n_members, seed=0):
    """Make neighbourhoods of bent sheets with noise and an outlier, of different sizes."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, n_members, 60)
    counts[:30] = n_members - 1
    along = rng.normal(size=(60, n_members, dim)) * np.linspace(2, 1, dim)
    bends = rng.normal(size=(60, dim, dim, n_features - dim))
    off = np.einsum("nma,nmb,nabf->nmf", along, along, 0.1 * bends)
    off += 0.01 * rng.normal(size=off.shape)
    off[:, 1] += 1
    offsets = np.concatenate((along, off), axis=2)
    turns = np.linalg.qr(rng.normal(size=(60, n_features, n_features)))[0]
    offsets = offsets @ turns
    is_member = np.arange(n_members) <= counts[:, None]
    mean = np.where(is_member[:, :, None], offsets, 0).sum(axis=1) / (counts + 1)[:, None]
    return np.where(is_member[:, :, None], offsets - mean[:, None], 0), counts


SHAPES = [(1, 2, 9), (1, 5, 9), (2, 3, 16), (2, 8, 16), (3, 4, 24), (3, 7, 24)]


@pytest.mark.parametrize(("dim", "n_features", "n_members"), SHAPES)
def test_axes(dim, n_features, n_members):
    offsets, _ = bowls(dim, n_features, n_members)
    values, bases = np.empty((60, dim)), np.empty((60, n_features, dim))
    principal_axes(offsets, values, bases)
    _, expected, directions = np.linalg.svd(offsets, full_matrices=False)
    is_wide = expected[:, dim - 1] > 1e-2 * expected[:, 0]
    assert is_wide.sum() > 50
    np.testing.assert_allclose(values[is_wide], expected[is_wide, :dim], rtol=1e-12)
    cosines = np.einsum("nfa,naf->na", bases, directions[:, :dim])
    np.testing.assert_allclose(np.abs(cosines[is_wide]), 1, atol=1e-12)


def test_axes_of_what_is_long_or_a_point_are_left_to_others():
    offsets = np.zeros((2, 6, 3))
    offsets[0, :, 0] = np.arange(6) - 2.5
    offsets[0, :, 1] = 1e-4 * np.cos(np.arange(6))
    values, bases = np.empty((2, 2)), np.empty((2, 3, 2))
    principal_axes(offsets, values, bases)
    assert np.isnan(values).all()


@pytest.mark.parametrize("is_robust", [False, True])
@pytest.mark.parametrize(("dim", "n_features", "n_members"), SHAPES)
def test_surfaces(dim, n_features, n_members, is_robust):
    offsets, counts = bowls(dim, n_features, n_members)
    planes = np.linalg.svd(offsets, full_matrices=False)[2][:, :dim].transpose(0, 2, 1).copy()
    expected = fit_quadratic(offsets, counts, planes, is_robust=is_robust)
    found = [np.full_like(array, np.nan) for array in expected]
    fit_surfaces(offsets, counts, planes, ROUNDS if is_robust else 0, FAR, *found)
    for ours, theirs in zip(found, expected, strict=True):
        # Outliers leave some neighbourhoods with hardly more members than terms.
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8 * np.abs(theirs).max())
    is_enough = counts + 1 >= 2 * (1 + dim + dim * (dim + 1) // 2)
    assert is_enough.any()
    assert (np.abs(found[2][is_enough]).max(axis=1) > 0).all()
    assert not found[2][~is_enough].any()


def test_distances_from_planes():
    offsets, counts = bowls(2, 4, 16)
    bases = np.linalg.svd(offsets, full_matrices=False)[2][:, :2].transpose(0, 2, 1).copy()
    found = np.empty(60)
    distances_from_planes(offsets, bases, counts, found)
    off = offsets - offsets @ bases @ bases.transpose(0, 2, 1)
    expected = np.sqrt(np.square(off).sum(axis=(1, 2)) / (counts + 1))
    np.testing.assert_allclose(found, expected, atol=1e-12)
