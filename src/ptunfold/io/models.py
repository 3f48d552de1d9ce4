"""Model files: arrays and JSON, no code, checked when they are read."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from ptunfold.io.outputs import whole_file
from ptunfold.memory import free_bytes, in_words
from ptunfold.threads import cut
from ptunfold.types import Connection, FloatArray, Frames, Geometry, Graph, Seen
from ptunfold.validation.matrices import is_euclidean
from ptunfold.validation.parameters import check_parameters
from ptunfold.validation.records import (
    LARGEST_SQUARE,
    check_coordinates,
    check_geometry,
    check_graph,
    check_indices,
    check_numbers,
)
from ptunfold.validation.values import check_count

_FORMAT, _VERSION = "ptunfold model", 3
_HEADER = ("parameters", "texture", "n_features", "feature_names")
Arrays = dict[str, NDArray[Any]]
_KINDS = {"f": "F", "i": "I", "u": "U", "b": "BOOL"}
_NUMBERS_TOGETHER = 1 << 22
SAVED = ("embedding_", "eigenvalues_", "landmarks_", "component_labels_", "shortcuts_")
# Of a Geometry.
_PARTS = (
    *(f"graph.{name}" for name in ("indptr", "indices", "lengths")),
    *(f"frames.{name}" for name in ("vectors", "singular_values", "residual")),
    *(f"connection.{name}" for name in ("rotations", "steps")),
    *("labels", "points", "shortcuts"),
)
_MAY_LACK = (
    *("graph.bridges", "frames.lift", "frames.is_one_sided", "frames.curvature"),
    *("frames.members", "frames.negative", "frames.n_members"),
    *(f"connection.{name}" for name in ("lengths", "coherence", "points", "explained")),
    "connection.curvature",
    *("surface", "order", "torn", "overlapping"),
)
# Of points that were known by their distances.
_SEEN = tuple(f"seen.{field.name}" for field in fields(Seen))


def write_model(
    path: str | Path, geometry: Geometry, given: FloatArray | None, model: dict[str, Any]
) -> None:
    """Write a fitted model to a safetensors file, whole or not at all.

    `given` are the points as they were given, (n_points, n_features), where the geometry has them
    in fewer coordinates. The model has what `SAVED` and `_HEADER` name, and the "engines" that are
    known.
    """
    if callable(model["parameters"].get("metric")):
        raise ValueError(
            "a model file holds no code, and this model was fitted with a metric that is some; "
            "pickle the model, or fit the distances themselves"
        )
    parameters = {name: _as_json(value) for name, value in model["parameters"].items()}
    check_parameters(parameters, parameters, model["engines"])
    found = {f"model.{name}": model[name] for name in SAVED} | {"model._points": given}
    for name in (*_PARTS, *_MAY_LACK):
        place = "connection.graph.lengths" if name == "connection.lengths" else name
        found[name] = attrgetter(place)(geometry)
    if geometry.seen is not None:
        found |= {name: np.atleast_1d(attrgetter(name)(geometry)) for name in _SEEN}
    if geometry.surface is geometry.points:
        del found["surface"]
    arrays = {
        name: np.ascontiguousarray(array) for name, array in found.items() if array is not None
    }
    header = json.dumps({name: (model | {"parameters": parameters})[name] for name in _HEADER})
    about = {"format": _FORMAT, "version": str(_VERSION), "header": header}
    about["checksum"] = checksum(arrays, header)
    with whole_file(path) as part:
        _write(part, arrays, about)


def _write(path: Path, arrays: Arrays, about: dict[str, str]) -> None:
    """Write a safetensors file: the size of its head, the head in JSON, and the arrays.

    Not by the library, which writes a gigabyte at one go, and Ctrl-C is not heard meanwhile.
    """
    head: dict[str, Any] = {"__metadata__": about}
    end = 0
    # Each begins at a multiple of the size of its numbers.
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    for name, array in ordered:
        kind, start, end = _KINDS[array.dtype.kind], end, end + array.nbytes
        kind = kind if kind == "BOOL" else f"{kind}{8 * array.itemsize}"
        head[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [start, end]}
    words = json.dumps(head).encode()
    words += b" " * (-len(words) % 8)
    with path.open("wb") as file:
        file.write(len(words).to_bytes(8, "little") + words)
        for _, array in ordered:
            content = array.astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1)
            for some in cut(len(content), _NUMBERS_TOGETHER):
                file.write(content[some].data)


def _as_json(value: Any) -> Any:
    """Write a parameter in words and numbers; random numbers have done their work."""
    if isinstance(value, np.random.RandomState):
        return None
    # Numbers of NumPy, ranges, columns of tables.
    return value if value is None else np.asarray(value).tolist()


def _read(path: str | Path) -> tuple[Arrays, Any]:
    """Read arrays and header of a file that is a model, not damaged and of no later version."""
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
            if about.get("format") != _FORMAT:
                raise ValueError(f"{path} is no model of ptunfold; save one with PTU.save")
            version = about.get("version", "")
            if version not in map(str, range(1, _VERSION + 1)):
                raise ValueError(
                    f"{path} is of version {version:.20}, and this ptunfold reads up to version "
                    f"{_VERSION}; install a later one"
                )
            names = file.keys()  # an open file cannot be walked over itself
            arrays = {name: file.get_tensor(name) for name in names}
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
    """Read parameters and attributes of a fitted model, and trust nothing in it.

    `names` and `engines` are the parameters and engines that are known.
    """
    try:
        arrays, header = _read(path)
        if not isinstance(header, dict) or set(header) != set(_HEADER):
            raise ValueError(f"{path} is no sound model: its header is not that of a model")
        parameters, texture, n_features, feature_names = (header[name] for name in _HEADER)
        try:
            check_parameters(parameters, names, engines)
            geometry = _geometry(arrays, texture)
            metric = parameters.get("metric", "euclidean")
            if (geometry.seen is None) != is_euclidean(metric):
                raise ValueError(f"it does not hold what metric={metric!r} leaves behind")
            is_precomputed = metric == "precomputed"
            attributes = _attributes(arrays, geometry, n_features, is_precomputed)
            if feature_names is not None:
                names = feature_names if isinstance(feature_names, list) else []
                is_sound = all(isinstance(name, str) for name in names)
                if not is_sound or len(names) != n_features or len(set(names)) != n_features:
                    raise ValueError(f"its feature names are not {n_features} different words")
                attributes["feature_names_in_"] = np.array(names, dtype=object)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"{path} is no sound model: {error}") from error
    except MemoryError as error:
        if str(path) in str(error):
            raise
        raise MemoryError(
            f"{path} does not fit into memory; load it on a machine that has more"
        ) from error
    return parameters, attributes


def _attributes(
    arrays: Arrays, geometry: Geometry, n_features: Any, is_precomputed: bool
) -> dict[str, Any]:
    if missing := [name for name in SAVED if f"model.{name}" not in arrays]:
        raise ValueError(f"it has no model.{missing[0]}")
    n_points, n_inside = geometry.points.shape
    check_count("n_features", n_features)
    given = arrays.get("model._points")
    if given is not None:  # more features than the span of the points has dimensions
        given = check_coordinates(given, "model._points", np.ones(n_points, dtype=bool))
    n_found = n_inside if given is None else given.shape[1]
    if is_precomputed:
        n_found = n_points
    if n_features != n_found or (given is not None and n_inside >= n_features):
        raise ValueError(f"its points do not have {n_features} features")
    labels = geometry.labels[geometry.place]
    embedding = check_coordinates(arrays["model.embedding_"], "model.embedding_", labels >= 0)
    values, n_components = arrays["model.eigenvalues_"], embedding.shape[1]
    shape = (n_components,) if np.ndim(values) == 1 else (int(labels.max()) + 1, n_components)
    found = {
        "embedding_": embedding,
        "eigenvalues_": check_numbers(values, "model.eigenvalues_", shape, LARGEST_SQUARE),
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


def _geometry(arrays: Arrays, texture: str | None) -> Geometry:
    """Put a geometry together again, and see that its parts are sound and belong together."""
    names = {*_PARTS, *_MAY_LACK, *_SEEN, *(f"model.{name}" for name in (*SAVED, "_points"))}
    if missing := [name for name in _PARTS if name not in arrays]:
        raise ValueError(f"it has no {missing[0]}")
    if unknown := sorted(set(arrays) - names):
        raise ValueError(f"it has {unknown[0]!r:.80}, which is not known")
    parts: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, array in arrays.items():
        record, _, field = name.rpartition(".")
        parts[record][field] = array
    graph = check_graph(Graph(**parts["graph"]))
    lengths = parts["connection"].pop("lengths", graph.lengths)
    connection = Connection(graph.with_lengths(lengths), **parts["connection"])
    whole = {"surface": arrays["points"]} | parts[""]
    overlapping = whole.pop("overlapping", np.zeros(1))
    check_numbers(overlapping, "overlapping", (1,), 1.0)
    whole["overlapping"] = float(overlapping[0])
    n_members = parts["frames"].pop("n_members", np.zeros(1, dtype=np.int64))
    check_indices(n_members, "frames.n_members", graph.n_points + 1)
    frames = Frames(**parts["frames"], n_members=int(n_members.max(initial=0)))
    seen = None
    if "seen" in parts or frames.members is not None:
        if missing := [name for name in _SEEN if name not in arrays]:
            raise ValueError(f"it has no {missing[0]}")
        if frames.members is None:
            raise ValueError("it has no frames.members")
        seen = Seen(**parts["seen"])
    return check_geometry(Geometry(graph, frames, connection, texture=texture, seen=seen, **whole))
