"""The steps of the pipeline that are more than one function of geometry, as settings want them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ptunfold.geometry.coherence import with_coherence
from ptunfold.geometry.connection import connect_frames, leading_axes
from ptunfold.geometry.creases import take_one_side
from ptunfold.geometry.curvature import with_curvature
from ptunfold.geometry.frames import fit_frames
from ptunfold.geometry.graph import (
    build_graph,
    graph_from_matrix,
    has_edges,
    subgraph,
    thinned,
    with_edges,
    without_bridges,
    without_edges,
)
from ptunfold.geometry.isotropic import leading_coordinates
from ptunfold.geometry.neighbors import distinct_places
from ptunfold.geometry.order import MOST_UNORDERED, renumber_graph, spatial_order
from ptunfold.geometry.shortcuts import find_jumps, find_shortcuts, keep_to_sheet, short_ones
from ptunfold.geometry.span import span_coordinates
from ptunfold.geometry.texture import Texture
from ptunfold.geometry.widening import widen_graph, with_ends_joined
from ptunfold.threads import Run
from ptunfold.types import (
    Connection,
    Frames,
    Graph,
    IntArray,
    Options,
    Points,
    Settings,
    Space,
    pair_keys,
)
from ptunfold.validation.records import known_good
from ptunfold.validation.values import BENT


@dataclass(frozen=True, eq=False)
class Pruned:
    """A proximity graph and the edges that jump, (n_shortcuts, 2).

    The graph is without them, or with them if they are only to be told of. ``trusted`` (m, 2) are
    edges that do not jump, whatever they look like.
    """

    graph: Graph
    shortcuts: IntArray
    trusted: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))

    def without_trusted(self, edges: IntArray) -> IntArray:
        """Leave out trusted ones of edges (n_edges, 2)."""
        if not len(self.trusted):
            return edges
        ours, theirs = (pair_keys(self.graph.n_points, *each.T) for each in (edges, self.trusted))
        return edges[~np.isin(ours, theirs)]

    def among(self, is_kept: Any) -> Pruned:
        """Leave out points, of which ``is_kept`` tells (n_points,)."""
        if is_kept.all():
            return self
        return replace(
            self,
            graph=subgraph(self.graph, is_kept[self.graph.tails]),
            shortcuts=self.shortcuts[is_kept[self.shortcuts].all(axis=1)],
        )


def prepare(
    points: Points, options: Options, *, is_ordered: bool
) -> tuple[Points, IntArray | None]:
    """Leave out coordinates that hold nothing, or noise alone; put many points in order.

    Returns the points, and for each the number that the caller gave it, or None.
    """
    if isinstance(points, Space):
        return points, None
    if options.denoise is None:
        points = leading_coordinates(points, options.intrinsic_dim)
    points = span_coordinates(points, options.intrinsic_dim)
    if not is_ordered or len(points) <= MOST_UNORDERED:
        return points, None
    order = spatial_order(points)
    return points[order], order


def proximity_graph(points: Points, settings: Settings, order: IntArray | None, run: Run) -> Pruned:
    """Build the graph, or take the caller's, and find its shortcuts, which are still in it."""
    if isinstance(settings.graph, str):
        graph = build_graph(
            points,
            settings.n_neighbors,
            graph=settings.graph,
            radius=settings.radius,
            search=settings.search,
            n_jobs=run.n_jobs,
            verbose=run.verbose,
        )
    else:
        graph = graph_from_matrix(settings.graph, len(points))
        if order is not None:
            graph = renumber_graph(graph, np.argsort(order))
    shortcuts = find_shortcuts(graph, n_jobs=run.n_jobs, verbose=run.verbose)
    return Pruned(graph, np.column_stack(shortcuts))


def with_fewer(found: Pruned, n_neighbors: int, run: Run) -> Pruned:
    """Do the same with fewer neighbours: the nearest of those that each point has."""
    graph = thinned(found.graph, n_neighbors)
    shortcuts = find_shortcuts(graph, n_jobs=run.n_jobs, verbose=run.verbose)
    return Pruned(graph, np.column_stack(shortcuts))


def prune(found: Pruned, settings: Settings, texture: Texture | None) -> Pruned:
    """Drop shortcuts; the long ones only from a sheet."""
    if not settings.is_pruned:
        return found
    shortcuts = found.without_trusted(found.shortcuts)
    if texture is not None and not texture.is_sheet:
        shortcuts = short_ones(found.graph, shortcuts)
    return replace(found, graph=without_edges(found.graph, *shortcuts.T), shortcuts=shortcuts)


def move_to_surface(
    points: Points,
    graph: Graph,
    n_neighbors: int,
    dim: int,
    tangent: str = "robust",
    run: Run = Run(),
) -> Points:
    """Move each point along the normal to the quadratic surface fitted to its neighbours.

    The surface is robust, with outliers left out of account, or by least squares. Outliers are
    moved like all others; copies of a point stay together.
    """
    nodes = np.arange(len(points))
    frames = fit_frames(nodes, points, graph, n_neighbors, dim, tangent, run, must_span=False)
    assert frames.lift is not None
    if isinstance(points, Space):
        assert frames.members is not None
        return points.moved(frames.members, frames.lift)
    moved = points + frames.lift.astype(points.dtype)
    return np.ascontiguousarray(moved[distinct_places(points)])


def denoise(
    points: Points,
    pruned: Pruned,
    settings: Settings,
    texture: Texture | None,
    order: IntArray | None,
    run: Run,
) -> tuple[Points, Pruned]:
    """Move points to the surfaces that their neighbours make, and build the graph anew."""
    # In a robust way unless least squares were asked for.
    tangent = "quadratic" if settings.tangent == "quadratic" else "robust"
    n_near, rounds = settings.denoise_neighbors, settings.denoise
    if rounds and isinstance(points, Space):
        points = points.movable(n_near) or points
    for done in range(rounds):
        # Ever larger ones: at first some points are so far off that they lead to the next winding.
        growth = settings.denoise_scale ** (done / max(rounds - 1, 1))
        size = min(round(growth * n_near), len(points) - 1)
        points = move_to_surface(points, pruned.graph, size, settings.intrinsic_dim, tangent, run)
        found = replace(proximity_graph(points, settings, order, run), trusted=pruned.trusted)
        pruned = prune(found, settings, texture)
    return points, pruned


def tangent_frames(
    points: Points,
    pruned: Pruned,
    settings: Settings,
    texture: Texture | None,
    order: IntArray | None,
    device: Any,
    run: Run,
) -> tuple[Frames, Pruned]:
    """Estimate frames; on smooth data one side of creases is taken, and jumps are dropped.

    These leave tangent planes that are parallel, which only now are known.
    """
    nodes, n_near = np.arange(len(points)), settings.tangent_neighbors

    def fit(graph: Graph) -> Frames:
        how = (n_near, settings.intrinsic_dim, settings.tangent, run)
        return fit_frames(nodes, points, graph, *how, names=order, device=device)

    def one_sided(frames: Frames, graph: Graph) -> Frames:
        return take_one_side(points, graph, frames, n_near, tangent=settings.tangent, run=run)

    graph = pruned.graph
    frames = fit(graph)
    _plan(points, frames, graph)
    if texture is None or texture.kind != "smooth" or settings.step not in BENT:
        return frames, pruned
    within = without_bridges(graph)
    frames = one_sided(frames, within)
    if not settings.is_pruned:
        return frames, pruned
    jumps = pruned.without_trusted(find_jumps(points, within, frames, run))
    if not len(jumps):
        return frames, pruned
    graph = without_edges(graph, *jumps.T)
    del frames  # they are as large as anything
    frames = one_sided(fit(graph), without_bridges(graph))
    dropped = np.concatenate((pruned.shortcuts, jumps))
    return frames, replace(pruned, graph=graph, shortcuts=dropped)


def _plan(points: Points, frames: Frames, graph: Graph) -> None:
    """Let a metric that is asked for each distance see what it will be asked for."""
    if isinstance(points, Space) and frames.members is not None:
        points.plan(frames.members, graph)


def widen(points: Points, pruned: Pruned, frames: Frames, settings: Settings, run: Run) -> Pruned:
    """Give points more neighbours; shortcuts that keep to the sheet after all are none."""
    # A radius, and a graph of one's own, say where no edges are.
    is_of_nearest = isinstance(settings.graph, str) and settings.graph != "radius"
    if settings.intrinsic_dim == 1 and is_of_nearest:
        pruned = replace(pruned, graph=with_ends_joined(points, pruned.graph, frames))
    if not settings.n_wide:
        return pruned
    graph = widen_graph(
        points, pruned.graph, frames, settings.n_wide, n_jobs=run.n_jobs, verbose=run.verbose
    )
    if not settings.is_pruned:
        return replace(pruned, graph=graph)
    shortcuts = pruned.shortcuts[~has_edges(graph, *pruned.shortcuts.T)]
    keeps = keep_to_sheet(points, frames, shortcuts)
    graph = with_edges(points, graph, shortcuts[keeps])
    return replace(pruned, graph=graph, shortcuts=shortcuts[~keeps])


def connected(
    points: Points,
    graph: Graph,
    frames: Frames,
    settings: Settings,
    texture: Texture | None,
    run: Run,
) -> Connection:
    """Connect frames, with chords as a bound and, unless data are flat, coherence or curvature."""
    _plan(points, frames, graph)
    connection = connect_frames(points, graph, frames, settings.step, run)
    connection = known_good(replace(connection, points=leading_axes(points)))
    if texture is not None and texture.kind == "flat" and settings.coherence is None:
        return connection
    connection = with_coherence(connection, settings.coherence, n_jobs=run.n_jobs)
    if settings.coherence is not None or settings.step not in BENT:
        return connection
    return with_curvature(connection, frames, run, is_noisy=settings.denoise > 0)
