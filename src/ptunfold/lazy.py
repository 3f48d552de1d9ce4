"""Dask arrays and data frames: places of their rows stay lazy, and are found block by block."""

from __future__ import annotations

import copy
import math
import sys
import warnings
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from sklearn import get_config

from ptunfold.types import Placement

# Beside the coordinates; no column of anybody is called so.
_INFO = ("ptunfold: residual", "ptunfold: is_outside")
_making = Lock()


def is_lazy(X: Any) -> bool:
    """Tell whether something is an array or a data frame of Dask, without loading Dask."""
    is_of_dask = type(X).__module__.partition(".")[0] in ("dask", "dask_expr")
    return is_of_dask and (hasattr(type(X), "map_blocks") or _has_partitions(X))


def _has_partitions(X: Any) -> bool:
    return hasattr(type(X), "map_partitions") and hasattr(type(X), "divisions")


def place_lazily(
    model: Any,
    X: Any,
    way: str,
    names: list[str],
    check: Callable[[Any], Any],
    remedy: str = "",
) -> Placement:
    """Place the rows of a Dask collection when they are computed, wherever that is.

    The model goes into the graph once, or to the workers of the cluster that is there.

    Parameters
    ----------
    model : PTU
        Fitted.
    X : dask array or data frame of shape (n_rows, n_columns)
        The rows; their number need not be known.
    way : {"place", "place_back"}
        The method of the model that places a block.
    names : list of str
        What the columns are called that come out of a data frame.
    check : callable
        Refuses an array or a data frame that does not fit the model; it sees one row.
    remedy : str
        What tells which rows are far outside the data. If there is any, each process that finds
        such rows warns once; a worker of a cluster has its client show the warning.

    Returns
    -------
    placement : Placement
        Of Dask arrays; of a data frame a data frame and two series, with its index and divisions.
    """
    dtype, width = model.embedding_.dtype, len(names)
    how: tuple[Any, ...]
    if _has_partitions(X):
        check(X._meta_nonempty.iloc[:1])
        how = (_sent(_traveller(model, X.columns)), way, names, remedy)
        meta = _frame(_nothing(width, dtype), X._meta.index, names)
        placed = X.map_partitions(_place_partition, *how, meta=meta)
        residual, is_outside = (placed[name].rename(name.split(": ")[1]) for name in _INFO)
        return Placement(placed[names], residual, is_outside)
    X = _in_rows(X, check)
    how = (_sent(_traveller(model)), way, width, remedy)
    chunks = (X.chunks[0], (width + len(_INFO),))
    placed = X.map_blocks(_place_block, *how, chunks=chunks, meta=np.empty((0, 0)))
    coordinates = placed[:, :width].astype(dtype)
    return Placement(coordinates, placed[:, width], placed[:, width + 1].astype(bool))


def _place_block(block: Any, model: Any, way: str, width: int, remedy: str) -> Any:
    placed = _place(block, model, way, width, remedy)
    # In float64, which holds the numbers of float32 as they are.
    return np.column_stack((placed.coordinates, placed.residual, placed.is_outside))


def _place_partition(partition: Any, model: Any, way: str, names: list[str], remedy: str) -> Any:
    return _frame(_place(partition, model, way, len(names), remedy), partition.index, names)


def _place(rows: Any, model: Any, way: str, width: int, remedy: str) -> Placement:
    """Place the rows of one block, in the process that has it."""
    if not len(rows):
        return _nothing(width, model.embedding_.dtype)
    with _making:
        _ = model._carrier  # made once, for all threads
    placed: Placement = getattr(model, way)(rows)
    if remedy and placed.is_outside.any():
        with _making:
            is_told = model._made.get("told", False)
            model._made["told"] = True
        if not is_told:
            _warn(
                "some rows of a Dask collection lie far outside the data, where the result is an "
                f"extrapolation; {remedy} tells which"
            )
    return placed


def _nothing(width: int, dtype: Any) -> Placement:
    return Placement(np.empty((0, width), dtype), np.empty(0), np.empty(0, dtype=bool))


def _frame(placed: Placement, index: Any, names: list[str]) -> Any:
    import pandas as pd

    frame = pd.DataFrame(placed.coordinates, index=index, columns=names)
    return frame.assign(**{_INFO[0]: placed.residual, _INFO[1]: placed.is_outside})


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
    model.n_jobs = 1
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


def check_container(model: Any) -> None:
    """Refuse to put what may not fit into memory into a container of scikit-learn's choice."""
    own = getattr(model, "_sklearn_output_config", {}).get("transform")
    asked = get_config()["transform_output"] if own is None else own
    if asked != "default":
        raise ValueError(
            f"what is made of a Dask collection is one too, but set_output asks for {asked}; pass "
            'set_output(transform="default"), or X.compute()'
        )
