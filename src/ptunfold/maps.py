"""What a fitted model says of directions: log and exponential map, and vectors at the points."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from ptunfold.embedding.exponential import points_at
from ptunfold.embedding.seen_extension import SeenExtension
from ptunfold.embedding.vectors import pull, push
from ptunfold.fitted import Fitted, told_of_outside
from ptunfold.geodesics.logarithm import log_vectors
from ptunfold.memory import with_advice
from ptunfold.threads import Run
from ptunfold.types import Extrapolation, FloatArray
from ptunfold.validation.directions import check_vectors
from ptunfold.validation.values import check_flag, check_index, check_is_fitted

_FEWER_POINTS = "fit a part of the points"


class Maps:
    """Methods of :class:`ptunfold.PTU` about directions and vectors."""

    _fitted: Fitted
    embedding_: FloatArray
    n_features_in_: int
    n_jobs: int | None

    @with_advice("the search for paths", _FEWER_POINTS)
    def log_map(self, i: int) -> FloatArray:
        """Return all points as point ``i`` sees them: how far, and in which direction.

        The vector to a point is in the tangent frame of ``i``, with the columns of
        ``frames_.vectors[i]`` as its axes: ``log_map(i) @ frames_.vectors[i].T`` are the same
        vectors in the space of the data (with more features than points in the basis that
        ``frames_`` are written in; with distances that are not Euclidean there is none). It has the
        length of the distance from ``i``, and points along the geodesic. Its direction is the
        gradient of the distances around ``i`` or, where paths lead around something on both sides,
        that of the unfolded shortest path.

        Parameters
        ----------
        i : int
            A point of the fitted data.

        Returns
        -------
        vectors : (n_points, intrinsic_dim) float64
            One row a point, 0 for ``i`` itself; as long as ``distances([i])[0]`` says. NaN where no
            path leads, and for points that were left out.

        Notes
        -----
        It takes as long as :meth:`distances` from 100 points.

        Examples
        --------
        >>> import numpy as np
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import swiss_roll
        >>> roll = swiss_roll(1000)
        >>> vectors = PTU().fit(roll.points).log_map(0)  # the roll, flat, around point 0
        >>> lengths = np.linalg.norm(roll.coordinates - roll.coordinates[0], axis=1)
        >>> bool(np.allclose(np.linalg.norm(vectors, axis=1), lengths, rtol=0.01))
        True
        """
        check_is_fitted(self)
        geometry = self._fitted.geometry
        return log_vectors(geometry, check_index(i, len(geometry.labels)), Run(self.n_jobs))

    @overload
    def exp_map(self, i: int, V: Any, *, return_info: Literal[False] = False) -> FloatArray: ...

    @overload
    def exp_map(
        self, i: int, V: Any, *, return_info: Literal[True]
    ) -> tuple[FloatArray, Extrapolation]: ...

    @with_advice("the search for paths", _FEWER_POINTS)
    def exp_map(
        self, i: int, V: Any, *, return_info: bool = False
    ) -> FloatArray | tuple[FloatArray, Extrapolation]:
        """Return the points that are reached from point ``i`` by going straight along vectors.

        The inverse of :meth:`log_map`: ``exp_map(i, log_map(i)[j])`` is point ``j`` or, with noise,
        its place on the surface. In between, the points that ``i`` sees around the end of a vector
        lead there by their tangent frames. Like distances it crosses holes. Where ``i`` sees two
        parts of the data in the same direction at the same distance, the nearer one is taken.

        Parameters
        ----------
        i : int
            A point of the fitted data.
        V : array-like of shape (n_vectors, intrinsic_dim) or (intrinsic_dim,)
            Vectors in the tangent frame of ``i``, as of :meth:`log_map`; for a vector x of the data
            space, ``x @ frames_.vectors[i]``.
        return_info : bool, default=False
            Tell which vectors end far from all that ``i`` sees, beyond the data or in a hole, where
            the result is an extrapolation along the nearest tangent frames; by default a warning
            tells how many.

        Returns
        -------
        X : (n_vectors, n_features) or (n_features,)
            The points, in the dtype of the input; NaN if ``i`` was left out.
        info : Extrapolation
            Distances from the nearest point as ``i`` sees it, and which vectors end outside; only
            with ``return_info``.

        Examples
        --------
        >>> import numpy as np
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import spherical_cap
        >>> cap = spherical_cap(700)
        >>> model = PTU().fit(cap.points)
        >>> line = np.linspace(-0.5, 0.5, 5)[:, None] * [0.6, 0.8]
        >>> arc = model.exp_map(0, line)  # point 0 is near the pole
        >>> print(np.linalg.norm(arc, axis=1).round(2))  # on the sphere
        [1. 1. 1. 1. 1.]
        """
        check_is_fitted(self)
        check_flag("return_info", return_info)
        self._check_has_frames("exp_map")
        geometry = self._fitted.geometry
        i = check_index(i, len(geometry.labels))
        dim = geometry.connection.intrinsic_dim
        what = f"one vector a row, with {dim} numbers each, as log_map returns them"
        vectors = check_vectors(V, "V", ((None, dim), (dim,)), what)
        seen = log_vectors(geometry, i, Run(self.n_jobs))
        order = geometry.to_input(np.arange(len(seen)))
        points, info = points_at(geometry, seen[order], vectors.reshape(-1, dim), self.n_jobs)
        if self._fitted.given is not None:
            extension = self._fitted.extension(self.n_jobs)
            span = None if isinstance(extension, SeenExtension) else extension.span
            points = points if span is None else span.out(points, self.n_jobs)
        points = points.reshape(*vectors.shape[:-1], -1).astype(geometry.points.dtype)
        if return_info:
            return points, info
        return told_of_outside(points, info, "vectors end", "data")

    @with_advice("the work on vectors", _FEWER_POINTS)
    def push_vectors(self, V: Any) -> FloatArray:
        """Carry vectors at the points, such as velocities or gradients, into the embedding.

        By the differential of the embedding: the vector from a point to one right next to it
        becomes the vector between their places. What is normal to the sheet is left out.

        Parameters
        ----------
        V : array-like of shape (n_points, n_features) or (n_points, n_features, n_features)
            One vector at each point of the fitted data, in its units; or one covariance matrix.

        Returns
        -------
        W : (n_points, n_components) or (n_points, n_components, n_components) float64
            Vectors or covariance matrices of the embedding. NaN at points that were left out, and
            at those without a neighbour near enough.

        Examples
        --------
        >>> import numpy as np
        >>> from ptunfold import PTU
        >>> angle, height = np.random.default_rng(0).random((2, 500)) * [[3], [1]]
        >>> X = np.column_stack((np.cos(angle), height, np.sin(angle)))
        >>> around = np.column_stack((-np.sin(angle), 0 * angle, np.cos(angle)))
        >>> W = PTU().fit(X).push_vectors(around)  # the same vector everywhere
        >>> bool(np.allclose(W, W[0], atol=0.01)), round(float(np.linalg.norm(W[0])), 3)
        (True, 1.0)
        """
        check_is_fitted(self)
        self._check_has_frames("push_vectors")
        n_points, width = len(self.embedding_), int(self.n_features_in_)
        what = (
            f"a vector of {width} features, or a square matrix of them, for each of the {n_points} "
            "points"
        )
        shapes = ((n_points, width), (n_points, width, width))
        return self._carried(push, check_vectors(V, "V", shapes, what))

    @with_advice("the work on vectors", _FEWER_POINTS)
    def pull_vectors(self, W: Any) -> FloatArray:
        """Carry vectors of the embedding back to tangent vectors at the points.

        The inverse of :meth:`push_vectors`, by least squares where the embedding has more or fewer
        dimensions than the sheet.

        Parameters
        ----------
        W : array-like of shape (n_points, n_components)
            One vector at the place of each point of the fitted data.

        Returns
        -------
        V : (n_points, n_features) float64
            Vectors along the sheet. NaN at points that were left out, and at those without a
            neighbour near enough.

        Examples
        --------
        >>> import numpy as np
        >>> from ptunfold import PTU
        >>> from ptunfold.datasets import s_with_hole
        >>> model = PTU().fit(s_with_hole(500).points)
        >>> V = model.pull_vectors(np.tile([1.0, 0.0], (500, 1)))  # along the first coordinate
        >>> bool(np.allclose(model.push_vectors(V), [1, 0]))
        True
        """
        check_is_fitted(self)
        self._check_has_frames("pull_vectors")
        shape = n_points, n_components = self.embedding_.shape
        what = f"a vector of {n_components} coordinates for each of the {n_points} points"
        return self._carried(pull, check_vectors(W, "W", (shape,), what))

    def _check_has_frames(self, name: str) -> None:
        """Refuse what leads into the space of the data, where tangent spaces are not in it."""
        if self._fitted.geometry.seen is not None:
            raise ValueError(
                f"{name} needs tangent vectors in the space of the data, and a metric tells of "
                'distances only; fit with metric="euclidean"'
            )

    def _carried(self, carry: Any, vectors: FloatArray) -> FloatArray:
        """Carry vectors in the order of the geometry, and return them in the caller's."""
        geometry = self._fitted.geometry
        order = geometry.to_input(np.arange(len(vectors)))
        found: FloatArray = carry(self._fitted.extension(self.n_jobs), vectors[order])
        return found[geometry.place]
