"""Scaling that compares distances, where classical scaling compares inner products."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import svd_flip

from ptunfold.caller import warn
from ptunfold.embedding.classical import as_distances, classical_mds
from ptunfold.progress import stage
from ptunfold.threads import Run
from ptunfold.types import Embedding, FloatArray

_MOST_ROUNDS = 500
_SETTLED = 1e-6  # of the size of the embedding, for a round


def stress_mds(
    distances: FloatArray,
    n_components: int = 2,
    *,
    weights: FloatArray | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Embedding:
    """Find coordinates whose distances differ least from the given ones, by majorisation (SMACOF).

    Classical scaling compares inner products, in which long distances count most. Stress compares
    the distances themselves, and can trust some more than others. It takes a few n × n arrays and
    some hundred passes over them: it is meant for a few thousand points.

    Parameters
    ----------
    distances : (n_points, n_points)
        Finite. Of two one-way distances the mean is used.
    n_components : int
        The number of coordinates.
    weights : (n_points, n_points), optional
        How much each distance counts; not negative. Equal by default.
    n_jobs : int, optional
        Number of threads that look for a start, as in :class:`ptunfold.PTU`.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    embedding : Embedding
        Centred coordinates along their principal axes, and their sums of squares.

    Examples
    --------
    One distance is wrong, and known to be:

    >>> import numpy as np
    >>> from scipy.spatial.distance import cdist
    >>> from ptunfold import classical_mds, stress_mds
    >>> points = np.random.default_rng(0).random((100, 2))
    >>> distances = cdist(points, points)
    >>> weights = np.ones((100, 100))
    >>> distances[0, 1] = distances[1, 0] = 3
    >>> weights[0, 1] = weights[1, 0] = 1e-6
    >>> for embedding in (classical_mds(distances), stress_mds(distances, weights=weights)):
    ...     found = cdist(embedding.coordinates, embedding.coordinates)
    ...     print(np.abs(found - cdist(points, points)).max().round(3))
    0.726
    0.0
    """
    distances = as_distances(distances, n_components)
    exact = 0.5 * (distances + distances.T).astype(np.float64)
    solve = _mean_pull if weights is None else weighted_pull(weights, len(exact))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Dimensions that classical scaling does not see start a little off zero.
        places = off_zero(classical_mds(exact, n_components, n_jobs=n_jobs).coordinates)
    with stage("embedding", None, "passes", verbose) as bar:
        places = majorize(exact, places, weights, solve, bar.update)
    left, values, _ = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)
    coordinates = svd_flip(left, None)[0] * values
    return Embedding(coordinates.astype(distances.dtype, copy=False), values**2)


def majorize(
    exact: FloatArray,
    places: FloatArray,
    weights: FloatArray | None = None,
    solve: Callable[[FloatArray], FloatArray] | None = None,
    tell: Callable[[int], object] = lambda _: None,
    *,
    settled: float = _SETTLED,
) -> FloatArray:
    """Move points until they rest where the stress is least.

    ``exact`` is symmetric; ``solve`` turns pulls into places, and belongs to ``weights``; ``tell``
    is told of every round. A round counts as rest if it leads no farther than ``settled`` times the
    size of the picture.
    """
    solve = _mean_pull if solve is None else solve
    size, ahead, speed = np.linalg.norm(places), places, 1.0
    for _ in range(_MOST_ROUNDS):
        found = cdist(ahead, ahead)
        ratios = np.divide(exact, found, out=np.zeros_like(found), where=found > 0)
        if weights is not None:
            ratios *= weights
        moved = solve(ratios.sum(axis=1)[:, None] * ahead - ratios @ ahead)
        tell(1)
        change = np.linalg.norm(moved - ahead)
        if change <= settled * size:
            return moved
        # Majorisation goes straight on in small steps: it is let run ahead (Nesterov), until that
        # leads back.
        if np.vdot(ahead - moved, moved - places) > 0:
            speed = 1.0
        faster = 0.5 * (1 + np.sqrt(1 + 4 * speed**2))
        ahead = moved + (speed - 1) / faster * (moved - places)
        places, speed = moved, faster
    warn(
        f"the embedding still moved by {change / size:.1e} of its size after {_MOST_ROUNDS} rounds"
    )
    return places


def off_zero(places: FloatArray) -> FloatArray:
    """Move points a little along axes on which all are at 0, where nothing would draw them off."""
    is_flat = ~places.any(axis=0)
    spread = 1e-3 * np.abs(places).max()
    noise = np.random.default_rng(0).standard_normal((len(places), is_flat.sum()))
    places = np.array(places)
    places[:, is_flat] = spread * noise
    return places


def _mean_pull(pull: FloatArray) -> FloatArray:
    return pull / len(pull)


def weighted_pull(weights: FloatArray, n_points: int) -> Callable[[FloatArray], FloatArray]:
    """Return the solver of the weighted Laplacian, which is singular for shifts only."""
    weights = np.asarray(weights, dtype=np.float64)
    is_fine = weights.shape == (n_points, n_points) and np.isfinite(weights).all()
    if not is_fine or (weights < 0).any() or not np.allclose(weights, weights.T):
        raise ValueError(
            f"weights of shape {weights.shape} are not a symmetric matrix of {n_points} rows "
            "without negative numbers; pass one weight for each distance"
        )
    apart = ValueError(
        "weights are 0 between parts of the points, which have no place relative to each other "
        "then; pass small weights instead"
    )
    # Rounding may let a factor through that does not exist.
    if connected_components(weights > 0, directed=False, return_labels=False) > 1:
        raise apart
    laplacian = np.diag(weights.sum(axis=1)) - weights
    try:
        factor = cho_factor(laplacian + weights.mean())
    except np.linalg.LinAlgError as error:
        raise apart from error
    return lambda pull: cho_solve(factor, pull)


def scale_one_way(one_way: FloatArray, n_components: int, run: Run) -> Embedding:
    """Embed by distances (n_points, n_points) of which each stands for one direction.

    They count the less the more the two directions disagree.
    """
    weights = _trust_in(one_way)
    return stress_mds(
        one_way, n_components, weights=weights, n_jobs=run.n_jobs, verbose=run.verbose
    )


def _trust_in(one_way: FloatArray) -> FloatArray | None:
    """Weigh distances by how far their two directions agree; None if all of them do."""
    disagreement = np.abs(one_way - one_way.T)
    typical = np.mean(disagreement)
    if typical <= 1e-9 * one_way.max():  # arcs are the same both ways
        return None
    return 1 / (1 + np.square(disagreement / typical))
