"""Edges in frames, against the formulas."""

from itertools import pairwise

import numpy as np
import pytest
from numba import njit

from ptunfold.geometry.connection import ARC
from ptunfold.kernels.bending import (
    Laid,
    bend_edges,
    favor_edges,
    fit_arcs,
    lay_edges,
    mark_nearest,
    nearest_orthogonal,
    note_shadows,
    shortest_shadows,
    write_in_frames,
)

RNG = np.random.default_rng(0)


def random_frames(n_points, n_features, dim):
    return np.linalg.qr(RNG.normal(size=(n_points, n_features, dim)))[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 3])
def test_edges_in_frames(dtype, dim):
    points, frames = RNG.normal(size=(20, 7)).astype(dtype), random_frames(20, 7, dim)
    tails, heads = RNG.integers(0, 20, (2, 50)).astype(np.int32)
    overlaps, lengths = np.empty((50, dim, dim)), np.empty(50)
    forth, back = np.empty((2, 50, dim))
    write_in_frames(points, frames, tails, heads, overlaps, forth, back, lengths)
    offsets = points[heads].astype(float) - points[tails]
    across = frames.swapaxes(1, 2)
    np.testing.assert_allclose(overlaps, across[tails] @ frames[heads], atol=1e-14)
    np.testing.assert_allclose(forth, np.einsum("eiD,eD->ei", across[tails], offsets), atol=1e-13)
    np.testing.assert_allclose(back, -np.einsum("eiD,eD->ei", across[heads], offsets), atol=1e-13)
    np.testing.assert_allclose(lengths, np.linalg.norm(offsets, axis=1), rtol=1e-14)


def test_the_direction_of_an_edge_is_favored():
    there, here = RNG.normal(size=(2, 9, 3))
    there[0], here[1] = 0, 0  # no direction
    overlaps = RNG.normal(size=(9, 3, 3))
    found = overlaps.copy()
    favor_edges(there, here, 0.7, found)
    np.testing.assert_array_equal(found[:2], overlaps[:2])
    unit = [
        steps[2:] / np.linalg.norm(steps[2:], axis=1, keepdims=True) for steps in (there, -here)
    ]
    np.testing.assert_allclose(
        found[2:] - overlaps[2:], 0.7 * np.einsum("ei,ej->eij", *unit), atol=1e-14
    )


@pytest.mark.parametrize("size", [1e-3, 0.3])
@pytest.mark.parametrize("favor", [0.0, 0.3])
def test_arcs_are_a_series_in_the_overlap(size, favor):
    """Also where turns are not those nearest to the overlaps, which then are not symmetric."""
    frames = random_frames(40, 5, 2)
    others, _ = np.linalg.qr(frames + size * RNG.normal(size=frames.shape))
    overlaps = frames.swapaxes(1, 2) @ others
    left, _, right = np.linalg.svd(overlaps + favor * RNG.normal(size=overlaps.shape))
    turns, (there, here) = left @ right, RNG.normal(size=(2, 40, 2))
    chords, steps = np.empty(40), np.empty((40, 2))
    bend_edges(there, here, overlaps, turns, ARC, chords, steps)
    mean = (there - np.einsum("eij,ej->ei", turns, here)) / 2
    for edge in range(40):
        bent = overlaps[edge] @ turns[edge].T
        bent = np.eye(2) - (bent + bent.T) / 2
        powers = [factor * np.linalg.matrix_power(bent, k) for k, factor in enumerate(ARC)]
        np.testing.assert_allclose(steps[edge], sum(powers) @ mean[edge], atol=1e-13)
        if favor:
            continue
        # θ / sin θ along a direction in which the planes meet at the angle θ.
        cosines, axes = np.linalg.eigh(np.eye(2) - bent)
        angles = np.arccos(np.minimum(cosines, 1))
        longer = axes @ np.diag(1 / np.sinc(angles / np.pi)) @ axes.T
        np.testing.assert_allclose(steps[edge], longer @ mean[edge], rtol=1e-3)
        longer = axes @ np.diag(1 / np.cos(angles / 2)) @ axes.T
        np.testing.assert_allclose(chords[edge], np.linalg.norm(longer @ mean[edge]), rtol=1e-3)


def some_laid(n_edges, dim):
    shapes = (n_edges, dim, dim), (n_edges, dim), (n_edges, 2), (n_edges,)
    return Laid(*(np.full(shape, np.nan) for shape in shapes))


def test_edges_are_laid_both_ways():
    turns, (there, here), lengths = (
        random_frames(6, 3, 3),
        RNG.normal(size=(2, 6, 3)),
        RNG.random(6),
    )
    order = RNG.permutation(12)
    forth, back, laid = order[:6], order[6:], some_laid(12, 3)
    note_shadows(forth, back, there, here, lengths, laid)
    lay_edges(forth, back, turns, there, here, laid)
    np.testing.assert_array_equal(laid.rotations[forth], turns)
    np.testing.assert_array_equal(laid.rotations[back], turns.swapaxes(1, 2))
    for edges, steps in ((forth, there), (back, here)):
        np.testing.assert_array_equal(laid.steps[edges], steps)
        expected = np.column_stack(((steps**2).sum(axis=1), lengths**2))
        np.testing.assert_allclose(laid.squares[edges], expected)


def test_arcs_are_longer_than_edges_by_as_much_as_than_their_chords():
    turns, (there, here) = random_frames(6, 2, 2), RNG.normal(size=(2, 6, 2))
    shadows, lengths = there.copy(), np.array([2.0, 2, 2, 2, 2, 0])
    unit = there / np.linalg.norm(there, axis=1, keepdims=True)
    arcs = unit * np.array([0.5, 1.8, 9.0, 1.1, 1.0, 1.0])[:, None]
    chords = np.array([0.6, 1.5, 2.0, 0.0, 0.0, 1.0])  # 3: the shadow at the tail
    there[4] = arcs[4] = 0  # upright
    forth, back, laid = np.arange(6), np.arange(6, 12), some_laid(12, 2)
    fit_arcs(forth, back, turns, lengths, 1.5, chords, arcs, there, here, laid)
    found = np.linalg.norm(there, axis=1)
    np.testing.assert_allclose(found, [2, 2 * 1.2, 2 * 1.5, 2, 0, 0])
    np.testing.assert_allclose(there[3] / 2, shadows[3] / np.linalg.norm(shadows[3]))
    np.testing.assert_allclose(here, -np.einsum("eji,ej->ei", turns, there), atol=1e-15)
    np.testing.assert_allclose(laid.longer[:6], [1, 1.2, 1.5, 1, 1, 1])
    np.testing.assert_array_equal(laid.longer[:6], laid.longer[6:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shadows(dtype):
    points, frames = RNG.normal(size=(20, 7)).astype(dtype), random_frames(20, 7, 2)
    tails, heads = RNG.integers(0, 20, (2, 50)).astype(np.int32)
    heads[0] = tails[0]
    least, most = np.empty((2, 50))
    shortest_shadows(points, frames, tails, heads, least, most)
    offsets = points[heads].astype(float) - points[tails]
    lengths = np.linalg.norm(offsets, axis=1)
    shadows = [
        np.linalg.norm(np.einsum("eDi,eD->ei", frames[ends], offsets), axis=1)
        for ends in (tails, heads)
    ]
    is_long = lengths > 0
    np.testing.assert_array_equal((least[~is_long], most[~is_long]), 1)
    np.testing.assert_allclose((least * lengths)[is_long], np.minimum(*shadows)[is_long])
    np.testing.assert_allclose((most * lengths)[is_long], np.maximum(*shadows)[is_long])


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_nearest_orthogonal_matrices(dim):
    """No other is nearer; what is nearly singular, of three dimensions, is left as it was."""
    matrices = random_frames(200, dim, dim) + 0.3 * RNG.normal(size=(200, dim, dim))
    matrices[0, -1] = 0
    found, is_done = matrices.copy(), np.empty(200, dtype=bool)
    nearest_orthogonal(found, is_done)
    assert is_done[0] == (dim < 3)
    assert is_done[1:].mean() > 0.9
    np.testing.assert_array_equal(found[~is_done], matrices[~is_done])
    np.testing.assert_allclose(
        found[is_done].swapaxes(1, 2) @ found[is_done] - np.eye(dim), 0, atol=1e-12
    )
    values = np.linalg.svd(matrices, compute_uv=False)  # the most that a trace can be
    traces = np.einsum("eij,eij->e", found, matrices)
    np.testing.assert_allclose(traces[is_done], values.sum(axis=1)[is_done], rtol=1e-10)


def test_the_nearest_are_marked_and_those_that_tie():
    degrees = np.array([0, 3, 12, 40, 10, 11])
    indptr = np.concatenate(([0], np.cumsum(degrees)))
    lengths = RNG.integers(0, 9, degrees.sum()) * 0.5  # many ties, and copies
    is_near = np.empty(len(lengths), dtype=bool)
    mark_nearest(indptr, lengths, 10, is_near)
    for start, stop in pairwise(indptr):
        row = lengths[start:stop]
        proper = np.sort(row[row > 0])
        longest = proper[9] if len(proper) > 10 else np.inf
        np.testing.assert_array_equal(is_near[start:stop], row <= longest)
    assert not is_near.all()


@njit
def scratch(size):
    return np.empty(size)


def before_scratch(n_features):
    """Make points, and what a kernel writes for itself close behind them in memory."""
    held = []
    for _ in range(3000):  # of a heap that grows, one piece lies behind the other
        points, behind = np.empty((40, n_features)), scratch(n_features)
        if 0 <= behind.ctypes.data - points.ctypes.data - points.nbytes < 100:
            return points, behind, held
        held.append((points, behind))
    pytest.skip("memory is given out in another order here")
    return None


@pytest.mark.parametrize("n_features", [4, 8])
def test_the_same_bits_wherever_arrays_lie(n_features):
    """A sum that a loop makes while it writes is made in another order where addresses are near."""
    values = RNG.normal(size=(40, n_features))
    frames = random_frames(40, n_features, 2)
    tails, heads = RNG.integers(0, 40, (2, 2000)).astype(np.int32)

    def measured(points):
        overlaps, (forth, back) = np.empty((2000, 2, 2)), np.empty((2, 2000, 2))
        lengths, least, most = np.empty((3, 2000))
        write_in_frames(points, frames, tails, heads, overlaps, forth, back, lengths)
        shortest_shadows(points, frames, tails, heads, least, most)
        return overlaps.ravel(), forth.ravel(), back.ravel(), lengths, least, most

    expected = measured(values)
    points, behind, _held = before_scratch(n_features)
    points[:] = values
    place = behind.ctypes.data
    del behind  # and the next of this size lies there
    assert scratch(n_features).ctypes.data == place
    for found, known in zip(measured(points), expected, strict=True):
        np.testing.assert_array_equal(found, known)
