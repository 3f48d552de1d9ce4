"""The widest cone of directions without a neighbour, at each point."""

from __future__ import annotations

import numpy as np

from ptunfold.kernels.compiling import compiled

_ROUNDS = 8


@compiled()
def emptiest_cones(indptr, indices, rotations, steps, is_used, nodes, has_ring, reach, found):
    """Tell how far all neighbours of some nodes keep to one side.

    ``found[node]`` becomes the largest cosine c for which some direction has all neighbours at
    angles of at most arccos c: 1 if all lie in one direction, -1 if they are all around. With
    ``has_ring`` the neighbours of neighbours count too, up to ``reach`` times the longest edge of
    the node. Edges that are not ``is_used`` say nothing; a node without any other gets NaN.
    """
    dim = steps.shape[1]
    most = 0
    for node in range(len(indptr) - 1):
        most = max(most, indptr[node + 1] - indptr[node])
    units = np.empty((most * (most + 1) if has_ring else most, dim))
    ahead, step = np.empty(dim), np.empty(dim)
    for node in nodes:
        count, longest = 0, 0.0
        for edge in range(indptr[node], indptr[node + 1]):
            if is_used[edge]:
                square = 0.0
                for axis in range(dim):
                    square += steps[edge, axis] * steps[edge, axis]
                longest = max(longest, square)
                for axis in range(dim):
                    units[count, axis] = steps[edge, axis] / np.sqrt(square)
                count += 1
        if count == 0:
            found[node] = np.nan
            continue
        for edge in range(indptr[node], indptr[node + 1] if has_ring else indptr[node]):
            if not is_used[edge]:
                continue
            for other in range(indptr[indices[edge]], indptr[indices[edge] + 1]):
                if not is_used[other] or indices[other] == node:
                    continue
                square = 0.0
                for row in range(dim):
                    step[row] = steps[edge, row]
                    for column in range(dim):
                        step[row] += rotations[edge, row, column] * steps[other, column]
                    square += step[row] * step[row]
                if square > 0.0 and square <= reach * reach * longest:
                    for axis in range(dim):
                        units[count, axis] = step[axis] / np.sqrt(square)
                    count += 1
        for axis in range(dim):
            ahead[axis] = 0.0
            for index in range(count):
                ahead[axis] += units[index, axis]
        best = -1.0
        # Towards whoever is farthest behind, by less and less: the perceptron's way to the middle.
        for turn in range(_ROUNDS):
            size = 0.0
            for axis in range(dim):
                size += ahead[axis] * ahead[axis]
            if not size > 0.0:
                break
            least, behind = 2.0, 0
            for index in range(count):
                cosine = 0.0
                for axis in range(dim):
                    cosine += units[index, axis] * ahead[axis]
                if cosine < least:
                    least, behind = cosine, index
            best = max(best, least / np.sqrt(size))
            for axis in range(dim):
                ahead[axis] = ahead[axis] * (turn + 2) / np.sqrt(size) + units[behind, axis]
        found[node] = best


@compiled()
def mark_one_sided(indptr, steps, least_ahead, is_one_sided):
    """Mark nodes, (n,), whose neighbours all lie on the side where they are in the mean.

    On it are directions whose cosine with the mean is at least ``least_ahead``.
    """
    dim = steps.shape[1]
    ahead = np.empty(dim)
    for node in range(len(is_one_sided)):
        ahead[:] = 0.0
        for edge in range(indptr[node], indptr[node + 1]):
            length = _length(steps[edge])
            for axis in range(dim):
                ahead[axis] += steps[edge, axis] / length if length > 0 else 0.0
        size = _length(ahead)
        is_one_sided[node] = size > 0.5
        for edge in range(indptr[node], indptr[node + 1]):
            along = 0.0
            for axis in range(dim):
                along += steps[edge, axis] * ahead[axis]
            if along < least_ahead * size * _length(steps[edge]):
                is_one_sided[node] = False
                break


@compiled()
def _length(vector):
    square = 0.0
    for axis in range(len(vector)):
        square += vector[axis] * vector[axis]
    return np.sqrt(square)
