"""
Curvature and voids
===================

**You learn** to ask a fit about the shape of the data: where they are curved, where a hole is,
where to sample next.

Two hills, with a round hole cut out of one flank.
"""

import matplotlib.pyplot as plt
import numpy as np

from ptunfold import PTU, show
from ptunfold.datasets import two_hills

X = two_hills(3000).points
X = X[np.hypot(X[:, 0] + 1, X[:, 1] - 1) > 0.4]
model = PTU().fit(X)

curvature = model.curvature()
(void,) = model.voids()
print(curvature)
print(void)

# %%
# Curvature is positive on the hills, as on a ball, and negative around their feet, as on a
# saddle. Crosses are places where new samples would tell whether the hole is real: on the surface
# that is missing there.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
limit = np.quantile(np.abs(curvature.values), 0.97)
show.embedding(model, curvature.values, left, cmap="RdBu_r", vmin=-limit, vmax=limit, s=7)
places = model.transform(void.samples, return_info=True)[0]
left.plot(*places.T, "kx", markersize=5)
left.set(title="curvature, and where to sample")
stretch = model.stretch()
drawn = right.scatter(*model.embedding_.T, c=np.abs(np.log(stretch.area)), s=7, cmap="cividis")
right.set(title="what the flat map does to areas", aspect="equal")
figure.colorbar(drawn, ax=right, label="|log of the change of areas|")

# %%
# The same on a dozen lines, with advice:

print(model.diagnose())

# %%
# **Where PTU is not the tool:** curvature is a second derivative. With few points or much noise
# its standard errors (``curvature.std``) are larger than itself, and holes are found on surfaces
# only, not in three dimensions.
