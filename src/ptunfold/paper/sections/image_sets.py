"""Images of letters, faces, digits, and a thing under moving light."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptunfold.datasets import Dataset, digit_zero, faces, letter_a, light_stage
from ptunfold.embedding.alignment import aligned, embedding_error
from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.methods import PLAIN, correlation, run_isomap, run_ptu
from ptunfold.paper.pictures import image_maps
from ptunfold.paper.sections.common import OURS, SEED, Extent, against_isomap, embed, line
from ptunfold.types import FloatArray


def letters(extent: Extent) -> Section:
    """Arrange images with a gap among them."""
    side = extent.n(120, 40)
    whole, part = (letter_a(size=side, missing=missing, seed=SEED) for missing in (False, True))
    assert part.kept is not None
    assert whole.shape is not None
    section = Section(
        "letter-a",
        "Letter A, turned and resized",
        f"{len(whole.points)} images of {whole.shape[0]} × {whole.shape[1]} pixels; "
        f"{len(part.points)} without those of middle size and small angle. Isomap with k = 8.",
        header=["method", "angle", "size", "shift without the part", "seconds"],
    )
    shifts, figures = {}, []
    for name, method in ((OURS, run_ptu), ("Isomap", partial(run_isomap, n_neighbors=8))):
        run, again = method(whole.points), method(part.points)
        found = _polar_correlations(run.places, whole)
        both = [f"{value:.4f}" for value in found]
        shifts[name] = embedding_error(again.places, run.places[part.kept])
        section.rows.append([name, *both, *line(name, run, shifts[name])[1:]])
        figures += [
            (f"{name}, all", run.places, whole.points),
            (f"{name}, a part missing", again.places, part.points),
        ]
        if name == OURS:
            text = "polar coordinates are angle and size: correlations"
            section.claims.append(Claim(text, "a picture", " and ".join(both), min(found) >= 0.99))
    text = "without a part, PTU's picture stays and Isomap's does not: shift"
    section.claims.append(against_isomap(text, shifts, shifts["Isomap"] / 10))
    section.figure = image_maps(figures, whole.shape)
    return section


def _polar_correlations(places: FloatArray, data: Dataset) -> tuple[float, float]:
    """Correlate angle and radius about the apex of the cone with the angle and size of letters.

    Images of a letter of size s, turned by t, differ by what its outline sweeps: s ds² + s³ dt² up
    to constants, the metric of a cone with the radius s^(3/2). Its apex is where squared radii fit
    s³ best.
    """
    assert data.parameters is not None
    turn, size = data.parameters.T
    terms = np.column_stack((2 * places, size**3, np.ones(len(places))))
    squares = np.square(places).sum(axis=1)
    apex = np.linalg.lstsq(terms, squares, rcond=None)[0][:2]
    arms = places - apex
    radius = np.linalg.norm(arms, axis=1)
    middle = (arms / radius[:, None]).mean(axis=0)
    angle = np.angle((arms @ [1, 1j]) / (middle @ [1, 1j]))
    found = [np.corrcoef(angle, turn)[0, 1], np.corrcoef(radius, size)[0, 1]]
    return abs(float(found[0])), abs(float(found[1]))


def face_images(extent: Extent) -> Section:
    """Arrange images of a head."""
    is_there = extent.faces is not None
    options = {**PLAIN, "intrinsic_dim": 3, "n_neighbors": 6, "tangent_neighbors": 18}
    section = Section(
        "faces",
        "Faces",
        "698 images of a head, d = 3, k = 6, K = 18."
        if is_there
        else "The file of the faces was not given (--faces face_data.mat); scikit-learn's 8 × 8 "
        "digits stand in for it, and the claim is not tried.",
    )
    alike = _arrange_alike(section, faces(extent.faces), options, 6)
    text = "PTU and Isomap arrange the images alike: correlation"
    found = f"{alike:.3f}" + ("" if is_there else " (on digits)")
    is_met = alike >= 0.8 if is_there else None
    section.claims = [Claim(text, "quite similar", found, is_met)]
    return section


def zeros(extent: Extent) -> Section:
    """Arrange images of handwritten zeros, of more dimensions than are shown."""
    data = digit_zero(extent.n(3000, 1000), path=extent.digits)
    assert data.shape is not None
    section = Section(
        "digit-zero",
        "Handwritten zeros",
        f"{len(data.points)} images of {data.shape[0]} × {data.shape[1]} pixels, d = 4, k = K = "
        "10; MNIST where it can be had, else scikit-learn's digits.",
    )
    alike = _arrange_alike(section, data, {**PLAIN, "intrinsic_dim": 4}, 10)
    text = "PTU and Isomap map zeros quite similarly: correlation"
    section.claims = [Claim(text, "quite similar", f"{alike:.3f}", alike >= 0.7)]
    return section


def _arrange_alike(
    section: Section, data: Dataset, options: dict[str, Any], n_neighbors: int
) -> float:
    """Draw embeddings by PTU and Isomap, the second turned as the first is; their correlation."""
    assert data.shape is not None
    run, other = run_ptu(data.points, **options), run_isomap(data.points, n_neighbors=n_neighbors)
    section.header = ["method", "seconds"]
    section.rows = [line("PTU", run), line("Isomap", other)]
    turned = aligned(other.places, run.places)
    panels = [("PTU", run.places, data.points), ("Isomap", turned, data.points)]
    section.figure = image_maps(panels, data.shape)
    return correlation(run.places, other.places)


def lights(extent: Extent) -> Section:
    """Arrange images of a thing under moving light."""
    data = light_stage(height=extent.n(608, 152), width=extent.n(456, 114), seed=SEED)
    assert data.parameters is not None
    assert data.shape is not None
    near = "PTU, k = K = 8"
    ways = {near: {**PLAIN, "n_neighbors": 8, "tangent_neighbors": 8}}
    runs = embed(data.points, ways, n_neighbors=8)
    found = {name: correlation(run.places, data.parameters) for name, run in runs.items()}
    height, width, _ = data.shape
    text = "PTU recovers the light's direction: correlation"
    section = Section(
        "light-stage",
        "One light after the other",
        f"221 images of {height} × {width} pixels in colour, a rendered thing lit from 221 "
        "directions; d = 2, k = 8.",
        claims=[Claim(text, "a picture", f"{found[near]:.4f}", found[near] >= 0.95)],
        header=["method", "correlation with the light's x and y", "seconds"],
        rows=[[name, f"{found[name]:.4f}", f"{run.seconds:.2f}"] for name, run in runs.items()],
    )
    step = max(1, height // 76)
    small = data.points.reshape(221, *data.shape)[:, ::step, ::step]
    panels = [(name, runs[name].places, small.reshape(221, -1)) for name in (near, "Isomap")]
    section.figure = image_maps(panels, small.shape[1:])
    return section
