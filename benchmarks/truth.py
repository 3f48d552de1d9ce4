"""How far embeddings and distances are from the truth."""

import numpy as np


def embedding_error(found, exact):
    """Measure the Frobenius distance after the best rigid motion, relative to the exact places."""
    found = found - found.mean(axis=0, dtype=np.float64)
    exact = exact - exact.mean(axis=0)
    left, _, right = np.linalg.svd(found.T @ exact)
    return float(np.linalg.norm(found @ left @ right - exact) / np.linalg.norm(exact))


def distance_error(found, exact):
    """Measure the mean relative error of distances between different points, in per cent."""
    apart = exact > 0
    return 100 * float(np.mean(np.abs(found[apart] - exact[apart]) / exact[apart]))
