"""
A thing on a turntable
======================

**You learn** what images of one thing that turns look like, and to draw them in their places.

Seventy-two images of 32 × 32 pixels are rendered here, one every five degrees.
"""

import matplotlib.pyplot as plt
import numpy as np

from ptunfold import PTU, show

rng = np.random.default_rng(4)
SIZE, TURNS = 32, np.linspace(0, 2 * np.pi, 72, endpoint=False)
blobs = rng.normal(0, 0.45, (14, 3))
brightness = rng.uniform(0.4, 1, 14)
pixels = np.stack(np.meshgrid(*2 * [np.linspace(-1.5, 1.5, SIZE)]), axis=-1)


def image(turn):
    """Render balls around an axis, those in front brighter, (SIZE, SIZE)."""
    x = blobs[:, 0] * np.cos(turn) + blobs[:, 1] * np.sin(turn)
    depth = blobs[:, 1] * np.cos(turn) - blobs[:, 0] * np.sin(turn)
    off = pixels[..., None, :] - np.column_stack((x, blobs[:, 2]))
    shine = brightness * (1.2 + depth) * np.exp(-np.square(off).sum(axis=-1) / 0.05)
    return shine.max(axis=-1)


images = np.array([image(turn) for turn in TURNS])
X = images.reshape(len(TURNS), -1)

# %%
# In the plane the images form a ring. Five degrees are far for pixels: a warning says that
# tangents explain only a part of the edges, and distances are lengths along the ring.

ring = PTU(n_components=2, intrinsic_dim=1).fit(X)
print(ring.topology_)
ax = show.thumbnails(ring, X, (SIZE, SIZE), size=0.13)
ax.set(xticks=[], yticks=[], title="a ring of images")
ax.figure.set_size_inches(6, 6)

# %%
# In one component the ring is cut open, and the coordinate is the angle, up to where the cut is.

line = PTU(n_components=1, seams="cut").fit(X)
found = line.intrinsic_coordinates_[:, 0]
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(np.degrees(TURNS), found, "o", markersize=4)
ax.set(xlabel="true angle, degrees", ylabel="angle along the ring")
steps = np.diff(np.unwrap(found, period=2 * np.pi))
print("in order all around:", bool((steps > 0).all() or (steps < 0).all()))

# %%
# **Where PTU is not the tool:** images know distances of pixels, not of angles: where the thing
# looks alike from many sides the ring runs slower. A thing that looks the same from the front and
# the back closes after half a turn. With several things on the table the pictures fall into
# pieces, one ring each; pass ``disconnected="separate"`` then.
