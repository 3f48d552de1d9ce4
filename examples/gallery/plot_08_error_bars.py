"""
Error bars
==========

**You learn** how sure single distances and places are, and whether the bars can be believed.

A swiss roll with noise of 1 % of its box, whose true distances are known.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from ptunfold import PTU
from ptunfold.datasets import swiss_roll

data = swiss_roll(1500, noise=0.01)
model = PTU().fit(data.points)
print(model.texture_, "-", model.transport_)

source = 7
distances, std = (rows[0] for rows in model.distances([source], return_std=True))
true = data.distances([source])[0]

# %%
# Bars grow with the length of the way, and where tangent planes are unsure. Errors, in units of
# their bar:

others = np.arange(len(true)) != source
units = (distances - true)[others] / std[others]
print(
    f"within one bar {np.mean(np.abs(units) < 1):.0%}, within two {np.mean(np.abs(units) < 2):.0%}"
)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
some = np.flatnonzero(others)[::12]
left.errorbar(
    true[some], distances[some] - true[some], 2 * std[some], fmt=".", color="#0072b2", alpha=0.7
)
left.axhline(0, color="0.4", linewidth=0.8)
left.set(xlabel="true distance", ylabel="error, with two bars")

# %%
# Places have ellipses: ``embedding_std_`` has a matrix for each point. Here they are drawn ten
# times as large.

right.scatter(*model.embedding_.T, s=2, color="0.75")
for point in range(0, len(true), 25):
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
