"""Figures of data, embeddings and what lies between them; needs matplotlib."""

from ptunfold.show.plots import (
    data,
    embedding,
    error,
    path,
    residual_variance,
    shepard,
    spectrum,
    thumbnails,
)

__all__ = [
    "data",
    "embedding",
    "error",
    "path",
    "residual_variance",
    "shepard",
    "spectrum",
    "thumbnails",
]
