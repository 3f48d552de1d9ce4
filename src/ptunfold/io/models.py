"""Model files: arrays and JSON, no code, checked when they are read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ptunfold.io.files import whole_file
from ptunfold.types import Connection, Frames, Geometry, Graph

_FORMAT, _VERSION = "ptunfold model", 2
Arrays = dict[str, NDArray[Any]]


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
        "checksum": _checksum(arrays, json.dumps(header)),
    }
    with whole_file(path) as name:
        try:
            save_file(arrays, name, metadata=about)
        except SafetensorError as error:  # no OSError, though the disk may be full
            raise OSError(str(error)) from error


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
    try:
        with safe_open(path, framework="numpy") as file:
            about = file.metadata() or {}
            _check_kind(path, about)
            # The open file is no dictionary: it cannot be walked over.
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is no model file, or a damaged one ({error})") from error
    if about.get("checksum") != _checksum(arrays, about.get("header", "")):
        raise ValueError(f"{path} is damaged: its content does not agree with its checksum")
    return arrays, json.loads(about["header"])


def _check_kind(path: Path, about: dict[str, str]) -> None:
    if about.get("format") != _FORMAT:
        raise ValueError(f"{path} is no model of ptunfold; save one with PTU.save")
    if not about.get("version", "").isdigit() or int(about["version"]) > _VERSION:
        raise ValueError(
            f"{path} is of version {about.get('version')}, and this ptunfold reads up to version "
            f"{_VERSION}; install a later one"
        )


def _checksum(arrays: Arrays, header: str) -> str:
    digest = hashlib.sha256(header.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


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
    if geometry.surface is not geometry.points:
        arrays["surface"] = geometry.surface
    if geometry.order is not None:
        arrays["order"] = geometry.order
    return arrays


def arrays_to_geometry(arrays: Arrays, texture: str | None) -> Geometry:
    """Put a geometry together again."""
    graph = Graph(arrays["graph.indptr"], arrays["graph.indices"], arrays["graph.lengths"])
    frames = Frames(
        arrays["frames.vectors"],
        arrays["frames.singular_values"],
        arrays["frames.residual"],
        arrays.get("frames.lift"),
        arrays.get("frames.is_one_sided"),
    )
    return Geometry(
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
