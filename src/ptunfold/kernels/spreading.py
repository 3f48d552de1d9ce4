"""How sure distances are: what uncertain frames and curvature do to the ends of unfolded paths."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptunfold.kernels.compiling import compiled
from ptunfold.kernels.inputs import ConnectionArrays

_ROUNDING = 2.85e-16  # of a path, for each edge: what exact data have
# Of what curvature takes off a distance: measured on caps of spheres and petals. Of what lengths
# that are not carried on add, and of the way beyond what is: on 29 surfaces with known geodesics.
_OF_CURVATURE, _OF_COHERENCE, _OF_WAY = 0.025, 0.6, 0.002


class Doubts(NamedTuple):
    """What is uncertain.

    ``tilts`` (E,) are variances of the angle by which paths turn wrongly at each edge, ``bends``
    (E,) standard deviations of the curvature, ``noise`` that of a point along the sheet. What all
    of it but noise comes to is ``factor`` times as much at the distance ``middle``, and more or
    less with the distance by this ``power`` of it.
    """

    tilts: Any
    bends: Any
    noise: Any
    factor: Any
    middle: Any
    power: Any


class Moments(NamedTuple):
    """Sums over the edges of each path of a tree, in the frame of its root.

    A node's row of ``sums`` (n, d + 3 d² + 3) has its place as seen from the root, the product of
    the rotations on the way, second moments of places, weighted by tilts and by bends and lengths,
    the sum of what tilts do to lengths, the length of the way and what is carried on of it: in one
    row, since each look into memory takes long.
    ``axes`` is as in `Sight`.
    """

    sums: Any
    axes: tuple[int, ...]


def new_moments(connection: ConnectionArrays) -> Moments:
    """Return some that are to be filled."""
    n_points, dim = len(connection.graph.indptr) - 1, connection.steps.shape[1]
    return Moments(np.zeros((n_points, dim + 3 * dim**2 + 3)), tuple(range(dim)))


@compiled(error_model="numpy")
def spread(connection, doubts, tree, n_reached, moments, row, std):
    """Fill ``std`` (n,) with the standard deviations of the distances ``row`` along a tree.

    An angle that is wrong at a node swings the rest of the path around it, and moves its end by the
    angle times the distance of the node from the straight line between the ends, along that line.
    Such errors are independent of each other and their squares add up; errors of the curvature are
    not, and add up themselves. Where not all is carried on, a turn counts for as much of the way as
    is.
    """
    sums, axes = moments
    _, tails, _, rotations, steps, kept, _, curvature = connection
    dim = len(axes)
    turns, turned, bent, along = dim, dim + dim * dim, dim + 2 * dim * dim, dim + 3 * dim * dim
    way = along + 1
    is_curved, is_kept = len(curvature) > 0, len(kept) > 0
    root = tree.order[0]
    sums[root] = 0.0
    for axis in range(dim):
        sums[root, turns + axis * dim + axis] = 1.0
    std[:] = np.inf
    std[root] = 0.0
    middle = np.empty(dim)
    for position in range(1, n_reached):
        node = np.uint64(tree.order[position])
        edge = np.uint64(tree.parent_edge[node])
        parent = np.uint64(tails[edge])
        squares, far = 0.0, 0.0
        for axis in range(dim):
            step = 0.0
            for inner in range(dim):
                step += sums[parent, turns + axis * dim + inner] * steps[edge, inner]
            here = sums[parent, axis] + step
            sums[node, axis] = here
            middle[axis] = sums[parent, axis] + 0.5 * step
            squares += step * step
            far += here * here
            for other in range(dim):
                turn = 0.0
                for inner in range(dim):
                    turn += sums[parent, turns + axis * dim + inner] * rotations[edge, inner, other]
                sums[node, turns + axis * dim + other] = turn
        tilt, bend = doubts.tilts[edge], doubts.bends[edge] * np.sqrt(squares)
        swung = sums[parent, along] + tilt * squares + _ROUNDING**2 * far
        sums[node, along] = swung
        # Second moments of the distance from the straight line: all of it, less what is along it.
        by_tilts, by_bends, tilts_along, bends_along = 0.0, 0.0, 0.0, 0.0
        for axis in range(dim):
            for other in range(dim):
                product = middle[axis] * middle[other]
                both = sums[node, axis] * sums[node, other]
                place = axis * dim + other
                moment = sums[parent, turned + place] + tilt * product
                sums[node, turned + place] = moment
                tilts_along += both * moment
                by_tilts += moment if axis == other else 0.0
                moment = sums[parent, bent + place] + bend * product
                sums[node, bent + place] = moment
                bends_along += both * moment
                by_bends += moment if axis == other else 0.0
        if far > 0:
            by_tilts = max(by_tilts - tilts_along / far, 0.0)
            by_bends = max(by_bends - bends_along / far, 0.0)
        on_the_way = swung + by_tilts + 0.25 * by_bends * by_bends
        taken_off = np.sqrt(far) - row[node]
        if is_kept:
            long = np.sqrt(squares)
            sums[node, way] = sums[parent, way] + long
            sums[node, way + 1] = kept[edge] * sums[parent, way + 1] + long
            carried = sums[node, way + 1] / sums[node, way] if sums[node, way] > 0 else 1.0
            on_the_way = carried**2 * on_the_way + (_OF_WAY * (1 - carried) * row[node]) ** 2
        if is_kept and taken_off < 0:
            on_the_way += (_OF_COHERENCE * taken_off) ** 2
        elif is_curved:
            on_the_way += (_OF_CURVATURE * taken_off) ** 2
        longer = doubts.factor
        if doubts.power > 0:
            longer *= (row[node] / doubts.middle) ** doubts.power
        std[node] = np.sqrt(2 * doubts.noise**2 + longer**2 * on_the_way)
