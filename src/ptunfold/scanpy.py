"""Single cells: PTU on an AnnData, as the tools of scanpy are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ptunfold.caller import warn
from ptunfold.estimator import PTU
from ptunfold.types import FloatArray

_FEW_VARIABLES = 50  # up to so many scanpy takes X itself and not its principal components
_MOST_LOST = 0.05  # of the distances that a search leaves; copies of a cell lose theirs too
_OF_A_GRAPH = ("graph", "n_neighbors", "radius", "search")  # parameters that ask for another one


def ptu(
    adata: Any,
    n_components: int = 2,
    *,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Embed the cells of an AnnData by Parallel Transport Unfolding.

    Parameters
    ----------
    adata : AnnData
        The cells. The graph of ``scanpy.pp.neighbors`` is taken, if it is there, and whole: not
        after cells were left out.
    n_components : int
        The number of output coordinates.
    use_rep : str, optional
        What cells are measured by: "X", or a key of ``adata.obsm``. By default what the neighbours
        were found by, else "X_pca", or "X" of up to 50 variables. Of an AnnData that has none of
        them, distances between neighbours are all that is used.
    neighbors_key : str, optional
        Where ``adata.uns`` has neighbours; "neighbors" by default, and if there are none the graph
        is built here.
    key_added : str, optional
        Where the result is written: ``adata.obsm[key_added]`` and ``adata.uns[key_added]``; by
        default ``adata.obsm["X_ptu"]`` and ``adata.uns["ptu"]``.
    copy : bool
        Return a copy, and leave ``adata`` as it is.
    **parameters
        Those of :class:`ptunfold.PTU`. With ``n_neighbors``, ``radius``, ``graph`` or ``search``
        the graph is built here.

    Returns
    -------
    adata : AnnData or None
        The copy, with ``copy=True``.

    Examples
    --------
    >>> import anndata
    >>> import ptunfold.scanpy
    >>> from ptunfold.datasets import s_with_hole
    >>> adata = anndata.AnnData(s_with_hole(500).points)
    >>> ptunfold.scanpy.ptu(adata)  # after scanpy.pp.neighbors(adata), or without it
    >>> adata.obsm["X_ptu"].shape
    (500, 2)
    >>> adata.uns["ptu"]["texture"]
    'smooth'
    """
    if not (hasattr(adata, "obsm") and hasattr(adata, "uns")):
        raise TypeError(
            f"ptunfold.scanpy.ptu takes an AnnData, not {type(adata).__name__}; pass arrays to "
            "ptunfold.PTU"
        )
    adata = adata.copy() if copy else adata
    neighbors = _neighbors(adata, neighbors_key)
    known = {} if neighbors is None else neighbors["params"]
    points = _representation(adata, use_rep or known.get("use_rep"), known.get("n_pcs"))
    metric = parameters.pop("metric", known.get("metric", "euclidean"))
    graph = None if neighbors is None else neighbors["distances"]
    if points is None and graph is None:
        raise ValueError(
            "adata has neither principal components nor neighbours; run scanpy.pp.pca(adata) or "
            "scanpy.pp.neighbors(adata) first, or pass use_rep"
        )
    if points is None:
        points, metric, graph = graph, "precomputed", None
    elif neighbors is not None:
        is_wanted = _is_wanted(neighbors, neighbors_key, parameters)
        graph = _lengths(graph, metric) if is_wanted else None
    model = PTU(n_components, metric=metric, **parameters).fit(points, graph=graph)
    adata.obsm["X_ptu" if key_added is None else key_added] = model.embedding_
    adata.uns["ptu" if key_added is None else key_added] = {
        "params": {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        "eigenvalues": model.eigenvalues_,
        "texture": str(model.texture_),
        "explained": model.transport_.explained,
        "coherence": model.transport_.coherence,
        "non_euclidean": model.non_euclidean_,
    }
    return adata if copy else None


def _neighbors(adata: Any, key: str | None) -> dict[str, Any] | None:
    """Find the parameters and the distances of neighbours, as scanpy keeps them."""
    place = "neighbors" if key is None else key
    if place not in adata.uns:
        if key is None:
            return None
        raise ValueError(
            f'adata.uns has no neighbours at "{key}"; run scanpy.pp.neighbors(adata, '
            f'key_added="{key}") first'
        )
    found = adata.uns[place]
    distances_key = found.get("distances_key", "distances")
    if distances_key not in adata.obsp:
        raise ValueError(
            f'adata.obsp has no distances at "{distances_key}", which adata.uns["{place}"] names; '
            "run scanpy.pp.neighbors again"
        )
    return {"params": found.get("params", {}), "distances": adata.obsp[distances_key]}


def _representation(adata: Any, use_rep: str | None, n_pcs: int | None) -> FloatArray | None:
    """Return what cells are measured by, as scanpy chooses it; None if there is nothing."""
    if use_rep is None:
        has_pca = "X_pca" in adata.obsm
        if has_pca and (adata.n_vars > _FEW_VARIABLES or adata.X is None):
            use_rep = "X_pca"
        elif adata.X is not None and 0 < adata.n_vars <= _FEW_VARIABLES:
            use_rep = "X"
        elif has_pca:
            use_rep = "X_pca"
        else:
            return None
    if use_rep == "X":
        return adata.X.toarray() if sparse.issparse(adata.X) else np.asarray(adata.X)
    if use_rep not in adata.obsm:
        known = ", ".join(["X", *map(str, adata.obsm)])
        raise ValueError(f'adata.obsm has no "{use_rep}"; pass use_rep as one of {known}')
    found = np.asarray(adata.obsm[use_rep])
    return found[:, :n_pcs] if use_rep == "X_pca" and n_pcs else found


def _is_wanted(neighbors: dict[str, Any], key: str | None, parameters: dict[str, Any]) -> bool:
    """Tell whether the graph that is there is the one to take: whole, and no other asked for."""
    asked = [name for name in _OF_A_GRAPH if parameters.get(name, "auto") not in ("auto", None)]
    if asked:
        if key is not None:
            raise ValueError(
                f'{asked[0]} asks for another graph than the neighbours at "{key}"; leave out '
                f"{asked[0]} or neighbors_key"
            )
        return False
    n_neighbors, distances = neighbors["params"].get("n_neighbors"), neighbors["distances"]
    if n_neighbors is None or not sparse.issparse(distances):
        return True
    n_expected = distances.shape[0] * (n_neighbors - 1)  # the cell itself is one of them
    lost = 1 - distances.nnz / max(n_expected, 1)
    if lost <= _MOST_LOST:
        return True
    warn(
        f"{lost:.0%} of the distances of scanpy.pp.neighbors are gone, as after cells were left "
        "out, so the graph is built here; run scanpy.pp.neighbors(adata) again, or pass "
        "n_neighbors, to have it so without this warning"
    )
    return False


def _lengths(distances: Any, metric: Any) -> Any:
    """Return edge lengths in the units that cells are measured in."""
    if not isinstance(metric, str) or metric not in ("cosine", "correlation", "sqeuclidean"):
        return distances
    found = sparse.csr_array(distances, copy=True)
    found.data = np.sqrt(found.data * (1 if metric == "sqeuclidean" else 2))
    return found


def _plain(value: Any) -> Any:
    """Write a parameter as h5ad files hold it."""
    if callable(value):
        return getattr(value, "__name__", "a function")
    return value if isinstance(value, str | bool | int | float) else str(value)
