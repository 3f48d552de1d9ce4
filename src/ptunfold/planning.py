"""Decide between all distances and landmarks, and say before the work starts what does not fit."""

from __future__ import annotations

from typing import Any

from ptunfold.caller import warn
from ptunfold.geodesics.landmarks import MOST_CANDIDATES
from ptunfold.memory import (
    bytes_of_all_distances,
    bytes_of_connection,
    bytes_of_landmark_distances,
    bytes_of_variants,
    free_bytes,
    in_words,
)
from ptunfold.types import FloatArray, LandmarkPlan, Settings
from ptunfold.validation import MDS, check_choice, check_landmarks

MOST_FULL = {"threads": 20_000, "dask": 20_000, "cuda": 100_000}
AUTO_LANDMARKS = 100
_COMFORTABLE = 0.7


def plan_landmarks(
    n_landmarks: Any,
    landmarks: str,
    random_state: Any,
    points: FloatArray,
    settings: Settings,
    n_components: int,
    *,
    mds: str = "auto",
    engine: str = "threads",
    is_stored: bool = False,
    n_jobs: int | None = None,
) -> LandmarkPlan | None:
    """Decide how a fit is done: None for the distances between all points.

    Parameters
    ----------
    n_landmarks, landmarks, random_state
        As in :class:`ptunfold.PTU`.
    points : (n_points, n_features)
        The points, checked.
    settings : Settings
        How the connection is laid, checked.
    n_components : int
        The number of output coordinates.
    mds : str
        How all distances become coordinates.
    engine : str
        Where distances are computed; engines other than threads know best what they have room for.
    is_stored : bool
        Whether all distances go to disk.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Raises
    ------
    MemoryError
        If what is asked for does not fit into the memory that is free.
    """
    n_points, itemsize = len(points), points.dtype.itemsize
    plan = check_landmarks(n_landmarks, landmarks, random_state, n_points, n_components)
    check_choice("mds", mds, MDS)
    free = free_bytes()
    connection = bytes_of_connection(points, settings, n_jobs)
    full = connection
    if engine == "threads" and not is_stored:
        full += bytes_of_all_distances(n_points, itemsize)
    if is_stored:
        if isinstance(plan, LandmarkPlan):
            raise ValueError(
                "a store is for the distances between all points, and landmarks need none; pass "
                "n_landmarks=None, or no store"
            )
        plan = None
    if mds not in ("auto", "classical"):
        if engine != "threads" or is_stored:
            where = "a store" if is_stored else f'engine="{engine}"'
            raise ValueError(
                f'mds="{mds}" needs the distances in memory, and not {where}; pass '
                'mds="classical", or engine="threads" without a store'
            )
        if isinstance(plan, LandmarkPlan):
            raise ValueError(
                f'mds="{mds}" needs the distances between all points; pass n_landmarks=None, or '
                'mds="classical" with landmarks'
            )
        plan, full = None, connection + bytes_of_variants(n_points)
    if isinstance(plan, str):
        is_small = n_points <= MOST_FULL[engine]
        if is_small and full <= _COMFORTABLE * free:
            return None
        count = max(min(AUTO_LANDMARKS, n_points // 2), n_components + 1)
        plan = check_landmarks(count, landmarks, random_state, n_points, n_components)
        assert isinstance(plan, LandmarkPlan)
        why = f"need about {in_words(full)}, and {in_words(free)} are free"
        if is_small or full > _COMFORTABLE * free:
            reason = why
        else:
            reason = f"of more than {MOST_FULL[engine]} points take long (and {why})"
        warn(
            f"{count} landmarks are used, because the distances between all {n_points} points "
            f"{reason}; pass n_landmarks=None for all distances or a number of your own",
        )
    if plan is None:
        needed, what = full, f"the distances between all {n_points} points"
        remedy = f"pass n_landmarks={AUTO_LANDMARKS}"
        if mds not in ("auto", "classical"):
            what, remedy = f'mds="{mds}" for {n_points} points', 'pass mds="classical"'
    else:
        n_columns = n_points
        if engine == "dask":  # there rows stay, and the choice of landmarks looks at some columns
            is_choice = plan.chosen is None and plan.how == "maxmin"
            n_columns = min(n_points, MOST_CANDIDATES) if is_choice else 0
        needed = connection + bytes_of_landmark_distances(n_points, n_columns, plan.count, itemsize)
        what = f"{plan.count} landmarks of {n_points} points"
        remedy = (
            "pass fewer landmarks or neighbours, or fit a part of the points and transform the rest"
        )
    if needed > free:
        smaller = ", or float32 points" if itemsize == 8 else ""
        raise MemoryError(
            f"{what} need about {in_words(needed)}, but {in_words(free)} are free; {remedy}"
            f"{smaller}"
        )
    return plan


def check_room_for_rows(n_rows: int, n_points: int, itemsize: int) -> None:
    """Refuse a matrix of distances that does not fit into the memory that is free."""
    needed, free = n_rows * n_points * itemsize, free_bytes()
    if needed > free:
        raise MemoryError(
            f"the distances from {n_rows} to {n_points} points need {in_words(needed)}, but "
            f"{in_words(free)} are free; pass fewer sources, a part at a time"
        )
