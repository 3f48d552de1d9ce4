"""Every check on what a user passes; each message says what was found and what to do."""

from ptunfold.validation.graphs import check_graph_matrix, check_graph_settings, check_same_size
from ptunfold.validation.points import as_points, check_new_points, check_places, check_points
from ptunfold.validation.settings import (
    check_landmarks,
    check_n_components,
    check_settings,
    check_tangent_sizes,
)
from ptunfold.validation.values import (
    DISCONNECTED,
    GRAPH_KINDS,
    LANDMARKS,
    PRUNES,
    SEARCHES,
    STEPS,
    SURFACES,
    TANGENT_CENTERS,
    TANGENTS,
    check_choice,
    check_count,
    check_index,
    check_n_jobs,
    check_sources,
    n_coefficients,
    plane_neighbors,
)

__all__ = [
    "DISCONNECTED",
    "GRAPH_KINDS",
    "LANDMARKS",
    "PRUNES",
    "SEARCHES",
    "STEPS",
    "SURFACES",
    "TANGENTS",
    "TANGENT_CENTERS",
    "as_points",
    "check_choice",
    "check_count",
    "check_graph_matrix",
    "check_graph_settings",
    "check_index",
    "check_landmarks",
    "check_n_components",
    "check_n_jobs",
    "check_new_points",
    "check_places",
    "check_points",
    "check_same_size",
    "check_settings",
    "check_sources",
    "check_tangent_sizes",
    "n_coefficients",
    "plane_neighbors",
]
