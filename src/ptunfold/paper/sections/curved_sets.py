"""Curved sets: a sphere's cap, hills, a bent torus."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from ptunfold.datasets import Dataset, curved_torus, spherical_cap, two_hills
from ptunfold.embedding.alignment import embedding_error
from ptunfold.geodesic import geodesic_distances
from ptunfold.geodesics.distances import graph_distances
from ptunfold.geometry.graph import build_graph, graph_from_matrix
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import PLAIN, Run, distance_error
from ptunfold.paper.pictures import canvas, side_by_side
from ptunfold.paper.sections.common import (
    AS_IN_PAPER,
    OURS,
    RESCALED,
    SEED,
    Extent,
    against_isomap,
    at_most,
    embed,
    line,
    percent,
)
from ptunfold.types import FloatArray, IntArray


def cap(extent: Extent) -> Section:
    """Measure a sphere, and plot the error against the number of edges."""
    data = spherical_cap(700)
    exact = data.distances()
    triangles = graph_from_matrix(data.graph, 700)
    ways: dict[str, dict[str, Any]] = {
        "triangulation, rescaled, K = 6": {**RESCALED, "tangent_neighbors": 6, "graph": data.graph},
        "triangulation, rescaled, K = 10": {**RESCALED, "graph": data.graph},
        "triangulation, projection": {**PLAIN, "graph": data.graph},
        "default": {},
    }
    found = {name: geodesic_distances(data.points, n_jobs=-1, **way) for name, way in ways.items()}
    found["shortest paths of the triangulation"] = graph_distances(triangles, n_jobs=-1)
    errors = {name: distance_error(rows, exact) for name, rows in found.items()}
    section = Section(
        "cap",
        "Geodesic distances on a spherical cap",
        "A triangulated cap of 700 points, 40° from pole to rim; the paper's own is not given.",
    )
    best = errors["triangulation, rescaled, K = 6"]
    along = errors["shortest paths of the triangulation"]
    section.claims = [
        at_most("PTU, mean relative error", "0.046 %", best, 0.00046),
        Claim("shortest paths", "5.6 %", percent(along), 0.03 < along < 0.08),
        at_most("here, by default", "–", errors["default"], 0.00012),
    ]
    section.header = ["distances", "mean relative error"]
    section.rows = [[name, percent(error)] for name, error in errors.items()]
    section.figure = _errors_by_edges(triangles, found, exact)
    return section


def _errors_by_edges(graph: Any, found: dict[str, FloatArray], exact: FloatArray) -> Any:
    """Draw the mean error against the number of edges of the shortest path."""
    lengths, parents = dijkstra(graph.to_sparse(), return_predecessors=True)
    n_edges = np.zeros_like(parents)
    rows = np.arange(len(parents))
    for nodes in np.argsort(lengths, axis=1)[:, 1:].T:
        n_edges[rows, nodes] = n_edges[rows, parents[rows, nodes]] + 1
    figure, (ax,) = canvas(1, size=5)
    apart = exact > 0
    for name, rows_found in found.items():
        off = np.abs(rows_found[apart] - exact[apart]) / exact[apart]
        total = np.bincount(n_edges[apart], off)
        counts = np.bincount(n_edges[apart])
        enough = np.flatnonzero(counts > 100)
        ax.semilogy(enough, 100 * total[enough] / counts[enough], label=name)
    ax.set(xlabel="edges of the path", ylabel="mean relative error, %")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=7)
    return figure


def hills(extent: Extent) -> Section:
    """Unfold a landscape, with few and many neighbours for the tangents."""
    n_points = extent.n(3000, 1200)
    data = two_hills(n_points, seed=SEED)
    sources = np.arange(0, n_points, n_points // extent.n(40, 10))
    ways = {
        "PTU, k = K = 8": {**RESCALED, "n_neighbors": 8, "tangent_neighbors": 8},
        "PTU, k = 8, K = 24": {**RESCALED, "n_neighbors": 8, "tangent_neighbors": 24},
    }
    runs = embed(data.points, ways, n_neighbors=8)
    section = Section(
        "hills",
        "Two Gaussian hills",
        f"{n_points} points of a height field; errors against geodesics followed numerically from "
        f"{len(sources)} of them.",
    )
    errors = _tabulate_distances(section, data, sources, runs, 8)
    moved = embedding_error(runs["PTU, k = 8, K = 24"].places, runs["PTU, k = K = 8"].places)
    section.claims = [
        Claim("K = 8 and K = 24 look alike", "alike", f"{percent(moved)} apart", moved <= 0.02),
        Claim(
            "PTU and Isomap are comparable on dense data: PTU is no worse",
            "comparable",
            f"{percent(errors[OURS])} and {percent(errors['Isomap'])}",
            errors[OURS] <= errors["Isomap"],
        ),
    ]
    panels = [(name, run.places) for name, run in runs.items() if name != OURS]
    section.figure = side_by_side(data.points, data.color, panels)
    return section


def bent_torus(extent: Extent) -> Section:
    """Unfold a solid torus that is curved in R⁴."""
    n_points = extent.n(3000, 1200)
    data = curved_torus(n_points, seed=SEED)
    sources = np.arange(0, n_points, n_points // extent.n(30, 8))
    runs = embed(data.points, AS_IN_PAPER, 3)
    section = Section(
        "curved-torus",
        "Curved solid torus in R⁴",
        f"{n_points} points (x, y, z, (x² + y²)/2); errors against geodesics of the paraboloid.",
    )
    errors = _tabulate_distances(section, data, sources, runs, 10)
    text = "PTU handles it, Isomap does not"
    section.claims = [against_isomap(text, errors, errors["Isomap"] / 10)]
    panels = [(name, run.places) for name, run in runs.items()]
    section.figure = side_by_side(data.points, data.color, panels)
    return section


def _tabulate_distances(
    section: Section, data: Dataset, sources: IntArray, runs: dict[str, Run], n_neighbors: int
) -> dict[str, float]:
    """Fill the table of a section with errors of distances, and return these by name."""
    exact = data.distances(sources)
    errors = {
        name: distance_error(run.model.distances(sources), exact)
        for name, run in runs.items()
        if name != "Isomap"
    }
    along = graph_distances(build_graph(data.points, n_neighbors), sources)
    errors["Isomap"] = distance_error(along, exact)
    section.header = ["method", "error of distances", "seconds"]
    section.rows = [line(name, run, errors[name]) for name, run in runs.items()]
    return errors
