"""Place embeddings of separate components on one sheet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptunfold.types import FloatArray


def side_by_side(pieces: Sequence[FloatArray], gap: float = 0.1) -> list[FloatArray]:
    """Move centred pieces apart along the first axis so that none overlaps another.

    Parameters
    ----------
    pieces : list of (n_i, n_components)
        The embeddings, in the order in which they are to stand.
    gap : float
        The space between two, as a fraction of the widest.

    Returns
    -------
    moved : list of (n_i, n_components)
        The same shapes, the first one not moved.
    """
    space = gap * max(np.ptp(piece, axis=0).max() for piece in pieces) or 1.0
    moved = [pieces[0]]
    for piece in pieces[1:]:
        left = moved[-1][:, 0].max() + space
        shift = np.zeros(piece.shape[1], dtype=piece.dtype)
        shift[0] = left - piece[:, 0].min()
        moved.append(piece + shift)
    return moved
