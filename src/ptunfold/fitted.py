"""What a fit leaves behind, and what is made of it when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ptunfold.caller import warn
from ptunfold.embedding.ellipses import ellipses
from ptunfold.embedding.extension import Extension
from ptunfold.embedding.pattern import angles_along, motion_of, products
from ptunfold.embedding.seen_extension import SeenExtension
from ptunfold.forks import Lock, cached_property
from ptunfold.geodesics.cutting import topology_of
from ptunfold.geometry.graph import subgraph, without_bridges
from ptunfold.geometry.order import in_given_order, sample
from ptunfold.geometry.orientation import orient
from ptunfold.sureness import rows_with_std
from ptunfold.threads import Run
from ptunfold.types import (
    BoolArray,
    Extrapolation,
    FloatArray,
    Geometry,
    Orientation,
    Seam,
    Topology,
    pair_keys,
)
from ptunfold.validation.matrices import check_metric

_making = Lock()
_N_ANCHORS, _FEWEST = 40, 5  # whose distances tell how sure places are; in each component


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fit, in the order that it was made in; its embedding is in the caller's.

    ``given`` are the points as they were given, where the geometry has them in fewer coordinates,
    ``metric`` what they were measured by.
    """

    geometry: Geometry
    embedding: FloatArray
    given: FloatArray | None
    metric: Any = "euclidean"

    def __getstate__(self) -> dict[str, Any]:
        # What was made is made again.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def points(self) -> FloatArray:
        """The points with all the features that they were given, in any order."""
        return self.geometry.points if self.given is None else self.given

    @cached_property
    def as_given(self) -> Geometry:
        """The geometry in the caller's order."""
        return in_given_order(self.geometry)

    @cached_property
    def orientation(self) -> Orientation:
        """Whether the sheet has two sides; of several pieces, the largest."""
        geometry = self.as_given
        graph, rotations = geometry.graph, geometry.connection.rotations
        pieces = without_bridges(graph).component_labels
        is_inside = (pieces[graph.tails] == 0) & (pieces[graph.indices] == 0)
        if not is_inside.all():
            graph, rotations = subgraph(graph, is_inside), rotations[is_inside]
        return orient(graph, geometry.frames, rotations)[1]

    @cached_property
    def topology(self) -> Topology:
        """How the data close upon themselves."""
        return topology_of(self.geometry)

    @cached_property
    def intrinsic_coordinates(self) -> FloatArray:
        """Angles for closed directions, and the other coordinates."""
        topology = self.topology
        if topology.is_branching:
            warn(
                "the curve branches, and points of several branches have the same coordinate; "
                "distances from one of its ends tell them apart"
            )
        if self.is_tile and self.embedding.shape[1] == topology.dim:
            return angles_along(self.embedding, self.motions)
        return angles_along(topology.where, [(seam.turn, seam.shift) for seam in topology.seams])

    def embedding_std(self, n_jobs: int | None) -> FloatArray:
        """Return the ellipse of a standard deviation of each place, (n_points, c, c), made once."""
        if "_embedding_std" not in self.__dict__:
            self.__dict__["_embedding_std"] = self._ellipses(n_jobs)
        found: FloatArray = self.__dict__["_embedding_std"]
        return found

    def _ellipses(self, n_jobs: int | None) -> FloatArray:
        geometry, embedding = self.geometry, self.embedding
        share = _N_ANCHORS / len(embedding)
        anchors = np.concatenate(
            [
                nodes[sample(geometry.points[nodes], max(round(share * len(nodes)), _FEWEST))]
                for nodes in geometry.components
            ]
        )
        _, std = rows_with_std(geometry, anchors, Run(n_jobs))
        places = embedding[geometry.to_input(np.arange(len(embedding)))]
        found = np.empty((len(embedding), embedding.shape[1], embedding.shape[1]))
        found[geometry.to_input(np.arange(len(embedding)))] = ellipses(places, anchors, std)
        return found

    def std_at(self, places: FloatArray, info: Extrapolation, n_jobs: int | None) -> FloatArray:
        """Return the ellipses of new places (m, c), those of the fitted points next to them."""
        std = self.embedding_std(n_jobs)
        known = np.flatnonzero(np.isfinite(std).all(axis=(1, 2)))
        is_there = np.isfinite(places).all(axis=1) & ~info.is_outside
        found = np.full((len(places), *std.shape[1:]), np.nan)
        if len(known) and is_there.any():
            _, nearest = cKDTree(self.embedding[known]).query(places[is_there])
            found[is_there] = std[known[nearest]]
        return found

    @property
    def is_tile(self) -> bool:
        """Whether the embedding was cut open."""
        return self.geometry.torn is not None and len(self.geometry.torn) > 0

    @cached_property
    def motions(self) -> list[tuple[FloatArray, FloatArray]]:
        """What seams do in the embedding: a turn and a shift for each."""
        if not self.is_tile:
            return []
        order = self.geometry.to_input(np.arange(len(self.embedding)))
        found = self.extension(None)
        maps = found.maps if isinstance(found, SeenExtension) else found.ways.outer
        maps = maps[np.argsort(order)]
        connection = self.as_given.connection
        return [motion_of(seam, connection, self.embedding, maps) for seam in self.cut_seams]

    @property
    def cut_seams(self) -> tuple[Seam, ...]:
        """The seams of the largest component at which the embedding was cut."""
        torn = self.as_given.torn
        if torn is None or not len(torn):
            return ()
        keys = pair_keys(len(self.embedding), *np.concatenate((torn, torn[:, ::-1])).T)
        return tuple(
            seam
            for seam in self.topology.seams
            if np.isin(pair_keys(len(self.embedding), *seam.edges.T), keys).all()
        )

    def images(self, chosen: FloatArray) -> FloatArray:
        """Carry points of the embedding (m, c) to the tiles around it, (n_images, m, c)."""
        images = [chosen @ turn.T + shift for turn, shift in products(self.motions)]
        return np.array(images, dtype=chosen.dtype).reshape(len(images), *chosen.shape)

    @property
    def is_precomputed(self) -> bool:
        """Whether there are no coordinates to bring anything back into."""
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def around_holes(self) -> FloatArray | None:
        """Where holes and their samples are brought back into, in the caller's order.

        None for the coordinates that the geometry has; the embedding, if there are none.
        """
        return self.embedding if self.is_precomputed else self.given

    def extension(self, n_jobs: int | None) -> Extension | SeenExtension:
        """Return what places new points; made once, for all threads."""
        with _making:
            if "_extension" not in self.__dict__:
                order = self.geometry.to_input(np.arange(len(self.embedding)))
                given = None if self.given is None else self.given[order]
                made: Extension | SeenExtension
                if self.geometry.seen is None:
                    made = Extension(self.geometry, self.embedding[order], given, n_jobs)
                else:
                    metric = check_metric(self.metric)
                    what = (self.geometry, self.embedding[order], metric)
                    made = SeenExtension(*what, n_jobs)
                self.__dict__["_extension"] = made
        extension: Extension | SeenExtension = self.__dict__["_extension"]
        return extension


def summary(model: Any) -> str:
    """Say in a line what was fitted."""
    n_points, n_components = model.embedding_.shape
    said = [
        f"{n_points:,} points of {model.n_features_in_:,} features in {n_components} dimensions"
        if not model._fitted.is_precomputed
        else f"{n_points:,} points by their distances in {n_components} dimensions",
        "" if model.texture_ is None else f"texture {model.texture_}",
        f"{model._fitted.geometry.graph.n_edges // 2:,} edges",
        f"{len(model.landmarks_):,} landmarks" if len(model.landmarks_) else "",
        f"{len(model.shortcuts_):,} shortcuts" if len(model.shortcuts_) else "",
        "eigenvalues " + ", ".join(f"{x:.4g}" for x in model.eigenvalues_.flat[:6]),
    ]
    return "; ".join(filter(None, said))


def told_of_outside(found: FloatArray, info: Extrapolation, what: str, where: str) -> FloatArray:
    """Return what was found, with a warning if some of it is an extrapolation or NaN."""
    is_lost: BoolArray = np.asarray(np.isnan(np.atleast_2d(found)).any(axis=1))
    n_outside, n_lost = (
        int(np.count_nonzero(each)) for each in (info.is_outside & ~is_lost, is_lost)
    )
    if n_lost:
        warn(
            f"{n_lost} of {len(is_lost)} {what} next to points that were left out of the embedding "
            "and have no place in it: the result is NaN"
        )
    if n_outside:
        warn(
            f"{n_outside} of {len(info.is_outside)} {what} far outside the {where}, where the "
            "result is an extrapolation; pass return_info=True to see which"
        )
    return found
