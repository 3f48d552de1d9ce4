"""Neighbourhoods gathered and their leading directions found, many small problems in a row."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import SUMS, compiled

_MOST_ROUNDS = 20
_LEAST_GAIN = 0.1  # in a round; with less it would take too many
_TOLERANCE = 1e-14


@compiled()
def gather_offsets(points, members, counts, offsets, rounding):
    """Write each neighbourhood as offsets from its mean.

    ``members`` (n, M) lists ``counts[i] + 1`` points, the first one its own. ``offsets``
    (n, M, D) float64 get zeros where there are fewer, ``rounding`` (n,) the extent that the
    rounding of coordinates alone can make.
    """
    n_features = points.shape[1]
    mean, largest, widest = np.empty(n_features), np.empty(n_features), np.empty(n_features)
    epsilon = np.finfo(points.dtype).eps
    for row in range(len(members)):
        n_members = counts[row] + 1
        middle = members[row, 0]
        for column in range(n_features):
            mean[column], largest[column], widest[column] = 0.0, 0.0, 0.0
        # Counted from the point, so that coordinates far from the origin lose no digits.
        for index in range(n_members):
            member = members[row, index]
            for column in range(n_features):
                value = np.float64(points[member, column])
                offset = value - np.float64(points[middle, column])
                offsets[row, index, column] = offset
                mean[column] += offset
                largest[column] = max(largest[column], abs(value))
                widest[column] = max(widest[column], abs(offset))
        # A coordinate that does not vary has no rounding to speak of.
        magnitude = 0.0
        for column in range(n_features):
            if widest[column] > 0.0:
                magnitude = max(magnitude, largest[column])
        # As the singular values of so many rounding errors do.
        times = max(4.0, np.sqrt(n_members) + np.sqrt(n_features))
        rounding[row] = times * epsilon * magnitude
        for column in range(n_features):
            mean[column] /= n_members
        for index in range(n_members):
            for column in range(n_features):
                offsets[row, index, column] -= mean[column]
        for index in range(n_members, members.shape[1]):
            for column in range(n_features):
                offsets[row, index, column] = 0.0


@compiled(fastmath=SUMS)
def _remove(vectors, axis, basis, n_rows):
    """Take the part along the first ``n_rows`` of an orthonormal basis out of a vector.

    Returns the squared length of what is left.
    """
    size = basis.shape[1]
    for other in range(n_rows):
        overlap = 0.0
        for index in range(size):
            overlap += basis[other, index] * vectors[axis, index]
        for index in range(size):
            vectors[axis, index] -= overlap * basis[other, index]
    square = 0.0
    for index in range(size):
        square += vectors[axis, index] * vectors[axis, index]
    return square


@compiled()
def _orthonormalize(vectors):
    """Make rows orthonormal, in place; returns False if they depend on each other."""
    for axis in range(len(vectors)):
        before, square = 0.0, 0.0
        for sweep in range(3):  # measure, remove, and remove again what rounding left
            square = _remove(vectors, axis, vectors, axis if sweep else 0)
            before = max(before, square)
        if not square > 1e-24 * before:
            return False
        for index in range(vectors.shape[1]):
            vectors[axis, index] /= np.sqrt(square)
    return True


@compiled(fastmath=SUMS)
def _multiply(matrices, row, scale, vectors, product):
    """Multiply ``vectors`` (d, m) by the symmetric ``matrices[row]`` and ``scale``."""
    for axis in range(len(vectors)):
        for index in range(vectors.shape[1]):
            total = 0.0
            for other in range(vectors.shape[1]):
                total += matrices[row, index, other] * vectors[axis, other]
            product[axis, index] = scale * total


@compiled()
def leading_subspaces(matrices, bases, is_done):
    """Find the span of the leading eigenvectors of small symmetric matrices by iteration.

    ``bases`` (n, d, m) get d orthonormal rows for each of the ``matrices`` (n, m, m), which must
    be positive semidefinite. ``is_done`` (n,) is False where the gap behind them is too small.
    A library solves each eigenproblem whole: 40 µs for m = 16, where this takes 5.
    """
    dim, size = bases.shape[1:]
    basis = np.empty((dim, size))
    image = np.empty((dim, size))
    outside = np.empty((1, size))
    for row in range(len(matrices)):
        trace = 0.0
        for index in range(size):
            trace += matrices[row, index, index]
            for axis in range(dim):
                basis[axis, index] = np.sin((axis + 1.0) * (index + 1.0))  # no symmetry at all
        # Eigenvalues of at most 1, whatever the units: nothing overflows.
        scale = 1.0 / trace if trace > 0.0 else 0.0
        is_done[row] = False
        is_near = False
        strays = np.inf
        for _ in range(_MOST_ROUNDS):
            if not _orthonormalize(basis):
                break
            if is_near:
                is_done[row] = True  # one round more has made it better still
                break
            _multiply(matrices, row, scale, basis, image)
            strayed, strays = strays, 0.0
            for axis in range(dim):
                for index in range(size):
                    outside[0, index] = image[axis, index]
                strays += _remove(outside, 0, basis, dim)
            if not strays <= _LEAST_GAIN * strayed:
                break
            is_near = np.sqrt(strays) <= _TOLERANCE
            _multiply(matrices, row, scale, image, basis)
        for axis in range(dim):
            for index in range(size):
                bases[row, axis, index] = basis[axis, index]
