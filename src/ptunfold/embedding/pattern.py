"""The embedding of data that close upon themselves as one tile of a pattern."""

from __future__ import annotations

from itertools import product

import numpy as np

from ptunfold.geometry.connection import nearest_rotations
from ptunfold.types import Connection, FloatArray, Seam, pair_keys

Motion = tuple[FloatArray, FloatArray]
_TINY = 1e-6


def motion_of(
    seam: Seam, connection: Connection, embedding: FloatArray, maps: FloatArray
) -> Motion:
    """Find what crossing a seam does in the embedding: a turn (c, c) and a shift (c,).

    Parameters
    ----------
    seam : Seam
        The seam.
    connection : Connection
        Rotations and steps, those across the seam among them.
    embedding : (n_points, c)
        The coordinates.
    maps : (n_points, c, d)
        From the frame of each point to the embedding.
    """
    graph = connection.graph
    tails, heads = seam.edges.T
    keys = pair_keys(graph.n_points, graph.tails, graph.indices)
    edges = np.searchsorted(keys, pair_keys(graph.n_points, tails, heads))
    steps = np.einsum("eij,ej->ei", maps[tails], connection.steps[edges])
    seen = embedding[tails].astype(np.float64) + steps
    turn: FloatArray = np.eye(embedding.shape[1])
    if seam.kind != "period":
        turns = np.einsum("eij,ejk,elk->il", maps[tails], connection.rotations[edges], maps[heads])
        # Directions that the embedding does not use stay as they are.
        turn = nearest_rotations((turns / len(edges) + _TINY * turn)[None])[0]
    return turn, (seen - embedding[heads] @ turn.T).mean(axis=0)


def products(motions: list[Motion]) -> list[Motion]:
    """List the motions to the tiles around: each of ``motions`` once, not at all, or backwards."""
    found: list[Motion] = []
    for powers in product((0, 1, -1), repeat=len(motions)):
        if not any(powers):
            continue
        dim = len(motions[0][1])
        turn, shift = np.eye(dim), np.zeros(dim)
        for power, (one, way) in zip(powers, motions, strict=True):
            if power == 1:
                turn, shift = one @ turn, one @ shift + way
            elif power == -1:
                turn, shift = one.T @ turn, one.T @ (shift - way)
        found.append((turn, shift))
    return found


def angles_along(coordinates: FloatArray, motions: list[Motion]) -> FloatArray:
    """Write coordinates (n, d) as angles along the shifts of ``motions``, and the rest, (n, d)."""
    dim = coordinates.shape[1]
    # A reflection leaves half of what it does twice.
    shifts = [(shift + turn @ shift) / 2 for turn, shift in motions]
    periods = np.array([shift for shift in shifts if shift.any()]).reshape(-1, dim)[:dim]
    turns = coordinates @ np.linalg.pinv(periods) if len(periods) else coordinates[:, :0]
    *_, axes = np.linalg.svd(periods) if len(periods) else (np.eye(dim),)
    rest = coordinates @ axes[len(periods) :].T
    return np.column_stack((2 * np.pi * np.mod(turns, 1), rest))
