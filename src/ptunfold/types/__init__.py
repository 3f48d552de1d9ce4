"""The records that the stages hand to each other: small, frozen, shapes in their docstrings."""

from __future__ import annotations

from ptunfold.types.answers import Dimension, Embedding, Extrapolation, Path
from ptunfold.types.closing import Atlas, Chart, Orientation, Seam, Topology, Transition
from ptunfold.types.numbers import BoolArray, FloatArray, IntArray, kernel_ready, pair_keys
from ptunfold.types.sheet import (
    Connection,
    Frames,
    Geometry,
    Graph,
    Seen,
    Transport,
    without_edges,
)
from ptunfold.types.space import Points, Space
from ptunfold.types.wanted import LandmarkPlan, Options, Settings

__all__ = [
    "Atlas",
    "BoolArray",
    "Chart",
    "Connection",
    "Dimension",
    "Embedding",
    "Extrapolation",
    "FloatArray",
    "Frames",
    "Geometry",
    "Graph",
    "IntArray",
    "LandmarkPlan",
    "Options",
    "Orientation",
    "Path",
    "Points",
    "Seam",
    "Seen",
    "Settings",
    "Space",
    "Topology",
    "Transition",
    "Transport",
    "kernel_ready",
    "pair_keys",
    "without_edges",
]
