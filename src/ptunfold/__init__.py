"""Parallel Transport Unfolding: manifold learning that stays true on data with holes."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptunfold.diagnostics.curvedness import Curvature
    from ptunfold.diagnostics.stretch import Stretch
    from ptunfold.diagnostics.voids import Void
    from ptunfold.embedding.classical import classical_mds
    from ptunfold.embedding.landmark_scaling import landmark_mds
    from ptunfold.embedding.quality import Quality, quality
    from ptunfold.embedding.stress import stress_mds
    from ptunfold.engines import Disk
    from ptunfold.estimator import PTU
    from ptunfold.explorer.page import Page
    from ptunfold.geodesic import geodesic_distances
    from ptunfold.geodesics.distances import graph_distances, transport_distances
    from ptunfold.geodesics.paths import unfold_path
    from ptunfold.geometry.coherence import with_coherence
    from ptunfold.geometry.connection import connect
    from ptunfold.geometry.dimension import estimate_dimension
    from ptunfold.geometry.frames import estimate_frames
    from ptunfold.geometry.graph import build_graph, graph_from_matrix
    from ptunfold.geometry.orientation import orient
    from ptunfold.geometry.shortcuts import find_shortcuts
    from ptunfold.geometry.spaces import metric_space
    from ptunfold.geometry.widening import widen_graph
    from ptunfold.report.findings import Report
    from ptunfold.types import (
        Atlas,
        Chart,
        Connection,
        Dimension,
        Embedding,
        Extrapolation,
        Frames,
        Graph,
        Orientation,
        Path,
        Seam,
        Topology,
        Transition,
        Transport,
    )

__version__ = "1.0.0rc1"

__all__ = [
    "PTU",
    "Atlas",
    "Chart",
    "Connection",
    "Curvature",
    "Dimension",
    "Disk",
    "Embedding",
    "Extrapolation",
    "Frames",
    "Graph",
    "Orientation",
    "Page",
    "Path",
    "Quality",
    "Report",
    "Seam",
    "Stretch",
    "Topology",
    "Transition",
    "Transport",
    "Void",
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
    "metric_space",
    "orient",
    "quality",
    "stress_mds",
    "transport_distances",
    "unfold_path",
    "widen_graph",
    "with_coherence",
]

# Loaded when they are asked for: they take seconds, and the command has to listen before.
_PLACES = {
    "diagnostics.curvedness": ("Curvature",),
    "diagnostics.stretch": ("Stretch",),
    "diagnostics.voids": ("Void",),
    "geodesic": ("geodesic_distances",),
    "embedding.classical": ("classical_mds",),
    "embedding.landmark_scaling": ("landmark_mds",),
    "embedding.quality": ("Quality", "quality"),
    "embedding.stress": ("stress_mds",),
    "engines": ("Disk",),
    "estimator": ("PTU",),
    "explorer.page": ("Page",),
    "geodesics.distances": ("graph_distances", "transport_distances"),
    "geodesics.paths": ("unfold_path",),
    "geometry.coherence": ("with_coherence",),
    "geometry.connection": ("connect",),
    "geometry.dimension": ("estimate_dimension",),
    "geometry.frames": ("estimate_frames",),
    "geometry.graph": ("build_graph", "graph_from_matrix"),
    "geometry.orientation": ("orient",),
    "geometry.shortcuts": ("find_shortcuts",),
    "geometry.spaces": ("metric_space",),
    "geometry.widening": ("widen_graph",),
    "report.findings": ("Report",),
}
_MODULE_OF = dict.fromkeys(__all__, "types") | {
    name: module for module, names in _PLACES.items() for name in names
}


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
