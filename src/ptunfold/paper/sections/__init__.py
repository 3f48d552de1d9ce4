"""One function a figure or table of the paper."""

from collections.abc import Callable

from ptunfold.paper.claims import Section
from ptunfold.paper.sections.common import Extent
from ptunfold.paper.sections.curved import bent_torus, cap, hills
from ptunfold.paper.sections.flat import linear, torus
from ptunfold.paper.sections.images import face_images, letters, lights, zeros
from ptunfold.paper.sections.landmarks import landmarks
from ptunfold.paper.sections.noise import noisy_rolls, sparse_noise
from ptunfold.paper.sections.orders import timing
from ptunfold.paper.sections.petals import four_petals, noisy_petals
from ptunfold.paper.sections.sheets import density, holey_s

__all__ = ["SECTIONS", "Extent"]

SECTIONS: dict[str, Callable[[Extent], Section]] = {
    "linear": linear,
    "torus": torus,
    "holey-s": holey_s,
    "cap": cap,
    "hills": hills,
    "curved-torus": bent_torus,
    "petals": four_petals,
    "noisy-petals": noisy_petals,
    "noise": noisy_rolls,
    "sparse-noise": sparse_noise,
    "density": density,
    "landmarks": landmarks,
    "letter-a": letters,
    "faces": face_images,
    "digit-zero": zeros,
    "light-stage": lights,
    "timing": timing,
}
