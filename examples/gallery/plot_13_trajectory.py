"""
Cells that become something
===========================

**You learn** to call PTU as a tool of scanpy, and to measure along a branching trajectory.

``krumsiek11`` is a simulation of blood cells that scanpy carries: 640 cells of 11 genes, from
one progenitor to four fates.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import scanpy

import ptunfold.scanpy
from ptunfold import PTU, show

with warnings.catch_warnings(action="ignore"):  # of old file formats
    cells = scanpy.datasets.krumsiek11()
scanpy.pp.neighbors(cells, n_neighbors=10, method="gauss")
ptunfold.scanpy.ptu(cells)
print(cells.obsm["X_ptu"].shape, cells.uns["ptu"]["texture"])

# %%
# Distances from the first cell along the data, as a clock of the cells; and the picture by their
# types.

model = PTU().fit(np.asarray(cells.X))
clock = model.distances([0])[0]
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
show.embedding(cells.obsm["X_ptu"], cells.obs["cell_type"].to_numpy().astype(str), axes[0], s=10)
axes[0].set(title="by type", xticks=[], yticks=[])
drawn = axes[1].scatter(*cells.obsm["X_ptu"].T, c=clock, s=10)
axes[1].set(title="distance from the first cell", xticks=[], yticks=[], aspect="equal")
figure.colorbar(drawn, ax=axes[1])

# %%
# How far to believe it:

report = model.diagnose()
for line in ("transport", "sure", "neighbours", "advice"):
    print(f"{line:10} {report.lines[line]}")

# %%
# **Where PTU is not the tool:** branches of a tree are curves, and where they part there is no
# tangent plane. The report says so. To draw trees, PAGA or PHATE are made; for real counts remove
# what is technical first.
