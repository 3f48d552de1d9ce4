"""PTU: a thin scikit-learn adapter around the pipeline."""

from __future__ import annotations

import html
from contextvars import ContextVar
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ptunfold.diagnostics import point_scores
from ptunfold.diagnostics.curvedness import Curvature, curvature
from ptunfold.diagnostics.rim import rim_points
from ptunfold.diagnostics.stretch import Stretch, stretch
from ptunfold.diagnostics.voids import Void, find_voids
from ptunfold.embedding.atlas import make_atlas
from ptunfold.engines import ENGINES, check_engine, engine_name, make_engine
from ptunfold.explorer import Page, explorer_page
from ptunfold.fitted import Fitted, summary, told_of_outside
from ptunfold.geodesic import distances_of, distances_with_std, path_of
from ptunfold.geometry.dimension import estimate_dimension
from ptunfold.geometry.spaces import taken
from ptunfold.io.models import SAVED, read_model, write_model
from ptunfold.lazy import transform_lazily
from ptunfold.maps import Maps
from ptunfold.memory import advised, load_kernels, with_advice
from ptunfold.pipeline import unfold
from ptunfold.planning import plan_landmarks
from ptunfold.report import Report, diagnose, first_words
from ptunfold.report.glance import glance
from ptunfold.threads import Run
from ptunfold.types import (
    Atlas,
    BoolArray,
    Connection,
    Extrapolation,
    FloatArray,
    Frames,
    Graph,
    Orientation,
    Path,
    Points,
    Space,
    Topology,
    Transport,
)
from ptunfold.validation.matrices import as_euclidean, check_distance_rows, check_metric
from ptunfold.validation.points import (
    check_new_points,
    check_places,
    check_points,
    in_memory,
    is_lazy,
)
from ptunfold.validation.settings import check_options
from ptunfold.validation.values import (
    SEAMS,
    check_choice,
    check_count,
    check_flag,
    check_is_fitted,
    check_sources,
    check_verbose,
    plain,
)

_WITH_LESS = (
    "pass landmarks or fewer of them, fewer neighbours, float32 points or engine=Disk(folder), or "
    "fit a part of the points and transform the rest"
)
_A_PART = "pass fewer points at a time"
_lists_what_is_made = ContextVar("_lists_what_is_made", default=True)
_CHECKED_AS_THEY_ARE = (
    *("n_components", "n_neighbors", "radius", "tangent_neighbors", "tangent", "step", "denoise"),
    *("coherence", "prune", "disconnected", "search", "n_jobs"),
)


class PTU(Maps, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Parallel Transport Unfolding: isometric embedding of points on a curved sheet.

    Like Isomap it preserves all geodesic distances as well as it can. Unlike Isomap it does not
    take the length of the shortest path in a graph for the geodesic distance: it carries tangent
    frames along the path, unfolds the path into the plane and takes the straight distance between
    its ends. Holes, shapes that are not convex and uneven sampling do not distort the result, and
    points on a flat sheet are recovered exactly.

    Parameters
    ----------
    n_components : int, default=2
        The number of output coordinates.
    metric : str or callable, default="euclidean"
        How far points are from each other: a name that ``scipy.spatial.distance.cdist`` or
        scikit-learn knows, a function of two points that returns a number, or "precomputed", if
        ``X`` has the distances themselves. Of a function each pair of points is asked once, within
        neighbourhoods only. "cosine" and "correlation" are measured as the angle is, by the
        distance of points of length 1, because ``1 - cos`` is the square of a distance.
    n_neighbors : int or "auto", default="auto"
        The number k of nearest neighbours that make the graph. "auto": 10, or all other points if
        there are fewer; on curved data each point is then joined with more, up to 12 for each
        dimension, from among the neighbours of its neighbours (see :func:`widen_graph`), if steps
        are arcs, there is no ``radius`` and there are at most 200 000 points. Where tangent planes
        say nothing, 5 to 9 are taken if points are few, and 7 or 5 if the picture of that graph
        tells more of the data.
    radius : float, optional
        The length of the longest edge: needed for ``graph="radius"``, a bound for the others.
    graph : {"knn", "mutual", "radius"}, default="knn"
        An edge joins two points if either is among the k nearest of the other, if each is, or if
        they are at most ``radius`` apart. A graph of your own goes to ``fit``.
    intrinsic_dim : int or "auto", optional
        The dimension d of the tangent spaces; ``n_components`` by default. For data of more
        dimensions than can be shown it may be larger: the first coordinates are shown then.
        "auto" takes the consensus of :func:`estimate_dimension`. By default it may also be smaller,
        if the data are: a curve is unfolded as one.
    tangent_neighbors : int or "auto", default="auto"
        The number K of nearest points on the graph that determine a tangent space. More points
        average out noise, fewer follow a strong curvature. "auto": for planes 15, or
        ``3 * intrinsic_dim`` if that is more; for surfaces 3 for each of their coefficients (18 for
        sheets), 8 with noise (48).
    tangent : {"auto", "pca", "quadratic", "robust"}, default="auto"
        The principal plane of the neighbourhood; the tangent plane of a quadratic surface fitted
        to it, several times as exact on curved data; or the same with outliers left out of
        account. "auto": see ``texture_``.
    step : {"auto", "chord", "projection", "arc"}, default="auto"
        The length of an unfolded edge: that of the edge, that of its projection on the tangent
        space (the paper's plain form), or that of the arc that the tangent spaces at both ends
        bend it to. "auto": see ``texture_``.
    denoise : int or "auto", default="auto"
        How often the points are moved to quadratic surfaces fitted to their neighbours before
        anything else is done; the graph is built anew each time, unless it is one of your own.
        "auto": three times if there is noise, else never; there was noise if transport is coherent
        without it, and the points did not have to move far. If the spectrum of the points shows
        noise that is alike in ten directions or more, they are projected on the others first. With
        a metric of another kind it takes all distances, and there is no such projection.
    coherence : float or "auto", default="auto"
        How much of the path before is carried over an edge, the rest being taken for straight: 1
        for all that transport says, the paper's form; 0 for lengths along the graph, as in Isomap.
        "auto": for each edge as much as transport can be believed there (see ``transport_``).
    prune : {"auto", "shortcuts"} or None, default="auto"
        Drop edges that jump from one part of a sheet to another: those with few ways around them
        (see :func:`find_shortcuts`), and those that leave tangent planes which are parallel. Noise
        makes a few of them, and a few are enough to spoil every distance. "auto" drops them from a
        graph of kind "knn" that was built here; where the data are no sheet, only those
        that are no longer than most edges, and only if the picture without them tells clearly more.
    landmarks : int, float, list of int, "auto" or None, default="auto"
        Embed by the distances from a few points to all, and not between all points: a number of
        landmarks, a fraction of the points, or the points themselves; None for all distances.
        "auto" takes, with threads, 64 landmarks of a sheet of 1000 points and more, if it can be
        laid flat and half of them lead to the same picture; all distances else, up to 20 000 points
        (100 000 with a GPU) if they fit into memory; and then 100 landmarks, or 32 of a sheet if
        these are enough, and a warning says so.
    landmark_selection : {"maxmin", "random"}, default="maxmin"
        How landmarks are chosen: each as far as possible along the data from those before, or at
        random. The first is better with few landmarks.
    mds : {"auto", "classical", "stress"}, default="auto"
        How distances become coordinates: by classical scaling, and where its picture is off by
        more than 5 % (12 % of a sheet that is known to be curved), because the data need more
        dimensions than are shown or are closed, relaxed
        towards the least squares of the differences of distances; by classical scaling alone; or
        by these least squares alone, distances whose two directions disagree counting less, which
        is meant for a few thousand points.
    disconnected : {"bridge", "error", "largest", "separate"}, default="bridge"
        What to do with a graph of several components: join them by the shortest possible edges,
        refuse, embed the largest (NaN for the rest), or embed each by itself, side by side.
    seams : {"auto", "cut", "leave"}, default="auto"
        What to do with data that close upon themselves, such as rings, cylinders and tori: cut
        them open, so that they lie flat, or leave them, and the embedding folds or bends them.
        "auto" cuts unless ``n_components`` has room for one dimension more for each loop, as for a
        ring in the plane, or the sheet is curved and a cut would not lay it flat. A warning says
        what is done; see ``topology_``.
    search : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found. "auto" is exact unless points are many and of many dimensions,
        as a million of fifty, and then approximate (``pip install 'ptunfold[approximate]'``); a
        warning says so. The first approximate search of a process compiles for up to a minute,
        which ``verbose`` shows.
    engine : {"threads", "cuda", "dask"} or Disk, default="threads"
        Where the distances are computed and kept: by threads of this machine; by one GPU
        (``pip install cupy-cuda13x``), in 32 bits; by the workers of a Dask cluster
        (``pip install 'ptunfold[dask]'``), through the Client that is there or one of its own,
        and in memory here; or by any of these in a folder, as :class:`Disk` says, so that a fit
        that was stopped can go on. With a folder, ``landmarks="auto"`` means none.
    random_state : int, RandomState or None, default=None
        For a random choice of landmarks. Nothing else is random.
    n_jobs : int, optional
        Number of threads: None for every core, unless joblib's context or a parent worker says
        otherwise, -1 for every core in any case. The result does not depend on it.
    verbose : bool, default=False
        Show a progress bar for each long stage.

    Attributes
    ----------
    embedding_ : (n_points, n_components)
        The coordinates, in the dtype of the input.
    eigenvalues_ : (n_components,)
        What each coordinate contributes; a negative value is kept as it was found. With components
        embedded apart, one row for each.
    landmarks_ : (landmarks,) int
        The points used as landmarks; none if all distances were used.
    component_labels_ : (n_points,) int
        The component that each point was embedded with, the largest first; -1 for left out.
    graph_ : Graph
        The proximity graph, bridges included.
    frames_ : Frames
        The tangent frames. Where points span less than there are features they are written in an
        orthonormal basis of their span; with a metric that is not Euclidean they are shares of
        ``frames_.members``.
    connection_ : Connection
        Rotation and step of each edge.
    shortcuts_ : (n_shortcuts, 2) int
        The edges that were taken for shortcuts; they are not in the graph unless ``prune`` is None.
    texture_ : {"flat", "smooth", "noisy", "very noisy", "rough"} or None
        What the data are like at the scale of a neighbourhood, which decides what "auto" means.
        Flat: planes fit, and chords are exact. Smooth: quadratic surfaces and arcs. Noisy: robust
        surfaces, arcs, and denoising first, with more neighbours if very noisy. Rough, because the
        data have more than ``intrinsic_dim`` dimensions, or none that tangent planes could show:
        planes and chords. None if nothing was left to the data.
    transport_ : Transport
        How far the unfolding can be believed: ``transport_.explained`` of the edges lies in the
        tangent planes, ``transport_.coherence`` is carried on from edge to edge. ``print`` it.
    orientation_ : Orientation
        Whether the sheet has two sides, with a loop along which left becomes right if not; of
        several components that of the largest.
    topology_ : Topology
        How the data close upon themselves: ``print`` it. ``topology_.seams`` has the periods and
        what happens to who crosses a seam; of several components that of the largest.
    intrinsic_coordinates_ : (n_points, intrinsic_dim) float64
        Coordinates along the sheet: for each direction in which it is closed an angle from 0 to
        2π, then the others. A ring has one angle, a torus two. Of the largest part that hangs
        together without bridges; NaN elsewhere. Branches of a curve share coordinates, which a
        warning says.
    embedding_std_ : (n_points, n_components, n_components) float64
        How sure the place of each point is: the matrix whose eigenvectors and eigenvalues are the
        axes of an ellipse of one standard deviation.
    non_euclidean_ : float
        How far neighbourhoods are from any in a Euclidean space: the share of negative eigenvalues
        in their classical scaling, the median over points; 0 if distances are Euclidean.
    n_features_in_ : int
        The dimension of the input.

    Examples
    --------
    >>> import numpy as np
    >>> from ptunfold import PTU
    >>> rng = np.random.default_rng(0)
    >>> angle, height = rng.uniform(0, np.pi, 500), rng.uniform(0, 1, 500)
    >>> X = np.column_stack((np.cos(angle), height, np.sin(angle)))  # half a tube
    >>> Z = PTU(n_components=2).fit_transform(X)
    >>> print(np.ptp(Z, axis=0).round(1))
    [3.1 1. ]
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        n_neighbors: int | str = "auto",
        radius: float | None = None,
        graph: str = "knn",
        intrinsic_dim: int | str | None = None,
        tangent_neighbors: int | str = "auto",
        tangent: str = "auto",
        step: str = "auto",
        denoise: int | str = "auto",
        coherence: float | str = "auto",
        prune: str | None = "auto",
        landmarks: Any = "auto",
        landmark_selection: str = "maxmin",
        mds: str = "auto",
        disconnected: str = "bridge",
        seams: str = "auto",
        search: str = "auto",
        engine: Any = "threads",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.graph = graph
        self.intrinsic_dim = intrinsic_dim
        self.tangent_neighbors = tangent_neighbors
        self.tangent = tangent
        self.step = step
        self.denoise = denoise
        self.coherence = coherence
        self.prune = prune
        self.landmarks = landmarks
        self.landmark_selection = landmark_selection
        self.mds = mds
        self.disconnected = disconnected
        self.seams = seams
        self.search = search
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, graph: Any = None) -> Self:
        """Embed the points.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            The points. With ``metric="precomputed"`` their distances (n_points, n_points): an
            array, one that is mapped into memory, or a sparse matrix of those that are known.
            A collection of Dask is computed.
        y : ignored
            Present for scikit-learn's conventions.
        graph : sparse matrix of shape (n_points, n_points), optional
            Edge lengths of a proximity graph of your own, a :class:`Graph`, or nearest neighbours
            from another library as ``(indices, distances)``; ``n_neighbors``, ``radius`` and the
            parameter ``graph`` are not used then. The lengths decide which
            paths are shortest; the unfolding itself is measured on the points.

        Returns
        -------
        self : PTU
            Fitted.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> model = PTU().fit(s_with_hole(300).points)
        >>> model.embedding_.shape
        (300, 2)
        """
        before = self.__dict__.copy()
        try:
            with advised("the fit", _WITH_LESS):
                load_kernels(PTU, self.n_jobs)
                self._fit(X, graph)
        except BaseException:  # of Ctrl-C too
            self.__dict__ = before
            raise
        return self

    def _fit(self, X: Any, graph: Any) -> None:
        points = self._taken(X)
        check_count("n_components", self.n_components)
        n_components = plain(self.n_components)
        options = check_options(
            points,
            graph=self.graph if graph is None else graph,
            intrinsic_dim=self._dimension_of(points),
            may_shrink=self.intrinsic_dim is None,
            **{name: getattr(self, name) for name in _CHECKED_AS_THEY_ARE},
        )
        check_choice("seams", self.seams, SEAMS)
        check_engine(self.engine)
        check_verbose(self.verbose)
        engine = make_engine(self.engine, self.n_jobs)
        plan, check = plan_landmarks(
            self.landmarks,
            self.landmark_selection,
            self.random_state,
            points,
            options,
            n_components,
            engine=engine,
            mds=self.mds,
            n_jobs=self.n_jobs,
        )
        with engine:
            geometry, embedding, self.landmarks_ = unfold(
                points,
                options,
                n_components,
                plan,
                engine,
                Run(self.n_jobs, bool(self.verbose)),
                check=check,
                mds=self.mds,
                seams=self.seams,
            )
        self.embedding_ = embedding.coordinates
        self.eigenvalues_ = embedding.eigenvalues
        self.component_labels_ = geometry.labels[geometry.place]
        self.shortcuts_ = geometry.input_shortcuts
        self.texture_ = geometry.texture
        # As they were given, where the geometry has them in coordinates of their span.
        given = None
        if not isinstance(points, Space) and points.shape[1] > geometry.points.shape[1]:
            given = points
        self._fitted = Fitted(geometry, embedding.coordinates.copy(), given, self.metric)

    def _taken(self, X: Any) -> Points:
        """Check the input; a copy of it, by which new points are placed whatever becomes of X."""
        metric = check_metric(self.metric)
        X = in_memory(X)
        if isinstance(metric, str) and metric == "precomputed":
            found = taken(X, metric)
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = len(found)
            return found
        points = check_points(X, self)
        if isinstance(X, np.ndarray):
            is_shared = np.may_share_memory(X, points)
        else:  # a data frame may hand out a view of what it holds, others that itself
            is_array_like = hasattr(X, "__array__") and not hasattr(X, "columns")
            is_shared = is_array_like or points.base is not None
        if is_shared:
            points = points.copy()
        return taken(points, metric)

    def fit_transform(self, X: Any, y: Any = None, *, graph: Any = None) -> FloatArray:
        """Embed the points and return their coordinates.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            The points. With ``metric="precomputed"`` their distances (n_points, n_points): an
            array, one that is mapped into memory, or a sparse matrix of those that are known.
            A collection of Dask is computed.
        y : ignored
            Present for scikit-learn's conventions.
        graph : sparse matrix of shape (n_points, n_points), optional
            As in :meth:`fit`.

        Returns
        -------
        embedding : (n_points, n_components)
            The coordinates.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> PTU(n_components=2).fit_transform(s_with_hole(300).points).shape
        (300, 2)
        """
        return self.fit(X, y, graph=graph).embedding_

    @overload
    def transform(
        self, X: Any, *, return_info: Literal[False] = False, return_std: Literal[False] = False
    ) -> FloatArray: ...

    @overload
    def transform(
        self, X: Any, *, return_info: Literal[True], return_std: Literal[False] = False
    ) -> tuple[FloatArray, Extrapolation]: ...

    @overload
    def transform(
        self, X: Any, *, return_info: bool = False, return_std: Literal[True]
    ) -> tuple[Any, ...]: ...

    @with_advice("the placement of points", _A_PART)
    def transform(self, X: Any, *, return_info: bool = False, return_std: bool = False) -> Any:
        """Place new points in the embedding.

        Each point is placed by the fitted points around it, through their tangent frames, and by
        itself: the result does not depend on what else is passed. Fitted points get their own
        coordinates. To add points to a model, transform them; nothing else moves.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            The points; with ``metric="precomputed"`` their distances to the fitted ones,
            (n_new, n_points), dense, or sparse with those that are nearest. An array or a data
            frame of Dask stays lazy: so is the result, and its blocks are placed where they are
            computed.
        return_info : bool, default=False
            Tell which points lie far outside the fitted data, where coordinates are an
            extrapolation; by default a warning tells how many.
        return_std : bool, default=False
            Tell how sure the places are, as ``embedding_std_`` does for fitted points. Not for
            collections of Dask.

        Returns
        -------
        embedding : (n_new, n_components)
            The coordinates; NaN next to a point that was left out of the embedding.
        info : Extrapolation
            Distances from the nearest fitted point, and which points are outside; only with
            ``return_info``.
        std : (n_new, n_components, n_components) float64
            An ellipse for each point, that of the fitted point next to it in the embedding; NaN
            for points that are far outside. Only with ``return_std``.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> X = s_with_hole(500).points
        >>> model = PTU().fit(X[:480])
        >>> places, info = model.transform(X[480:], return_info=True)
        >>> places.shape, int(info.is_outside.sum())
        ((20, 2), 0)
        """
        check_is_fitted(self)
        check_flag("return_info", return_info)
        check_flag("return_std", return_std)
        if is_lazy(X):
            if return_std:
                raise TypeError(
                    "return_std=True is not for collections of Dask; pass parts of them as arrays"
                )
            return transform_lazily(self, X, "transform", return_info=return_info)
        new = self._taken_anew(X)
        found = self._fitted.extension(self.n_jobs).into_embedding(new, self.n_jobs)
        std = (self._fitted.std_at(*found, self.n_jobs),) if return_std else ()
        if return_info:
            return *found, *std
        told = told_of_outside(*found, "points lie", "fitted data")
        return (told, *std) if return_std else told

    def _taken_anew(self, X: Any) -> Any:
        if self._fitted.is_precomputed:
            return check_distance_rows(X, len(self.embedding_))
        new = check_new_points(X, self, self._fitted.points[0])
        metric = check_metric(self._fitted.metric)
        mapped = None if callable(metric) else as_euclidean(new, metric)
        return new if mapped is None else mapped

    @overload
    def inverse_transform(self, Z: Any, *, return_info: Literal[False] = False) -> FloatArray: ...

    @overload
    def inverse_transform(
        self, Z: Any, *, return_info: Literal[True]
    ) -> tuple[FloatArray, Extrapolation]: ...

    @with_advice("the way back", _A_PART)
    def inverse_transform(
        self, Z: Any, *, return_info: bool = False
    ) -> FloatArray | tuple[FloatArray, Extrapolation]:
        """Bring points of the embedding back into the space of the data.

        Fitted points come back to themselves or, with noise, to their surface. In between the
        tangent frames lead along the sheet; where the data do not keep to one, planes fitted to
        the points around average out what is not in the embedding. There is no way back with
        ``metric="precomputed"``, and with "cosine" it leads to points of length 1.

        Parameters
        ----------
        Z : array-like of shape (n_places, n_components)
            Points of the embedding; of Dask as in :meth:`transform`.
        return_info : bool, default=False
            Tell which places lie far outside the embedded data; by default a warning tells how
            many.

        Returns
        -------
        X : (n_places, n_features)
            The points.
        info : Extrapolation
            Distances from the nearest embedded point, and which places are outside; only with
            ``return_info``.

        Examples
        --------
        >>> import numpy as np
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> X = s_with_hole(300).points
        >>> model = PTU().fit(X)
        >>> np.allclose(model.inverse_transform(model.embedding_), X)
        True
        """
        check_is_fitted(self)
        check_flag("return_info", return_info)
        if is_lazy(Z) and not self._fitted.is_precomputed:
            return transform_lazily(self, Z, "inverse_transform", return_info=return_info)
        if self._fitted.is_precomputed:
            raise ValueError(
                'metric="precomputed" knows no coordinates to bring anything back into; fit points '
                "with a metric of theirs"
            )
        places = check_places(Z, self.embedding_)
        found = self._fitted.extension(self.n_jobs).into_space(places, self.n_jobs)
        return found if return_info else told_of_outside(*found, "places lie", "embedded data")

    @property
    def transport_(self) -> Transport:
        """How far the unfolding can be believed."""
        check_is_fitted(self)
        return self._fitted.geometry.transport

    @property
    def non_euclidean_(self) -> float:
        """How far neighbourhoods are from any in a Euclidean space."""
        check_is_fitted(self)
        negative = self._fitted.geometry.frames.negative
        return 0.0 if negative is None else float(np.nanmedian(negative))

    @property
    def graph_(self) -> Graph:
        """The proximity graph, bridges included."""
        check_is_fitted(self)
        return self._fitted.as_given.graph

    @property
    def frames_(self) -> Frames:
        """The tangent frames."""
        check_is_fitted(self)
        return self._fitted.as_given.frames

    @property
    def connection_(self) -> Connection:
        """Rotation and step of each edge."""
        check_is_fitted(self)
        return self._fitted.as_given.connection

    @property
    def orientation_(self) -> Orientation:
        """Whether the sheet has two sides."""
        check_is_fitted(self)
        return self._fitted.orientation

    @property
    def topology_(self) -> Topology:
        """How the data close upon themselves."""
        check_is_fitted(self)
        return self._fitted.topology

    @property
    def intrinsic_coordinates_(self) -> FloatArray:
        """Coordinates along the sheet, angles for closed directions first."""
        check_is_fitted(self)
        return self._fitted.intrinsic_coordinates

    def images(self, points: Any = None) -> FloatArray:
        """Tell where points of the embedding are seen from across the seams.

        The embedding of data that close upon themselves is one tile of a pattern; each seam carries
        it to the next tile, and so does its inverse. A point next to the border has an image next
        to its neighbours on the other side.

        Parameters
        ----------
        points : list of int, optional
            Points of the fitted data; all by default.

        Returns
        -------
        images : (n_images, n_chosen, n_components)
            For each seam there and back; none where nothing was cut.

        Examples
        --------
        >>> import warnings
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import flat_torus
        >>> with warnings.catch_warnings(action="ignore"):  # which says that it is cut
        ...     model = PTU().fit(flat_torus(1000).points)
        >>> print(model.topology_.name, model.images([0]).shape)
        a torus (8, 1, 2)
        """
        check_is_fitted(self)
        chosen = slice(None) if points is None else check_sources(points, len(self.embedding_))
        images: FloatArray = self._fitted.images(self.embedding_[chosen])
        return images

    @with_advice("the making of charts", "pass more charts")
    def atlas(self, n_charts: int = 2) -> Atlas:
        """Cover the data with charts that overlap, for what no single flat map can show.

        Each chart is unfolded by itself, by the paths within it, to the least stress. Half of a
        sphere is shown with a quarter of the distortion of the whole, a sixth of it with a
        fifteenth. What closes upon itself needs charts so small that none goes around it.

        Parameters
        ----------
        n_charts : int
            The number of charts; with several components for the largest, and one for each other.

        Returns
        -------
        atlas : Atlas
            The charts with their distortion, and the motions from one to the next.

        Examples
        --------
        >>> import warnings
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import sphere
        >>> with warnings.catch_warnings(action="ignore"):  # which says that it is closed
        ...     model = PTU().fit(sphere(1000).points)
        >>> for n_charts in (1, 2, 6):
        ...     print(n_charts, f"{model.atlas(n_charts).distortion:.0%}")
        1 28%
        2 7%
        6 2%
        """
        check_is_fitted(self)
        check_count("n_charts", n_charts)
        run = Run(self.n_jobs, bool(self.verbose))
        return make_atlas(self._fitted.as_given, n_charts, self.embedding_.shape[1], run)

    def path(self, start: int, end: int) -> Path:
        """Unfold the shortest path between two points of the fitted data.

        Parameters
        ----------
        start, end : int
            Indices of the two points.

        Returns
        -------
        path : Path
            Nodes, unfolded points, length on the graph and the two one-way estimates.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> model = PTU().fit(s_with_hole(300).points)
        >>> path = model.path(0, 1)
        >>> print(f"{path.graph_length:.2f} along the graph, {path.distance:.2f} along the sheet")
        5.72 along the graph, 5.68 along the sheet
        """
        check_is_fitted(self)
        return path_of(self._fitted.geometry, start, end, self.n_jobs)

    @overload
    def distances(
        self, sources: Any = None, *, return_std: Literal[False] = False
    ) -> FloatArray: ...

    @overload
    def distances(
        self, sources: Any = None, *, return_std: Literal[True]
    ) -> tuple[FloatArray, FloatArray]: ...

    @with_advice("the search for paths", "pass fewer sources at a time")
    def distances(
        self, sources: Any = None, *, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Estimate the geodesic distances from some points of the fitted data to all of them.

        They are computed anew at each call; the matrix behind the embedding is not kept. From some
        sources both directions of a path are taken from the source's own tree; where coherence is
        below 1, that is up to a few per cent off what all distances have, and less symmetric.

        Parameters
        ----------
        sources : list of int, optional
            The points to start from; all by default.
        return_std : bool, default=False
            Tell how sure each distance is.

        Returns
        -------
        distances : (n_sources, n_points)
            Infinite where no path leads, NaN for points that were left out.
        std : (n_sources, n_points)
            The standard deviation of each; only with ``return_std``. Noise is taken to be alike in
            all directions; without noise half of the points are unfolded for comparison, the
            first time that it is asked for.

        Examples
        --------
        >>> import numpy as np
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import petals
        >>> data = petals(800)
        >>> found, std = PTU().fit(data.points).distances([3], return_std=True)
        >>> is_within = np.abs(found - data.distances([3])) <= 2 * std
        >>> bool(is_within.mean() > 0.8)
        True
        """
        check_is_fitted(self)
        check_flag("return_std", return_std)
        if sources is not None:
            sources = check_sources(sources, len(self.embedding_))
        measure = distances_with_std if return_std else distances_of
        run = Run(self.n_jobs, bool(self.verbose))
        return measure(self._fitted.geometry, sources, self.embedding_.dtype, run)

    @property
    def embedding_std_(self) -> FloatArray:
        """How sure the place of each point is: an ellipse."""
        check_is_fitted(self)
        return self._fitted.embedding_std(self.n_jobs)

    @with_advice("the scores", "fit a part of the points")
    def scores(self) -> dict[str, FloatArray]:
        """Tell how far the picture can be trusted at each point of the fitted data.

        Returns
        -------
        scores : dict of (n_points,) float64
            "local distortion": how much the ways to the neighbours are too long or too short in
            the embedding, relative to their lengths. "disagreement": how much the two directions of
            paths to the point disagree, relative to their lengths; always 0 with arcs as steps.
            "coherence": how far the unfolding can be believed around the point, from 0 to 1.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> model = PTU().fit(s_with_hole(1000).points)
        >>> scores = model.scores()
        >>> sorted(scores)
        ['coherence', 'disagreement', 'local distortion']
        >>> bool(scores["coherence"].min() > 0.9)
        True
        """
        check_is_fitted(self)
        return point_scores(self._fitted.as_given.chart, self.embedding_, n_jobs=self.n_jobs)

    @with_advice("the curvature", "fit a part of the points")
    def curvature(self) -> Curvature:
        """Measure how curved the sheet is at each point of the fitted data, and in all.

        Returns
        -------
        curvature : Curvature
            Gaussian curvatures (n_points,), of more dimensions means of sectional ones, with their
            standard errors and the area of each point; their integral; and the factor by which the
            scales of any flat map differ at least.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import spherical_cap
        >>> cap = 2 * spherical_cap(1000, angle=60).points
        >>> found = PTU().fit(cap).curvature()
        >>> print(f"{found.values[0]:.3f}, scales differ by a factor of {found.bound:.1f} or more")
        0.250, scales differ by a factor of 1.2 or more
        """
        check_is_fitted(self)
        return curvature(self._fitted.as_given.connection, n_jobs=self.n_jobs)

    def rim(self) -> BoolArray:
        """Tell which points of the fitted data are at the rim of the sheet, or of a hole in it.

        Returns
        -------
        is_rim : (n_points,) bool
            Whether all neighbours of the point lie on one side.

        Examples
        --------
        >>> import numpy as np
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import annulus
        >>> ring = annulus(1000, inner=0.5)
        >>> is_rim = PTU().fit(ring.points).rim()
        >>> from_middle = np.linalg.norm(ring.coordinates[is_rim], axis=1)
        >>> print(bool(((from_middle < 0.6) | (from_middle > 0.9)).all()))
        True
        """
        check_is_fitted(self)
        return rim_points(self._fitted.as_given.connection, n_jobs=self.n_jobs)

    def stretch(self) -> Stretch:
        """Measure how the embedding stretches the sheet at each point of the fitted data.

        Returns
        -------
        stretch : Stretch
            The axes of the ellipse that a small circle becomes (n_points, d), with the direction of
            the longest; the change of areas; and what all of it comes to.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import spherical_cap, swiss_roll
        >>> for points in (swiss_roll(1000).points, spherical_cap(1000, angle=60).points):
        ...     print(PTU().fit(points).stretch())
        lengths are off by 0.0% at the median point, by more than 10% at 0% of the points
        lengths are off by 9.3% at the median point, by more than 10% at 46% of the points
        """
        check_is_fitted(self)
        return stretch(self._fitted.as_given.chart, self.embedding_, n_jobs=self.n_jobs)

    @with_advice("the search for holes", "fit a part of the points")
    def voids(self) -> tuple[Void, ...]:
        """Find holes in the sheet that chance does not make, and where samples would fill them.

        Returns
        -------
        voids : tuple of Void
            The largest first, with middle, size, the points around it, and places for new samples
            (n_samples, n_features); of distances alone in the embedding. None where the sheet is
            no surface.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> (void,) = PTU().fit(s_with_hole(2000).points).voids()
        >>> print(f"radius {void.radius:.1f}, around {void.center.round(1) + 0.0}")
        radius 1.1, around [0. 1. 0.]
        """
        check_is_fitted(self)
        geometry, around = self._fitted.as_given, self._fitted.around_holes
        return find_voids(geometry, self.embedding_, points=around)

    @with_advice("the report", "fit a part of the points")
    def diagnose(self) -> Report:
        """Put all that can be said about the fit on a few lines: ``print`` it.

        What was found, how sure that is, and what to change. Of many points, distances are judged
        from a sample of them.

        Returns
        -------
        report : Report
            With ``as_dict()`` for programs and ``save("report.html")`` for a page with pictures; in
            a notebook it shows itself.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> report = PTU().fit(s_with_hole(2000).points).diagnose()
        >>> print(report.lines["shape"])
        a sheet with 1 hole; two-sided
        >>> print(report.lines["advice"])
        new points at voids()[0].samples would tell whether the hole is real
        """
        check_is_fitted(self)
        names = self._input_names
        if self._fitted.is_precomputed:  # places are those of the embedding
            names = [f"ptu{index}" for index in range(self.embedding_.shape[1])]
        return diagnose(self._fitted, names, self.n_jobs)

    @with_advice("the making of the page", "pass paths=False, or fit a part of the points")
    def explore(
        self,
        path: Any = None,
        *,
        columns: Any = None,
        color: str | None = None,
        scales: Any = None,
        images: Any = None,
        title: str = "PTU",
        feature_names: Any = None,
        paths: bool | None = None,
        compare: Any = None,
    ) -> Page:
        """Make a page on which data and embedding can be looked into, in one file without network.

        The data and the embedding stand side by side; what is pointed at or selected in one is
        seen in the other. Two points that are clicked show the path between them, and how it
        unfolds; the page opens with one.

        Parameters
        ----------
        path : str or path, optional
            The file to write. Without it, the page is only returned; in a notebook it shows itself.
        columns : dict or data frame, optional
            More to know about the points: for each name one value a point, numbers or words.
        color : str, optional
            What to colour by first: a column, a feature, "ptu0" or one of the scores.
        scales : dict, optional
            How columns turn into colours, where that is not seen from their names and values:
            "kinds", "sequential", "diverging" around zero, "cyclic" for angles, or a number, after
            which values come back to where they were, as 24 for hours.
        images : (n_points, height, width) or (n_points, height, width, 3), or a shape, optional
            Images of the points, or their (height, width) if the features are the pixels.
        title : str
            What the page is called.
        feature_names : list of str, optional
            What the features are called; by default as they were fitted, or x0, x1, ...
        paths : bool, optional
            Store the graph and the connection for the paths; by default up to 100 000 points.
        compare : dict of str to (n_points, n_components), optional
            Embeddings by other methods, such as ``{"Isomap": Z}``. Each is turned, mirrored and
            scaled to lie on this one; a slider moves the points from one to the other.

        Returns
        -------
        page : Page
            With ``html`` and ``save(path)``.

        Examples
        --------
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> sheet = s_with_hole(500)
        >>> page = PTU().fit(sheet.points).explore(columns={"height": sheet.points[:, 2]})
        >>> page.html.startswith("<!doctype html>")
        True
        """
        check_is_fitted(self)
        geometry, given = self._fitted.as_given, self._fitted.given
        page = explorer_page(
            geometry,
            geometry.points if given is None else given,
            self.embedding_,
            self.landmarks_,
            names=self._input_names if feature_names is None else feature_names,
            title=title,
            columns=columns,
            color=color,
            scales=scales,
            images=images,
            paths=paths,
            compare=compare,
            seams=self._fitted.cut_seams,
            std=self.embedding_std_,
            said=first_words(self._fitted, self.n_features_in_),
            n_jobs=self.n_jobs,
        )
        if path is not None:
            page.save(path)
        return page

    def save(self, path: Any) -> None:
        """Write the fitted model to a file: arrays and JSON, no code.

        What ``set_output`` asks for belongs to the session, and is not kept.

        Parameters
        ----------
        path : str or path
            The file, by custom with the ending ``.safetensors``. One that is there is replaced
            when the new one is whole.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> model = PTU().fit(s_with_hole(300).points)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "sheet.safetensors"
        ...     model.save(file)
        ...     print(file.stat().st_size > 10_000)
        True
        """
        check_is_fitted(self)
        # The metric of the fit, whatever has been set since.
        known = {name: getattr(self, name) for name in PTU._get_param_names()}
        known |= {"engine": engine_name(self.engine), "metric": self._fitted.metric}
        model = {name: getattr(self, name) for name in SAVED} | {
            "embedding_": self._fitted.embedding,
            "parameters": known,
            "engines": ENGINES,
            "texture": self.texture_,
            "n_features": int(self.n_features_in_),
            "feature_names": self._input_names if hasattr(self, "feature_names_in_") else None,
        }
        write_model(path, self._fitted.geometry, self._fitted.given, model)

    @classmethod
    def load(cls, path: Any) -> Self:
        """Read a model that :meth:`save` has written.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        model : PTU
            As it was when it was saved, to the bit.

        Raises
        ------
        ValueError
            If the file is no model, is damaged, or was written by a later version.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> model = PTU().fit(s_with_hole(300).points)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(Path(folder) / "sheet.safetensors")
        ...     again = PTU.load(Path(folder) / "sheet.safetensors")
        >>> bool((again.embedding_ == model.embedding_).all())
        True
        """
        parameters, attributes = read_model(path, PTU._get_param_names(), ENGINES)
        asked = cls._get_param_names()  # of a class of one's own, perhaps others
        model = cls(**{name: value for name, value in parameters.items() if name in asked})
        model.__dict__.update(parameters)
        geometry, given = attributes.pop("geometry"), attributes.pop("given")
        model.__dict__.update(attributes)
        model._fitted = Fitted(geometry, model.embedding_.copy(), given, model.metric)
        return model

    def _dimension_of(self, points: Points) -> int:
        if self.intrinsic_dim is None:
            return self.n_components
        check_count("intrinsic_dim", self.intrinsic_dim, or_auto=True)
        if isinstance(self.intrinsic_dim, str):
            return estimate_dimension(points, n_jobs=self.n_jobs).consensus
        return self.intrinsic_dim

    @property
    def _input_names(self) -> list[str]:
        if self._fitted.is_precomputed:
            return [f"scaled{index}" for index in range(self._fitted.points.shape[1])]
        unnamed = [f"x{index}" for index in range(self.n_features_in_)]
        return [str(name) for name in getattr(self, "feature_names_in_", unnamed)]

    def _repr_html_inner(self) -> str:
        return self._repr_mimebundle_().get("text/html", "")

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Add what was fitted to scikit-learn's picture of the parameters."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and self.__sklearn_is_fitted__():
            said = summary(self)
            try:
                bundle["text/html"] += glance(self._fitted, said)
            except Exception:  # a model that is only looked at must not fail
                bundle["text/html"] += f"<p>{html.escape(said)}</p>"
        return bundle

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        # scikit-learn looks at the value of every name for its table: those that are made when
        # needed would take longer than the fit.
        told = _lists_what_is_made.set(False)
        try:
            return super()._get_fitted_attr_html(doc_link)
        finally:
            _lists_what_is_made.reset(told)

    def __dir__(self) -> list[str]:
        # scikit-learn looks at the value of every name; those of the fit are made when needed.
        made = {name for name, value in vars(PTU).items() if isinstance(value, property)}
        names = [name for name in object.__dir__(self) if name not in made and hasattr(self, name)]
        is_whole = self.__sklearn_is_fitted__() and _lists_what_is_made.get()
        return [*names, *made] if is_whole else names

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.sparse = tags.input_tags.pairwise
        return tags
