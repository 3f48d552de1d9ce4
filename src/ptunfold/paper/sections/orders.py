"""How the time of each stage grows."""

from __future__ import annotations

from ptunfold.paper.claims import Claim, Section
from ptunfold.paper.growth import stage_exponents
from ptunfold.paper.sections.common import Extent


def timing(extent: Extent) -> Section:
    """Measure the orders of growth."""
    sizes = [1000, 2000, 4000] if extent.is_quick else [1000, 2000, 4000, 8000]
    seconds, exponents = stage_exponents(sizes)
    bounds = {"graph": 1.5, "frames": 1.5, "connection": 1.5, "distances": 2.5}
    words = {"graph": "n log n", "frames": "n", "connection": "n", "distances": "n² log n"}
    section = Section(
        "timing",
        "How the time grows",
        "Swiss roll in R³, stages of the paper's method on one thread, the quickest of seven.",
        header=["stage", *map(str, sizes), "growth"],
    )
    for name, bound in bounds.items():
        section.rows.append(
            [name, *(f"{value:.3f} s" for value in seconds[name]), f"n^{exponents[name]:.2f}"]
        )
        section.claims.append(
            Claim(
                f"{name}: order", words[name], f"n^{exponents[name]:.2f}", exponents[name] <= bound
            )
        )
    return section
