"""
New points, and the way back
============================

**You learn** to place points that were not fitted, to see which of them lie outside, and to
walk from the picture back into the data: here, to make images that nobody drew.

The data are images of a letter, turned and resized.
"""

import matplotlib.pyplot as plt
import numpy as np

from ptunfold import PTU
from ptunfold.datasets import letter_a

data = letter_a(600, size=32)
fitted, new = data.points[:500], data.points[500:]
model = PTU(n_components=2).fit(fitted)

places, info = model.transform(new, return_info=True)
print(f"{info.is_outside.sum()} of {len(new)} new images lie outside")
noise = np.random.default_rng(0).random(new[:1].shape)
print("noise lies outside:", bool(model.transform(noise, return_info=True)[1].is_outside[0]))

# %%
# A fitted point gets its own coordinates, and no point depends on what else is passed:

print(np.abs(model.transform(fitted[:3]) - model.embedding_[:3]).max())
print(np.array_equal(model.transform(new[:1]), places[:1]))

# %%
# A straight walk in the picture from one image to another, and what is on the way. Each image is
# made by the tangent frames of the nearest fitted points.

turn = data.parameters[:500, 0]
start, end = np.argmin(turn), np.argmax(turn)
walk = np.linspace(model.embedding_[start], model.embedding_[end], 8)
back, _ = model.inverse_transform(walk, return_info=True)

figure = plt.figure(figsize=(10, 5.2), layout="constrained")
grid = figure.add_gridspec(2, 8, height_ratios=[2.6, 1])
ax = figure.add_subplot(grid[0, :])
ax.scatter(*model.embedding_.T, c=turn, s=8)
ax.plot(*places.T, "x", color="#d55e00", markersize=4, label="new")
ax.plot(*walk.T, "o-", color="k", label="the walk")
ax.set(aspect="equal", xticks=[], yticks=[])
ax.legend(loc="upper right")
for column, picture in enumerate(back):
    ax = figure.add_subplot(grid[1, column])
    ax.imshow(picture.reshape(data.shape), cmap="gray_r", vmin=0, vmax=1)
    ax.set_axis_off()

# %%
# **Where PTU is not the tool:** between points that are far from each other the way back is a
# blend. For images of a quality that one shows around, train a generative model. And where a walk
# crosses a hole, ``info.is_outside`` says that nothing was ever seen there.
