"""What was asked for, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptunfold.types.numbers import IntArray


@dataclass(frozen=True, eq=False)
class LandmarkPlan:
    """Which landmarks are to be used: how many, how they are chosen, or the caller's own choice.

    With ``is_optional`` only if their picture is as good as that by all distances. ``fewer`` of
    them do on a sheet, if half of these lead to the same picture.
    """

    count: int
    how: str  # "maxmin" or "random"
    rng: np.random.RandomState
    chosen: IntArray | None = None
    is_optional: bool = False
    fewer: int | None = None


@dataclass(frozen=True)
class Options:
    """What a user asks for, checked; the meanings are those of :class:`ptunfold.PTU`.

    None where it is left to the data. ``graph`` may be one of one's own. Fewer dimensions than
    ``intrinsic_dim`` may be taken with ``may_shrink``, if they hold the edges; shortcuts are
    dropped with ``is_pruned``.
    """

    graph: Any
    n_neighbors: int | None
    radius: float | None
    search: str
    disconnected: str
    is_pruned: bool
    intrinsic_dim: int
    may_shrink: bool
    tangent_neighbors: int | None
    tangent: str | None
    step: str | None
    denoise: int | None
    coherence: float | None


@dataclass(frozen=True)
class Settings(Options):
    """What is done: :class:`Options` with all that was left to the data decided.

    ``n_wide`` is the number of neighbours that each point is given in the end, from among
    neighbours of neighbours, 0 for no more than it has. The last round of denoising takes
    ``denoise_scale`` times as many as the first. Coherence that is None is measured at each edge.
    """

    n_neighbors: int
    tangent_neighbors: int
    tangent: str
    step: str
    denoise: int
    n_wide: int
    denoise_neighbors: int
    denoise_scale: int
