"""Each operation, in vector instructions and in loops, against what it stands for."""

import platform
import re
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

from ptunfold.kernels import chosen_lanes, plain_lanes, vector_lanes
from ptunfold.kernels.lanes import ALL_LANES, LANES

PACKED_ADDITION = {
    "x86_64": r"\bv?addpd\b",
    "AMD64": r"\bv?addpd\b",
    "aarch64": r"\bfadd\s+v\d+\.2d",
    "arm64": r"\bfadd(\.2d|\s+v\d+\.2d)",
}


def called(operation):
    """Wrap what can be called from compiled code only."""

    @njit
    def call(*arguments):
        return operation(*arguments)

    return call


VECTORS = SimpleNamespace(
    **{name: called(getattr(vector_lanes, name)) for name in chosen_lanes.OPERATIONS}
)


@pytest.fixture(params=[VECTORS, plain_lanes], ids=["vectors", "loops"])
def lanes(request):
    return request.param


def mask_of(bools):
    return sum(1 << lane for lane in range(LANES) if bools[lane])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_improve(rng, lanes):
    for _ in range(20):
        labels = rng.integers(0, 4, (3, LANES)).astype(float)
        labels[2, rng.random(LANES) < 0.3] = np.inf
        parents = rng.integers(0, 9, (3, LANES)).astype(np.uint16)
        offer, before, parents_before = labels[1] + 1.0, labels[2].copy(), parents[2].copy()
        less = offer < before
        assert lanes.improved(labels, 1, 2, 1.0) == mask_of(less)
        least = lanes.improve(labels, 1, 2, 1.0, parents, np.uint16(77))
        np.testing.assert_array_equal(labels[2], np.where(less, offer, before))
        np.testing.assert_array_equal(parents[2], np.where(less, 77, parents_before))
        assert least == (offer[less].min() if less.any() else np.inf)
        assert lanes.improved(labels, 1, 2, 1.0) == 0


@pytest.mark.skipif(
    platform.machine() not in PACKED_ADDITION, reason="no pattern for the code of this processor"
)
def test_relaxation_compiles_to_vector_instructions(rng):
    VECTORS.improved(rng.random((3, LANES)), 1, 2, 1.0)
    (code,) = VECTORS.improved.inspect_asm().values()
    assert re.search(PACKED_ADDITION[platform.machine()], code)
    assert "addsd" not in code


def test_masks(rng, lanes):
    parents = rng.integers(0, 3, (2, LANES)).astype(np.uint16)
    for parent in range(4):
        assert lanes.sharing(parents, 1, np.uint16(parent)) == mask_of(parents[1] == parent)
    for lane in range(LANES):
        assert lanes.lowest((ALL_LANES << lane) & ALL_LANES) == lane


@pytest.mark.parametrize("other", [2, 8])  # the row is among those that are added up, or not
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_combine_has_the_bits_of_a_plain_loop(rng, lanes, count, other):
    rows = rng.normal(size=(20, LANES))
    factors = rng.normal(size=30)
    chosen = rng.random(LANES) < 0.5
    expected = rows.copy()
    for lane in np.flatnonzero(chosen):
        value = 0.25
        for i in range(count):
            value += factors[5 + i] * rows[other + i, lane]
        expected[3, lane] = value
    lanes.combine(rows, 3, 0.25, factors, 5, other, count, mask_of(chosen))
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_norm_has_the_bits_of_a_plain_loop(rng, lanes, count):
    others = rng.normal(size=(10, LANES))
    rows = np.empty((2, LANES))
    lanes.norm(rows, 1, others, 4, count)
    squares = sum(np.square(others[4 : 4 + count]))
    np.testing.assert_array_equal(rows[1], np.sqrt(squares))


@pytest.mark.parametrize("n_axes", [0, 1, 3])
def test_norm_goes_no_lower_than_a_chord(rng, lanes, n_axes):
    others, bounds = rng.normal(size=(10, LANES)), rng.normal(size=(n_axes, LANES))
    values, rows = rng.normal(size=9), np.empty((2, LANES))
    lanes.norm_above(rows, 1, others, 4, 2, values, 3, bounds, n_axes)
    lengths = sum(np.square(others[4:6]))
    chords = sum(np.square(values[3 : 3 + n_axes, None] - bounds))
    np.testing.assert_array_equal(rows[1], np.sqrt(np.maximum(lengths, chords)))
