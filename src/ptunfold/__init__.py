"""Parallel Transport Unfolding: manifold learning that stays true on data with holes."""

from ptunfold.distances import geodesic_distances
from ptunfold.embedding.classical import classical_mds
from ptunfold.embedding.landmarks import landmark_mds
from ptunfold.embedding.variants import additive_constant, additive_mds, stress_mds
from ptunfold.estimator import PTU
from ptunfold.geodesics.distances import graph_distances, transport_distances
from ptunfold.geodesics.paths import unfold_path
from ptunfold.geometry.coherence import with_coherence
from ptunfold.geometry.connection import connect
from ptunfold.geometry.dimension import estimate_dimension
from ptunfold.geometry.frames import estimate_frames
from ptunfold.geometry.graph import build_graph, graph_from_matrix
from ptunfold.geometry.orientation import orient
from ptunfold.geometry.shortcuts import find_shortcuts
from ptunfold.geometry.widening import widen_graph
from ptunfold.types import (
    Connection,
    Dimension,
    Embedding,
    Frames,
    Graph,
    Orientation,
    Path,
    Placement,
    Transport,
)

__version__ = "0.1.0"

__all__ = [
    "PTU",
    "Connection",
    "Dimension",
    "Embedding",
    "Frames",
    "Graph",
    "Orientation",
    "Path",
    "Placement",
    "Transport",
    "additive_constant",
    "additive_mds",
    "build_graph",
    "classical_mds",
    "connect",
    "estimate_dimension",
    "estimate_frames",
    "find_shortcuts",
    "geodesic_distances",
    "graph_distances",
    "graph_from_matrix",
    "landmark_mds",
    "orient",
    "stress_mds",
    "transport_distances",
    "unfold_path",
    "widen_graph",
    "with_coherence",
]
