"""
A ring of neurons
=================

**You learn** to find a hidden angle in activity that was recorded from many cells, without
knowing any cell's tuning.

Sixty simulated cells code the direction of a head: each fires around a direction of its own,
with Poisson noise. The animal looks around at random.
"""

import matplotlib.pyplot as plt
import numpy as np

from ptunfold import PTU, show

rng = np.random.default_rng(0)
direction = np.cumsum(rng.normal(0, 0.3, 1500)) % (2 * np.pi)
preferred = rng.uniform(0, 2 * np.pi, 60)
rates = rng.uniform(20, 60, 60) * np.exp(3 * (np.cos(direction[:, None] - preferred) - 1))
counts = rng.poisson(rates)
X = np.sqrt(counts)  # which makes the noise of large and small counts alike

# %%
# In two components there is room for the ring, and it stays one.

model = PTU(n_components=2, intrinsic_dim=1).fit(X)
print(model.texture_, "-", model.transport_)
ax = show.embedding(model, direction, cmap="twilight", s=12)
ax.set(title="coloured by the true direction", xticks=[], yticks=[])

# %%
# The angle around the ring is the direction, up to where it starts and which way it runs.

decoded = np.arctan2(*(model.embedding_ - model.embedding_.mean(axis=0)).T)
fits = [np.exp(1j * (direction - sign * decoded)) for sign in (1, -1)]
fit = max(fits, key=lambda one: np.abs(one.mean()))
error = np.degrees(np.abs(np.angle(fit / fit.mean())))
print(f"the direction is found to {np.median(error):.1f} degrees (median)")

sign = 1 if fit is fits[0] else -1
turned = (sign * decoded + np.angle(fit.mean())) % (2 * np.pi)
figure, ax = plt.subplots(figsize=(8, 2.8), layout="constrained")
ax.plot(direction[:300], ".", label="true", color="0.6")
ax.plot(turned[:300], ".", markersize=3, label="decoded", color="#d55e00")
ax.set(xlabel="time", ylabel="direction", yticks=[0, np.pi, 2 * np.pi])
ax.set_yticklabels(["0", "π", "2π"])
ax.legend(loc="upper right")

# %%
# **Where PTU is not the tool:** a ring in the plane has room for itself, and Isomap finds it as
# well. PTU finds by itself that the counts are noisy, and moves them to a curve first; where
# cells are few or silent there is no curve to be found. Where the tuning of some cells is known,
# a decoder that uses it is better than any picture.
