"""Planes and quadratic surfaces through small neighbourhoods, one after another.

What `ptunfold.geometry.surface` does with arrays of neighbourhoods, anywhere, is done here without
any array in between: several times as quick, and threads do not wait for each other's memory.
"""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import SUMS, compiled

_MOST_SWEEPS = 30
_NARROW = 1e-2  # of the length of a neighbourhood: squares lose digits there
_RIDGE = 1e-12  # keeps equations solvable where members lie in a line


@compiled()
def _diagonalize(matrix, axes):
    """Turn a symmetric matrix (d, d) in place until it is diagonal (Jacobi); ``axes`` are rows."""
    dim = len(matrix)
    for row in range(dim):
        for column in range(dim):
            axes[row, column] = 1.0 if row == column else 0.0
    for _ in range(_MOST_SWEEPS):
        off, total = 0.0, 0.0
        for row in range(dim):
            total += matrix[row, row] ** 2
            for column in range(row):
                off += matrix[row, column] ** 2
        if off <= 1e-32 * total:
            return
        for first in range(dim):
            for second in range(first + 1, dim):
                if matrix[first, second] == 0.0:
                    continue
                apart = 0.5 * (matrix[second, second] - matrix[first, first])
                apart /= matrix[first, second]
                tangent = 1.0 / (abs(apart) + np.hypot(apart, 1.0))
                tangent = -tangent if apart < 0.0 else tangent
                cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                for other in range(dim):
                    one, two = matrix[other, first], matrix[other, second]
                    matrix[other, first] = cosine * one - sine * two
                    matrix[other, second] = sine * one + cosine * two
                for other in range(dim):
                    one, two = matrix[first, other], matrix[second, other]
                    matrix[first, other] = cosine * one - sine * two
                    matrix[second, other] = sine * one + cosine * two
                    one, two = axes[first, other], axes[second, other]
                    axes[first, other] = cosine * one - sine * two
                    axes[second, other] = sine * one + cosine * two
                matrix[first, second] = matrix[second, first] = 0.0  # but for rounding


@compiled()
def principal_axes(offsets, values, bases):
    """Find the leading axes of neighbourhoods ``offsets`` (n, M, D) of few features.

    ``values`` (n, d) become the roots of the squares along the axes, descending, NaN where squares
    lose digits; ``bases`` (n, D, d) the axes, as columns.
    """
    n_members, n_features = offsets.shape[1:]
    dim = values.shape[1]
    products, axes = np.empty((n_features, n_features)), np.empty((n_features, n_features))
    for node in range(len(offsets)):
        for row in range(n_features):
            for column in range(row + 1):
                total = 0.0
                for member in range(n_members):
                    total += offsets[node, member, row] * offsets[node, member, column]
                products[row, column] = products[column, row] = total
        _diagonalize(products, axes)
        for axis in range(dim):
            # The next largest, which is passed over from then on.
            best = 0
            for other in range(1, n_features):
                if products[other, other] > products[best, best]:
                    best = other
            values[node, axis] = np.sqrt(max(products[best, best], 0.0))
            products[best, best] = -np.inf
            for feature in range(n_features):
                bases[node, feature, axis] = axes[best, feature]
        if values[node, dim - 1] <= _NARROW * values[node, 0]:
            values[node, :] = np.nan


@compiled(fastmath=SUMS)
def distances_from_planes(offsets, bases, counts, residual):
    """Fill ``residual`` (n,) with the root mean square distance of members from their plane."""
    n_members, n_features = offsets.shape[1:]
    dim = bases.shape[2]
    left = np.empty(n_features)
    for node in range(len(offsets)):
        square = 0.0
        for member in range(n_members):
            for feature in range(n_features):
                left[feature] = offsets[node, member, feature]
            for axis in range(dim):
                along = 0.0
                for feature in range(n_features):
                    along += offsets[node, member, feature] * bases[node, feature, axis]
                for feature in range(n_features):
                    left[feature] -= along * bases[node, feature, axis]
            for feature in range(n_features):
                square += left[feature] * left[feature]
        residual[node] = np.sqrt(square / (counts[node] + 1))


@compiled(fastmath=SUMS)
def _fit(terms, weights, normal, moments, coefficients, off):
    """Fit by weighted least squares: ``coefficients`` (D, t), and distances ``off`` (m,).

    ``terms`` (t, m) and ``normal`` (D, m) have members side by side, for vector instructions.
    """
    n_terms, n_members = terms.shape
    n_features = len(normal)
    for row in range(n_terms):
        for member in range(n_members):
            off[member] = weights[member] * terms[row, member]
        for column in range(row + 1):
            total = 0.0
            for member in range(n_members):
                total += off[member] * terms[column, member]
            moments[row, column] = total
        moments[row, row] += _RIDGE
        for feature in range(n_features):
            total = 0.0
            for member in range(n_members):
                total += off[member] * normal[feature, member]
            coefficients[feature, row] = total
    # Cholesky: there and back.
    for row in range(n_terms):
        for column in range(row + 1):
            total = moments[row, column]
            for inner in range(column):
                total -= moments[row, inner] * moments[column, inner]
            if row == column:
                moments[row, row] = np.sqrt(max(total, _RIDGE))
            else:
                moments[row, column] = total / moments[column, column]
    for feature in range(n_features):
        solved = coefficients[feature]
        for row in range(n_terms):
            total = solved[row]
            for inner in range(row):
                total -= moments[row, inner] * solved[inner]
            solved[row] = total / moments[row, row]
        for row in range(n_terms - 1, -1, -1):
            total = solved[row]
            for inner in range(row + 1, n_terms):
                total -= moments[inner, row] * solved[inner]
            solved[row] = total / moments[row, row]
    off[:] = 0.0
    for feature in range(n_features):
        for member in range(n_members):
            left = normal[feature, member]
            for row in range(n_terms):
                left -= terms[row, member] * coefficients[feature, row]
            off[member] += left * left
    for member in range(n_members):
        off[member] = np.sqrt(off[member])


@compiled()
def _weigh(off, n_members, far, ranked, weights):
    """Give members far off a surface, by so many deviations, less weight; see `_weights`."""
    for member in range(n_members):
        place = member
        while place > 0 and ranked[place - 1] > off[member]:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = off[member]
    nearby = far * 1.4826 * ranked[(n_members - 1) // 2]
    for member in range(n_members):
        is_far = off[member] > nearby
        weights[member] = (nearby / off[member]) ** 2 if is_far else 1.0


@compiled()
def fit_surfaces(offsets, counts, planes, n_rounds, far, tangents, residual, lift, curvature):
    """Do what `ptunfold.geometry.surface.fit_quadratic` does.

    ``offsets`` (n, M, D) and ``planes`` (n, D, d) are those of `fit_quadratic`; members that are
    off the surface by more than ``far`` deviations lose weight in each of ``n_rounds``. The others
    become what it returns.
    """
    most_members, n_features = offsets.shape[1:]
    dim = planes.shape[2]
    n_terms = 1 + dim + dim * (dim + 1) // 2
    ranked = np.empty(most_members)
    moments, coefficients = np.empty((n_terms, n_terms)), np.empty((n_features, n_terms))
    tilted, roots = np.empty((n_features, dim)), np.empty((dim, dim))
    inner, axes = np.empty((dim, dim)), np.empty((dim, dim))
    bends = np.empty((dim, dim, n_features))
    last = 0
    for node in range(len(offsets)):
        n_members = counts[node] + 1
        if n_members != last:
            terms, normal = np.empty((n_terms, n_members)), np.empty((n_features, n_members))
            weights, off = np.empty(n_members), np.empty(n_members)
            last = n_members
        off_plane, extent = 0.0, 0.0
        for member in range(n_members):
            for feature in range(n_features):
                normal[feature, member] = offsets[node, member, feature] - offsets[node, 0, feature]
            for axis in range(dim):
                along = 0.0
                for feature in range(n_features):
                    from_point = offsets[node, member, feature] - offsets[node, 0, feature]
                    along += from_point * planes[node, feature, axis]
                terms[1 + axis, member] = along
                extent += along * along
                for feature in range(n_features):
                    normal[feature, member] -= along * planes[node, feature, axis]
            for feature in range(n_features):
                off_plane += normal[feature, member] ** 2
        residual[node], curvature[node] = np.sqrt(off_plane / n_members), 0.0
        for feature in range(n_features):
            lift[node, feature] = 0.0
            for axis in range(dim):
                tangents[node, feature, axis] = planes[node, feature, axis]
        if n_members < 2 * n_terms:
            continue  # too few to tell a slope from a bend
        # In units of the neighbourhood, so that the equations are well conditioned.
        radius = np.sqrt(extent / counts[node])
        radius = radius if radius > 0.0 else 1.0
        for member in range(n_members):
            terms[0, member], weights[member] = 1.0, 1.0
            place = 1 + dim
            for axis in range(dim):
                terms[1 + axis, member] /= radius
            for axis in range(dim):
                for other in range(axis, dim):
                    terms[place, member] = terms[1 + axis, member] * terms[1 + other, member]
                    place += 1
        _fit(terms, weights, normal, moments, coefficients, off)
        for _ in range(n_rounds):
            _weigh(off, n_members, far, ranked, weights)
            _fit(terms, weights, normal, moments, coefficients, off)
        squares, n_free = 0.0, -1.0 * n_terms
        for member in range(n_members):
            squares += weights[member] * off[member] ** 2
            n_free += weights[member]
        residual[node] = np.sqrt(squares / max(n_free, 1.0))
        for feature in range(n_features):
            lift[node, feature] = coefficients[feature, 0]
            for axis in range(dim):
                tilted[feature, axis] = planes[node, feature, axis]
                tilted[feature, axis] += coefficients[feature, 1 + axis] / radius
        # Slopes are normal to the plane: the bases only have to be made orthonormal again.
        for row in range(dim):
            for column in range(row + 1):
                total = 0.0
                for feature in range(n_features):
                    total += tilted[feature, row] * tilted[feature, column]
                inner[row, column] = inner[column, row] = total
        _diagonalize(inner, axes)
        for row in range(dim):
            for column in range(dim):
                roots[row, column] = 0.0
                for axis in range(dim):
                    size = np.sqrt(inner[axis, axis])
                    roots[row, column] += axes[axis, row] * axes[axis, column] / size
        for feature in range(n_features):
            for axis in range(dim):
                total = 0.0
                for row in range(dim):
                    total += tilted[feature, row] * roots[row, axis]
                tangents[node, feature, axis] = total
        place = 1 + dim
        for axis in range(dim):
            for other in range(axis, dim):
                scale = (2.0 if axis == other else 1.0) / radius**2
                for feature in range(n_features):
                    bend = scale * coefficients[feature, place]
                    bends[axis, other, feature] = bends[other, axis, feature] = bend
                place += 1
        if dim > 1:
            curvature[node] = _sectional(bends, roots, tangents[node])


@compiled()
def _sectional(bends, roots, tangents):
    """Return the mean sectional curvature by the equation of Gauss.

    ``bends`` (d, d, D) are second derivatives over a plane, whose coordinates ``roots`` (d, d)
    make orthonormal; what lies along the ``tangents`` (D, d) does not count.
    """
    dim, _, n_features = bends.shape
    bend, mean = np.empty(n_features), np.zeros(n_features)
    squares = 0.0
    for row in range(dim):
        for column in range(dim):
            bend[:] = 0.0
            for one in range(dim):
                for two in range(dim):
                    scale = roots[row, one] * roots[two, column]
                    for feature in range(n_features):
                        bend[feature] += scale * bends[one, two, feature]
            for axis in range(dim):
                along = 0.0
                for feature in range(n_features):
                    along += bend[feature] * tangents[feature, axis]
                for feature in range(n_features):
                    bend[feature] -= along * tangents[feature, axis]
            for feature in range(n_features):
                squares += bend[feature] ** 2
                if row == column:
                    mean[feature] += bend[feature]
    total = 0.0
    for feature in range(n_features):
        total += mean[feature] ** 2
    return (total - squares) / (dim * (dim - 1))
