"""Proximity graphs: how one is built, or one of the user's own."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from ptunfold.caller import warn
from ptunfold.types import FloatArray
from ptunfold.validation.points import refuse_mask
from ptunfold.validation.records import check_lengths
from ptunfold.validation.values import GRAPH_KINDS, check_choice, check_count

_EXAMPLE = 'sklearn.neighbors.kneighbors_graph(X, 10, mode="distance")'
_LEAST_COMPARED, _MOST_COMPARED = 100, 2000  # pairs of edges
# From 1, the longer edge to the farther point always, to -1, never; 0 if there is no relation.
_LEAST_AGREEMENT = -0.3


def check_graph_settings(
    graph: str | None, n_neighbors: int, radius: float | None, n_points: int
) -> None:
    """Check what determines the proximity graph."""
    check_choice("graph", graph, GRAPH_KINDS)
    if graph == "radius" and radius is None:
        raise ValueError('graph="radius" needs a radius: pass radius=..., in the units of X')
    if radius is not None and (
        not isinstance(radius, Real) or isinstance(radius, bool) or not 0 < radius < np.inf
    ):
        raise ValueError(f"radius={radius!r} is not a positive number; pass one in the units of X")
    if graph != "radius":
        check_count("n_neighbors", n_neighbors)
        if n_neighbors >= n_points:
            raise ValueError(
                f"n_neighbors={n_neighbors} needs more than {n_neighbors} points, but X has "
                f"{n_points}; pass n_neighbors below {n_points} or more points"
            )


def check_graph_matrix(matrix: Any, n_points: int) -> sparse.csr_array:
    """Return a user's matrix of edge lengths in CSR form, explicit zeros kept."""
    if isinstance(matrix, tuple):
        matrix = _matrix_of_neighbors(matrix, n_points)
    if not sparse.issparse(matrix):
        raise TypeError(
            f"graph is a {type(matrix).__name__}, but a SciPy sparse matrix of edge lengths is "
            "needed, because a dense one cannot tell a missing edge from one of length 0; "
            "for example the result of sklearn.neighbors.kneighbors_graph, a ptunfold.Graph, or a "
            "tuple (indices, distances) of nearest neighbours"
        )
    if matrix.shape != (n_points, n_points):
        raise ValueError(
            f"graph has shape {matrix.shape}, but X has {n_points} points; "
            f"pass a sparse matrix of shape ({n_points}, {n_points})"
        )
    if matrix.dtype.kind not in "fiu":
        raise ValueError(
            f"graph holds values of type {matrix.dtype}, not edge lengths; with scikit-learn's "
            'kneighbors_graph pass mode="distance"'
        )
    if matrix.format in ("bsr", "dia"):
        raise ValueError(
            f"graph is stored in the {matrix.format.upper()} format, which cannot tell a missing "
            "edge from one of length 0; pass a CSR, CSC or COO matrix"
        )
    matrix = _shortest_of_repeated(sparse.coo_array(matrix).astype(np.float64))
    for found, wrong in (
        ("NaN or infinite", ~np.isfinite(matrix.data)),
        ("negative", matrix.data < 0),
    ):
        if wrong.any():
            raise ValueError(
                f"graph has {np.count_nonzero(wrong)} {found} edge length(s); store a length "
                ">= 0 for each edge and leave out the entries of pairs that are no edge"
            )
    check_lengths(matrix.data, "graph")
    if n_points and (matrix.diagonal() > 0).all():
        raise ValueError(
            "graph has positive entries all along its diagonal, as similarities or connectivities "
            "have, but lengths are needed, which are 0 from a point to itself; pass distances, for "
            f"example {_EXAMPLE}"
        )
    return matrix


def warn_of_similarities(points: FloatArray, matrix: sparse.csr_array) -> None:
    """Say so where edges are longer on the whole the nearer their ends are to each other.

    Compared are edges of one point, next to each other in their row: similarities often have a
    scale of their own at each point.
    """
    degrees = np.diff(matrix.indptr)
    tails = np.repeat(np.arange(len(points)), degrees)
    firsts = np.flatnonzero((tails[:-1] == tails[1:]) & (matrix.data[:-1] != matrix.data[1:]))
    if len(firsts) < _LEAST_COMPARED:
        return
    firsts = firsts[:: -(-len(firsts) // _MOST_COMPARED)]
    ways = [
        np.linalg.norm(
            points[matrix.indices[edges]].astype(np.float64) - points[tails[edges]], axis=1
        )
        for edges in (firsts, firsts + 1)
    ]
    agree = np.sign((ways[0] - ways[1]) * (matrix.data[firsts] - matrix.data[firsts + 1]))
    if agree.mean() < _LEAST_AGREEMENT:
        share = 100 * np.count_nonzero(agree < 0) / np.count_nonzero(agree)
        warn(
            f"graph has the larger entry for the nearer point in {share:.0f} % of the cases looked "
            "at, as similarities have, but its entries are taken for lengths; pass distances, for "
            f"example {_EXAMPLE}"
        )


def _shortest_of_repeated(matrix: sparse.coo_array) -> sparse.csr_array:
    """Turn entries into rows; of one that is given twice the smaller holds, where SciPy adds up."""
    rows, columns = (index.astype(np.int64) for index in matrix.coords)
    keys = rows * matrix.shape[1] + columns
    order = np.argsort(keys, kind="stable")
    keys, first = np.unique(keys[order], return_index=True)
    lengths = matrix.data[order]
    if len(first):
        lengths = np.fmin.reduceat(lengths, first)
    entries = (lengths, np.divmod(keys, matrix.shape[1]))
    return sparse.csr_array(entries, shape=matrix.shape)


def _matrix_of_neighbors(lists: tuple[Any, ...], n_points: int) -> sparse.csr_array:
    """Turn neighbours (n_points, k) and their distances, in either order, into a matrix."""
    for array in lists:
        refuse_mask(array, "graph")
    try:
        arrays = [np.asarray(array) for array in lists]
    except ValueError as error:
        raise ValueError(
            "the rows of the neighbours in graph have different lengths; pass (indices, "
            f"distances), both of shape ({n_points}, k), with -1 where there is no neighbour"
        ) from error
    # The order that pynndescent and UMAP have, or the other one, of scikit-learn and faiss.
    if len(arrays) == 2 and arrays[0].dtype.kind == "f" and arrays[1].dtype.kind in "iu":
        arrays.reverse()
    if (
        len(arrays) != 2
        or arrays[0].ndim != 2
        or arrays[0].shape != arrays[1].shape
        or len(arrays[0]) != n_points
        or arrays[0].dtype.kind not in "iu"
        or arrays[1].dtype.kind not in "fiu"
    ):
        shapes = ", ".join(f"{array.shape} {array.dtype}" for array in arrays)
        raise ValueError(
            f"graph is a tuple of {len(arrays)} arrays ({shapes}); pass (indices, distances), both "
            f"of shape ({n_points}, k), the indices whole numbers and the distances numbers"
        )
    indices, distances = arrays
    rows = np.arange(n_points)[:, None]
    # Many libraries list a point as its own nearest neighbour, and -1 or infinity for none.
    is_edge = (indices >= 0) & (indices != rows) & (distances != np.inf)
    is_wrong = (indices >= n_points) | (indices < -1)
    if is_wrong.any():
        raise ValueError(
            f"graph names neighbour {indices[is_wrong][0]}, but X has {n_points} points; pass the "
            "neighbours of these points, and -1 for none"
        )
    entries = (
        distances[is_edge],
        (np.broadcast_to(rows, indices.shape)[is_edge], indices[is_edge]),
    )
    return sparse.coo_array(entries, shape=(n_points, n_points))
