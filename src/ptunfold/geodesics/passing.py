"""Edges between strands of the data that pass each other, and edges without which a strand ends."""

from __future__ import annotations

import numpy as np

from ptunfold.geodesics.distances import graph_distances
from ptunfold.geometry.graph import subgraph
from ptunfold.threads import Run, cut, run_blocks
from ptunfold.types import BoolArray, FloatArray, Graph, IntArray

# Of the median edge: the way around an edge that tells anything of the data as a whole.
_FAR = 10.0
# Of the way around an edge: from there to twice as far from its end the data are looked at.
_FROM = 0.25
_LEAST_PART, _FEWEST = 0.1, 3  # of the points that are looked at, and points
# Of ends. Neurons that tell where a head looks have 0.75 and more; corridors and rings mostly half
# and less, because there it is the end of a strip that meets the side of another, or an end.
_MOST_ENDS = 0.75
_MOST_EDGES, _MOST_VALUES = 32, 1 << 24


def pass_each_other(graph: Graph, shortcuts: IntArray, run: Run = Run()) -> bool:
    """Tell whether edges that are not in the graph would lead between strands that go on.

    A ring that is opened ends at both ends of the edges that closed it. Where two parts of a ring
    come close to each other, both go on to two sides from there. So the points around each end of
    an edge are looked at, a quarter to half of the way around the edge away from it: do they fall
    apart? Edges with a short way around tell nothing. ``shortcuts`` are (n_shortcuts, 2).
    """
    most = int(np.clip(_MOST_VALUES // graph.n_points, 1, _MOST_EDGES))
    shortcuts = shortcuts[:: max(-(-len(shortcuts) // most), 1)]
    far = _FAR * float(np.median(graph.lengths)) if graph.n_edges else np.inf
    n_parts = np.zeros((len(shortcuts), 2), dtype=np.int64)

    def look(block: slice) -> None:
        for edge in range(block.start, block.stop):
            tail, head = shortcuts[edge]
            rows = graph_distances(graph, [tail, head], n_jobs=1)
            if far <= rows[0, head] < np.inf:
                reach = _FROM * rows[0, head]
                n_parts[edge] = [_parts_around(graph, row, reach) for row in rows]

    run_blocks(look, cut(len(shortcuts), 1), run.quiet)
    told = n_parts[n_parts.any(axis=1)]
    return bool(len(told)) and float(np.mean(told > 1)) >= _MOST_ENDS


def _parts_around(graph: Graph, row: FloatArray, reach: float) -> int:
    """Count the parts that points fall into whose distances ``row`` are ``reach`` to twice that."""
    inside: BoolArray = (row > reach) & (row <= 2 * reach)
    ring = subgraph(graph, inside[graph.tails] & inside[graph.indices])
    sizes = np.bincount(ring.component_labels[inside])
    return int(np.count_nonzero(sizes >= max(_LEAST_PART * inside.sum(), _FEWEST)))
