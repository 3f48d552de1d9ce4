"""Point sets whose true geodesic distances are known."""

from ptunfold.datasets.record import Dataset
from ptunfold.datasets.sheets import (
    annulus,
    filled_torus,
    flat_square,
    l_shape,
    s_uneven,
    s_with_hole,
    swiss_roll,
)
from ptunfold.datasets.spheres import petals, spherical_cap

__all__ = [
    "Dataset",
    "annulus",
    "filled_torus",
    "flat_square",
    "l_shape",
    "petals",
    "s_uneven",
    "s_with_hole",
    "spherical_cap",
    "swiss_roll",
]
