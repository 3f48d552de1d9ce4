"""How sure distances are: what uncertain frames and curvature do to the ends of unfolded paths."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.development import Unfolding, measure_row, new_unfolding
from ptunfold.kernels.trees import forget_tree

_ROUNDING = 1.9e-16  # of a path, for each edge: what exact data have
# Of what curvature takes off a distance: measured on caps of spheres and petals.
_OF_CURVATURE = 0.025


class Doubts(NamedTuple):
    """What is uncertain.

    ``tilts`` (E,) are variances of the angle by which paths turn wrongly at each edge, ``bends``
    (E,) standard deviations of the curvature, ``noise`` that of a point along the sheet.
    """

    tilts: Any
    bends: Any
    noise: Any


class Moments(NamedTuple):
    """Sums over the edges of each path of a tree, in the frame of its root.

    ``places`` (n, d) are nodes as seen from the root, ``turned`` and ``bent`` (n, d, d) second
    moments of places, weighted by tilts and by bends and lengths, ``along`` (n,) sums of what
    tilts do to lengths.
    """

    unfolding: Unfolding
    places: Any
    turned: Any
    bent: Any
    along: Any


def new_moments(n_points: int, dim: int) -> Moments:
    """Return some that are to be filled."""
    turned, bent = np.zeros((2, n_points, dim, dim))
    places, along = np.zeros((n_points, dim)), np.zeros(n_points)
    return Moments(new_unfolding(n_points, dim), places, turned, bent, along)


@compiled()
def _around_chord(moments, node, places):
    """Return the second moment of the distance from the straight line to ``node``."""
    total, along, squares = 0.0, 0.0, 0.0
    for row in range(places.shape[1]):
        total += moments[node, row, row]
        squares += places[node, row] * places[node, row]
        for column in range(places.shape[1]):
            along += places[node, row] * moments[node, row, column] * places[node, column]
    return max(total - along / squares, 0.0) if squares > 0 else total


@compiled()
def row_with_std(connection, doubts, source, moments, row, std):
    """Fill ``row`` (n,) as `mean_row` does, and ``std`` (n,) with standard deviations.

    An angle that is wrong at a node swings the rest of the path around it, and moves its end by the
    angle times the distance of the node from the straight line between the ends, along that line.
    Such errors are independent of each other and their squares add up; errors of the curvature are
    not, and add up themselves.
    """
    unfolding, places, turned, bent, along = moments
    tree, inward, outward, turns, _, _ = unfolding
    n_settled, size = measure_row(connection, source, unfolding, row)
    steps, tails = connection.steps, connection.tails
    dim = steps.shape[1]
    is_curved = len(connection.curvature) > 0
    root = tree.order[0]
    places[root], turned[root], bent[root], along[root] = 0.0, 0.0, 0.0, 0.0
    std[:] = np.inf
    std[root] = 0.0
    middle = np.empty(dim)
    for position in range(1, n_settled):
        node = tree.order[position]
        edge = tree.parent_edge[node]
        parent = tails[edge]
        squares, far = 0.0, 0.0
        for axis in range(dim):
            step = 0.0
            for inner in range(dim):
                step += turns[parent, axis, inner] * steps[edge, inner]
            places[node, axis] = places[parent, axis] + step
            middle[axis] = places[parent, axis] + 0.5 * step
            squares += step * step
            far += places[node, axis] * places[node, axis]
        tilt, bend = doubts.tilts[edge], doubts.bends[edge] * np.sqrt(squares)
        along[node] = along[parent] + tilt * squares + _ROUNDING**2 * far
        for axis in range(dim):
            for other in range(dim):
                product = middle[axis] * middle[other]
                turned[node, axis, other] = turned[parent, axis, other] + tilt * product
                bent[node, axis, other] = bent[parent, axis, other] + bend * product
        total = 2 * doubts.noise**2 + along[node] + _around_chord(turned, node, places)
        total += (0.5 * _around_chord(bent, node, places)) ** 2
        if is_curved:
            flat, curved = 0.0, 0.0
            for axis in range(dim):
                flat += outward[node, axis] ** 2
                curved += inward[node, axis] ** 2
            total += (_OF_CURVATURE * (np.sqrt(flat) - np.sqrt(curved))) ** 2
        std[node] = np.sqrt(total)
    forget_tree(tree, n_settled, size)
