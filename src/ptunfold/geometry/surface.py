"""Quadratic surfaces through neighbourhoods: tangents and places that curvature does not bias.

Everything here works on arrays of a device too.
"""

from __future__ import annotations

import numpy as np

from ptunfold.types import BoolArray, FloatArray, IntArray
from ptunfold.validation.values import n_coefficients

ROUNDS = 3
FAR = 3.0  # standard deviations
_LEAST_SQUARE = 0.1  # of a tangent vector that tilts where squares are negative


def fit_quadratic(
    offsets: FloatArray,
    counts: IntArray,
    bases: FloatArray,
    *,
    is_robust: bool = False,
    signs: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Fit a quadratic surface to each neighbourhood over its principal plane.

    The plane of a bent neighbourhood is parallel to the surface in the middle, not at the point,
    and at a rim the point is not in the middle. The quadratic surface has the right slope there.

    Neighbourhoods are offsets (n_nodes, n_members, n_features), the point itself first, which does
    not count in ``counts``, and zero where there are fewer. A robust surface is fitted again and
    again with less weight for members that are far off, until outliers have no say. Products are
    those of a Euclidean space, unless ``signs`` (n_nodes, n_features) say otherwise.

    Returns bases of the tangent planes at the points (n_nodes, n_features, d), those of the
    principal planes where there are too few neighbours to tell a slope from a bend; the standard
    deviation of the neighbours from the surface (n_nodes,); the way from the point to the
    surface (n_nodes, n_features); and the sectional curvature there, the mean over pairs of
    directions (n_nodes,).
    """
    dim = bases.shape[2]
    n_terms = n_coefficients(dim)
    is_member = np.arange(offsets.shape[1], like=counts) <= counts[:, None]
    from_point = np.where(is_member[:, :, None], offsets - offsets[:, :1], 0)
    along = from_point @ bases
    normal = from_point - along @ bases.transpose(0, 2, 1)
    terms, radii = _terms(along, is_member, counts)
    # With many features the rounds work on the products of members; these say all about distances.
    solve = _solve_by_products if normal.shape[2] > normal.shape[1] else _solve
    rows = normal @ normal.transpose(0, 2, 1) if solve is _solve_by_products else normal
    weights = is_member.astype(float)
    coefficients, off = solve(terms, weights, rows)
    for _ in range(ROUNDS if is_robust else 0):
        weights = _weights(off, is_member, counts)
        coefficients, off = solve(terms, weights, rows)
    if solve is _solve_by_products:
        coefficients = coefficients @ normal
    is_enough = counts + 1 >= 2 * n_terms
    flat = np.sqrt(np.einsum("ijk,ijk->i", normal, normal) / (counts + 1))
    residual = np.where(is_enough, _deviation(off, weights, n_terms), flat)
    slopes = coefficients[:, 1 : 1 + dim].transpose(0, 2, 1) / radii[:, None, None]
    slopes[~is_enough] = 0
    lift = np.where(is_enough[:, None], coefficients[:, 0], 0)
    tilted = bases + slopes
    # Slopes are normal to the plane: the bases only have to be made orthonormal again.
    lowered = tilted if signs is None else signs[:, :, None] * tilted
    values, turns = np.linalg.eigh(tilted.transpose(0, 2, 1) @ lowered)
    values = values if signs is None else np.maximum(values, _LEAST_SQUARE)
    roots = (turns / np.sqrt(values)[:, None, :]) @ turns.transpose(0, 2, 1)
    tangents = tilted @ roots
    first, second = (indices.tolist() for indices in np.triu_indices(dim))
    bends = np.zeros((len(slopes), dim, dim, offsets.shape[2]), like=slopes)
    bends[:, first, second] = coefficients[:, 1 + dim :] / np.square(radii)[:, None, None]
    curvature = np.where(is_enough, _sectional(bends, tangents, roots, signs), 0)
    return tangents, residual, lift, curvature


def misfits_by_products(along: FloatArray, products: FloatArray, counts: IntArray) -> FloatArray:
    """Tell how far members are from the surfaces of `fit_quadratic`, (n_nodes,), by products alone.

    ``along`` (n_nodes, n_members, d) are places on the principal planes, ``products``
    (n_nodes, n_members, n_members) those of the offsets, both from the mean.
    """
    n_terms = n_coefficients(along.shape[2])
    is_member = np.arange(along.shape[1], like=counts) <= counts[:, None]
    # From the point itself, and off the plane.
    along = np.where(is_member[:, :, None], along - along[:, :1], 0)
    products = products - products[:, :1] - products[:, :, :1] + products[:, :1, :1]
    products = products - along @ along.transpose(0, 2, 1)
    products = np.where(is_member[:, :, None] & is_member[:, None, :], products, 0)
    terms, _ = _terms(along, is_member, counts)
    weights = is_member.astype(float)
    _, off = _solve_by_products(terms, weights, products)
    flat = np.sqrt(np.maximum(np.einsum("imm->i", products), 0) / (counts + 1))
    return np.where(counts + 1 >= 2 * n_terms, _deviation(off, weights, n_terms), flat)


def _terms(
    along: FloatArray, is_member: BoolArray, counts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return 1, coordinates and their products, (n_nodes, n_members, n_terms), and radii.

    In units of the radius of each neighbourhood, so that the equations are well conditioned.
    """
    radii = np.sqrt(np.square(along).sum(axis=(1, 2)) / np.maximum(counts, 1))
    radii = np.where(radii > 0, radii, 1)
    along = along / radii[:, None, None]
    first, second = (indices.tolist() for indices in np.triu_indices(along.shape[2]))
    products = along[:, :, first] * along[:, :, second]
    terms = np.concatenate((is_member[:, :, None].astype(float), along, products), axis=2)
    return terms, radii


def _deviation(off: FloatArray, weights: FloatArray, n_terms: int) -> FloatArray:
    """Return the standard deviation of members from what was fitted to them, (n_nodes,)."""
    n_free = weights.sum(axis=1) - n_terms
    return np.sqrt((weights * np.square(off)).sum(axis=1) / np.maximum(n_free, 1))


def _sectional(
    bends: FloatArray, tangents: FloatArray, roots: FloatArray, signs: FloatArray | None
) -> FloatArray:
    """Find the mean sectional curvature of surfaces by the equation of Gauss, (n_nodes,).

    ``bends`` (n_nodes, d, d, n_features) are coefficients of products of coordinates, which
    ``roots`` (n_nodes, d, d) make orthonormal on the tangent plane.
    """
    dim = bends.shape[1]
    if dim == 1:
        return np.zeros(len(bends), like=bends)
    second = bends + bends.transpose(0, 2, 1, 3)
    second = np.einsum("iab,ibcf,icd->iadf", roots, second, roots)
    lowered = tangents if signs is None else signs[:, :, None] * tangents
    second = second - (second @ lowered[:, None]) @ tangents.transpose(0, 2, 1)[:, None]
    mean = np.einsum("iaaf->if", second)
    squares, squares_of_mean = np.square(second), np.square(mean)
    if signs is not None:
        squares, squares_of_mean = squares * signs[:, None, None], squares_of_mean * signs
    total = squares_of_mean.sum(axis=1) - squares.sum(axis=(1, 2, 3))
    return total / (dim * (dim - 1))


def _solve(
    terms: FloatArray, weights: FloatArray, normal: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Fit by weighted least squares; coefficients and distances from the fit."""
    weighted = (terms * weights[:, :, None]).transpose(0, 2, 1)
    moments = weighted @ terms + 1e-12 * np.asarray(np.eye(terms.shape[2]), like=terms)
    coefficients = np.linalg.solve(moments, weighted @ normal)
    return coefficients, np.linalg.norm(normal - terms @ coefficients, axis=2)


def _solve_by_products(
    terms: FloatArray, weights: FloatArray, products: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Do the same by products of members, (n_nodes, n_members, n_members).

    Returns the share of each member in each coefficient, (n_nodes, n_terms, n_members), and
    distances from the fit.
    """
    weighted = (terms * weights[:, :, None]).transpose(0, 2, 1)
    moments = weighted @ terms + 1e-12 * np.asarray(np.eye(terms.shape[2]), like=terms)
    shares = np.linalg.solve(moments, weighted)
    mixed = products @ shares.transpose(0, 2, 1)
    squares = np.einsum("imm->im", products) - 2 * np.einsum("imt,imt->im", mixed, terms)
    squares += np.einsum("imt,imt->im", terms @ (shares @ mixed), terms)
    return shares, np.sqrt(np.maximum(squares, 0))


def _weights(off: FloatArray, is_member: BoolArray, counts: IntArray) -> FloatArray:
    """Weigh members by their distance from the surface, (n_nodes, n_members): far ones lightly."""
    inner = np.sort(np.where(is_member, off, np.inf), axis=1)
    median = np.take_along_axis(inner, counts[:, None] // 2, axis=1)
    nearby = FAR * 1.4826 * median  # the median of |x| is 1 / 1.4826 of the deviation
    is_far = off > nearby
    weights = np.where(is_far, np.square(nearby / np.where(is_far, off, 1)), 1)
    return np.where(is_member, weights, 0)
