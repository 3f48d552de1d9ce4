"""Dask arrays and data frames: places of their rows stay lazy, and are found block by block."""

from __future__ import annotations

import copy
import math
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import get_config

from ptunfold.forks import Lock
from ptunfold.types import Extrapolation, FloatArray
from ptunfold.validation.points import check_new_points, check_places, has_partitions

# Beside the coordinates; no column of anybody is called so.
_INFO = ("ptunfold: distance", "ptunfold: is_outside")
_telling = Lock()


def transform_lazily(model: Any, X: Any, method: str, *, return_info: bool) -> Any:
    """Place the rows of a Dask collection when they are computed, wherever that is.

    The model goes into the graph once, or to the workers of the cluster that is there. The number
    of rows need not be known; a data frame keeps its index and divisions. Without ``return_info``
    each process that finds rows far outside the data warns once; a worker of a cluster has its
    client show the warning.
    """
    check: Callable[[Any], Any]
    if method == "transform":
        _check_container(model)
        names = [str(name) for name in model.get_feature_names_out()]
        check = partial(check_new_points, estimator=model, around=model._fitted.points[0])
    else:
        names = model._input_names
        check = partial(check_places, embedding=model.embedding_)
    dtype, width, is_told = model.embedding_.dtype, len(names), not return_info
    if has_partitions(X):
        check(X._meta_nonempty.iloc[:1])
        sent = _sent(_traveller(model, X.columns))
        meta = _frame(*_nothing(width, dtype), X._meta.index, names)
        placed = X.map_partitions(_place_partition, sent, method, names, is_told, meta=meta)
        distance, is_outside = (placed[name].rename(name.split(": ")[1]) for name in _INFO)
        found = placed[names]
    else:
        X = _in_rows(X, check)
        how = (_sent(_traveller(model)), method, width, is_told)
        chunks = (X.chunks[0], (width + len(_INFO),))
        placed = X.map_blocks(_place_block, *how, chunks=chunks, meta=np.empty((0, 0)))
        found, distance = placed[:, :width].astype(dtype), placed[:, width]
        is_outside = placed[:, width + 1].astype(bool)
    return (found, Extrapolation(distance, is_outside)) if return_info else found


def _place_block(block: Any, model: Any, method: str, width: int, is_told: bool) -> Any:
    found, info = _place(block, model, method, width, is_told)
    # In float64, which holds the numbers of float32 as they are.
    return np.column_stack((found, info.distance, info.is_outside))


def _place_partition(
    partition: Any, model: Any, method: str, names: list[str], is_told: bool
) -> Any:
    return _frame(*_place(partition, model, method, len(names), is_told), partition.index, names)


def _place(
    rows: Any, model: Any, method: str, width: int, is_told: bool
) -> tuple[FloatArray, Extrapolation]:
    """Place the rows of one block, in the process that has it."""
    if not rows.shape[0]:  # sparse ones have no length
        return _nothing(width, model.embedding_.dtype)
    found, info = getattr(model, method)(rows, return_info=True)
    if is_told and info.is_outside.any():
        with _telling:
            is_first, model.is_told = not model.is_told, True
        if is_first:
            _warn(
                "some rows of a Dask collection lie far outside the data, where the result is an "
                "extrapolation, or NaN next to points that were left out; return_info=True tells "
                "which"
            )
    return found, info


def _nothing(width: int, dtype: Any) -> tuple[FloatArray, Extrapolation]:
    info = Extrapolation(np.empty(0), np.empty(0, dtype=bool))
    return np.empty((0, width), dtype), info


def _frame(found: FloatArray, info: Extrapolation, index: Any, names: list[str]) -> Any:
    import pandas as pd

    frame = pd.DataFrame(found, index=index, columns=names)
    return frame.assign(**{_INFO[0]: info.distance, _INFO[1]: info.is_outside})


def _warn(message: str) -> None:
    if "distributed" not in sys.modules:
        warnings.warn(message, stacklevel=2)
        return
    from distributed import warn

    warn(message)  # on a worker: to its clients too


def _in_rows(X: Any, check: Callable[[Any], Any]) -> Any:
    """Check an array, and return it with all columns of a row in one block."""
    # Of what cannot be known before it is computed the blocks tell.
    shape = [1 if math.isnan(length) else min(length, 1) for length in X.shape[:1]]
    shape += [1 if math.isnan(length) else length for length in X.shape[1:]]
    if not any(math.isnan(length) for length in X.shape[1:]):
        check(np.zeros(shape, dtype=X.dtype))
    elif X.numblocks[1] > 1:
        raise ValueError(
            "X has several blocks of columns, and it is not known how many columns there are; "
            "pass X.compute_chunk_sizes()"
        )
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def _traveller(model: Any, columns: Any = ()) -> Any:
    """Copy a model for blocks: these share the cores, and their columns are checked already."""
    model = copy.copy(model)
    model.n_jobs, model.is_told = 1, False  # in each process
    model.__dict__.pop("feature_names_in_", None)
    if len(columns) and all(isinstance(name, str) for name in columns):
        model.feature_names_in_ = np.array(columns, dtype=object)
    return model


def _sent(model: Any) -> Any:
    """Send a model to the workers of the cluster that Dask works with; else into its graph."""
    import dask
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    if client is None or client.asynchronous:
        return dask.delayed(model, traverse=False)
    # To all of them, so that it is not lost with one.
    return client.scatter(model, hash=False, broadcast=True)


def _check_container(model: Any) -> None:
    """Refuse to put what may not fit into memory into a container of scikit-learn's choice."""
    own = getattr(model, "_sklearn_output_config", {}).get("transform")
    asked = get_config()["transform_output"] if own is None else own
    if asked != "default":
        raise ValueError(
            f"what is made of a Dask collection is one too, but set_output asks for {asked}; pass "
            'set_output(transform="default"), or X.compute()'
        )
