"""Single cells, as the tools of scanpy are called."""

import anndata
import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

import ptunfold.scanpy
from ptunfold import PTU
from ptunfold.datasets import s_with_hole

S = s_with_hole(400)
STRAIGHT = cdist(S.points, S.points)


def test_cells_as_scanpy_has_them():
    graph = kneighbors_graph(S.points, 15, mode="distance")
    about = {"distances_key": "near", "params": {"metric": "euclidean", "n_neighbors": 15}}
    cells = anndata.AnnData(np.zeros((400, 60)), obsm={"X_pca": S.points}, obsp={"near": graph})
    cells.uns["mine"] = about
    made = ptunfold.scanpy.ptu(cells, neighbors_key="mine", copy=True)
    assert "X_ptu" not in cells.obsm
    expected = PTU().fit(S.points, graph=graph).embedding_
    np.testing.assert_array_equal(made.obsm["X_ptu"], expected)
    assert made.uns["ptu"]["params"]["n_components"] == 2
    assert ptunfold.scanpy.ptu(cells, use_rep="X_pca", key_added="own") is None
    np.testing.assert_array_equal(cells.obsm["own"], PTU().fit(S.points).embedding_)
    with pytest.raises(ValueError, match=r'adata.uns has no neighbours at "none"; run scanpy'):
        ptunfold.scanpy.ptu(cells, neighbors_key="none")
    with pytest.raises(ValueError, match=r'adata.obsm has no "X_umap"; pass use_rep as one of X, '):
        ptunfold.scanpy.ptu(cells, use_rep="X_umap")
    with pytest.raises(TypeError, match="takes an AnnData, not ndarray"):
        ptunfold.scanpy.ptu(S.points)


def test_cells_whose_neighbours_are_not_wanted():
    graph = kneighbors_graph(S.points, 14, mode="distance")
    cells = anndata.AnnData(np.zeros((400, 60)), obsm={"X_pca": S.points})
    cells.obsp["distances"] = graph
    cells.uns["neighbors"] = {"params": {"metric": "euclidean", "n_neighbors": 15}}
    for asked in ({"n_neighbors": 20}, {"graph": "mutual"}, {"graph": "radius", "radius": 0.9}):
        made = ptunfold.scanpy.ptu(cells, copy=True, **asked)
        np.testing.assert_array_equal(
            made.obsm["X_ptu"], PTU(**asked).fit(S.points).embedding_, err_msg=str(asked)
        )
    cells.uns["mine"] = {"params": {"n_neighbors": 15}}
    with pytest.raises(ValueError, match="n_neighbors asks for another graph than the neighbours"):
        ptunfold.scanpy.ptu(cells, neighbors_key="mine", n_neighbors=20)
    some = cells[::2].copy()
    with pytest.warns(UserWarning, match="of scanpy.pp.neighbors are gone, as after cells were le"):
        ptunfold.scanpy.ptu(some)
    expected = PTU().fit(S.points[::2]).embedding_
    np.testing.assert_array_equal(some.obsm["X_ptu"], expected)


def test_cells_with_distances_alone(tmp_path):
    cells = anndata.AnnData(obs={"number": np.arange(400)})
    cells.obsp["distances"] = sparse.csr_matrix(STRAIGHT)
    with pytest.raises(ValueError, match="neither principal components nor neighbours"):
        ptunfold.scanpy.ptu(cells)
    cells.uns["neighbors"] = {"distances_key": "distances", "params": {"metric": "euclidean"}}
    ptunfold.scanpy.ptu(cells)
    assert cells.uns["ptu"]["params"]["metric"] == "precomputed"
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(again.obsm["X_ptu"], cells.obsm["X_ptu"])
