"""What can be said about a fit, point by point: how far to trust it, and the shape of the sheet."""

from ptunfold.diagnostics.rim import rim_points
from ptunfold.diagnostics.scores import coherence, disagreement, local_distortion, point_scores
from ptunfold.diagnostics.stretch import Stretch, stretch

__all__ = [
    "Stretch",
    "coherence",
    "disagreement",
    "local_distortion",
    "point_scores",
    "rim_points",
    "stretch",
]
