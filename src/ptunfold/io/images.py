"""Folders of images of one size."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ptunfold.io.arrays import check_memory
from ptunfold.io.table import RefusedError, Table
from ptunfold.types import FloatArray

IMAGES = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif"}


def read_images(folder: Path, most_bytes: float) -> Table:
    """Read the images of a folder, in the order of their names, as numbers from 0 to 1."""
    everything = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
    files = [file for file in everything if file.suffix.lower() in IMAGES and file.is_file()]
    if not files:
        raise RefusedError(
            f"there is no image in {folder}; the endings are {', '.join(sorted(IMAGES))}"
        )
    left_out = {file.name: "no image" for file in everything if file not in set(files)}
    rows: Any = None
    shape: tuple[int, ...] = ()
    for place, file in enumerate(files):
        pixels, lost = _read_image(file)
        if rows is None:
            shape = pixels.shape
            check_memory(4 * pixels.size * len(files), most_bytes, str(folder))
            rows = np.empty((len(files), pixels.size), dtype=np.float32)
        if pixels.shape != shape:
            raise RefusedError(
                f"{file} has the shape {pixels.shape}, and {files[0].name} has {shape}; images "
                "of one size and kind are needed"
            )
        rows[place] = pixels.ravel()
        left_out |= {f"{what} of {file.name}": why for what, why in lost.items()}
    names = [file.name for file in files]
    return Table(["file"], [names], rows, shape, left_out=left_out)


def _read_image(file: Path) -> tuple[FloatArray, dict[str, str]]:
    """Read one image; and what of it is lost, with why."""
    try:
        from PIL import Image
    except ImportError as error:
        raise RefusedError("images need Pillow; pip install 'ptunfold[plot]'") from error
    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            warnings.simplefilter("ignore", UserWarning)  # of what stands beside the pixels
            with Image.open(file) as image:
                lost = _what_is_lost(image)
                return _pixels(image), lost
    except bombs as error:
        raise RefusedError(
            f"{file} has more pixels than are read ({Image.MAX_IMAGE_PIXELS:,}); make it smaller"
        ) from error
    except MemoryError:
        raise
    except Exception as error:  # each format has errors of its own kinds
        raise RefusedError(f"{file} is no image, or a damaged one ({error})") from error


def _pixels(image: Any) -> FloatArray:
    if image.mode == "F":
        return np.asarray(image, dtype=np.float32)
    if image.mode.startswith("I"):  # 16 bits; Pillow has called them I, of 32, in some versions
        return np.asarray(image, dtype=np.float32) / np.float32(65535)
    if image.mode in ("1", "LA"):
        image = image.convert("L")
    plain = image if image.mode in ("L", "RGB") else image.convert("RGB")
    return np.asarray(plain, dtype=np.float32) / np.float32(255)


def _what_is_lost(image: Any) -> dict[str, str]:
    lost = {}
    raw = image.tile[0][3] if image.tile else ""
    raw = raw[0] if isinstance(raw, tuple) and raw else raw
    if isinstance(raw, str) and ";16" in raw and not image.mode.startswith("I"):
        lost["the lower 8 of 16 bits"] = "Pillow reads colours in 8"
    if image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info:
        lost["transparency"] = "it is no colour"
    if getattr(image, "n_frames", 1) > 1:
        lost["all but the first picture"] = "one a file is read"
    return lost
