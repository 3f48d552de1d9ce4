"""How far the picture can be trusted, point by point."""

from ptunfold.diagnostics.scores import disagreement, local_distortion, point_scores

__all__ = ["disagreement", "local_distortion", "point_scores"]
