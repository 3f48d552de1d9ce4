"""
A hole in the data
==================

**You learn** what PTU does that Isomap does not: distances around a hole.

A sheet is bent to an S and has a hole in its middle. Shortest paths in a graph have to go
around the hole, so Isomap takes the ends of the sheet for farther apart than they are, and
blows the hole up.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import Isomap

from ptunfold import PTU, show
from ptunfold.datasets import s_with_hole

data = s_with_hole(2000)
model = PTU(n_components=2).fit(data.points)
isomap = Isomap(n_neighbors=10, n_components=2).fit(data.points)

# %%
# The true coordinates are known, so each point can be coloured by its error, on the same scale.

figure = plt.figure(figsize=(10, 5.4), layout="constrained")
grid = figure.add_gridspec(2, 2, width_ratios=[1, 2])
space = show.data(data.points, data.color, figure.add_subplot(grid[:, 0], projection="3d"))
space.set(title="the data", xticks=[], yticks=[], zticks=[])
for row, (name, places) in enumerate(
    {"PTU": model.embedding_, "Isomap": isomap.embedding_}.items()
):
    ax = show.error(places, data.coordinates, figure.add_subplot(grid[row, 1]), largest=0.1)
    ax.set(title=name, xticks=[], yticks=[])

# %%
# In numbers, over all pairs of points:

true = data.distances()
pairs = true > 0
for name, distances in {"PTU": model.distances(), "Isomap": isomap.dist_matrix_}.items():
    print(f"{name:7} {np.mean(np.abs(distances / np.where(pairs, true, 1) - 1)[pairs]):.3%} off")

# %%
# One path around the hole, unfolded: the straight line crosses the hole, and its length is the
# distance.

left, right = (
    np.argmin(np.abs(data.coordinates - [along, 1]).sum(axis=1)) for along in (-2.5, 2.5)
)
ax = show.path(model, left, right)
ax.figure.set_size_inches(8, 3)

# %%
# **Where PTU is not the tool:** on a sheet without holes, convex and densely sampled, Isomap's
# distances are nearly as good. And a hole that is really there, a pillar that one has to walk
# around, asks for the way around it: that is ``PTU(coherence=0)``, or Isomap.
