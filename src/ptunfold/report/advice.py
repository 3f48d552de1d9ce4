"""What to change, by rules: each looks at the report and has one sentence, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptunfold.report.words import percent, plural

if TYPE_CHECKING:
    from ptunfold.report.findings import Report

_FEW_POINTS = 50
BELIEVED, NOT_BELIEVED = 0.9, 0.3  # as Transport says it
_MUCH, _MANY = 1.1, 0.2  # a distortion, and a share of points that have it
_MUCH_TURN, _SURE = 1.0, 3  # of the curvature in all, in radians, and of its standard errors
_FURTHER, _WORTH = 0.2, 0.05  # of what the last coordinate contributes, and of all
_STRAINED = 0.1  # stress


def advise(report: Report) -> tuple[str, ...]:
    """Return what to change or to look at, the most important first."""
    rules = (_few, _pieces, _incoherent, _closed, _one_sided, _hidden, _curved, _strained, _holes)
    return tuple(said for rule in rules if (said := rule(report)) is not None)


def _few(report: Report) -> str | None:
    n_shown = len(report.embedding) - report.n_left_out
    if n_shown >= _FEW_POINTS:
        return None
    return f"there are {plural(n_shown, 'point')} only, so take nothing here for sure"


def _pieces(report: Report) -> str | None:
    if report.n_left_out:
        return (
            f"{plural(report.n_left_out, 'point')} left out: raise n_neighbors to join them, or "
            'pass disconnected="separate"'
        )
    if len(report.pieces) < 2:
        return None
    how = "distances between them hang on the bridges" if report.n_bridges else "shown apart"
    return f"the data are in {len(report.pieces)} pieces, {how}: raise n_neighbors to join them"


def _incoherent(report: Report) -> str | None:
    coherence = report.transport.coherence
    if coherence >= BELIEVED:
        return None
    if coherence >= NOT_BELIEVED:
        return (
            "believe short distances more than long ones: more points, n_components or "
            "intrinsic_dim may help"
        )
    if report.transport.overlapping:
        return (
            "what is unfolded lies on itself: pass another intrinsic_dim or fewer n_neighbors, "
            "unless the data wind around a hole or a tip"
        )
    return "distances are mostly along the graph: raise n_components or intrinsic_dim"


def _closed(report: Report) -> str | None:
    topology = report.topology
    if report.is_cut:
        return (
            "the embedding is cut open and tears neighbours apart at its border: topology_ has "
            "the periods, images() what lies across"
        )
    if topology.seams:
        return "the data close upon themselves: topology_ has the periods"
    if not topology.has_rim and topology.dim > 1:
        return "the data are closed, so that no flat map shows them whole: see atlas()"
    return None


def _one_sided(report: Report) -> str | None:
    # A guess where planes do not agree, and nothing to a curve.
    if report.orientation.is_orientable or report.topology.dim < 2:
        return None
    if report.transport.coherence < BELIEVED:
        return None
    return "left becomes right along orientation_.loop"


def _hidden(report: Report) -> str | None:
    """Further coordinates count, unless a curved sheet is why."""
    n_shown, dim = report.embedding.shape[1], report.stretch.factors.shape[1]
    if n_shown < dim:
        return f"{dim} dimensions are shown in {n_shown}: raise n_components to see them"
    is_told = report.transport.coherence < NOT_BELIEVED or _closed(report) or _curved(report)
    if is_told or not 1 / report.gap > _FURTHER or report.spectrum[n_shown] < _WORTH:
        return None
    return (
        f"a further coordinate would add {percent(1 / report.gap)} of what the last one does: "
        "raise n_components"
    )


def _curved(report: Report) -> str | None:
    if not report.topology.has_rim or report.transport.coherence < NOT_BELIEVED:
        return None
    found = report.curvature
    if found.bound > _MUCH:
        why = f"no flat map has scales that differ by less than a factor of {found.bound:.2g}"
        return f"{why}: atlas() shows the data in parts"
    # Where discs are cut short by holes and rims, the bound says little.
    is_sure = np.abs(found.values) > _SURE * found.std
    if np.nansum(np.abs(found.values * found.areas)[is_sure]) < _MUCH_TURN:
        return None
    return "the sheet is curved, so that flat maps have to stretch it: atlas() shows it in parts"


def _strained(report: Report) -> str | None:
    """Lengths are off where neither curvature, seams nor hidden dimensions say why."""
    if any(rule(report) for rule in (_incoherent, _closed, _hidden, _curved)):
        return None
    is_strained = report.quality is not None and report.quality.stress > _STRAINED
    if not is_strained and not report.stretch.share > _MANY:
        return None
    return "the embedding is strained: trust distances() more than the picture"


def _holes(report: Report) -> str | None:
    # Around what is left closed there is a hole in the picture alone.
    if not report.voids or (report.topology.seams and not report.is_cut):
        return None
    where = "voids()[0].samples" if len(report.voids) == 1 else "the samples of voids()"
    return f"new points at {where} would tell whether {_what(report)}"


def _what(report: Report) -> str:
    return "the hole is real" if len(report.voids) == 1 else "the holes are real"
