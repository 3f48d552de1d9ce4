"""The methods of the field's benchmark, each with the settings that its own documents recommend.

A method is called with points, the number of coordinates and a seed, and returns places
(n_points, n_components) and, if it knows any, distances (n_points, n_points). It imports its
package when it is called.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Method:
    """How to call a method, its settings in words, and what it promises."""

    embed: Any
    settings: str
    gives_distances: bool = False
    keeps_lengths: bool = False  # its distances and places have the unit of the data


def ptu(points, n_components, seed):
    from ptunfold import PTU

    return PTU(n_components, n_jobs=-1).fit_transform(points), None


def ptu_distances(points, seed):
    from ptunfold import geodesic_distances

    return geodesic_distances(points, intrinsic_dim=2, n_jobs=-1)


def isomap(points, n_components, seed):
    from sklearn.manifold import Isomap

    model = Isomap(n_neighbors=10, n_components=n_components, n_jobs=-1).fit(points)
    return model.embedding_, model.dist_matrix_


def orc_isomap(points, n_components, seed):
    from orc import neighbour_graph, prune
    from scipy.sparse.csgraph import dijkstra

    from ptunfold import classical_mds

    distances = dijkstra(prune(neighbour_graph(points)), directed=False)
    if np.isinf(distances).any():
        raise ValueError("the pruned graph is in several parts")
    return classical_mds(distances, n_components).coordinates, distances


def landmark_isomap(points, n_components, seed):
    import tapkee

    places = tapkee.embed(
        np.ascontiguousarray(points.T, dtype=float),
        method="l-isomap",
        num_neighbors=10,
        landmark_ratio=0.1,
        target_dimension=n_components,
    )
    return places, None


def local_method(method):
    def embed(points, n_components, seed):
        from sklearn.manifold import LocallyLinearEmbedding

        # ARPACK is quick, and on some of these matrices does not converge.
        solver = "dense" if len(points) <= 2000 else "arpack"
        model = LocallyLinearEmbedding(
            n_neighbors=12,
            n_components=n_components,
            method=method,
            eigen_solver=solver,
            random_state=seed,
            n_jobs=-1,
        )
        return model.fit_transform(points), None

    return embed


def umap(points, n_components, seed):
    from umap import UMAP

    return UMAP(n_components=n_components, random_state=seed, n_jobs=1).fit_transform(points), None


def pacmap(points, n_components, seed):
    from pacmap import PaCMAP

    return PaCMAP(n_components=n_components, random_state=seed).fit_transform(points), None


def phate(points, n_components, seed):
    from phate import PHATE

    model = PHATE(n_components=n_components, random_state=seed, n_jobs=-1, verbose=0)
    return model.fit_transform(points), None


def pymde(points, n_components, seed):
    import pymde

    pymde.seed(seed)
    problem = pymde.preserve_neighbors(np.ascontiguousarray(points), embedding_dim=n_components)
    return problem.embed().numpy(), None


def dtne(points, n_components, seed):
    from dtne import DTNE

    model = DTNE(n_components=n_components, random_state=seed)
    places = model.fit_transform(X=np.asarray(points, dtype=float))
    # Its distances are squares; among landmarks alone they are of no use here.
    distances = np.sqrt(model.dists) if len(model.dists) == len(points) else None
    return places, distances


def heatgeo(points, n_components, seed):
    from heatgeo.embedding import HeatGeo

    n_pca = 40 if points.shape[1] > 40 else None
    model = HeatGeo(knn=10, n_pca=n_pca, tau="auto", order=30, emb_dim=n_components)
    places = model.fit_transform(np.asarray(points, dtype=float))
    return places, model.dist


def rats(points, n_components, seed):
    import sys
    import types

    # pyLDLE2 imports one function from where hyperspy no longer has it, and does not call it here.
    stand_in = types.ModuleType("hyperspy.learn.rpca")
    stand_in.rpca_godec = None
    for name in ("hyperspy", "hyperspy.learn"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules.setdefault("hyperspy.learn.rpca", stand_in)
    from pyLDLE2.buml_ import BUML

    # By default clusters of up to 25 views of 28 points, more than small sets have.
    views = {"eta_max": min(25, (len(points) - 1) // 28)}
    model = BUML(d=n_components, n_proc=2, intermed_opts=views, global_opts={"color_tear": False})
    return model.fit(X=np.asarray(points, dtype=float)), None


METHODS = {
    "PTU": Method(ptu, "as it comes", True, True),
    "Isomap": Method(isomap, "scikit-learn, 10 neighbours", True, True),
    "ORC Isomap": Method(
        orc_isomap,
        "`benchmarks/orc.py`, 20 neighbours, δ = 0.8, λ = 0.01 as its paper; it is no package",
        True,
        True,
    ),
    "landmark Isomap": Method(
        landmark_isomap, "tapkee, 10 neighbours, a tenth as landmarks", keeps_lengths=True
    ),
    "LTSA": Method(local_method("ltsa"), "scikit-learn, 12 neighbours as in its examples"),
    "HLLE": Method(
        local_method("hessian"),
        "scikit-learn, 12 neighbours as in its examples; its places are those of its LTSA",
    ),
    "RATS": Method(
        rats,
        "pyLDLE2, its authors' package before pyRATS: local PCA, Riemannian descent, tears",
        keeps_lengths=True,
    ),
    "DTNE": Method(dtne, "as it comes: 15 neighbours, box kernel, metric MDS", True),
    "HeatGeo": Method(heatgeo, "its experiments' settings: 10 neighbours, τ chosen", True),
    "PHATE": Method(phate, "as it comes: 5 neighbours, t chosen"),
    "UMAP": Method(umap, "as it comes: 15 neighbours, distance 0.1"),
    "PaCMAP": Method(pacmap, "as it comes: 10 neighbours"),
    "PyMDE": Method(pymde, "`preserve_neighbors` as it comes"),
}
