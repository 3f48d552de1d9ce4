"""Edges seen from the frames at their ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import SUMS, compiled


@compiled(fastmath=SUMS)
def write_in_frames(points, frames, tails, heads, overlaps, forth, back, lengths):
    """Write edges in the frames at both ends, and these frames in each other.

    ``frames`` (n, D, d) have bases as columns. ``overlaps`` (E, d, d) become the products of the
    two bases, ``forth`` and ``back`` (E, d) the edge in the frame of its tail and the way back in
    that of its head, ``lengths`` (E,) its length in space.
    """
    n_features, dim = frames.shape[1:]
    # Bases as rows, so that sums run over neighbouring numbers.
    at_tail, at_head = np.empty((dim, n_features)), np.empty((dim, n_features))
    offset = np.empty(n_features)
    last = -1
    for edge in range(len(tails)):
        tail, head = tails[edge], heads[edge]
        for feature in range(n_features):
            for row in range(dim):
                at_head[row, feature] = frames[head, feature, row]
        if tail != last:
            for feature in range(n_features):
                for row in range(dim):
                    at_tail[row, feature] = frames[tail, feature, row]
            last = tail
        for feature in range(n_features):
            offset[feature] = np.float64(points[head, feature]) - np.float64(points[tail, feature])
        square = 0.0
        for feature in range(n_features):  # a loop of its own: see `SUMS`
            square += offset[feature] * offset[feature]
        lengths[edge] = np.sqrt(square)
        for row in range(dim):
            there, here = 0.0, 0.0
            for feature in range(n_features):
                there += at_tail[row, feature] * offset[feature]
                here -= at_head[row, feature] * offset[feature]
            forth[edge, row], back[edge, row] = there, here
            for column in range(dim):
                overlap = 0.0
                for feature in range(n_features):
                    overlap += at_tail[row, feature] * at_head[column, feature]
                overlaps[edge, row, column] = overlap


@compiled()
def favor_edges(there, here, weight, overlaps):
    """Add to ``overlaps`` (E, d, d) what takes the direction of an edge to itself, times a weight.

    ``there`` and ``here`` (E, d) are the edge in the frame of its tail and the way back in that of
    its head.
    """
    dim = there.shape[1]
    for edge in range(len(there)):
        first, second = 0.0, 0.0
        for row in range(dim):
            first += there[edge, row] ** 2
            second += here[edge, row] ** 2
        if first == 0 or second == 0:
            continue
        scale = -weight / np.sqrt(first * second)
        for row in range(dim):
            for column in range(dim):
                overlaps[edge, row, column] += scale * there[edge, row] * here[edge, column]


@compiled()
def bend_edges(there, here, overlaps, turns, arc, chords, steps):
    """Fill ``steps`` (E, d) with arcs, in the frames of their tails, and measure their ``chords``.

    With C the overlap of the frames turned into one of them, the arc is the sum of a_k (I - C)^k
    times the mean of the shadows ``there`` and ``here`` (E, d) of an edge on both of them, with the
    coefficients ``arc``. Along a direction in which the frames meet at the angle θ its chord is
    1 / cos ½θ times as long as its shadow; the square is that of 1 / (1 - ½ (1 - cos θ)).
    """
    n_edges, dim = there.shape
    bent, mean, term, last = np.empty((dim, dim)), np.empty(dim), np.empty(dim), np.empty(dim)
    for edge in range(n_edges):
        for row in range(dim):
            value = there[edge, row]
            for column in range(dim):
                value -= turns[edge, row, column] * here[edge, column]
            mean[row] = 0.5 * value
        most = 0.0
        for row in range(dim):
            for column in range(dim):
                value = 0.0
                for inner in range(dim):
                    value += overlaps[edge, row, inner] * turns[edge, column, inner]
                    value += overlaps[edge, column, inner] * turns[edge, row, inner]
                bent[row, column] = (1.0 if row == column else 0.0) - 0.5 * value
                most = max(most, abs(bent[row, column]))
        # Up to the last power that counts; each is at most this much smaller than the one before.
        n_terms, size = 1, 0.5 * dim * most
        while n_terms < len(arc) and size > 1e-17:
            size *= 0.5 * dim * most
            n_terms += 1
        square, share = 0.0, 1.0
        for row in range(dim):
            steps[edge, row] = last[row] = mean[row]
            square += mean[row] * mean[row]
        for power in range(1, n_terms):
            share *= 0.5
            for row in range(dim):
                term[row] = 0.0
                for column in range(dim):
                    term[row] += bent[row, column] * last[column]
            for row in range(dim):
                last[row] = term[row]
                steps[edge, row] += arc[power] * term[row]
                square += share * mean[row] * term[row]
        chords[edge] = np.sqrt(max(square, 0.0))


class Laid(NamedTuple):
    """What a connection has on all edges of a graph."""

    rotations: Any  # (E, d, d)
    steps: Any  # (E, d)
    squares: Any  # (E, 2), of shadows and of edges
    longer: Any  # (E,), of steps to edges


@compiled()
def lay_edges(forth, back, turns, there, here, laid):
    """Write rotations ``turns`` (m, d, d) and steps on edges and their reverses (m,)."""
    dim = there.shape[1]
    for edge in range(len(forth)):
        first, second = forth[edge], back[edge]
        for row in range(dim):
            laid.steps[first, row] = there[edge, row]
            laid.steps[second, row] = here[edge, row]
            for column in range(dim):
                laid.rotations[first, row, column] = turns[edge, row, column]
                laid.rotations[second, column, row] = turns[edge, row, column]


@compiled()
def note_shadows(forth, back, there, here, lengths, laid):
    """Write the squares of shadows and lengths on edges and their reverses (m,)."""
    for edge in range(len(forth)):
        first, second, square = 0.0, 0.0, lengths[edge] ** 2
        for row in range(there.shape[1]):
            first += there[edge, row] ** 2
            second += here[edge, row] ** 2
        laid.squares[forth[edge], 0], laid.squares[forth[edge], 1] = first, square
        laid.squares[back[edge], 0], laid.squares[back[edge], 1] = second, square


@compiled()
def fit_arcs(forth, back, turns, lengths, longest, chords, arcs, there, here, laid):
    """Make ``there`` and ``here`` (m, d), the shadows of edges, the steps of their arcs, both ways.

    ``chords`` (m,) are the lengths of those of ``arcs``. An arc is as much longer than its edge as
    it is than its own chord, and ``longest`` times at most. Opposite directions have no mean: the
    one at the tail is as good as any.
    """
    dim = there.shape[1]
    for edge in range(len(forth)):
        length, size, found = lengths[edge], chords[edge], 0.0
        if size > 1e-6 * length:
            for row in range(dim):
                there[edge, row] = arcs[edge, row]
        for row in range(dim):
            found += there[edge, row] ** 2
        found = np.sqrt(found)
        # A shadow as short as rounding points anywhere.
        scale = 0.0
        if found > 2.0**-52 * length:
            ratio = found / size if size > 1e-6 * length else 1.0
            scale = min(max(ratio, 1.0), longest) * length / found
        for row in range(dim):
            there[edge, row] *= scale
        for row in range(dim):
            here[edge, row] = 0.0
            for column in range(dim):
                here[edge, row] -= turns[edge, column, row] * there[edge, column]
        ratio = max(scale * found / length, 1.0) if length > 0 else 1.0
        laid.longer[forth[edge]] = laid.longer[back[edge]] = ratio


@compiled(fastmath=SUMS)
def shortest_shadows(points, frames, tails, heads, least, most):
    """Fill ``least`` and ``most`` (m,) with the shadows of edges on the planes at their ends.

    The shorter and the longer one, in shares of the edge; 1 for edges of length 0.
    """
    n_features, dim = frames.shape[1:]
    offset = np.empty(n_features)
    for edge in range(len(tails)):
        tail, head = tails[edge], heads[edge]
        for feature in range(n_features):
            offset[feature] = np.float64(points[head, feature]) - np.float64(points[tail, feature])
        square, at_tail, at_head = 0.0, 0.0, 0.0
        for feature in range(n_features):  # a loop of its own: see `SUMS`
            square += offset[feature] * offset[feature]
        least[edge], most[edge] = 1.0, 1.0
        if square == 0:
            continue
        for row in range(dim):
            there, here = 0.0, 0.0
            for feature in range(n_features):
                there += frames[tail, feature, row] * offset[feature]
                here += frames[head, feature, row] * offset[feature]
            at_tail += there * there
            at_head += here * here
        least[edge] = np.sqrt(min(at_tail, at_head) / square)
        most[edge] = np.sqrt(max(at_tail, at_head) / square)


@compiled()
def nearest_orthogonal(matrices, is_done):
    """Replace matrices (E, d, d), d <= 3, by the orthogonal ones nearest to them, in place.

    ``is_done`` (E,) is False, and the matrix as it was, where d = 3 and it is nearly singular.
    """
    dim = matrices.shape[1]
    for edge in range(len(matrices)):
        is_done[edge] = True
        if dim == 1:
            matrices[edge, 0, 0] = -1.0 if matrices[edge, 0, 0] < 0 else 1.0
        elif dim == 2:
            _nearest_2x2(matrices, edge)
        else:
            is_done[edge] = _nearest_3x3(matrices, edge)


@compiled()
def _nearest_2x2(matrices, edge):
    """Split a matrix into a multiple of a rotation and one of a reflection; the larger wins."""
    a, b = matrices[edge, 0, 0], matrices[edge, 0, 1]
    c, d = matrices[edge, 1, 0], matrices[edge, 1, 1]
    turn, flip = np.hypot(a + d, c - b), np.hypot(a - d, c + b)
    is_turn = turn >= flip
    size = turn if is_turn else flip
    cosine, sine = (a + d, c - b) if is_turn else (a - d, c + b)
    if size == 0:  # planes at right angles in both directions: any matrix will do
        size, cosine = 1.0, 1.0
    cosine, sine = cosine / size, sine / size
    matrices[edge, 0, 0], matrices[edge, 1, 0] = cosine, sine
    matrices[edge, 0, 1] = -sine if is_turn else sine
    matrices[edge, 1, 1] = cosine if is_turn else -cosine


@compiled()
def _nearest_3x3(matrices, edge):
    """Iterate to the polar factor: the mean of a matrix and its inverse transposed (Newton)."""
    start = np.empty((3, 3))
    cofactors = np.empty((3, 3))
    for row in range(3):
        for column in range(3):
            start[row, column] = matrices[edge, row, column]
    for _ in range(12):
        for row in range(3):
            below, above = (row + 1) % 3, (row + 2) % 3
            for column in range(3):
                right, left = (column + 1) % 3, (column + 2) % 3
                cofactors[row, column] = (
                    matrices[edge, below, right] * matrices[edge, above, left]
                    - matrices[edge, below, left] * matrices[edge, above, right]
                )
        determinant = 0.0
        for column in range(3):
            determinant += matrices[edge, 0, column] * cofactors[0, column]
        if abs(determinant) < 1e-3:
            break
        change = 0.0
        for row in range(3):
            for column in range(3):
                before = matrices[edge, row, column]
                after = 0.5 * (before + cofactors[row, column] / determinant)
                matrices[edge, row, column] = after
                change = max(change, abs(after - before))
        if change < 1e-9:  # it converges quadratically: the next change is rounding
            return True
    for row in range(3):
        for column in range(3):
            matrices[edge, row, column] = start[row, column]
    return False


@compiled()
def mark_nearest(indptr, lengths, n_nearest, is_near):
    """Mark in ``is_near`` (n_edges,) the shortest edges at each point, and all of length 0.

    Those that tie with the last of the ``n_nearest`` are marked too.
    """
    nearest = np.empty(n_nearest)  # in order: np.partition would take six seconds to compile
    for point in range(len(indptr) - 1):
        nearest[:] = np.inf
        for edge in range(indptr[point], indptr[point + 1]):
            length, place = lengths[edge], n_nearest
            while place > 0 and 0 < length < nearest[place - 1]:
                if place < n_nearest:
                    nearest[place] = nearest[place - 1]
                place -= 1
            if place < n_nearest:
                nearest[place] = length
        for edge in range(indptr[point], indptr[point + 1]):
            is_near[edge] = lengths[edge] <= nearest[-1]
