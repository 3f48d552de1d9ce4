"""What is left to the data: decided by what they look like, and by what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ptunfold.embedding.judging import (
    BARELY,
    FEWER,
    Teller,
    are_few,
    fewer_neighbors,
    is_less_flat,
    is_strained_by_turns,
    is_truer,
    teller,
    tells_less,
)
from ptunfold.geodesics.cutting import (
    closes,
    has_no_rim,
    least_points,
    length_of_most_rim,
    must_fold,
)
from ptunfold.geodesics.overlapping import MANY, MUCH, NEARLY_NONE, share_below_chords
from ptunfold.geodesics.passing import pass_each_other
from ptunfold.geodesics.rejoining import edges_led_back_to
from ptunfold.geometry.decisions import (
    COHERENT,
    is_doubtful,
    is_no_sheet,
    look_at,
    may_thin,
    resolve_auto,
    share_explained,
    was_noise,
    with_dimension,
)
from ptunfold.geometry.graph import joined_by, thinned, with_edges, without_bridges, without_edges
from ptunfold.geometry.neighbors import edge_lengths
from ptunfold.geometry.stages import Pruned, proximity_graph, prune, with_fewer
from ptunfold.geometry.texture import Texture
from ptunfold.planning import RoomCheck
from ptunfold.threads import Run
from ptunfold.types import Geometry, Graph, IntArray, Options, Points, Settings, Space

# Of the edges, what planes explain, and points at the rim, in units of the root of all. Spheres and
# tori, with noise as large as neighbourhoods too, have 0.5 to 0.9 of the edges and 0 to 0.6 at the
# rim; tables less than half of the edges, windows of a photograph 0.8 at the rim. Up to 500 points
# of rough sheets and bodies have 0.75 of the edges and 1.4 at the rim, 0.8 and 2; windows less of
# the edges, and rings of few views, shown in the plane, 2.1 to 8 at the rim.
_HALF_EXPLAINED, _NO_RIM = 0.5, 0.6
_WELL_EXPLAINED, _SHORT_RIM, _MOST_WITH_RIM = (0.65, 0.8), 2.0, 500
_LENGTHS, _FEWEST_SOURCES, _MOST_SOURCES = 80_000, 16, 50  # of what is looked at
_MOST_TRIED = 20_000  # points: tight windings are joined where there are few

Build = Callable[[Pruned, Settings, Texture | None], Geometry]


@dataclass(frozen=True, eq=False)
class Attempts:
    """Attempts at a geometry, and what they are judged by.

    Attributes
    ----------
    points : (n_points, n_features)
        As `prepare` returns them.
    order : (n_points,) int or None
        The same.
    build : callable
        Goes from a graph to the connection, as settings want it.
    run : Run
        Threads and progress bars.
    check : callable, optional
        Looks whether there is room, once it is known what the data are like.
    said : list of str
        What there is to say about what was built last.
    """

    points: Points
    order: IntArray | None
    build: Build
    run: Run
    check: RoomCheck | None
    said: list[str]

    def best(self, options: Options) -> Geometry:
        """Decide what is left to the data, and otherwise if what is unfolded overlaps itself.

        Where nothing else helps, distances are lengths along the graph.
        """
        geometry = self.decided(options)
        share = self.overlap(geometry, options)
        if share < MANY:
            return self.flatter(geometry, options)
        said = self.said.copy()
        for other in self.otherwise(geometry, options):
            tried = self.decided(other)
            falls_apart = _n_pieces(tried) > _n_pieces(geometry)
            if not falls_apart and self.overlap(tried, other) < NEARLY_NONE:
                return tried
        self.said[:] = said
        connection, dim = geometry.connection, geometry.connection.intrinsic_dim
        if share < MUCH and not is_less_flat(connection, dim=dim, n_jobs=self.run.n_jobs):
            return geometry
        return replace(self.along_the_graph(options), overlapping=share)

    def flatter(self, geometry: Geometry, options: Options) -> Geometry:
        """Take lengths along the graph of data with noise, where these are far flatter."""
        connection, is_noisy = geometry.connection, geometry.texture in ("noisy", "very noisy")
        if options.coherence is not None or not is_noisy or is_no_sheet(geometry, options):
            return geometry
        n_sources = int(np.clip(_LENGTHS // len(self.points), _FEWEST_SOURCES, _MOST_SOURCES))
        if not is_strained_by_turns(connection, n_sources, n_jobs=self.run.n_jobs):
            return geometry
        return self.along_the_graph(options)

    def along_the_graph(self, options: Options) -> Geometry:
        """Build without transport; planes that lead nowhere do not tell noise from shape either."""
        return self.decided(replace(options, coherence=0.0))

    def overlap(self, geometry: Geometry, options: Options) -> float:
        """Tell how much of what is unfolded lies on itself, of sheets in space."""
        is_asked = options.coherence is not None or geometry.texture == "rough"
        is_flat = self.points.shape[1] == geometry.connection.intrinsic_dim
        return 0.0 if is_asked or is_flat else share_below_chords(geometry, self.run)

    def otherwise(self, geometry: Geometry, options: Options) -> Iterator[Options]:
        """Say what else to try: fewer dimensions without the noise, or fewer neighbours."""
        if options.disconnected == "error":  # what falls apart is not taken, and no reason to end
            options = replace(options, disconnected="bridge")
        if options.may_shrink:
            narrower = with_dimension(options, geometry.surface, geometry.graph, self.run)
            if narrower is not options:
                yield narrower
        if may_thin(options) and len(self.points) <= _MOST_TRIED:
            for n_neighbors in FEWER:
                yield replace(options, n_neighbors=n_neighbors)

    def decided(self, options: Options) -> Geometry:
        """Decide what is left to the data, build, and judge by it what was decided."""
        n_points = len(self.points)
        settings = resolve_auto(options, None, n_points)
        found = proximity_graph(self.points, settings, self.order, self.run)
        pruned = prune(found, settings, None)
        options, texture = look_at(self.points, pruned.graph, options, self.run)
        settings, pruned = resolve_auto(options, texture, n_points), prune(found, settings, texture)
        if settings.denoise and not self.can_move(options, settings):
            options = replace(options, denoise=0)
            settings = resolve_auto(options, texture, n_points)
        if texture is not None and options.denoise is None and settings.denoise:
            # What little is carried on cannot be a sheet.
            if options.coherence is None or options.coherence >= COHERENT:
                geometry = self.checked(pruned, settings, texture)
                is_sheet = _is_sheet_with_noise(geometry)
                if is_sheet and not self.is_spoilt(geometry, found, pruned, options, texture):
                    return self.rejoined(geometry, pruned, options, settings, texture)
                del geometry
            texture = texture.without_noise
            settings = resolve_auto(options, texture, n_points)
        if texture is not None and texture.kind == "rough":
            pruned, settings = self.by_pictures(found, pruned, options, settings, texture)
        del found
        geometry = self.checked(pruned, settings, texture)
        if self.may_be_torn(geometry, options):
            graph = with_edges(self.points, pruned.graph, pruned.shortcuts)
            torn = Pruned(without_edges(graph, *geometry.shortcuts.T), geometry.shortcuts)
            pruned = self.untorn(graph, torn, self.teller(settings))
            if pruned is not torn:
                return self.build(pruned, replace(settings, is_pruned=False), texture)
        return self.rejoined(geometry, pruned, options, settings, texture)

    def checked(self, pruned: Pruned, settings: Settings, texture: Texture | None) -> Geometry:
        """Build, if there is room."""
        if self.check is not None:
            kind = None if texture is None else texture.kind
            self.check(self.points, settings, kind, pruned.graph)
        return self.build(pruned, settings, texture)

    def teller(self, settings: Settings) -> Teller:
        """Return what measures how much the picture of a graph tells, of each graph once."""
        return teller(self.points, settings.intrinsic_dim, self.run.n_jobs)

    def can_move(self, options: Options, settings: Settings) -> bool:
        """Tell whether points can be denoised, which takes all distances between them."""
        points = self.points
        if not isinstance(points, Space) or points.movable(settings.denoise_neighbors) is not None:
            return True
        if options.denoise is not None:
            raise ValueError(
                f"denoise={options.denoise} needs the distances between all points, and these are "
                'known in part; pass denoise=0, or all of them with metric="precomputed"'
            )
        return False

    def is_spoilt(
        self,
        geometry: Geometry,
        found: Pruned,
        pruned: Pruned,
        options: Options,
        texture: Texture,
    ) -> bool:
        """Tell whether denoised points unfold less flat, or tell less of the data, than graphs.

        Only in doubt, and of what can be shown: pictures of solids and of closed sheets fold.
        """
        dim, n_jobs = options.intrinsic_dim, self.run.n_jobs
        if not is_doubtful(geometry, texture) or dim > 2 or are_few(len(self.points)):
            return False
        if must_fold(geometry, n_jobs):
            return False
        if texture.is_thick and is_less_flat(geometry.connection, dim=dim, n_jobs=n_jobs):
            return True
        graphs = [pruned.graph]
        if may_thin(options):
            graphs.append(thinned(found.graph, fewer_neighbors(len(self.points))))
        return tells_less(self.points, geometry.connection, graphs, dim, n_jobs)

    def may_be_torn(self, geometry: Geometry, options: Options) -> bool:
        """Tell whether edges were dropped from what looked like a sheet, and is none.

        Of a ring of few pictures planes explain the edges, and still do not lead around it.
        """
        is_judged = geometry.texture in (None, "rough") or not isinstance(options.graph, str)
        were_dropped = options.is_pruned and len(geometry.shortcuts) > 0
        return were_dropped and not is_judged and is_no_sheet(geometry, options)

    def rejoined(
        self,
        geometry: Geometry,
        pruned: Pruned,
        options: Options,
        settings: Settings,
        texture: Texture | None,
    ) -> Geometry:
        """Build a sheet again with the edges that were dropped from it and are no shortcuts."""
        is_open = settings.is_pruned and isinstance(options.graph, str)
        if texture is None or not texture.is_sheet or not is_open:
            return geometry
        lengths = edge_lengths(self.points, *geometry.shortcuts.T, n_jobs=1)  # few
        trusted = edges_led_back_to(geometry, lengths, self.run)
        if not len(trusted) or is_no_sheet(geometry, options):
            return geometry
        known = replace(pruned, trusted=trusted)
        dropped = known.without_trusted(pruned.shortcuts)
        back = replace(pruned, trusted=dropped).without_trusted(pruned.shortcuts)
        graph = with_edges(self.points, pruned.graph, back)
        return self.build(replace(known, graph=graph, shortcuts=dropped), settings, texture)

    def by_pictures(
        self,
        found: Pruned,
        pruned: Pruned,
        options: Options,
        settings: Settings,
        texture: Texture,
    ) -> tuple[Pruned, Settings]:
        """Choose the graph whose picture tells most, where tangent planes say nothing.

        Fewer neighbours may be better, and so may be shortcuts: some are what closes a ring.
        """
        tell = self.teller(settings)
        kept = self.untorn(found.graph, pruned, tell)
        if not may_thin(options):
            return kept, settings
        if are_few(len(self.points)):
            return self.of_few(found, pruned, kept, settings, texture, tell)
        graphs, taken, of_taken = (found.graph, pruned.graph), None, settings
        for n_neighbors in FEWER:
            fewer = replace(settings, n_neighbors=n_neighbors)
            whole, torn = self.thin(found, fewer, texture)
            # What falls into pieces is joined as more neighbours join it.
            thinner = joined_by(whole.graph, kept.graph), joined_by(torn.graph, kept.graph)
            # What seven do not do better than ten, five have to do clearly.
            is_next = n_neighbors == FEWER[0] or taken is not None
            if is_truer(thinner, graphs, tell, by=BARELY if is_next else None):
                graphs, taken, of_taken = thinner, replace(torn, graph=thinner[1]), fewer
        if taken is None:
            return kept, settings
        if self.must_keep_ten(kept, settings, texture):
            return kept, settings
        return self.untorn(graphs[0], taken, tell), of_taken

    def of_few(
        self,
        found: Pruned,
        pruned: Pruned,
        kept: Pruned,
        settings: Settings,
        texture: Texture,
        tell: Teller,
    ) -> tuple[Pruned, Settings]:
        """Choose the graph of few points, which has fewer neighbours but for good reason.

        Of a loop of 72 views ten neighbours span a seventh, and their picture tells as much.
        """
        fewer = replace(settings, n_neighbors=fewer_neighbors(len(self.points)))
        whole, torn = self.thin(found, fewer, texture)
        falls_apart = torn.graph.component_labels.max() > kept.graph.component_labels.max()
        if falls_apart or is_truer((found.graph, pruned.graph), (whole.graph, torn.graph), tell):
            return kept, settings
        if self.must_keep_ten(kept, settings, texture):
            return kept, settings
        return self.untorn(whole.graph, torn, tell), fewer

    def must_keep_ten(self, kept: Pruned, settings: Settings, texture: Texture) -> bool:
        """Tell whether data are a rough surface that closes upon itself, or hardly ends anywhere.

        A picture that folds is no judge, and so few neighbours leave holes.
        """
        dim, n_points, most = settings.intrinsic_dim, len(self.points), _NO_RIM
        if dim > 2:
            is_solid = n_points >= least_points(dim)
            return is_solid and closes(self.checked(kept, settings, texture), self.run.n_jobs)
        if dim == 1:
            return False
        explained = share_explained(self.points, kept.graph, settings, self.run)
        if explained < _HALF_EXPLAINED:
            return False
        if n_points <= _MOST_WITH_RIM:
            most = float(np.interp(explained, _WELL_EXPLAINED, (_NO_RIM, _SHORT_RIM)))
        return length_of_most_rim(self.checked(kept, settings, texture)) <= most

    def thin(self, found: Pruned, settings: Settings, texture: Texture) -> tuple[Pruned, Pruned]:
        """Return the graph with fewer neighbours as it is, and without its shortcuts."""
        whole = with_fewer(found, settings.n_neighbors, self.run)
        return whole, prune(whole, settings, texture)

    def untorn(self, whole: Graph, pruned: Pruned, tell: Teller) -> Pruned:
        """Drop shortcuts only if the picture without them tells clearly more: some close a ring.

        Where both tell the same they are dropped from between strands that go on without them.
        """
        if pruned.graph is whole or is_truer((pruned.graph,), (whole,), tell):
            return pruned
        tells_less = is_truer((whole,), (pruned.graph,), tell)
        if not tells_less and pass_each_other(pruned.graph, pruned.shortcuts, self.run):
            return pruned
        return Pruned(whole, pruned.shortcuts[:0])


def _is_sheet_with_noise(geometry: Geometry) -> bool:
    """Tell whether denoised points make a sheet, or, if they are many enough, a closed surface."""
    is_few = are_few(len(geometry.labels))
    if was_noise(geometry, is_few=is_few, is_closed=False):
        return True
    return not is_few and was_noise(geometry, is_few=False, is_closed=True) and has_no_rim(geometry)


def _n_pieces(geometry: Geometry) -> int:
    """Count the parts that no bridge joins; each point that is left out is one."""
    return int(without_bridges(geometry.graph).component_labels.max()) + 1
