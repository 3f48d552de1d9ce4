"""Lanes: rows of `LANES` numbers, one for each source of a batch.

Arrays are C-contiguous, of shape (n_rows, LANES), float64 or, for parents, uint16; masks are
integers with a bit for each lane. What can be done with them is in `chosen_lanes`.
"""

LANES = 16
ALL_LANES = (1 << LANES) - 1
