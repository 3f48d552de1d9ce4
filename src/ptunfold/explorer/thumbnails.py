"""Small pictures for points that are images."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptunfold.types import FloatArray

_LARGEST_SIDE = 48
_MOST_BYTES = 64 << 20
_PALE = 0.5  # of the range of all images, that most of them do not fill


def thumbnails(images: Any, points: FloatArray) -> Any:
    """Make pictures of at most 48 pixels a side, fewer for very many points.

    ``images`` are (n_points, height, width), perhaps with 3 colours, or a shape if the points are
    their pixels. Returns uint8 (n_points, height, width, channels): the darkest value of all images
    is black, the brightest white, or those of each where most would be pale; bytes stay as they
    are.
    """
    n_points = len(points)
    if isinstance(images, tuple) and all(isinstance(side, int | np.integer) for side in images):
        if np.prod(images) != points.shape[1]:
            raise ValueError(
                f"images of shape {images} have {np.prod(images)} values, but the points have "
                f"{points.shape[1]} features; pass the images themselves"
            )
        images = points.reshape(n_points, *images)
    images = np.asarray(images)
    if images.ndim < 3 or not images.size or images.dtype.kind not in "fiub":
        raise ValueError(
            f"images are {images.dtype} of shape {images.shape}, not ({n_points}, height, width); "
            "pass one image of numbers for each point"
        )
    has_colours = images.ndim == 4 and images.shape[3] == 3
    if len(images) != n_points or not (images.ndim == 3 or has_colours):
        raise ValueError(
            f"images have shape {images.shape}, not ({n_points}, height, width), or with 3 colours "
            "at the end; pass one image for each point"
        )
    pictures = images if has_colours else images[..., None]
    most = np.sqrt(_MOST_BYTES / max(n_points * pictures.shape[3], 1))
    longest = max(pictures.shape[1:3])
    wanted = int(max(min(longest, _LARGEST_SIDE, most), 4))
    for axis in (1, 2):
        size = max(round(pictures.shape[axis] * wanted / longest), 1)
        pictures = _shrink(pictures, axis, min(size, pictures.shape[axis]))
    if images.dtype == np.uint8:
        return np.rint(pictures).astype(np.uint8)
    axes = (1, 2, 3)
    low, high = pictures.min(axes, keepdims=True), pictures.max(axes, keepdims=True)
    if np.median(high - low) >= _PALE * np.ptp(pictures):
        low, high = images.min(), images.max()
    span = np.subtract(high, low, dtype=np.float64)
    share = np.divide(pictures - low, span, out=np.zeros(pictures.shape), where=span > 0)
    return np.rint(255 * share).astype(np.uint8)


def _shrink(pictures: Any, axis: int, size: int) -> Any:
    """Average runs of pixels along an axis until ``size`` are left."""
    length = pictures.shape[axis]
    if size == length:
        return pictures
    bounds = np.linspace(0, length, size + 1).round().astype(int)
    sums = np.add.reduceat(pictures, bounds[:-1], axis=axis, dtype=np.float32)
    shape = [1] * pictures.ndim
    shape[axis] = size
    return sums / np.diff(bounds).reshape(shape)
