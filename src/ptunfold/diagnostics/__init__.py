"""What can be said about a fit, point by point: how far to trust it, and the shape of the sheet."""

# Functions that are called as their modules are imported from these.
from ptunfold.diagnostics.scores import coherence, disagreement, local_distortion, point_scores

__all__ = [
    "coherence",
    "disagreement",
    "local_distortion",
    "point_scores",
]
