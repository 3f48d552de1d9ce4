"""How far distances are from the truth; embeddings are measured as the package does it."""

from ptunfold.embedding.alignment import embedding_error
from ptunfold.paper.methods import distance_error as share_of_error

__all__ = ["distance_error", "embedding_error"]


def distance_error(found, exact):
    """Measure the mean relative error of distances between different points, in per cent."""
    return 100 * share_of_error(found, exact)
