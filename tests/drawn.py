"""Points and parameters of every kind, for tests that draw them."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from ptunfold.validation.values import (
    DISCONNECTED,
    GRAPH_KINDS,
    LANDMARK_SELECTIONS,
    MDS,
    STEPS,
    TANGENTS,
)


def sheet(rng, n, width):
    u, v = rng.uniform(0, 3, n), rng.uniform(0, 1, n)
    bent = np.column_stack((np.cos(u), v, np.sin(u)))
    return bent @ np.linalg.qr(rng.normal(size=(max(width, 3), 3)))[0].T[:, :width]


def clusters(rng, n, width):
    centres = rng.normal(size=(rng.integers(2, 6), width)) * 10.0 ** rng.integers(0, 6)
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, width))


def copies(rng, n, width):
    places = rng.normal(size=(rng.integers(2, 7), width))
    return places[rng.integers(len(places), size=n)]


def near_copies(rng, n, width):
    places = copies(rng, n, width)
    return places + 10.0 ** rng.integers(-16, -4) * rng.normal(size=places.shape)


def line(rng, n, width):
    along = rng.random(n) if rng.random() < 0.5 else np.arange(n) / n
    return along[:, None] * rng.normal(size=width) + rng.normal(size=width)


def lattice(rng, n, width):
    side = int(np.ceil(n ** (1 / min(width, 2))))
    cells = np.stack(np.meshgrid(*[np.arange(side)] * min(width, 2)), axis=-1)
    points = np.zeros((n, width))
    points[:, : min(width, 2)] = cells.reshape(-1, min(width, 2))[:n]
    return points


def hub(rng, n, width):
    """One point in the middle, all others as far from it and many as far from each other."""
    points = np.zeros((n, width))
    spokes = np.concatenate((np.eye(width), -np.eye(width)))
    points[1:] = spokes[np.arange(n - 1) % len(spokes)]
    return points


def sphere(rng, n, width):
    points = rng.normal(size=(n, width))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points[0] = 0
    return points


def ring(rng, n, width):
    angle = 2 * np.pi * np.arange(n) / n
    points = np.zeros((n, max(width, 2)))
    points[:, 0], points[:, 1] = np.cos(angle), np.sin(angle)
    return points[:, :width]


def spiked(rng, n, width):
    return np.clip(rng.standard_cauchy(size=(n, width)), -1e9, 1e9)


def one_far_out(rng, n, width):
    points = rng.normal(size=(n, width))
    points[-1] = 10.0 ** rng.integers(1, 13)
    return points


def low_rank(rng, n, width):
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, width))


def anywhere(rng, n, width):
    return rng.normal(size=(n, width))


KINDS = {
    kind.__name__: kind
    for kind in (
        *(anywhere, sheet, clusters, copies, near_copies, line, lattice, hub, sphere, ring),
        *(spiked, one_far_out, low_rank),
    )
}


def mapped(points):
    """Map a file that is gone from the folder at once."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "points.npy", points)
        return np.load(Path(folder) / "points.npy", mmap_mode="r")


def frozen(points):
    points = points.copy()
    points.setflags(write=False)
    return points


def counted(points, kind):
    """Round to whole numbers that the kind can hold."""
    limits = np.iinfo(kind)
    return np.clip(np.round(points * 5), limits.min / 2, limits.max / 2).astype(kind)


def named(points):
    return pd.DataFrame(points, columns=[f"c{place}" for place in range(points.shape[1])])


def as_form(points, form):
    """Pass points as something else; what overflows is infinite then."""
    with np.errstate(over="ignore", invalid="ignore"):
        return FORMS[form](points)


FORMS = {
    "float64": np.array,
    "float32": lambda points: points.astype(np.float32),
    "float16": lambda points: np.clip(points, -6e4, 6e4).astype(np.float16),
    "longdouble": lambda points: points.astype(np.longdouble),
    "other bytes": lambda points: points.astype(">f8"),
    "int64": lambda points: counted(points, np.int64),
    "int8": lambda points: counted(points, np.int8),
    "uint8": lambda points: counted(np.abs(points), np.uint8),
    "bool": lambda points: points > 0,
    "Fortran": np.asfortranarray,
    "backwards": lambda points: np.ascontiguousarray(points[::-1, ::-1])[::-1, ::-1],
    "strided": lambda points: np.repeat(np.repeat(points, 2, axis=0), 3, axis=1)[::2, ::3],
    "frozen": frozen,
    "frozen float32": lambda points: frozen(points.astype(np.float32)),
    "mapped": mapped,
    "list": lambda points: points.tolist(),
    "objects": lambda points: points.astype(object),
    "pandas": named,
    "pandas nullable": lambda points: named(points).convert_dtypes(),
    "pandas Int64": lambda points: named(counted(points, np.int64)).astype("Int64"),
    "pandas boolean": lambda points: named(points > 0).astype("boolean"),
    "pandas with a gap": lambda points: named(points).astype("Float64").mask(named(points) > 1),
    "polars": lambda points: pl.DataFrame(np.ascontiguousarray(points)),
    "csr": sparse.csr_matrix,
    "coo": sparse.coo_array,
}
_RARE = ("csr", "coo", "pandas with a gap")
_SIZES = st.one_of(st.integers(2, 60), st.integers(2, 60), st.integers(2, 60), st.integers(60, 200))
_SCALES = st.one_of(
    st.just(0), st.just(0), st.integers(-61, 61), st.sampled_from([-60, -59, -15, 15, 59, 60])
)


@dataclass(frozen=True)
class Recipe:
    """How points are made: shorter to read than the points, when a case fails."""

    kind: str
    n_points: int
    n_features: int
    seed: int
    constant: float | None
    are_copied: bool
    shift: float
    power: int

    def points(self):
        """Make them, float64 (n_points, n_features)."""
        rng = np.random.default_rng(self.seed)
        points = KINDS[self.kind](rng, self.n_points, self.n_features)
        if self.constant is not None:
            points[:, -1] = self.constant
        if self.are_copied:
            points[: self.n_points // 3] = points[self.n_points // 3]
        return (points + self.shift) * 10.0**self.power


some_points = st.builds(
    Recipe,
    st.sampled_from(sorted(KINDS)),
    _SIZES,
    st.one_of(st.integers(1, 6), st.integers(1, 6), st.integers(1, 80)),
    st.integers(0, 10**6),
    st.one_of(*[st.none()] * 4, st.sampled_from([0.0, 1.0, -7e5])),
    st.sampled_from([False, False, False, True]),
    st.sampled_from([0.0] * 5 + [1.0, 1e6, 1e12]),
    _SCALES,
)


def forms():
    """Draw what the points are passed as."""
    common = [name for name in FORMS if name not in _RARE]
    return st.integers(0, 19).flatmap(lambda i: st.sampled_from(_RARE if i == 19 else common))


_CHOICES = {
    "n_neighbors": st.one_of(st.just("auto"), st.integers(1, 12)),
    "graph": st.sampled_from(GRAPH_KINDS),
    "intrinsic_dim": st.one_of(st.none(), st.just("auto"), st.integers(1, 4)),
    "tangent_neighbors": st.one_of(st.just("auto"), st.integers(1, 25)),
    "tangent": st.sampled_from(["auto", *TANGENTS]),
    "step": st.sampled_from(["auto", *STEPS]),
    "denoise": st.one_of(st.just("auto"), st.integers(0, 3)),
    "coherence": st.one_of(st.just("auto"), st.sampled_from([0, 1, 0.5, 0.999])),
    "prune": st.sampled_from(["auto", "shortcuts", None]),
    "landmarks": st.one_of(st.just("auto"), st.none(), st.integers(2, 30), st.just(0.3)),
    "landmark_selection": st.sampled_from(LANDMARK_SELECTIONS),
    "mds": st.sampled_from(MDS),
    "disconnected": st.sampled_from(DISCONNECTED),
    "search": st.sampled_from(["auto", "exact"]),
    "n_jobs": st.sampled_from([None, 1, 2]),
}


@st.composite
def some_parameters(draw):
    """Draw some parameters of PTU; the others keep their defaults."""
    names = draw(st.sets(st.sampled_from(sorted(_CHOICES)), max_size=6))
    chosen = {name: draw(_CHOICES[name]) for name in sorted(names)}
    chosen["n_components"] = draw(st.sampled_from([2, 2, 1, 3, 4]))
    chosen["random_state"] = 0
    return chosen


def radius_for(points, share):
    """Return a radius that reaches from none to all of the points."""
    across = np.ptp(points, axis=0).max()
    return float(across * share) if 0 < across < np.inf else 1.0


OWN_GRAPHS = {
    "neighbours": lambda points, k: kneighbors_graph(points, k, mode="distance"),
    "steps": lambda points, k: kneighbors_graph(points, k),
    "lists": lambda points, k: (
        kneighbors_graph(points, k).indices.reshape(len(points), k),
        np.ones((len(points), k)),
    ),
    "empty": lambda points, k: sparse.csr_array((len(points), len(points))),
}
