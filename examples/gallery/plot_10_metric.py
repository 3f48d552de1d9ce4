"""
A metric of one's own
=====================

**You learn** to embed things that have no coordinates, only distances: here tunes, compared by
how they move and not by when.

Each tune is a wave whose pitch and whose warp of time differ. A distance of its own compares
two of them.
"""

import matplotlib.pyplot as plt
import numpy as np

from ptunfold import PTU, show

rng = np.random.default_rng(0)
time = np.linspace(0, 1, 120)
pitch, warp = rng.uniform(0, 1, 400), rng.uniform(-1, 1, 400)
hole = np.hypot(pitch - 0.5, 0.5 * warp) < 0.2
pitch, warp = pitch[~hole], warp[~hole]


def tune(pitch, warp):
    """Return a chirp, its energy moved to and fro in time."""
    envelope = np.exp(-np.square((time - 0.5 - 0.25 * warp) / 0.18))
    return envelope * (1 + pitch)


tunes = np.array([tune(*both) for both in zip(pitch, warp, strict=True)])

# %%
# The energy of one tune has to be carried to where that of the other is: in one dimension this is
# how far their quantiles are apart (Wasserstein's distance). Loudness counts beside it. Any
# function of two rows will do, as long as it is 0 for a row and itself and the same both ways;
# here it gets whole rows.


def distance(one, other):
    """Compare two tunes: where their energy is, and how much."""
    shares = np.linspace(0.02, 0.98, 40)
    quantiles = [np.interp(shares, np.cumsum(x) / x.sum(), time) for x in (one, other)]
    moved = np.sqrt(np.mean(np.square(quantiles[0] - quantiles[1])))
    louder = one.max() - other.max()
    return float(np.hypot(4 * moved, louder))


model = PTU(metric=distance).fit(tunes)
print(f"{len(tunes)} tunes; from Euclidean in the small: {model.non_euclidean_:.3f}")
print(model.transport_)

# %%
# Both ways in which tunes differ come out as the two coordinates, with the hole where there were
# no tunes.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
axes[0].plot(time, tunes[::60].T)
axes[0].set(title="some tunes", xlabel="time")
for ax, color, name in zip(axes[1:], (pitch, warp), ("loudness", "warp of time"), strict=True):
    show.embedding(model, color, ax, s=12)
    ax.set(title=name, xticks=[], yticks=[])

# %%
# Distances that are known already go in as a matrix; new tunes by their distances to the fitted
# ones.

known = np.array([[distance(one, other) for other in tunes[:100]] for one in tunes[:100]])
again = PTU(metric="precomputed").fit(known)
print(again.transform(known[:3]).shape)

# %%
# **Where PTU is not the tool:** a metric that is not Euclidean even in the small, as that of city
# blocks or squared distances, has no tangent planes. ``non_euclidean_`` above 0.1 warns of it.
# And a slow function of two rows is asked some 80 times a point: for millions of things choose
# features instead.
