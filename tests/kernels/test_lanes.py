"""Each vector operation against the plain loop that it stands for."""

import platform
import re

import numpy as np
import pytest
from numba import njit

from ptunfold.kernels.lanes import (
    ALL_LANES,
    LANES,
    combine,
    improve,
    improved,
    lowest,
    norm,
    norm_above,
    sharing,
)

PACKED_ADDITION = {
    "x86_64": r"\bv?addpd\b",
    "AMD64": r"\bv?addpd\b",
    "aarch64": r"\bfadd\s+v\d+\.2d",
    "arm64": r"\bfadd(\.2d|\s+v\d+\.2d)",
}


@njit
def call_improved(labels, tail, head, length):
    return improved(labels, tail, head, length)


@njit
def call_improve(labels, tail, head, length, parents, parent):
    return improve(labels, tail, head, length, parents, parent)


@njit
def call_lowest(mask):
    return lowest(mask)


@njit
def call_sharing(parents, node, parent):
    return sharing(parents, node, parent)


@njit
def call_combine(rows, row, value, factors, offset, other, count, mask):
    combine(rows, row, value, factors, offset, other, count, mask)


@njit
def call_norm(rows, row, others, other, count):
    norm(rows, row, others, other, count)


@njit
def call_norm_above(rows, row, others, other, count, values, offset, bounds, n_values):
    norm_above(rows, row, others, other, count, values, offset, bounds, n_values)


def mask_of(bools):
    return sum(1 << lane for lane in range(LANES) if bools[lane])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_improve(rng):
    for _ in range(20):
        labels = rng.integers(0, 4, (3, LANES)).astype(float)
        labels[2, rng.random(LANES) < 0.3] = np.inf
        parents = rng.integers(0, 9, (3, LANES)).astype(np.uint16)
        offer, before, parents_before = labels[1] + 1.0, labels[2].copy(), parents[2].copy()
        less = offer < before
        assert call_improved(labels, 1, 2, 1.0) == mask_of(less)
        least = call_improve(labels, 1, 2, 1.0, parents, np.uint16(77))
        np.testing.assert_array_equal(labels[2], np.where(less, offer, before))
        np.testing.assert_array_equal(parents[2], np.where(less, 77, parents_before))
        assert least == (offer[less].min() if less.any() else np.inf)
        assert call_improved(labels, 1, 2, 1.0) == 0


@pytest.mark.skipif(
    platform.machine() not in PACKED_ADDITION, reason="no pattern for the code of this processor"
)
def test_relaxation_compiles_to_vector_instructions(rng):
    call_improved(rng.random((3, LANES)), 1, 2, 1.0)
    (code,) = call_improved.inspect_asm().values()
    assert re.search(PACKED_ADDITION[platform.machine()], code)
    assert "addsd" not in code


def test_masks(rng):
    parents = rng.integers(0, 3, (2, LANES)).astype(np.uint16)
    for parent in range(4):
        assert call_sharing(parents, 1, np.uint16(parent)) == mask_of(parents[1] == parent)
    for lane in range(LANES):
        assert call_lowest((ALL_LANES << lane) & ALL_LANES) == lane


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_combine_has_the_bits_of_a_plain_loop(rng, count):
    rows = rng.normal(size=(20, LANES))
    factors = rng.normal(size=30)
    chosen = rng.random(LANES) < 0.5
    expected = rows.copy()
    for lane in np.flatnonzero(chosen):
        value = 0.25
        for i in range(count):
            value += factors[5 + i] * rows[8 + i, lane]
        expected[3, lane] = value
    call_combine(rows, 3, 0.25, factors, 5, 8, count, mask_of(chosen))
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_norm(rng, count):
    others = rng.normal(size=(10, LANES))
    rows = np.empty((2, LANES))
    call_norm(rows, 1, others, 4, count)
    np.testing.assert_allclose(rows[1], np.linalg.norm(others[4 : 4 + count], axis=0), rtol=1e-15)


@pytest.mark.parametrize("n_axes", [0, 1, 3])
def test_norm_goes_no_lower_than_a_chord(rng, n_axes):
    others, bounds = rng.normal(size=(10, LANES)), rng.normal(size=(n_axes, LANES))
    values, rows = rng.normal(size=9), np.empty((2, LANES))
    call_norm_above(rows, 1, others, 4, 2, values, 3, bounds, n_axes)
    lengths = np.linalg.norm(others[4:6], axis=0)
    chords = np.linalg.norm(values[3 : 3 + n_axes, None] - bounds, axis=0)
    np.testing.assert_allclose(rows[1], np.maximum(lengths, chords), rtol=1e-15)
