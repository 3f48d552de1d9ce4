"""Tangent spaces from distances alone: local scaling, and what a tangent space sees of a point.

A basis is a combination of the members of a neighbourhood. With shares a that add up to 0, and the
squared distances r² of a point from the members, the point is at -½ aᵗr² along it, but for a
constant (Gower's formula). In a Euclidean space this is the product with the vector itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptunfold.geometry.surface import fit_quadratic
from ptunfold.types import FloatArray, Frames, IntArray, Space
from ptunfold.validation.values import SURFACES

# Of the largest eigenvalue: less is rounding, in 64 bits and in 32.
_LEAST, _LEAST_SINGLE = 1e-13, 1e-6
_LEAST_SHARED = 1e-6  # of the products of members that two neighbourhoods share
_TINY = 1e-300
_NUMBERS_TOGETHER = 1 << 20


def local_planes(
    space: Space, members: IntArray, counts: IntArray, dim: int, tangent: str
) -> tuple[Any, ...]:
    """Find the tangent planes of neighbourhoods, as `find_members` returns them.

    Classical scaling of the distances within a neighbourhood gives its coordinates, along its
    principal axes. Axes with negative eigenvalues, which distances along curved data have, count
    with negative squares: with them a sphere that is given by arcs is as curved as one of points,
    and without them a third of it. Returns what `Planes` has, bases and lift as shares of members,
    and the share of negative eigenvalues at each.
    """
    values, vectors = scaled(space, members, counts)
    sizes_of = np.abs(values)
    negative = np.maximum(-values, 0).sum(axis=1) / np.maximum(sizes_of.sum(axis=1), _TINY)
    residual = np.sqrt(np.maximum(values[:, dim:], 0).sum(axis=1) / (counts + 1))
    least = (_LEAST_SINGLE if space.dtype == np.float32 else _LEAST) * np.maximum(values[:, 0], 0)
    widths = np.sqrt(np.maximum(values[:, :dim], 0))
    # The axes of the plane, then all others, the longest first.
    sizes_of[:, :dim] = np.where(values[:, :dim] > 0, np.inf, 0)
    order = np.argsort(-sizes_of, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    is_kept = np.abs(values) > least[:, None]
    n_kept = max(int(is_kept.sum(axis=1).max(initial=0)), dim)
    values = np.where(is_kept, values, 0)[:, :n_kept]
    vectors = np.take_along_axis(vectors, order[:, None, :n_kept], axis=2)
    roots = np.sqrt(np.abs(values))
    shares = vectors * np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)[:, None]
    if tangent not in SURFACES:
        return shares[:, :, :dim], widths, residual, np.sqrt(least), None, None, negative
    bases = np.broadcast_to(np.eye(n_kept, dim), (len(members), n_kept, dim))
    tangents, residual, lift, curvature = fit_quadratic(
        vectors * roots[:, None],
        counts,
        bases,
        is_robust=tangent == "robust",
        signs=np.where(values < 0, -1.0, 1.0),
    )
    lifted = (shares @ lift[:, :, None])[:, :, 0]
    return shares @ tangents, widths, residual, np.sqrt(least), lifted, curvature, negative


def scaled(space: Space, members: IntArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Scale neighbourhoods: eigenvalues (n_nodes, K + 1), the largest first, and vectors."""
    is_member = np.arange(members.shape[1]) <= counts[:, None]
    weights = is_member / (counts + 1)[:, None]
    products = -0.5 * space.squares(members, members)
    products -= np.einsum("ij,ijk->ik", weights, products)[:, None, :]
    products -= np.einsum("ijk,ik->ij", products, weights)[:, :, None]
    products *= is_member[:, :, None] * is_member[:, None, :]
    values, vectors = np.linalg.eigh(0.5 * (products + products.transpose(0, 2, 1)))
    return values[:, ::-1], vectors[:, :, ::-1]


def shadows(
    space: Space, members: IntArray, shares: FloatArray, tails: IntArray, heads: IntArray
) -> FloatArray:
    """Write the ways from tails to heads in tangent spaces, (n_edges, d).

    These are given by ``members`` (n_edges, K + 1) and their ``shares`` (n_edges, K + 1, d).
    """
    found = np.empty((len(tails), shares.shape[2]))
    for some in _blocks(len(tails), 2 * members.shape[1]):
        squares = space.squares(members[some], np.column_stack((tails[some], heads[some])))
        found[some] = -0.5 * np.einsum(
            "emi,em->ei", shares[some], squares[..., 1] - squares[..., 0]
        )
    return found


def seen_edges(
    space: Space, frames: Frames, tails: IntArray, heads: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Write edges in the frames at both ends, and these frames in each other.

    As `edges_in_frames` does. The overlap of two frames is the second difference of squared
    distances, over the members of the one and of the other.
    """
    assert frames.members is not None
    if space.is_frugal:
        return _by_shared(space, frames, tails, heads)
    n_edges, dim = len(tails), frames.intrinsic_dim
    overlaps, lengths = np.empty((n_edges, dim, dim)), np.empty(n_edges)
    from_tail, from_head = np.empty((2, n_edges, dim))
    members, shares = frames.members, frames.vectors
    for some in _blocks(n_edges, (members.shape[1] + 1) ** 2):
        ends = tails[some].astype(np.int64), heads[some].astype(np.int64)
        rows, columns = (np.column_stack((end, members[end])) for end in ends)
        between = space.squares(rows, columns)
        lengths[some] = np.sqrt(between[:, 0, 0])
        first, second = (shares[end] for end in ends)
        own_first, own_second = (space.squares(members[end], end[:, None])[:, :, 0] for end in ends)
        overlaps[some] = -0.5 * first.transpose(0, 2, 1) @ between[:, 1:, 1:] @ second
        from_tail[some] = -0.5 * np.einsum("emi,em->ei", first, between[:, 1:, 0] - own_first)
        from_head[some] = -0.5 * np.einsum("emi,em->ei", second, between[:, 0, 1:] - own_second)
    return overlaps, from_tail, from_head, lengths


def _by_shared(
    space: Space, frames: Frames, tails: IntArray, heads: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Do the same by the members that two neighbourhoods share.

    Both frames see these. With what they see, F and G, and the products P of the shared members,
    the overlap is FᵗP⁺G: all of it if these span as many dimensions as the neighbourhoods do.
    """
    assert frames.members is not None
    members, shares = frames.members, frames.vectors
    overlaps = np.empty((len(tails), frames.intrinsic_dim, frames.intrinsic_dim))
    for some in _blocks(len(tails), (members.shape[1] + 1) ** 2):
        first, second = members[tails[some]], members[heads[some]]
        is_same = first[:, :, None] == second[:, None, :]
        is_shared = is_same.any(axis=2)
        where = is_same.argmax(axis=2)  # in the second neighbourhood
        own = -0.5 * space.squares(first, first)
        others = -0.5 * space.squares(second, second)
        weights = is_shared / np.maximum(is_shared.sum(axis=1), 1)[:, None]
        seen = own @ shares[tails[some]]
        seen_there = np.take_along_axis(others @ shares[heads[some]], where[:, :, None], axis=1)
        seen, seen_there = (
            (view - np.einsum("em,emi->ei", weights, view)[:, None]) * is_shared[:, :, None]
            for view in (seen, seen_there)
        )
        own -= np.einsum("em,emn->en", weights, own)[:, None]
        own -= np.einsum("emn,en->em", own, weights)[:, :, None]
        own *= is_shared[:, :, None] & is_shared[:, None, :]
        inverse = np.linalg.pinv(own, rcond=_LEAST_SHARED, hermitian=True)
        overlaps[some] = seen.transpose(0, 2, 1) @ inverse @ seen_there
    return (
        overlaps,
        shadows(space, members[tails], shares[tails], tails, heads),
        shadows(space, members[heads], shares[heads], heads, tails),
        space.lengths(tails, heads),
    )


def sizes(space: Space, members: IntArray, shares: FloatArray) -> FloatArray:
    """Measure vectors that are given by shares of members (n_nodes, K + 1), (n_nodes,)."""
    found = np.empty(len(members))
    for some in _blocks(len(members), members.shape[1] ** 2):
        squares = space.squares(members[some], members[some])
        found[some] = -0.5 * np.einsum("ia,iab,ib->i", shares[some], squares, shares[some])
    return np.sqrt(np.maximum(found, 0))


def _blocks(n_items: int, n_numbers: int) -> list[slice]:
    size = max(_NUMBERS_TOGETHER // n_numbers, 1)
    return [slice(start, min(start + size, n_items)) for start in range(0, n_items, size)]
