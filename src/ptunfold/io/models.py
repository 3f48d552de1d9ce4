"""Model files: arrays and JSON, no code, checked when they are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ptunfold.io.files import whole_file
from ptunfold.memory import free_bytes, in_words
from ptunfold.types import Connection, FloatArray, Frames, Geometry, Graph
from ptunfold.validation import (
    check_coordinates,
    check_count,
    check_geometry,
    check_graph,
    check_indices,
    check_numbers,
    check_parameters,
)

_FORMAT, _VERSION = "ptunfold model", 2
Arrays = dict[str, NDArray[Any]]
SAVED = ("embedding_", "eigenvalues_", "landmarks_", "component_labels_", "shortcuts_")
_PARTS = (
    "graph.indptr",
    "graph.indices",
    "graph.lengths",
    "frames.vectors",
    "frames.singular_values",
    "frames.residual",
    "connection.rotations",
    "connection.steps",
    "labels",
    "points",
    "shortcuts",
)
_MAY_LACK = (
    "graph.bridges",
    "frames.lift",
    "frames.is_one_sided",
    "connection.lengths",
    "connection.coherence",
    "connection.points",
    "connection.explained",
    "surface",
    "order",
)


def write_arrays(path: str | Path, arrays: Arrays, header: dict[str, Any]) -> None:
    """Write arrays and a header to a safetensors file, whole or not at all.

    Parameters
    ----------
    path : str or path
        The file; one that is there is replaced.
    arrays : dict of arrays
        By name.
    header : dict
        What JSON can hold.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    about = {
        "format": _FORMAT,
        "version": str(_VERSION),
        "header": json.dumps(header),
        "checksum": checksum(arrays, json.dumps(header)),
    }
    with whole_file(path) as name:
        try:
            save_file(arrays, name, metadata=about)
        except SafetensorError as error:  # no OSError, though the disk may be full
            raise OSError(str(error)) from error


def write_model(
    path: str | Path, geometry: Geometry, given: FloatArray | None, model: dict[str, Any]
) -> None:
    """Write a fitted model.

    Parameters
    ----------
    path : str or path
        The file; one that is there is replaced.
    geometry : Geometry
        Graph, frames and connection.
    given : (n_points, n_features) or None
        The points as they were given, where the geometry has them in fewer coordinates.
    model : dict
        "parameters", "engines" that are known, what `SAVED` names, "texture", "n_features" and
        "feature_names", a list or None.
    """
    arrays = geometry_to_arrays(geometry)
    for name in SAVED:
        arrays[f"model.{name}"] = model[name]
    if given is not None:
        arrays["model._points"] = given
    parameters = {name: _as_json(value) for name, value in model["parameters"].items()}
    check_parameters(parameters, parameters, model["engines"])
    header = {name: model[name] for name in ("texture", "n_features", "feature_names")}
    write_arrays(path, arrays, {"parameters": parameters, **header})


def _as_json(value: Any) -> Any:
    """Write a parameter in words and numbers; random numbers have done their work."""
    if isinstance(value, np.random.RandomState):
        return None
    # Numbers of NumPy, ranges, columns of tables.
    return value if value is None or isinstance(value, str) else np.asarray(value).tolist()


def read_arrays(path: str | Path) -> tuple[Arrays, dict[str, Any]]:
    """Read what `write_arrays` has written.

    Raises
    ------
    ValueError
        If the file is not there, is no model, is damaged, or was written by a later version.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    size, free = path.stat().st_size, free_bytes()
    if size > free:
        raise MemoryError(
            f"{path} has {in_words(size)}, but only {in_words(free)} of memory are free; load it "
            "on a machine that has more"
        )
    try:
        # Sizes in the header are compared with that of the file before anything is read.
        with safe_open(path, framework="numpy") as file:
            about = file.metadata() or {}
            _check_kind(path, about)
            # The open file is no dictionary: it cannot be walked over.
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} is no model file, or a damaged one ({error})") from error
    if about.get("checksum") != checksum(arrays, about.get("header", "")):
        raise ValueError(f"{path} is damaged: its content does not agree with its checksum")
    try:
        header = json.loads(about["header"])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: its header is no JSON") from error
    return arrays, header


def checksum_of(path: str | Path) -> str:
    """Return what tells a model file from others, without reading its arrays."""
    try:
        with safe_open(path, framework="numpy") as file:
            return str((file.metadata() or {}).get("checksum"))
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is no model file, or a damaged one ({error})") from error


def _check_kind(path: Path, about: dict[str, str]) -> None:
    if about.get("format") != _FORMAT:
        raise ValueError(f"{path} is no model of ptunfold; save one with PTU.save")
    version = about.get("version", "")
    if version not in map(str, range(1, _VERSION + 1)):
        raise ValueError(
            f"{path} is of version {version:.20}, and this ptunfold reads up to version "
            f"{_VERSION}; install a later one"
        )


def checksum(arrays: Arrays, header: str) -> str:
    """Sum up the content of a file: against accidents, as anybody can compute it."""
    digest = hashlib.sha256(header.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def read_model(
    path: str | Path, names: Iterable[str], engines: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a fitted model, and trust nothing in it.

    Parameters
    ----------
    path : str or path
        The file.
    names, engines
        The parameters and engines that are known.

    Returns
    -------
    parameters, attributes : dict
        Of the estimator.
    """
    try:
        arrays, header = read_arrays(path)
        wanted = ("parameters", "texture", "n_features", "feature_names")
        if not isinstance(header, dict) or set(header) != set(wanted):
            raise ValueError(f"{path} is no sound model: its header is not that of a model")
        parameters, texture, n_features, feature_names = (header[name] for name in wanted)
        try:
            check_parameters(parameters, names, engines)
            geometry = arrays_to_geometry(arrays, texture)
            attributes = _attributes(arrays, geometry, n_features)
            if feature_names is not None:
                attributes["feature_names_in_"] = _names(feature_names, n_features)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path} is no sound model: {error}") from error
    except MemoryError as error:
        if str(path) in str(error):
            raise
        raise MemoryError(
            f"{path} does not fit into memory; load it on a machine that has more"
        ) from error
    return parameters, attributes


def _attributes(arrays: Arrays, geometry: Geometry, n_features: Any) -> dict[str, Any]:
    if missing := [name for name in SAVED if f"model.{name}" not in arrays]:
        raise ValueError(f"it has no model.{missing[0]}")
    n_points, n_inside = geometry.points.shape
    check_count("n_features", n_features)
    given = arrays.get("model._points")
    if given is not None:  # more features than the span of the points has dimensions
        given = check_coordinates(given, "model._points", np.ones(n_points, dtype=bool))
    n_found = n_inside if given is None else given.shape[1]
    if n_features != n_found or (given is not None and n_inside >= n_features):
        raise ValueError(f"its points do not have {n_features} features")
    labels = geometry.labels[geometry.place]
    embedding = check_coordinates(arrays["model.embedding_"], "model.embedding_", labels >= 0)
    values, n_components = arrays["model.eigenvalues_"], embedding.shape[1]
    shape = (n_components,) if np.ndim(values) == 1 else (int(labels.max()) + 1, n_components)
    found = {
        "embedding_": embedding,
        "eigenvalues_": check_numbers(values, "model.eigenvalues_", shape),
        "landmarks_": check_indices(arrays["model.landmarks_"], "model.landmarks_", n_points),
        "component_labels_": labels,
        "shortcuts_": geometry.input_shortcuts,
    }
    for name in ("component_labels_", "shortcuts_"):
        if not np.array_equal(arrays[f"model.{name}"], found[name]):
            raise ValueError(f"model.{name} does not agree with its graph")
    return {
        **found,
        "texture_": geometry.texture,
        "n_features_in_": n_features,
        "geometry": geometry,
        "given": given,
    }


def _names(names: Any, n_features: int) -> NDArray[Any]:
    if (
        not isinstance(names, list)
        or len(names) != n_features
        or not all(isinstance(name, str) for name in names)
    ):
        raise ValueError(f"its feature names are not {n_features} words")
    return np.array(names, dtype=object)


def geometry_to_arrays(geometry: Geometry) -> Arrays:
    """Take a geometry apart."""
    arrays: Arrays = {
        "graph.indptr": geometry.graph.indptr,
        "graph.indices": geometry.graph.indices,
        "graph.lengths": geometry.graph.lengths,
        "frames.vectors": geometry.frames.vectors,
        "frames.singular_values": geometry.frames.singular_values,
        "frames.residual": geometry.frames.residual,
        "connection.lengths": geometry.connection.graph.lengths,
        "connection.rotations": geometry.connection.rotations,
        "connection.steps": geometry.connection.steps,
        "labels": geometry.labels,
        "points": geometry.points,
        "shortcuts": geometry.shortcuts,
    }
    for name in ("coherence", "points", "explained"):
        if getattr(geometry.connection, name) is not None:
            arrays[f"connection.{name}"] = getattr(geometry.connection, name)
    for name in ("lift", "is_one_sided"):
        if getattr(geometry.frames, name) is not None:
            arrays[f"frames.{name}"] = getattr(geometry.frames, name)
    if geometry.graph.bridges is not None:
        arrays["graph.bridges"] = geometry.graph.bridges
    if geometry.surface is not geometry.points:
        arrays["surface"] = geometry.surface
    if geometry.order is not None:
        arrays["order"] = geometry.order
    return arrays


def arrays_to_geometry(arrays: Arrays, texture: str | None) -> Geometry:
    """Put a geometry together again, and see that its parts are sound and belong together."""
    names = {*_PARTS, *_MAY_LACK, *(f"model.{name}" for name in (*SAVED, "_points"))}
    if missing := [name for name in _PARTS if name not in arrays]:
        raise ValueError(f"it has no {missing[0]}")
    if unknown := sorted(set(arrays) - names):
        raise ValueError(f"it has {unknown[0]!r:.80}, which is not known")
    indptr, indices, lengths = (arrays[name] for name in _PARTS[:3])
    graph = check_graph(Graph(indptr, indices, lengths, arrays.get("graph.bridges")))
    frames = Frames(
        arrays["frames.vectors"],
        arrays["frames.singular_values"],
        arrays["frames.residual"],
        arrays.get("frames.lift"),
        arrays.get("frames.is_one_sided"),
    )
    return check_geometry(
        Geometry(
            graph,
            frames,
            Connection(
                graph.with_lengths(arrays.get("connection.lengths", graph.lengths)),
                arrays["connection.rotations"],
                arrays["connection.steps"],
                arrays.get("connection.coherence"),
                arrays.get("connection.points"),
                arrays.get("connection.explained"),
            ),
            arrays["labels"],
            arrays["points"],
            arrays.get("surface", arrays["points"]),
            arrays["shortcuts"],
            texture,
            arrays.get("order"),
        )
    )
