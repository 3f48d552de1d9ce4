"""
Handwritten digits
==================

**You learn** what PTU makes of images that lie on no sheet, how it says so, and how that
compares with a picture that is made for clusters.

scikit-learn carries 1797 images of 8 × 8 pixels.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.manifold import Isomap
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from ptunfold import PTU, show

X, label = load_digits(return_X_y=True)
model = PTU().fit(X)
print(model.texture_, "-", model.transport_)

# %%
# Tangent planes explain little, so nothing is unfolded that cannot be: distances are lengths
# along a graph, as Isomap's, and the picture is relaxed where classical scaling would lay things
# on top of each other.

isomap = Isomap(n_neighbors=5).fit(X)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
for ax, (name, places) in zip(
    axes, {"Isomap": isomap.embedding_, "PTU": model.embedding_}.items(), strict=True
):
    show.embedding(places, label.astype(str), ax, s=7)
    score = cross_val_score(KNeighborsClassifier(10), places, label).mean()
    ax.set(title=f"{name}: ten neighbours name {score:.0%}", xticks=[], yticks=[])
    if name == "Isomap":
        ax.get_legend().remove()

# %%
# One digit alone is nearer to a sheet. Zeros, with some images in their places:

zeros = X[label == 0]
ax = show.thumbnails(PTU().fit(zeros), zeros, (8, 8), size=0.09, cmap="gray_r")
ax.set(xticks=[], yticks=[])
ax.figure.set_size_inches(6, 6)

# %%
# **Where PTU is not the tool:** to see ten clusters. UMAP and t-SNE pull them apart on purpose,
# and ten neighbours in their pictures name 98 or 99 of 100 digits.
