"""PTU: a thin scikit-learn adapter around the pipeline."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ptunfold.caller import warn
from ptunfold.diagnostics import point_scores
from ptunfold.distances import distances_of
from ptunfold.embedding.extension import Extension
from ptunfold.engines import ENGINES, make_engine
from ptunfold.explorer import Page, explorer_page
from ptunfold.geodesics.paths import unfold_path
from ptunfold.geometry.dimension import estimate_dimension
from ptunfold.geometry.order import in_given_order
from ptunfold.geometry.orientation import orient
from ptunfold.io.models import SAVED, geometry_to_arrays, read_model, write_arrays
from ptunfold.memory import advised, load_kernels, with_advice
from ptunfold.pipeline import unfold
from ptunfold.planning import plan_landmarks
from ptunfold.types import (
    Connection,
    Extrapolation,
    FloatArray,
    Frames,
    Geometry,
    Graph,
    Orientation,
    Path,
    Transport,
)
from ptunfold.validation import (
    check_choice,
    check_count,
    check_flag,
    check_index,
    check_is_fitted,
    check_new_points,
    check_parameters,
    check_places,
    check_points,
    check_settings,
    check_sources,
)

_WITH_LESS = (
    "pass landmarks or fewer of them, fewer neighbours, float32 points or a store, or fit a part "
    "of the points and transform the rest"
)
_A_PART = "pass fewer points at a time"


class PTU(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
    n_neighbors : int or "auto", default="auto"
        The number k of nearest neighbours that make the graph. "auto": 10, or all other points if
        there are fewer; on curved data each point is then joined with more, up to 12 for each
        dimension, from among the neighbours of its neighbours (see :func:`widen_graph`), if steps
        are arcs and there is no ``radius``. Where tangent planes say nothing, 5 to 9 are taken if
        points are few, and 5 if distances along that graph fit clearly better into few dimensions.
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
        noise that is alike in ten directions or more, they are projected on the others first.
    coherence : float or "auto", default="auto"
        How much of the path before is carried over an edge, the rest being taken for straight: 1
        for all that transport says, the paper's form; 0 for lengths along the graph, as in Isomap.
        "auto": for each edge as much as transport can be believed there (see ``transport_``).
    prune : {"auto", "shortcuts"} or None, default="auto"
        Drop edges that jump from one part of a sheet to another: those with few ways around them
        (see :func:`find_shortcuts`), and those that leave tangent planes which are parallel. Noise
        makes a few of them, and a few are enough to spoil every distance. "auto" drops them from a
        graph of nearest neighbours that was built here; where the data are no sheet, only those
        that are no longer than most edges.
    landmarks : int, float, list of int, "auto" or None, default="auto"
        Embed by the distances from a few points to all, and not between all points: a number of
        landmarks, a fraction of the points, or the points themselves; None for all distances.
        "auto" takes all distances up to 20 000 points if they fit into memory, else 100 landmarks,
        and a warning says so.
    landmark_selection : {"maxmin", "random"}, default="maxmin"
        How landmarks are chosen: each as far as possible along the data from those before, or at
        random. The first is better with few landmarks.
    mds : {"auto", "classical", "stress"}, default="auto"
        How distances become coordinates: by classical scaling, and where its picture is off by
        more than 5 %, because the data need more dimensions than are shown or are closed, relaxed
        towards the least squares of the differences of distances; by classical scaling alone; or
        by these least squares alone, distances whose two directions disagree counting less, which
        is meant for a few thousand points.
    disconnected : {"bridge", "error", "largest", "separate"}, default="bridge"
        What to do with a graph of several components: join them by the shortest possible edges,
        refuse, embed the largest (NaN for the rest), or embed each by itself, side by side.
    search : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found. "auto" is exact unless that would take longer than ten minutes,
        and then approximate (``pip install 'ptunfold[approximate]'``); a warning says so. The first
        approximate search of a process compiles for up to a minute, which ``progress`` shows.
    engine : {"threads", "cuda", "dask"}, default="threads"
        Where the distances are computed and kept: threads of this machine; one GPU
        (``pip install cupy-cuda13x``), in 32 bits; or the workers of a Dask cluster
        (``pip install 'ptunfold[dask]'``), through the Client that is there or one of its own.
    store : str or path, optional
        A folder to keep all distances in while they are computed, instead of memory: 1.5 numbers
        for each ordered pair of points at most. ``landmarks="auto"`` means none then.
    resume : bool, default=False
        Go on with a fit that was stopped, however it was: what is in ``store`` is not computed
        again. A store of other data or parameters is refused.
    random_state : int, RandomState or None, default=None
        For a random choice of landmarks. Nothing else is random.
    n_jobs : int, optional
        Number of threads: None for every core, unless joblib's context or a parent worker says
        otherwise, -1 for every core in any case. The result does not depend on it.
    progress : bool, default=False
        Show a progress bar for each long stage.

    Attributes
    ----------
    embedding_ : (n_points, n_components)
        The coordinates, in the dtype of the input.
    eigenvalues_ : (n_components,)
        What each coordinate contributes; a negative value is kept as it was found. With components
        embedded apart, one row for each.
    landmarks_ : (n_landmarks,) int
        The points used as landmarks; none if all distances were used.
    component_labels_ : (n_points,) int
        The component that each point was embedded with, the largest first; -1 for left out.
    graph_ : Graph
        The proximity graph, bridges included.
    frames_ : Frames
        The tangent frames. With more features than points they are written in an orthonormal
        basis of the span of the points.
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
        Whether the sheet has two sides, with a loop along which left becomes right if not.
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
        search: str = "auto",
        engine: str = "threads",
        store: Any = None,
        resume: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.n_components = n_components
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
        self.search = search
        self.engine = engine
        self.store = store
        self.resume = resume
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None, *, graph: Any = None) -> Self:
        """Embed the points.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            The points.
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
        points = check_points(X, self)
        check_count("n_components", self.n_components)
        settings = check_settings(
            points,
            n_components=self.n_components,
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            graph=self.graph if graph is None else graph,
            intrinsic_dim=self._dimension_of(points),
            tangent_neighbors=self.tangent_neighbors,
            step=self.step,
            disconnected=self.disconnected,
            search=self.search,
            tangent=self.tangent,
            denoise=self.denoise,
            coherence=self.coherence,
            may_shrink=self.intrinsic_dim is None,
            prune=self.prune,
            n_jobs=self.n_jobs,
        )
        check_choice("engine", self.engine, ENGINES)
        check_flag("progress", self.progress)
        plan, check = plan_landmarks(
            self.landmarks,
            self.landmark_selection,
            self.random_state,
            points,
            settings,
            self.n_components,
            mds=self.mds,
            engine=self.engine,
            is_stored=self.store is not None,
            n_jobs=self.n_jobs,
        )
        if isinstance(X, np.ndarray) and np.may_share_memory(X, points):
            points = points.copy()  # new points are placed by these, whatever becomes of X
        with make_engine(self.engine, self.store, resume=self.resume, n_jobs=self.n_jobs) as engine:
            geometry, embedding, self.landmarks_ = unfold(
                points,
                settings,
                self.n_components,
                plan,
                engine,
                check=check,
                mds=self.mds,
                n_jobs=self.n_jobs,
                progress=self.progress,
            )
        self.embedding_ = embedding.coordinates
        self.eigenvalues_ = embedding.eigenvalues
        self.component_labels_ = geometry.labels[geometry.place]
        self.shortcuts_ = geometry.given_shortcuts
        self.texture_ = geometry.texture
        self._geometry = geometry
        # As they were given, where the geometry has them in coordinates of their span.
        self._points = points if points.shape[1] > geometry.points.shape[1] else None
        self._made: dict[str, Any] = {}

    def fit_transform(self, X: Any, y: Any = None, *, graph: Any = None) -> FloatArray:
        """Embed the points and return their coordinates.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            The points.
        y : ignored
            Present for scikit-learn's conventions.
        graph : sparse matrix of shape (n_points, n_points), optional
            As in :meth:`fit`.

        Returns
        -------
        embedding : (n_points, n_components)
            The coordinates.
        """
        return self.fit(X, y, graph=graph).embedding_

    @overload
    def transform(self, X: Any, *, return_info: Literal[False] = False) -> FloatArray: ...

    @overload
    def transform(
        self, X: Any, *, return_info: Literal[True]
    ) -> tuple[FloatArray, Extrapolation]: ...

    @with_advice("the placement of points", _A_PART)
    def transform(
        self, X: Any, *, return_info: bool = False
    ) -> FloatArray | tuple[FloatArray, Extrapolation]:
        """Place new points in the embedding.

        Each point is placed by the fitted points around it, through their tangent frames, and by
        itself: the result does not depend on what else is passed. Fitted points get their own
        coordinates. To add points to a model, transform them; nothing else moves.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            The points.
        return_info : bool, default=False
            Tell which points lie far outside the fitted data, where coordinates are an
            extrapolation; by default a warning tells how many.

        Returns
        -------
        embedding : (n_new, n_components)
            The coordinates; NaN next to a point that was left out of the embedding.
        info : Extrapolation
            Distances from the nearest fitted point, and which points are outside; only with
            ``return_info``.
        """
        check_is_fitted(self)
        check_flag("return_info", return_info)
        fitted = self._geometry.points if self._points is None else self._points
        new = check_new_points(X, self, fitted[0])
        embedding, info = self._carrier.into_embedding(new, self.n_jobs)
        if return_info:
            return embedding, info
        _warn_of_outside(info, "points lie", "fitted data")
        return embedding

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
        the points around average out what is not in the embedding.

        Parameters
        ----------
        Z : array-like of shape (n_places, n_components)
            Points of the embedding.
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
        """
        check_is_fitted(self)
        check_flag("return_info", return_info)
        points, info = self._carrier.into_space(check_places(Z, self.embedding_), self.n_jobs)
        if return_info:
            return points, info
        _warn_of_outside(info, "places lie", "embedded data")
        return points

    @property
    def _carrier(self) -> Extension:
        if "carrier" not in self._made:
            order = self._geometry.given(np.arange(len(self.embedding_)))
            given = None if self._points is None else self._points[order]
            self._made["carrier"] = Extension(
                self._geometry, self.embedding_[order], given, self.n_jobs
            )
        carrier: Extension = self._made["carrier"]
        return carrier

    @property
    def _as_given(self) -> Geometry:
        if "as given" not in self._made:
            self._made["as given"] = in_given_order(self._geometry)
        geometry: Geometry = self._made["as given"]
        return geometry

    def __getstate__(self) -> Any:
        # What is made from the fit when it is needed is made again.
        state = super().__getstate__()
        return {**state, "_made": {}} if "_made" in state else state

    @property
    def transport_(self) -> Transport:
        """How far the unfolding can be believed."""
        check_is_fitted(self)
        return self._geometry.transport

    @property
    def graph_(self) -> Graph:
        """The proximity graph, bridges included."""
        check_is_fitted(self)
        return self._as_given.graph

    @property
    def frames_(self) -> Frames:
        """The tangent frames."""
        check_is_fitted(self)
        return self._as_given.frames

    @property
    def connection_(self) -> Connection:
        """Rotation and step of each edge."""
        check_is_fitted(self)
        return self._as_given.connection

    @property
    def orientation_(self) -> Orientation:
        """Whether the sheet has two sides."""
        check_is_fitted(self)
        if "orientation" not in self._made:
            self._made["orientation"] = orient(self.graph_, self.frames_)[1]
        orientation: Orientation = self._made["orientation"]
        return orientation

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
        """
        check_is_fitted(self)
        geometry = self._geometry
        start, end = (check_index(index, geometry.graph.n_points) for index in (start, end))
        path = unfold_path(
            geometry.connection,
            geometry.place[start],
            geometry.place[end],
            names=geometry.order,
        )
        return replace(path, nodes=geometry.given(path.nodes))

    @with_advice("the search for paths", "pass fewer sources at a time")
    def distances(self, sources: Any = None) -> FloatArray:
        """Estimate the geodesic distances from some points of the fitted data to all of them.

        They are computed anew at each call; the matrix behind the embedding is not kept.

        Parameters
        ----------
        sources : list of int, optional
            The points to start from; all by default.

        Returns
        -------
        distances : (n_sources, n_points)
            Infinite where no path leads, NaN for points that were left out.
        """
        check_is_fitted(self)
        if sources is not None:
            sources = check_sources(sources, len(self.embedding_))
        return distances_of(
            self._geometry,
            sources,
            self.embedding_.dtype,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )

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
        """
        check_is_fitted(self)
        return point_scores(self.connection_, self.embedding_, n_jobs=self.n_jobs)

    @with_advice("the making of the page", "pass paths=False, or fit a part of the points")
    def explore(
        self,
        path: Any = None,
        *,
        columns: Any = None,
        color: str | None = None,
        images: Any = None,
        title: str = "PTU",
        feature_names: Any = None,
        paths: bool | None = None,
    ) -> Page:
        """Make a page on which data and embedding can be looked into, in one file without network.

        The data and the embedding stand side by side; what is pointed at or selected in one is
        seen in the other. Two points that are clicked show the path between them, and how it
        unfolds.

        Parameters
        ----------
        path : str or path, optional
            The file to write. Without it, the page is only returned; in a notebook it shows itself.
        columns : dict or data frame, optional
            More to know about the points: for each name one value a point, numbers or words.
        color : str, optional
            What to colour by first: a column, a feature, "ptu0" or one of the scores.
        images : (n_points, height, width) or (n_points, height, width, 3), or a shape, optional
            Images of the points, or their (height, width) if the features are the pixels.
        title : str
            What the page is called.
        feature_names : list of str, optional
            What the features are called; by default as they were fitted, or x0, x1, ...
        paths : bool, optional
            Store the graph and the connection for the paths; by default up to 100 000 points.

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
        geometry = self._as_given
        names = feature_names
        if names is None:
            unnamed = [f"x{place}" for place in range(self.n_features_in_)]
            names = getattr(self, "feature_names_in_", unnamed)
        if isinstance(names, str) or np.ndim(names) != 1:
            raise ValueError(f"feature_names={names!r} is no list of names; pass one for each")
        if paths is not None:
            check_flag("paths", paths)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"{len(names)} feature_names for {self.n_features_in_} features; pass one for each"
            )
        page = explorer_page(
            geometry,
            geometry.points if self._points is None else self._points,
            self.embedding_,
            self.landmarks_,
            names=[str(name) for name in names],
            title=title,
            columns=columns,
            color=color,
            images=images,
            paths=paths,
            n_jobs=self.n_jobs,
        )
        if path is not None:
            page.save(path)
        return page

    def save(self, path: Any) -> None:
        """Write the fitted model to a file: arrays and JSON, no code.

        Parameters
        ----------
        path : str or path
            The file, by custom with the ending ``.safetensors``. One that is there is replaced
            when the new one is whole.
        """
        check_is_fitted(self)
        arrays = geometry_to_arrays(self._geometry)
        for name in SAVED:
            arrays[f"model.{name}"] = getattr(self, name)
        if self._points is not None:
            arrays["model._points"] = self._points
        names = getattr(self, "feature_names_in_", None)
        parameters = _as_json(self.get_params(deep=False))
        check_parameters(parameters, parameters, ENGINES)
        header = {
            "parameters": parameters,
            "texture": self.texture_,
            "n_features": int(self.n_features_in_),
            "feature_names": None if names is None else [str(name) for name in names],
        }
        write_arrays(path, arrays, header)

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
        """
        parameters, attributes = read_model(path, cls._get_param_names(), ENGINES)
        model = cls(**parameters)
        model.__dict__.update(attributes, _made={})
        return model

    def _dimension_of(self, points: FloatArray) -> int:
        if self.intrinsic_dim is None:
            return self.n_components
        check_count("intrinsic_dim", self.intrinsic_dim, or_auto=True)
        if isinstance(self.intrinsic_dim, str):
            return estimate_dimension(points, n_jobs=self.n_jobs).consensus
        return self.intrinsic_dim

    def _repr_html_inner(self) -> str:
        return self._repr_mimebundle_().get("text/html", "")

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Add a line on what was fitted to scikit-learn's picture of the parameters."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and self.__sklearn_is_fitted__():
            n_points, n_components = self.embedding_.shape
            said = [
                f"{n_points:,} points of {self.n_features_in_:,} features in {n_components} "
                "dimensions",
                "" if self.texture_ is None else f"texture {self.texture_}",
                f"{self._geometry.graph.n_edges // 2:,} edges",
                f"{len(self.landmarks_):,} landmarks" if len(self.landmarks_) else "",
                f"{len(self.shortcuts_):,} shortcuts" if len(self.shortcuts_) else "",
                "eigenvalues " + ", ".join(f"{x:.4g}" for x in self.eigenvalues_.flat[:6]),
            ]
            bundle["text/html"] += f"<p>{'; '.join(filter(None, said))}</p>"
        return bundle

    def __dir__(self) -> list[str]:
        # scikit-learn looks at the value of every name; those of the fit are made when needed.
        made = {name for name, value in vars(PTU).items() if isinstance(value, property)}
        names = [name for name in object.__dir__(self) if name not in made and hasattr(self, name)]
        return [*names, *made] if self.__sklearn_is_fitted__() else names

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_geometry")

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _as_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """Write parameters in words and numbers; a generator of random numbers has done its work."""
    plain: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        elif isinstance(value, np.random.RandomState):
            value = None
        elif value is not None and not isinstance(value, str):
            value = np.asarray(value).tolist()  # numbers of NumPy, ranges, columns of tables
        plain[name] = value
    return plain


def _warn_of_outside(info: Extrapolation, what: str, where: str) -> None:
    n_outside = int(np.count_nonzero(info.is_outside))
    if n_outside:
        warn(
            f"{n_outside} of {len(info.is_outside)} {what} far outside the {where}, where the "
            "result is an extrapolation; pass return_info=True to see which",
        )
