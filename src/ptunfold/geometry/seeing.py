"""What stays of points that were known by their distances, for new points and error bars."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptunfold.geometry.frames import edges_in_frames, fit_frames
from ptunfold.geometry.graph import without_bridges
from ptunfold.geometry.intrinsic import scaled, shadows
from ptunfold.geometry.order import sample
from ptunfold.threads import Run, cut
from ptunfold.types import Connection, Frames, Graph, Seen, Settings, Space

_EDGES_TOGETHER = 1 << 16
_SAMPLE = 100
_LEAST = 1e-9  # of the largest eigenvalue: a dimension that neighbourhoods extend in


def seen_by(
    space: Space,
    surface: Space,
    frames: Frames,
    connection: Connection,
    settings: Settings,
    run: Run,
) -> Seen:
    """Keep what is needed of distances; ``surface`` is the space itself, or moved by denoising."""
    graph = connection.graph
    turned = np.empty(graph.n_edges)
    edges = np.flatnonzero(graph.tails < graph.indices)
    for block in cut(len(edges), _EDGES_TOGETHER):
        some = edges[block]
        overlaps, *_ = edges_in_frames(surface, frames, graph.tails[some], graph.indices[some])
        turned[some] = frames.intrinsic_dim - np.square(overlaps).sum(axis=(1, 2))
        turned[graph.reverse[some]] = turned[some]
    n_off = _dimensions(space, frames) - frames.intrinsic_dim
    if surface is not space:
        frames = _before_moving(space, frames, connection, settings, run)
    assert frames.members is not None
    nodes = np.arange(len(space))
    squares = space.squares(frames.members, nodes[:, None])[:, :, 0]
    return Seen(
        frames.members,
        np.nan_to_num(frames.vectors),  # points without an edge have none
        squares,
        np.nan_to_num(turned),
        surface.moves,
        surface.extent if surface is not space else 0.0,
        max(n_off, 1),
    )


def _dimensions(space: Space, frames: Frames) -> int:
    """Count the dimensions that neighbourhoods extend in, the median over some."""
    assert frames.members is not None
    some = frames.members[sample(space, _SAMPLE)]
    values, _ = scaled(space, some, np.full(len(some), some.shape[1] - 1))
    return int(np.median((values > _LEAST * values[:, :1]).sum(axis=1)))


def _before_moving(
    space: Space, frames: Frames, connection: Connection, settings: Settings, run: Run
) -> Frames:
    """Find the frames of the points as they were given, turned like those of the moved ones.

    New points come with their distances to the former.
    """
    graph: Graph = connection.graph
    nodes, dim = np.arange(len(space)), frames.intrinsic_dim
    near = min(settings.denoise_neighbors, len(space) - 1)
    within, tangent = without_bridges(graph), settings.tangent
    found = fit_frames(nodes, space, within, near, dim, tangent, run.quiet, must_span=False)
    assert found.members is not None
    vectors, tails = np.nan_to_num(found.vectors), graph.tails.astype(np.int64)
    ways = np.empty((graph.n_edges, dim))
    for some in cut(graph.n_edges, _EDGES_TOGETHER):
        at = tails[some]
        ways[some] = shadows(space, found.members[at], vectors[at], at, graph.indices[some])
    products = np.zeros((len(space), dim, dim))
    np.add.at(products, tails, ways[:, :, None] * connection.steps[:, None, :])
    left, _, right = np.linalg.svd(products)
    return replace(found, vectors=vectors @ (left @ right))
