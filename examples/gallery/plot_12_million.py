"""
A million points
================

**You learn** how far a laptop goes, and how to go on from there: landmarks, and new points in
parts.

Points of a roll with a hole, in 32 bits. To keep this page quick it fits 100 000 points and
places a million more; a fit of a million itself takes about a minute on two cores (set
``FITTED`` and see).
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from ptunfold import PTU
from ptunfold.datasets import swiss_roll

FITTED, PLACED = 100_000, 1_000_000

data = swiss_roll(FITTED, hole=0.4, seed=1)
start = time.perf_counter()
model = PTU(landmarks=50).fit(data.points.astype(np.float32))
print(f"{FITTED:,} points fitted in {time.perf_counter() - start:.0f} s")

# %%
# New points are placed one by one, so they may come in parts of any size, from files or from a
# cluster.

more = swiss_roll(PLACED, hole=0.4, seed=2)
start = time.perf_counter()
places = np.concatenate(
    [model.transform(part.astype(np.float32)) for part in np.array_split(more.points, 10)]
)
print(f"{PLACED:,} points placed in {time.perf_counter() - start:.1f} s")

# %%
# True coordinates are known: move the picture onto them, and see what is left.

centre = more.coordinates.mean(axis=0)
left, _, right = np.linalg.svd((places - places.mean(axis=0)).T @ (more.coordinates - centre))
moved = (places - places.mean(axis=0)) @ left @ right + centre
off = np.linalg.norm(moved - more.coordinates, axis=1) / np.ptp(more.coordinates, axis=0).max()
print(f"off by {np.sqrt(np.mean(np.square(off))):.0e} of the sheet")

figure, ax = plt.subplots(figsize=(9, 3), layout="constrained")
drawn = ax.hexbin(*moved.T, gridsize=150, bins="log", cmap="viridis")
ax.set(aspect="equal", title="a million points", xticks=[], yticks=[])

# %%
# **Where PTU is not the tool:** landmarks measure distances along sheets. Ten million cells of
# many types, of which one wants islands, are a task for UMAP on a GPU. And all distances between
# so many points fit nowhere.
