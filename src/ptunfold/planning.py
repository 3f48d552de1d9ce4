"""Decide between all distances and landmarks, and say before the work starts what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ptunfold.caller import warn
from ptunfold.engines import Engine
from ptunfold.geometry.decisions import has_auto, resolve_auto
from ptunfold.geometry.texture import Texture
from ptunfold.memory import NoRoomError, free_bytes, in_words
from ptunfold.needs import Needs, needs_of
from ptunfold.types import Graph, LandmarkPlan, Options, Points, Settings
from ptunfold.validation.settings import check_landmarks
from ptunfold.validation.values import MDS, check_choice

# Called with the points, settings, the texture and the graph, when these are known; tells
# how many bytes are needed.
RoomCheck = Callable[[Points, Settings, str | None, Graph], float]

AUTO_LANDMARKS = 100
# So few on a sheet, of so many points: with fewer, all distances take no longer.
SHEET_LANDMARKS, MANY_POINTS = 64, 1000
# Of so many points that errors are small: the picture by 64 of a clean sheet is a tenth truer, of a
# noisy one no truer.
_FEW_LANDMARKS = 32
_COMFORTABLE = 0.7


def plan_landmarks(
    landmarks: Any,
    landmark_selection: str,
    random_state: Any,
    points: Points,
    options: Options,
    n_components: int,
    *,
    engine: Engine,
    mds: str = "auto",
    n_jobs: int | None = None,
) -> tuple[LandmarkPlan | None, RoomCheck]:
    """Decide how a fit is done, and whether there is room for it.

    Returns the landmarks, None for the distances between all points, and a check that looks again
    when it is known what the data are like, which decides about the number of edges. Both raise
    MemoryError if what is asked for does not fit into the memory that is free.
    """
    n_points = len(points)
    plan = check_landmarks(landmarks, landmark_selection, random_state, n_points, n_components)
    check_choice("mds", mds, MDS)
    if engine.is_stored and isinstance(plan, LandmarkPlan):
        raise ValueError(
            "Disk is for the distances between all points, and landmarks need none; pass "
            f'landmarks=None, or engine="{engine.name}"'
        )
    if mds == "stress" and (engine.name != "threads" or engine.is_stored):
        where = "on disk" if engine.is_stored else f'with engine="{engine.name}"'
        raise ValueError(
            f'mds="{mds}" needs the distances in memory, and not {where}; pass '
            'mds="classical", or engine="threads"'
        )
    if mds == "stress" and isinstance(plan, LandmarkPlan):
        raise ValueError(
            f'mds="{mds}" needs the distances between all points; pass landmarks=None, or '
            'mds="classical" with landmarks'
        )
    if engine.is_stored or mds == "stress":
        plan = None
    free = free_bytes()

    def bytes_for(plan: LandmarkPlan | None, needs: Needs) -> float:
        if plan is not None:
            return needs.landmarks(plan.count)
        return needs.stress() if mds == "stress" else engine.bytes_of_all(needs)

    needs_for = partial(needs_of, n_components=n_components, n_given=points.nbytes, n_jobs=n_jobs)
    possible = [needs_for(points, *one) for one in _possible(options, n_points)]
    if isinstance(plan, str):
        full = max(bytes_for(None, needs) for needs in possible)
        is_small = n_points <= engine.most_full
        plan = None
        if n_points >= MANY_POINTS and engine.name == "threads":
            how = (landmark_selection, random_state, n_points, n_components)
            optional = check_landmarks(SHEET_LANDMARKS, *how)
            assert isinstance(optional, LandmarkPlan)
            plan = replace(optional, is_optional=True)
        if not is_small or full > _COMFORTABLE * free:
            count = max(min(AUTO_LANDMARKS, n_points // 2), n_components + 1)
            plan = check_landmarks(count, landmark_selection, random_state, n_points, n_components)
            assert isinstance(plan, LandmarkPlan)
            plan = replace(plan, fewer=_FEW_LANDMARKS if count > _FEW_LANDMARKS else None)
            why = f"need about {in_words(full)}, and {in_words(free)} are free"
            if is_small or full > _COMFORTABLE * free:
                reason = why
            else:
                reason = f"of more than {engine.most_full} points take long (and {why})"
            warn(
                f"at most {count} landmarks are used, because the distances between all "
                f"{n_points} points {reason}; pass landmarks=None for all distances or a number "
                "of your own"
            )
    final = None if plan is None or plan.is_optional else plan
    smaller = ", or float32 points" if points.dtype.itemsize == 8 else ""

    def within_room(needed: float) -> float:
        if needed > free:
            what, remedy = _in_words(final, n_points, mds)
            raise NoRoomError(
                f"{what} need about {in_words(needed)}, but {in_words(free)} are free; {remedy}"
                f"{smaller}"
            )
        return needed

    def check(points: Points, settings: Settings, kind: str | None, graph: Graph) -> float:
        needs = needs_for(points, settings, kind, graph)
        needed = within_room(bytes_for(final, needs))
        engine.check_room(needs, None if final is None else final.count)
        return needed

    within_room(min(bytes_for(final, needs) for needs in possible))
    return plan, check


def _possible(options: Options, n_points: int) -> list[tuple[Settings, str | None]]:
    """List what options may become, whatever the data are like."""
    if not has_auto(options, n_points):
        return [(resolve_auto(options, None, n_points), None)]
    return [
        (resolve_auto(options, Texture(kind, 1.0), n_points), kind)
        for kind in ("flat", "smooth", "noisy", "rough")
    ]


def _in_words(plan: LandmarkPlan | None, n_points: int, mds: str) -> tuple[str, str]:
    """Say what is asked for, and what to do instead."""
    if plan is not None:
        return (
            f"{plan.count} landmarks of {n_points} points",
            "pass fewer landmarks or neighbours, or fit a part of the points and transform the "
            "rest",
        )
    if mds == "stress":
        return f'mds="{mds}" for {n_points} points', 'pass mds="classical"'
    remedy = f"pass landmarks={AUTO_LANDMARKS}"
    return f"the distances between all {n_points} points", remedy


def check_room_for_rows(n_rows: int, n_points: int, itemsize: int, beside: float = 0) -> None:
    """Refuse a matrix of distances, and bytes beside it, that does not fit into the memory free."""
    needed, free = n_rows * n_points * itemsize + beside, free_bytes()
    if needed > free:
        raise NoRoomError(
            f"the distances from {n_rows} to {n_points} points need {in_words(needed)}, but "
            f"{in_words(free)} are free; pass fewer sources, a part at a time"
        )


def bytes_of_geometry(points: Points, options: Options, n_jobs: int | None) -> float:
    """Estimate what it takes at least to lay a connection over points."""
    return min(
        needs_of(points, *one, n_components=1, n_given=0, n_jobs=n_jobs).laying
        for one in _possible(options, len(points))
    )
