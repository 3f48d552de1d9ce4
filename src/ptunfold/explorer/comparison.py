"""Other embeddings of the same points, laid onto the first, and what each is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptunfold.embedding.quality import quality
from ptunfold.geodesic import distances_of
from ptunfold.threads import Run
from ptunfold.types import FloatArray, Geometry

_N_SOURCES, _N_NEIGHBORS = 50, 10
# What is told of each picture, and what it is called.
_TOLD = {
    "neighbors_kept": "neighbours kept",
    "trustworthiness": "trustworthiness",
    "scaled_stress": "stress",
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """An embedding beside the first: its name, and its places laid onto that."""

    name: str
    places: FloatArray


def as_comparisons(given: Any, embedding: FloatArray) -> list[Comparison]:
    """Read embeddings by their names, and turn, mirror and scale each to lie on the first."""
    if given is None:
        return []
    if not hasattr(given, "items"):
        raise ValueError(
            f"compare is {type(given).__name__}, not names with embeddings; pass "
            'compare={"Isomap": Z}'
        )
    return [
        Comparison(str(name), _laid_onto(embedding, _as_places(str(name), places, embedding)))
        for name, places in given.items()
    ]


def told_of(
    embedding: FloatArray, others: list[Comparison], geometry: Geometry, n_jobs: int | None
) -> dict[str, list[float | None]]:
    """Judge all embeddings by distances along the data, from some points: scores by their names.

    Empty where there are too few points.
    """
    is_there = np.isfinite(embedding).all(axis=1) & (geometry.labels >= 0)
    among = np.flatnonzero(is_there)
    n_neighbors = min(_N_NEIGHBORS, (len(among) - 1) // 2)
    if n_neighbors < 1:
        return {}
    wanted = min(_N_SOURCES, len(among))
    sources = np.sort(np.random.default_rng(0).choice(among, wanted, replace=False))
    rows = distances_of(geometry, sources, np.float64, Run(n_jobs))
    judged = [
        quality(
            None,
            np.where(is_there[:, None], places, np.nan),
            distances=rows,
            sources=sources,
            n_neighbors=n_neighbors,
            n_jobs=n_jobs,
        )
        for places in (embedding, *(other.places for other in others))
    ]
    values = {said: [getattr(one, name) for one in judged] for name, said in _TOLD.items()}
    return {
        said: [float(value) if np.isfinite(value) else None for value in row]
        for said, row in values.items()
    }


def _as_places(name: str, given: Any, embedding: FloatArray) -> FloatArray:
    """Check an embedding: one finite place for each point that has one in the first."""
    n_points, n_components = embedding.shape
    try:
        places = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"compare[{name!r}] is no array of numbers; pass ({n_points}, {n_components})"
        ) from error
    if places.ndim != 2 or len(places) != n_points:
        raise ValueError(
            f"compare[{name!r}] has shape {places.shape}, but there are {n_points} points; pass "
            "one place for each, in the order of the data"
        )
    if places.shape[1] != n_components:
        raise ValueError(
            f"compare[{name!r}] has {places.shape[1]} coordinates a point, but the embedding has "
            f"{n_components}; pass as many"
        )
    is_there = np.isfinite(embedding).all(axis=1)
    n_gaps = int((~np.isfinite(places[is_there]).all(axis=1)).sum())
    if n_gaps:
        raise ValueError(
            f"compare[{name!r}] has no finite place for {n_gaps} of {n_points} points; pass one "
            "for each"
        )
    return np.where(np.isfinite(places), places, np.nan)


def _laid_onto(embedding: FloatArray, places: FloatArray) -> FloatArray:
    """Turn and mirror an embedding to lie on another one, as widely spread (Procrustes)."""
    is_there = np.isfinite(embedding).all(axis=1)
    goal, found = (np.asarray(one[is_there], dtype=np.float64) for one in (embedding, places))
    if not len(goal):
        return places
    middle, centre = goal.mean(axis=0), found.mean(axis=0)
    left, _, right = np.linalg.svd((found - centre).T @ (goal - middle))
    spread = np.linalg.norm(found - centre)
    scale = np.linalg.norm(goal - middle) / spread if spread > 0 else 1.0
    laid = np.full_like(places, np.nan)
    laid[is_there] = scale * (found - centre) @ left @ right + middle
    return laid
