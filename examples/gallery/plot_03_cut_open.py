"""
A cylinder and a torus, cut open
================================

**You learn** what happens to data that close upon themselves: they are cut, the periods are
told, and what was cut stays together where it matters.
"""

import matplotlib.pyplot as plt
import numpy as np

from ptunfold import PTU, show
from ptunfold.datasets import flat_torus

rng = np.random.default_rng(0)
angle, height = rng.uniform(0, 2 * np.pi, 1500), rng.uniform(0, 3, 1500)
cylinder = PTU(seams="cut").fit(np.column_stack((np.cos(angle), np.sin(angle), height)))
torus = PTU(seams="cut").fit(flat_torus(2000).points)  # two circles, in four dimensions

print(cylinder.topology_)
print(torus.topology_)

# %%
# The embedding is one tile of a pattern; pale copies show how it goes on. Borders with rings of
# one colour belong together.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for ax, model, name in zip(axes, (cylinder, torus), ("a cylinder", "a torus"), strict=True):
    show.tile(model, model.intrinsic_coordinates_[:, 0], ax, cmap="twilight")
    ax.set(title=name, xticks=[], yticks=[])

# %%
# Coordinates along the sheet come as angles. Up to where they start, and in which direction they
# run, they are those the points were made with:

found = cylinder.intrinsic_coordinates_[:, 0]
turn = max(np.abs(np.exp(1j * (found - angle)).mean()), np.abs(np.exp(1j * (found + angle)).mean()))
print(f"agreement with the true angle: {turn:.5f}")

# %%
# Distances go across the seam, the short way:

one, other = cylinder.topology_.seams[0].edges[0]
print(f"across the seam {cylinder.distances([one])[0, other]:.2f}")
print(f"in the picture {np.linalg.norm(np.subtract(*cylinder.embedding_[[one, other]])):.2f}")

# %%
# **Where PTU is not the tool:** a sphere has no loop to cut. ``distances()`` are right all the
# same, and ``atlas()`` shows it in parts; but no single flat picture of it is any good, by
# whatever method.
