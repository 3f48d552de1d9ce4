"""Points as a metric sees them: coordinates where it is Euclidean, else a space of distances."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from ptunfold.geometry.given import Matrix
from ptunfold.geometry.known import Known
from ptunfold.geometry.measured import Called, Evaluated, Measure
from ptunfold.types import Points
from ptunfold.validation.matrices import as_euclidean, check_distance_matrix, check_metric
from ptunfold.validation.points import check_points

# Neighbourhoods have at least so many others; a callable is asked for all distances of points that
# are so few that these ask for as many.
_LEAST_NEIGHBORS = 15


def metric_space(X: Any, metric: Any = "euclidean") -> Points:
    """Take points by their distances, for the stages of the method.

    What it returns goes wherever points do: to :func:`build_graph`, :func:`estimate_frames`,
    :func:`connect`, :func:`widen_graph` and :func:`estimate_dimension`.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features) or (n_points, n_points)
        The points or, with ``metric="precomputed"``, their distances.
    metric : str or callable
        As in :class:`ptunfold.PTU`.

    Returns
    -------
    points : Space or array
        The points; an array where the metric is that of a Euclidean space.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import build_graph, connect, estimate_frames, metric_space
    >>> places = np.random.default_rng(0).uniform(0, 1, (100, 2))  # latitudes and longitudes
    >>> space = metric_space(places, "haversine")
    >>> graph = build_graph(space)
    >>> connection = connect(space, graph, estimate_frames(space, graph))
    >>> connection.steps.shape[1]
    2
    """
    return taken(X if _is_precomputed(metric) else check_points(X), metric)


def _is_precomputed(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def taken(X: Any, metric: Any) -> Points:
    """Do what `metric_space` does, for points that are checked, or a matrix that is not."""
    metric = check_metric(metric)
    if _is_precomputed(metric):
        matrix = check_distance_matrix(X)
        return Known(matrix) if sparse.issparse(matrix) else Matrix(matrix)
    if callable(metric):
        called = Called(X, metric)
        # As many as neighbourhoods need anyway.
        return called if len(X) > 2 * _LEAST_NEIGHBORS**2 else called.whole()
    mapped = as_euclidean(X, metric)
    return Evaluated(X, Measure(metric, X)) if mapped is None else mapped
