"""How good a picture of points is, whatever method has drawn it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import rankdata
from sklearn.metrics.pairwise import euclidean_distances

from ptunfold.memory import with_advice
from ptunfold.threads import Run, cut, run_blocks, single_threaded_blas
from ptunfold.types import BoolArray, FloatArray, IntArray
from ptunfold.validation.directions import check_picture, check_rows
from ptunfold.validation.points import check_points
from ptunfold.validation.values import check_count, check_n_jobs, check_seed, check_sources

_VALUES_TOGETHER = 1 << 21  # of a block of rows, bounds memory
_FEW_FEATURES = 16  # differences are as fast as products then, and exact
_Measure = Callable[[slice], FloatArray]


@dataclass(frozen=True, eq=False)
class Quality:
    """How good a picture of points is: ``print`` it.

    Attributes
    ----------
    residual_variance : float
        1 - r², with the correlation r of true and shown distances: 0 is best. Blind to the scale of
        the picture.
    stress : float
        The root of the sum of squared differences of true and shown distances over that of the
        true ones: 0 is best.
    scaled_stress : float
        The same with the picture scaled so that it is least, for methods that do not keep scale.
    trustworthiness : float
        From 1 for the best: whether who is near in the picture is near in truth, by ranks of
        distances, as ``sklearn.manifold.trustworthiness`` has it.
    continuity : float
        From 1 for the best: whether who is near in truth is near in the picture, the same way.
    neighbors_kept : float
        The share of the nearest neighbours in truth that are among those in the picture.
    spearman : float
        The correlation of the ranks of true and shown distances, over ``pairs``.
    errors : dict of str to float
        The standard error of each of these by its name; 0 where all points were looked at.
    n_points, n_sources, n_neighbors : int
        How many points have a place in the picture, how many of them were looked at, and how many
        neighbours count as near.
    pairs : (n_pairs, 2) int
        Pairs of points for Shepard's diagram, by their indices.
    true, shown : (n_pairs,) float64
        Their distances, in truth and in the picture.

    Examples
    --------
    >>> from ptunfold import PTU, quality
    >>> from ptunfold.datasets import s_with_hole
    >>> model = PTU().fit(s_with_hole(1000).points)
    >>> scores = quality(None, model.embedding_, distances=model.distances())
    >>> bool(scores.spearman > 0.999), bool(scores.stress < 0.01)
    (True, True)
    """

    residual_variance: float
    stress: float
    scaled_stress: float
    trustworthiness: float
    continuity: float
    neighbors_kept: float
    spearman: float
    errors: dict[str, float]
    n_points: int
    n_sources: int
    n_neighbors: int
    pairs: IntArray
    true: FloatArray
    shown: FloatArray

    def __str__(self) -> str:
        seen = "all" if self.n_sources == self.n_points else f"{self.n_sources:,} of"
        lines = [f"seen from {seen} {self.n_points:,} points, {self.n_neighbors} neighbours"]
        for name, error in self.errors.items():
            end = f" ± {error:.2g}" if error else ""
            lines.append(f"  {name.replace('_', ' '):18} {getattr(self, name):.4g}{end}")
        return "\n".join(lines)


@with_advice("the comparison of distances", "pass fewer points, or a smaller n_sample")
def quality(
    X: Any,
    Z: Any,
    *,
    distances: Any = None,
    sources: Any = None,
    n_neighbors: int = 10,
    n_sample: int = 500,
    n_pairs: int = 100_000,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Quality:
    """Measure how good a picture of points is, whatever method has drawn it.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features) or None
        The points. Their straight distances are the truth, unless ``distances`` are passed; X may
        be None then.
    Z : array-like of shape (n_points, n_components)
        Their places in the picture; rows of NaN leave points out.
    distances : array-like of shape (n_sources, n_points), optional
        True distances from some points to all, such as geodesic ones from
        :meth:`PTU.distances` or :func:`geodesic_distances`; infinite ones are far, but do not
        count otherwise, and points without any are left out.
    sources : list of int, optional
        The points that the rows of ``distances`` belong to, chosen at random if they are to stand
        for all; all points by default. Without ``distances``, the points to look from.
    n_neighbors : int
        How many neighbours count as near.
    n_sample : int
        From how many points to look, if there are more and ``sources`` do not say which. What is
        found is then an estimate, with a standard error.
    n_pairs : int
        About how many pairs of points are kept for Shepard's diagram.
    random_state : int, RandomState or None
        For the choice of points and pairs.
    n_jobs : int, optional
        Number of threads, as in :class:`PTU`. The result does not depend on it.

    Returns
    -------
    quality : Quality
        The scores, their standard errors, and Shepard's pairs.

    Examples
    --------
    >>> from ptunfold import PTU, quality
    >>> from ptunfold.datasets import swiss_roll
    >>> roll = swiss_roll(800)
    >>> Z = PTU().fit_transform(roll.points)
    >>> print(quality(None, Z, distances=roll.distances()).stress < 0.01)  # along the roll
    True
    >>> print(quality(roll.points, Z).stress > 0.5)  # straight through it
    True
    """
    check_count("n_neighbors", n_neighbors)
    check_count("n_sample", n_sample)
    check_count("n_pairs", n_pairs)
    check_n_jobs(n_jobs)
    rng = check_seed(random_state)
    if X is None and distances is None:
        raise ValueError("X is None, and there are no distances; pass one of them")
    points = None if X is None else check_points(X)
    picture = check_picture(Z, None if points is None else len(points))
    rows, kept, sources = _choose(picture, distances, sources, n_sample, rng)
    n_points = int(kept.sum())
    if n_points <= 2 * n_neighbors:
        raise ValueError(
            f"n_neighbors={n_neighbors} needs more than {2 * n_neighbors} points, but {n_points} "
            "have a place and distances; lower n_neighbors"
        )
    inner = (np.cumsum(kept) - 1)[sources]
    by_points = picture if points is None else points
    truth = _measured(by_points[kept], inner) if rows is None else _given(rows, kept)
    view = _View(truth, _measured(picture[kept], inner), inner, n_points, n_neighbors)
    others = _others(inner, n_points, n_pairs, rng)
    seen, pairs, true, shown = _look(view, others, n_jobs)
    values, errors = _scores(seen, n_points)
    values["spearman"], error = _spearman(pairs, true, shown)
    errors["spearman"] = 0.0 if others is None else error
    return Quality(
        **values,
        errors=errors,
        n_points=n_points,
        n_sources=len(inner),
        n_neighbors=int(n_neighbors),
        pairs=np.flatnonzero(kept)[pairs],
        true=true,
        shown=shown,
    )


def _choose(
    picture: FloatArray, distances: Any, sources: Any, n_sample: int, rng: np.random.RandomState
) -> tuple[FloatArray | None, BoolArray, IntArray]:
    """Return the rows of distances if there are any, the points to look at, and where from."""
    n_points = len(picture)
    kept: BoolArray = np.isfinite(picture.sum(axis=1))
    chosen = None if sources is None else check_sources(sources, n_points)
    rows = None
    if distances is not None:
        chosen = np.arange(n_points) if chosen is None else chosen
        rows = check_rows(distances, len(chosen), n_points)
        kept = kept & ~np.isnan(rows).all(axis=0)
        rows = rows if kept[chosen].all() else rows[kept[chosen]]
        n_gaps = int(np.isnan(rows[:, kept]).sum())
        if n_gaps:
            raise ValueError(
                f"distances has {n_gaps} values that are NaN between points that have others; pass "
                "numpy.inf where no path leads"
            )
    elif chosen is None:
        chosen = np.flatnonzero(kept)
        chosen = np.sort(rng.choice(chosen, min(n_sample, len(chosen)), replace=False))
    chosen = chosen[kept[chosen]]
    if not len(chosen):
        raise ValueError("none of the sources has a place in Z; pass others")
    return rows, kept, chosen


def _measured(points: FloatArray, sources: IntArray) -> _Measure:
    """Return what measures distances from some of the sources to all points."""
    points = points.astype(np.float64)
    if points.shape[1] <= _FEW_FEATURES:
        return lambda block: cdist(points[sources[block]], points)
    points -= points.mean(axis=0)  # products lose digits far from 0
    squares = np.square(points).sum(axis=1)
    return lambda block: euclidean_distances(
        points[sources[block]],
        points,
        X_norm_squared=squares[sources[block], None],
        Y_norm_squared=squares[None],
    )


def _given(rows: FloatArray, kept: BoolArray) -> _Measure:
    """Return what looks up distances."""
    return lambda block: rows[block][:, kept].astype(np.float64)


def _others(
    sources: IntArray, n_points: int, n_pairs: int, rng: np.random.RandomState
) -> IntArray | None:
    """Choose points to pair each source with, (n_sources, n_others); None for all after it."""
    n_sources = len(sources)
    is_whole = n_sources == n_points == len(np.unique(sources))
    if is_whole and n_points * (n_points - 1) // 2 <= n_pairs:
        return None
    n_others = min(max(n_pairs // n_sources, 1), n_points - 1)
    others = rng.randint(n_points - 1, size=(n_sources, n_others))
    chosen: IntArray = others + (others >= sources[:, None])
    return chosen


class _View(NamedTuple):
    """Distances in truth and in the picture, by blocks of sources."""

    truth: _Measure
    picture: _Measure
    sources: IntArray
    n_points: int
    n_neighbors: int


class _Seen(NamedTuple):
    """What each source sees.

    ``sums`` (n_sources, 6) over the other points: their number, the sums of true and of shown
    distances, of the squares of both and of their products; the other arrays are (n_sources,).
    """

    sums: FloatArray
    trustworthiness: FloatArray
    continuity: FloatArray
    neighbors_kept: FloatArray


def _look(
    view: _View, others: IntArray | None, n_jobs: int | None
) -> tuple[_Seen, IntArray, FloatArray, FloatArray]:
    """Look from each source: what it sees, and its pairs with their distances."""
    n_sources = len(view.sources)
    seen = _Seen(np.empty((n_sources, 6)), *np.empty((3, n_sources)))
    found: dict[int, tuple[IntArray, FloatArray, FloatArray]] = {}

    def handle(block: slice) -> None:
        sources = view.sources[block]
        rows, columns = np.arange(len(sources)), np.arange(view.n_points)
        true, shown = view.truth(block), view.picture(block)
        near = columns if others is None else others[block]
        chosen = near > sources[:, None] if others is None else np.ones(near.shape, dtype=bool)
        near = np.broadcast_to(near, chosen.shape)
        heads = near[chosen]
        tails = np.broadcast_to(rows[:, None], chosen.shape)[chosen]
        values = true[tails, heads], shown[tails, heads]
        found[block.start] = (np.column_stack((sources[tails], heads)), *values)
        seen.sums[block] = _sums(true, shown, sources)
        for array in (true, shown):
            array[rows, sources] = np.inf  # no point is its own neighbour
        ranks = _by_ranks(true, shown, view.n_neighbors)
        for array, values_of in zip(seen[1:], ranks, strict=True):
            array[block] = values_of

    size = max(_VALUES_TOGETHER // view.n_points, 1)
    with single_threaded_blas():
        run_blocks(handle, cut(n_sources, size), Run(n_jobs))
    pairs, true, shown = (
        np.concatenate(parts) for parts in zip(*(found[key] for key in sorted(found)), strict=True)
    )
    is_there = np.isfinite(true)
    return seen, pairs[is_there], true[is_there], shown[is_there]


def _sums(true: FloatArray, shown: FloatArray, sources: IntArray) -> FloatArray:
    """Sum up what the statistics of pairs need, (n_sources, 6)."""
    is_there = np.isfinite(true)
    is_there[np.arange(len(sources)), sources] = False
    true, shown = np.where(is_there, true, 0), np.where(is_there, shown, 0)
    products = [
        np.einsum("ij,ij->i", one, other)
        for one, other in ((true, true), (shown, shown), (true, shown))
    ]
    return np.column_stack((is_there.sum(axis=1), true.sum(axis=1), shown.sum(axis=1), *products))


def _by_ranks(
    true: FloatArray, shown: FloatArray, n_neighbors: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compare neighbours: trustworthiness, continuity and the share that is kept."""
    worst = n_neighbors * (2 * true.shape[1] - 3 * n_neighbors - 1) / 2
    near_true, near_shown = (
        np.argpartition(rows, n_neighbors - 1, axis=1)[:, :n_neighbors] for rows in (true, shown)
    )
    is_both = near_true[:, :, None] == near_shown[:, None, :]
    trust = 1 - _excess_ranks(true, near_shown, is_both.any(axis=1)) / worst
    continuity = 1 - _excess_ranks(shown, near_true, is_both.any(axis=2)) / worst
    return trust, continuity, is_both.any(axis=1).mean(axis=1)


def _excess_ranks(rows: FloatArray, near: IntArray, is_kept: BoolArray) -> FloatArray:
    """Sum up by how much neighbours elsewhere are beyond the nearest here, (n_sources,)."""
    total = np.zeros(len(rows))
    for row, column in np.argwhere(~is_kept):
        rank = 1 + np.count_nonzero(rows[row] < rows[row, near[row, column]])
        total[row] += max(rank - near.shape[1], 0)
    return total


def _scores(seen: _Seen, n_points: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return scores and their standard errors by their names."""
    n_sources = len(seen.sums)
    # What is left to chance if so many of all points were looked from.
    chance = np.sqrt(max(1 - n_sources / n_points, 0) / n_sources) if n_sources > 1 else np.nan
    total = seen.sums.sum(axis=0)
    values = {name: float(value) for name, value in _of_pairs(total).items()}
    # As if each of the sources was left out in turn (the jackknife).
    without = _of_pairs(total - seen.sums) if n_sources > 1 else values
    errors = {
        name: float(chance * (n_sources - 1) * np.std(value, ddof=min(n_sources - 1, 1)))
        for name, value in without.items()
    }
    for name in ("trustworthiness", "continuity", "neighbors_kept"):
        value = getattr(seen, name)
        values[name] = float(value.mean())
        errors[name] = float(chance * np.std(value, ddof=min(n_sources - 1, 1)))
    return values, errors


def _of_pairs(sums: FloatArray) -> dict[str, FloatArray]:
    """Return what sums over pairs (..., 6) tell."""
    count, true, shown, true_true, shown_shown, true_shown = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):  # a picture that is a point
        covariance = true_shown - true * shown / count
        spread = (true_true - true**2 / count) * (shown_shown - shown**2 / count)
        squares = true_true - 2 * true_shown + shown_shown
        return {
            "residual_variance": np.maximum(1 - covariance**2 / spread, 0),
            "stress": np.sqrt(np.maximum(squares / true_true, 0)),
            "scaled_stress": np.sqrt(np.maximum(1 - true_shown**2 / (true_true * shown_shown), 0)),
        }


def _spearman(pairs: IntArray, true: FloatArray, shown: FloatArray) -> tuple[float, float]:
    """Return the correlation of ranks and its standard error."""
    one, other = (rankdata(values) - (len(values) + 1) / 2 for values in (true, shown))
    # Sources are left out in turn, while the others keep their ranks.
    source = np.unique(pairs[:, 0], return_inverse=True)[1]
    sums = np.column_stack(
        [np.bincount(source, values) for values in (one**2, other**2, one * other)]
    )
    value, without = (_correlation(some) for some in (sums.sum(axis=0), sums.sum(axis=0) - sums))
    n_sources = len(sums)
    error = np.sqrt((n_sources - 1) * np.var(without)) if n_sources > 1 else np.nan
    return float(value), float(error)


def _correlation(sums: FloatArray) -> FloatArray:
    one, other, both = np.moveaxis(sums, -1, 0)
    size = np.sqrt(one * other)
    found: FloatArray = np.divide(both, size, out=np.full_like(size, np.nan), where=size > 0)
    return found
