"""Place embeddings of separate components on one sheet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptunfold.types import FloatArray


def side_by_side(pieces: Sequence[FloatArray], gap: float = 0.1) -> list[FloatArray]:
    """Move centred pieces (n_i, n_components) apart along the first axis so that none overlap.

    Between two of them ``gap`` times the widest is left; the first one is not moved.
    """
    space = gap * max(np.ptp(piece, axis=0).max() for piece in pieces) or 1.0
    moved = [pieces[0]]
    for piece in pieces[1:]:
        left = moved[-1][:, 0].max() + space
        shift = np.zeros(piece.shape[1], dtype=piece.dtype)
        shift[0] = left - piece[:, 0].min()
        moved.append(piece + shift)
    return moved
