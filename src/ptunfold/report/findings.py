"""The report on a fit: its record, its lines, and what programs read of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.diagnostics.curvedness import Curvature
from ptunfold.diagnostics.stretch import Stretch
from ptunfold.diagnostics.voids import Void
from ptunfold.embedding.quality import Quality
from ptunfold.forks import cached_property
from ptunfold.io.outputs import whole_file
from ptunfold.report import advice
from ptunfold.report.layout import fragment, whole_page
from ptunfold.report.opening import data_line, shape_line
from ptunfold.report.words import at_most, either_or, number, percent, plural, with_error
from ptunfold.types import BoolArray, FloatArray, IntArray, Orientation, Topology, Transport

_MOST_ADVICE = 3  # on its line
_MOST_TOLD = 10  # holes, pieces and worst places in a list
_N_WORST, _APART, _NOTICED = 3, 0.15, 1.01
_CLEAR = 1000  # a gap beyond which nothing follows
_ROUNDING = 1e-9
_MOST_NAMED = 3  # features that say where a hole is
_SCORES = {
    "residual_variance": "residual variance",
    "stress": "stress",
    "spearman": "Spearman",
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "neighbors_kept": "neighbours kept",
}


@dataclass(frozen=True, eq=False)
class Report:
    """What a fit has found, how sure that is, and what to change: ``print`` it.

    In a notebook it shows itself, with pictures.

    Attributes
    ----------
    embedding : (n_points, n_components)
        The coordinates.
    names : tuple of str
        What the features are called, or the coordinates of the embedding if there are none.
    texture : str or None
        What the data are like, as ``texture_`` has it.
    pieces : tuple of int
        How many points are in each piece of the data that is shown, before bridges.
    n_bridges, n_left_out : int
        The number of edges that join pieces, and of points that are not shown.
    is_cut : bool
        Whether data that close upon themselves were cut open.
    transport : Transport
        How far the unfolding can be believed.
    topology : Topology
        How the data close upon themselves.
    orientation : Orientation
        Whether they have two sides.
    voids : tuple of Void
        Holes, the largest first.
    curvature : Curvature
        How curved the sheet is.
    stretch : Stretch
        What the embedding does to lengths.
    is_rim : (n_points,) bool
        Which points are at the rim.
    quality : Quality or None
        How well the embedding shows the distances along the data, judged from some points; None
        for fewer than three.
    spectrum : (n_values,) float64
        What coordinates contribute, shown or not: eigenvalues of the centred matrix of squared
        distances among some points, as shares of the sizes of all.
    bars : (2,) float64
        The error bar of a distance as its share, at the median pair of points and at 95 % of them.
    has_features : bool
        Whether the data have coordinates, and not distances alone.

    Examples
    --------
    >>> from ptunfold import PTU
    >>> from ptunfold.datasets import s_with_hole
    >>> model = PTU().fit(s_with_hole(300).points)
    >>> report = model.diagnose()
    >>> print(report.lines["transport"])
    the tangent planes explain 97% of the edges; distances are unfolded (coherence 0.98)
    """

    embedding: FloatArray
    names: tuple[str, ...]
    texture: str | None
    pieces: tuple[int, ...]
    n_bridges: int
    n_left_out: int
    is_cut: bool
    transport: Transport
    topology: Topology
    orientation: Orientation
    voids: tuple[Void, ...]
    curvature: Curvature
    stretch: Stretch
    is_rim: BoolArray
    quality: Quality | None
    spectrum: FloatArray
    bars: FloatArray
    has_features: bool = True

    @property
    def gap(self) -> float:
        """How many times the last coordinate shown contributes what the next one would."""
        shown = self.embedding.shape[1]
        if len(self.spectrum) <= shown:
            return np.nan
        last, following = self.spectrum[shown - 1 : shown + 1]
        return float(last / following) if following > 1e-9 else np.inf

    @property
    def planes_agree(self) -> bool:
        """Whether tangent planes agree on lengths nearby; else distortion is unknown."""
        return bool(self.transport.coherence >= advice.NOT_BELIEVED)

    @cached_property
    def worst(self) -> tuple[int, ...]:
        """The points where lengths are most off, up to three far from each other."""
        chosen: list[int] = []
        known: IntArray = self.stretch.worst
        if not len(known):
            return ()
        places = self.embedding[known].astype(np.float64)
        apart = _APART * np.linalg.norm(np.ptp(places, axis=0))
        is_left = self.stretch.distortion[known] > _NOTICED
        while len(chosen) < _N_WORST and is_left.any():
            place = int(is_left.argmax())
            chosen.append(int(known[place]))
            is_left &= np.linalg.norm(places - places[place], axis=1) > apart
        return tuple(chosen)

    @cached_property
    def advice(self) -> tuple[str, ...]:
        """What to change or to look at, the most important first; nothing if all is well."""
        return advice.advise(self)

    @property
    def lines(self) -> dict[str, str]:
        """What is said, by its subject."""
        return {
            "data": self._data(),
            "transport": f"{self.transport} (coherence {self.transport.coherence:.2f})",
            "sure": f"distances to ± {percent(self.bars[0])} at the median pair, "
            f"to ± {percent(self.bars[1])} at 95% of them",
            "shape": self._shape(),
            "holes": self._holes(),
            "curvature": self._curvature(),
            "distortion": self._distortion(),
            "rim": f"{percent(self._rim_share)} of the points are at the rim or around holes",
            "distances": self._scores("residual_variance", "stress", "spearman") + self._seen,
            "neighbours": self._scores("trustworthiness", "continuity", "neighbors_kept"),
            "eigenvalues": self._eigenvalues(),
            "advice": "; ".join(self.advice[:_MOST_ADVICE]) or "nothing to change",
        }

    def __str__(self) -> str:
        return "\n".join(f"{subject:12}{said}" for subject, said in self.lines.items())

    def __repr__(self) -> str:
        n_points, n_components = self.embedding.shape
        return f"Report({n_points} points in {n_components} dimensions; print it, or save(path))"

    def as_dict(self) -> dict[str, Any]:
        """Return what is said as plain numbers, words, lists and dicts, ready for JSON.

        Returns
        -------
        report : dict
            None for what is unknown, "infinite" for what has no bound.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> model = PTU().fit(s_with_hole(300).points)
        >>> sorted(model.diagnose().as_dict())[:3]
        ['advice', 'bars', 'components']
        """
        n_points, n_components = self.embedding.shape
        values, std = self._curvatures
        return {
            "points": n_points,
            "features": len(self.names) if self.has_features else 0,
            "components": n_components,
            "intrinsic_dim": int(self.stretch.factors.shape[1]),
            "texture": self.texture,
            "pieces": len(self.pieces),
            "piece_sizes": list(self.pieces[:_MOST_TOLD]),
            "left_out": self.n_left_out,
            "transport": {
                "coherence": _plain(self.transport.coherence),
                "explained": _plain(self.transport.explained),
                "overlapping": _plain(self.transport.overlapping),
                "said": str(self.transport),
            },
            "bars": {"median": _plain(self.bars[0]), "most": _plain(self.bars[1])},
            "topology": {
                "name": self.topology.name,
                "said": str(self.topology),
                "is_sure": bool(self.topology.is_sure),
                "is_orientable": bool(self.orientation.is_orientable),
                "periods": [_plain(seam.length) for seam in self.topology.seams],
                "is_cut": self.is_cut,
            },
            "holes": {
                "count": len(self.voids),
                "largest": [_of_void(void) for void in self.voids[:_MOST_TOLD]],
            },
            "curvature": {
                "median": _plain(at_most(np.median, values)),
                "std": _plain(at_most(np.median, std)),
                "low": _plain(at_most(lambda all_: np.quantile(all_, 0.05), values)),
                "high": _plain(at_most(lambda all_: np.quantile(all_, 0.95), values)),
                "total": _plain(self.curvature.total),
                "total_std": _plain(self.curvature.total_std),
                "bound": _plain(self.curvature.bound),
            },
            "distortion": self._distortions(),
            "rim": {
                "points": int(np.count_nonzero(self.is_rim)),
                "share": _plain(self._rim_share),
            },
            "quality": self._quality(),
            "eigenvalues": {"shares": [_plain(x) for x in self.spectrum], "gap": _plain(self.gap)},
            "advice": list(self.advice),
        }

    def _distortions(self) -> dict[str, Any]:
        median, share = self.stretch.median, self.stretch.share
        if not self.planes_agree:
            median = share = np.nan
        return {
            "median": _plain(median),
            "share_beyond_10_percent": _plain(share),
            "worst_points": list(self.worst) if self.planes_agree else [],
        }

    def save(self, path: str | Path, *, title: str = "PTU") -> None:
        """Write the report as a page, in one file with its pictures, which needs no network.

        Parameters
        ----------
        path : str or path
            The file; one that is there is replaced when the new one is whole.
        title : str
            What the page is called.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> model = PTU().fit(s_with_hole(300).points)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.diagnose().save(Path(folder) / "report.html")
        ...     print((Path(folder) / "report.html").exists())
        True
        """
        page = whole_page(self, str(title))
        with whole_file(path) as name:
            Path(name).write_text(page, encoding="utf-8", errors="xmlcharrefreplace")

    def _repr_html_(self) -> str:
        return fragment(self)

    @property
    def _rim_share(self) -> float:
        n_shown = len(self.embedding) - self.n_left_out
        return float(np.count_nonzero(self.is_rim)) / n_shown if n_shown else np.nan

    @property
    def _curvatures(self) -> tuple[FloatArray, FloatArray]:
        """Values and errors where they are known; 0 for what is rounding on the whole sheet."""
        found = self.curvature
        known = np.isfinite(found.values)
        values, std = found.values[known], found.std[known]
        least = _ROUNDING / max(float(np.nansum(found.areas)), np.finfo(float).tiny)
        return np.where(np.abs(values) < least, 0, values), np.where(std < least, 0, std)

    def _data(self) -> str:
        return data_line(
            self.embedding.shape,
            len(self.names) if self.has_features else None,
            self.texture,
            len(self.pieces),
            self.n_left_out,
        )

    def _shape(self) -> str:
        return shape_line(self.topology, self.orientation)

    def _holes(self) -> str:
        if self.topology.dim != 2:
            return "unknown: they are looked for on surfaces alone"
        if not self.voids:
            return "none that chance does not make"
        void = self.voids[0]
        said = (
            f"{len(self.voids)}, the largest of radius {number(void.radius)} around "
            f"{self._where(void)}, where about {void.n_missing:,.0f} points are missing"
        )
        if self.topology.seams and not self.is_cut:
            return f"{said}; what the data close around may count as one"
        return f"{said}; voids()[0].samples has {plural(len(void.samples), 'place')} to sample at"

    def _where(self, void: Void) -> str:
        if len(self.names) <= _MOST_NAMED:
            pairs = zip(self.names, void.center, strict=True)
            return ", ".join(f"{name} = {number(value)}" for name, value in pairs)
        if void.center_embedding is not None:
            inside = ", ".join(number(value) for value in void.center_embedding)
            return f"({inside}) in the embedding"
        return "voids()[0].center"

    def _curvature(self) -> str:
        found, (values, std) = self.curvature, self._curvatures
        if self.topology.dim == 1:
            return "none: a curve has no curvature of its own"
        if not len(values):
            return "unknown"
        low, high = np.quantile(values, (0.05, 0.95))
        total, total_std = (
            value if abs(value) > _ROUNDING else 0.0 for value in (found.total, found.total_std)
        )
        said = (
            f"{with_error(float(np.median(values)), float(np.median(std)))} at the median point, "
            f"{number(low)} to {number(high)} at 90% of the points, "
            f"{with_error(total, total_std)} in all; "
        )
        if not self.planes_agree:
            return said + "a guess, because the tangent planes do not agree"
        if np.isnan(found.bound):
            return said + "what flat maps have to stretch is unknown"
        if found.bound <= 1.005:
            return said + "no stretch of flat maps follows from it"
        return f"{said}scales of any flat map differ by a factor of {found.bound:.3g} or more"

    def _distortion(self) -> str:
        found = self.stretch
        if not len(found.worst):
            return "unknown"
        if not self.planes_agree:
            return "unknown, because the tangent planes do not agree on lengths"
        said = str(found)
        if np.isinf(found.median):
            said = f"some directions of the data are not shown at {found.share:.0%} of the points"
        if not self.worst:
            return said
        return f"{said}; worst at {either_or(len(self.worst) == 1, 'point', 'points')} " + (
            ", ".join(map(str, self.worst))
        )

    def _scores(self, *chosen: str) -> str:
        found = self.quality
        if found is None:
            return "unknown: there are too few points"
        told = [
            f"{_SCORES[name]} {with_error(getattr(found, name), found.errors[name])}"
            for name in chosen
        ]
        return ", ".join(told)

    @property
    def _seen(self) -> str:
        found = self.quality
        if found is None:
            return ""
        seen = "all" if found.n_sources == found.n_points else f"{found.n_sources:,} of"
        cut = ", across the cut too" if self.is_cut else ""
        return f" (from {seen} {found.n_points:,} points{cut})"

    def _quality(self) -> dict[str, Any] | None:
        found = self.quality
        if found is None:
            return None
        said: dict[str, Any] = {
            name: {"value": _plain(getattr(found, name)), "error": _plain(error)}
            for name, error in found.errors.items()
        }
        return said | {"sources": found.n_sources, "neighbors": found.n_neighbors}

    def _eigenvalues(self) -> str:
        if np.isnan(self.gap):
            return "unknown: there are too few points"
        shown = self.embedding.shape[1]
        said = f"the coordinates shown hold {percent(self.spectrum[:shown].sum())}"
        if self.gap > _CLEAR:
            return f"{said}; no further one would add anything"
        return (
            f"{said}, the last of them {percent(self.spectrum[shown - 1])}, {number(self.gap)} "
            "times what a further one would"
        )


def _plain(value: Any) -> float | str | None:
    value = float(value)
    if np.isnan(value):
        return None
    return "infinite" if np.isinf(value) else value


def _of_void(void: Void) -> dict[str, Any]:
    inside = void.center_embedding
    return {
        "radius": _plain(void.radius),
        "missing_points": _plain(void.n_missing),
        "points_around": len(void.rim),
        "center": [_plain(value) for value in void.center],
        "center_embedding": None if inside is None else [_plain(value) for value in inside],
        "samples": len(void.samples),
    }
