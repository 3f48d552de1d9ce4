"""
The torsion angles of a molecule
================================

**You learn** to find out in how many ways a thing can move, and along which angles, from its
shapes alone.

A chain of six atoms has fixed bonds and bond angles, and turns around two of its bonds. Its
shapes are simulated here; what PTU sees are coordinates of atoms, put on top of each other by
the first three.
"""

import matplotlib.pyplot as plt
import numpy as np

from ptunfold import PTU, estimate_dimension, show

rng = np.random.default_rng(0)


def chain(torsions):
    """Place atoms one after the other: bonds of length 1.5, angles of 112 degrees, (n_atoms, 3)."""
    atoms = [np.zeros(3), np.array([1.5, 0, 0])]
    bend = np.radians(180 - 112)
    atoms.append(atoms[1] + 1.5 * np.array([np.cos(bend), np.sin(bend), 0]))
    for torsion in torsions:
        before, along = atoms[-2] - atoms[-3], atoms[-1] - atoms[-2]
        along = along / np.linalg.norm(along)
        normal = np.cross(before, along)
        normal /= np.linalg.norm(normal)
        across = np.cross(normal, along)
        atoms.append(
            atoms[-1]
            + 1.5
            * (
                np.cos(bend) * along
                - np.sin(bend) * (np.cos(torsion) * across - np.sin(torsion) * normal)
            )
        )
    return np.array(atoms)


# %%
# Two angles move by Metropolis' rule in a weak potential of three wells; the third stays
# stretched.

angles = np.empty((3000, 2))
now = np.zeros(2)
for step in range(len(angles) * 5):
    new = now + rng.normal(0, 1.2, 2)
    rise = 0.6 * (np.cos(3 * new) - np.cos(3 * now)).sum()
    if rng.random() < np.exp(-rise):
        now = new
    angles[step // 5] = now % (2 * np.pi)
X = np.array([chain((*pair, np.pi))[3:].ravel() for pair in angles])
print(X.shape, "of dimension", estimate_dimension(X).consensus)

# %%
# Two dimensions, closed in both: a torus. PTU cuts it open.

model = PTU(n_components=2, seams="cut").fit(X)
print(model.topology_)
print(model.transport_)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, angle, name in zip(axes, angles.T, ("first", "second"), strict=True):
    show.embedding(model, angle, ax, cmap="twilight", s=5)
    ax.set(title=f"coloured by the {name} torsion angle", xticks=[], yticks=[])

# %%
# **Where PTU is not the tool:** the torus of a molecule is not flat, because atoms farther out
# move more; a picture has to stretch it somewhere, and the colours bend. ``model.distances()``
# are not stretched. If what you want are the slow motions, the time between shapes matters, and
# tICA or Markov models use it; PTU does not.
