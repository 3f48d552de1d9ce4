"""Every check on what a user passes; each message says what was found and what to do."""

from ptunfold.validation.graphs import check_graph_matrix, check_graph_settings
from ptunfold.validation.matrices import is_euclidean
from ptunfold.validation.parameters import check_parameters
from ptunfold.validation.points import (
    as_points,
    check_new_points,
    check_places,
    check_points,
    refuse_mask,
)
from ptunfold.validation.records import (
    check_connection,
    check_coordinates,
    check_frames,
    check_geometry,
    check_graph,
    check_indices,
    check_lengths,
    check_numbers,
    check_same_size,
    is_known_good,
    known_good,
)
from ptunfold.validation.settings import (
    check_landmarks,
    check_n_components,
    check_options,
    check_tangent_sizes,
)
from ptunfold.validation.shapes import check_squares
from ptunfold.validation.values import (
    DISCONNECTED,
    GRAPH_KINDS,
    LANDMARK_SELECTIONS,
    MDS,
    PRUNES,
    SEAMS,
    SEARCHES,
    STEPS,
    SURFACES,
    TANGENTS,
    check_choice,
    check_coherence,
    check_count,
    check_flag,
    check_index,
    check_is_fitted,
    check_n_jobs,
    check_sources,
    check_verbose,
    n_coefficients,
    plane_neighbors,
)
