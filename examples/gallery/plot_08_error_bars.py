"""
Error bars
==========

**You learn** how sure single distances and places are, and whether the bars can be believed.

A swiss roll, whose true distances are known, with noise in all directions.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from ptunfold import PTU
from ptunfold.datasets import swiss_roll

data = swiss_roll(1500)
X = data.points + np.random.default_rng(0).normal(0, 0.2, data.points.shape)
model = PTU().fit(X)
print(model.texture_, "-", model.transport_)

sources = np.arange(0, len(X), 30)
distances, std = model.distances(sources, return_std=True)
true = data.distances(sources)

# %%
# Bars grow where tangent planes are unsure. Errors, in units of their bar:

others = true > 0
units = np.abs(distances - true)[others] / std[others]
print(f"within one bar {np.mean(units < 1):.0%}, within two {np.mean(units < 2):.0%}")

figure, left = plt.subplots(figsize=(7, 3.6), layout="constrained")
some = np.flatnonzero(others[0])[::12]
left.errorbar(
    true[0, some],
    distances[0, some] - true[0, some],
    2 * std[0, some],
    fmt=".",
    color="#0072b2",
    alpha=0.7,
)
left.axhline(0, color="0.4", linewidth=0.8)
left.set(xlabel="true distance", ylabel="error, with two bars")

# %%
# Places have ellipses: ``embedding_std_`` has a matrix for each point. Here they are drawn ten
# times as large.

figure, right = plt.subplots(figsize=(9, 3), layout="constrained")
right.scatter(*model.embedding_.T, s=2, color="0.75")
for point in range(0, len(X), 25):
    sizes, axes = np.linalg.eigh(model.embedding_std_[point])
    angle = np.degrees(np.arctan2(*axes[::-1, 1]))
    right.add_patch(
        Ellipse(
            model.embedding_[point],
            *(20 * sizes[::-1]),
            angle=angle,
            fill=False,
            color="#d55e00",
        )
    )
right.set(aspect="equal", title="one standard deviation, × 10", xticks=[], yticks=[])

# %%
# **Where PTU is not the tool:** bars tell what noise and few points do to a sheet that is there.
# They do not tell whether there is one: where ``transport_`` says that planes explain little,
# bars are guesses too.
