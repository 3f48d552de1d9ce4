"""PTU: a thin scikit-learn adapter around the pipeline."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ptunfold.geodesics.distances import transport_distances
from ptunfold.geodesics.paths import unfold_path
from ptunfold.pipeline import mark_left_out, unfold
from ptunfold.types import FloatArray, Path
from ptunfold.validation import check_points, check_settings, check_sources


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
    n_neighbors : int, optional
        The number k of nearest neighbours that make the graph. By default 10, or all other points
        if there are fewer.
    radius : float, optional
        The length of the longest edge: needed for ``graph="radius"``, a bound for the others.
    graph : {"knn", "mutual", "radius"}, default="knn"
        An edge joins two points if either is among the k nearest of the other, if each is, or if
        they are at most ``radius`` apart. A graph of your own goes to ``fit``.
    intrinsic_dim : int, optional
        The dimension d of the tangent spaces; ``n_components`` by default. For data of more
        dimensions than can be shown it may be larger: the first coordinates are shown then.
    tangent_neighbors : int, optional
        The number K of nearest points on the graph that determine a tangent space. More points
        average out noise, fewer follow a strong curvature. By default 15, or ``3 * intrinsic_dim``
        if that is more, or all other points if there are fewer.
    tangent_center : {"mean", "point"}, default="mean"
        What a neighbourhood is centred at: the mean of the point and its neighbours or the point.
    step : {"chord", "projection"}, default="chord"
        The length of an unfolded edge: that of the edge, or that of its projection on the tangent
        space (the paper's plain form).
    disconnected : {"bridge", "error", "largest", "separate"}, default="bridge"
        What to do with a graph of several components: join them by the shortest possible edges,
        refuse, embed the largest (NaN for the rest), or embed each by itself, side by side.
    n_jobs : int, optional
        Number of threads: None for 1, -1 for all, as in scikit-learn. The result does not depend
        on it.
    progress : bool, default=False
        Show a progress bar for each long stage.

    Attributes
    ----------
    embedding_ : (n_points, n_components)
        The coordinates, in the dtype of the input.
    eigenvalues_ : (n_components,)
        What each coordinate contributes; a negative value is kept as it was found. With components
        embedded apart, one row for each.
    component_labels_ : (n_points,) int
        The component that each point was embedded with, the largest first; -1 for left out.
    graph_ : Graph
        The proximity graph, bridges included.
    frames_ : Frames
        The tangent frames. With more features than points they are written in an orthonormal
        basis of the span of the points.
    connection_ : Connection
        Rotation and step of each edge.
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
        n_neighbors: int | None = None,
        radius: float | None = None,
        graph: str = "knn",
        intrinsic_dim: int | None = None,
        tangent_neighbors: int | None = None,
        tangent_center: str = "mean",
        step: str = "chord",
        disconnected: str = "bridge",
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.graph = graph
        self.intrinsic_dim = intrinsic_dim
        self.tangent_neighbors = tangent_neighbors
        self.tangent_center = tangent_center
        self.step = step
        self.disconnected = disconnected
        self.n_jobs = n_jobs
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
            Edge lengths of a proximity graph of your own, or a :class:`Graph`; ``n_neighbors``,
            ``radius`` and the parameter ``graph`` are not used then. The lengths decide which
            paths are shortest; the unfolding itself is measured on the points.

        Returns
        -------
        self : PTU
            Fitted.
        """
        points = check_points(X, self)
        settings = check_settings(
            points,
            n_components=self.n_components,
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            graph=self.graph if graph is None else graph,
            intrinsic_dim=self.n_components if self.intrinsic_dim is None else self.intrinsic_dim,
            tangent_neighbors=self.tangent_neighbors,
            tangent_center=self.tangent_center,
            step=self.step,
            disconnected=self.disconnected,
            n_jobs=self.n_jobs,
        )
        geometry, embedding = unfold(
            points, settings, self.n_components, n_jobs=self.n_jobs, progress=self.progress
        )
        self.embedding_ = embedding.coordinates
        self.eigenvalues_ = embedding.eigenvalues
        self.component_labels_ = geometry.labels
        self.graph_ = geometry.graph
        self.frames_ = geometry.frames
        self.connection_ = geometry.connection
        return self

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
        return unfold_path(self.connection_, start, end)

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
            sources = check_sources(sources, self.graph_.n_points)
        distances = transport_distances(
            self.connection_,
            sources,
            dtype=self.embedding_.dtype,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )
        mark_left_out(distances, self.component_labels_, sources)
        return distances

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
