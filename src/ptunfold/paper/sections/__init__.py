"""One function a figure or table of the paper."""

from collections.abc import Callable

from ptunfold.paper.claims import Section
from ptunfold.paper.sections.common import Extent
from ptunfold.paper.sections.curved_sets import bent_torus, cap, hills
from ptunfold.paper.sections.few_distances import landmarks
from ptunfold.paper.sections.flat_sets import density, holey_s, linear, torus
from ptunfold.paper.sections.image_sets import face_images, letters, lights, zeros
from ptunfold.paper.sections.noisy_sets import four_petals, noisy_petals, noisy_rolls, sparse_noise
from ptunfold.paper.sections.timing import timing

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
