"""Point sets with what is known about them: true coordinates, true distances, parameters."""

from ptunfold.datasets.closed import flat_torus, klein_bottle, moebius_band, sphere
from ptunfold.datasets.images import digit_zero, faces, letter_a, light_stage
from ptunfold.datasets.landscapes import curved_torus, two_hills
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
    "curved_torus",
    "digit_zero",
    "faces",
    "filled_torus",
    "flat_square",
    "flat_torus",
    "klein_bottle",
    "l_shape",
    "letter_a",
    "light_stage",
    "moebius_band",
    "petals",
    "s_uneven",
    "s_with_hole",
    "sphere",
    "spherical_cap",
    "swiss_roll",
    "two_hills",
]
