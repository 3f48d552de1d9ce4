"""
Blood cells
===========

**You learn** what PTU shows of real single cells, beside what UMAP shows of them.

``pbmc68k_reduced`` is carried by scanpy: 700 cells of blood with principal components, a UMAP
and names of types.
"""

import warnings

import matplotlib.pyplot as plt
import scanpy

import ptunfold.scanpy
from ptunfold import quality, show

with warnings.catch_warnings(action="ignore"):  # of old file formats
    cells = scanpy.datasets.pbmc68k_reduced()
ptunfold.scanpy.ptu(cells, disconnected="largest")
kept = ~cells.to_df().index.duplicated() & (cells.obsm["X_ptu"][:, 0] == cells.obsm["X_ptu"][:, 0])
types = cells.obs["bulk_labels"].to_numpy().astype(str)

figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
for ax, (name, key) in zip(axes, {"UMAP": "X_umap", "PTU": "X_ptu"}.items(), strict=True):
    show.embedding(cells.obsm[key][kept], types[kept], ax, s=12)
    ax.set(title=name, xticks=[], yticks=[])
    if name == "UMAP":
        ax.get_legend().remove()

# %%
# UMAP's picture keeps neighbours together; PTU's keeps distances. Both against distances in the
# space of principal components:

for name, key in {"UMAP": "X_umap", "PTU": "X_ptu"}.items():
    scores = quality(cells.obsm["X_pca"][kept], cells.obsm[key][kept])
    print(
        f"{name}: distances in order {scores.spearman:.2f}, neighbours {scores.trustworthiness:.2f}"
    )

# %%
# **Where PTU is not the tool:** for islands of cell types. ``cells.uns["ptu"]`` tells that
# tangent planes explain only a part of the edges, so this is a careful Isomap here, and the gain
# over one is small.

print({name: round(float(cells.uns["ptu"][name]), 2) for name in ("explained", "coherence")})
