"""Images of a thing that turns, grows, or is lit from elsewhere; and readers of public ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
from scipy import ndimage
from sklearn.datasets import fetch_openml, load_digits

from ptunfold.datasets.record import Dataset, generator, on_sphere
from ptunfold.types import FloatArray
from ptunfold.validation.values import check_count, check_flag

_SUPERSAMPLING = 4
_BLUR = 0.05  # of the side of an image


def letter_a(
    n_images: int = 888, *, size: int = 120, missing: bool = False, seed: int = 0
) -> Dataset:
    """Draw images of the letter A, rotated and resized; needs matplotlib for the font.

    Parameters
    ----------
    n_images : int
        The number of images, before some are removed.
    size : int
        Width and height of an image in pixels.
    missing : bool
        Remove the images of middle size that are turned little: a hole in the data.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    data : Dataset
        One row of ``size * size`` pixels from 0 to 1 an image; ``parameters`` has the angle in
        radians and the size; ``kept`` tells which of the ``n_images`` these are.

    Examples
    --------
    >>> from ptunfold.datasets import letter_a
    >>> letters = letter_a(50, size=16)
    >>> letters.points.shape, letters.shape
    ((50, 256), (16, 16))
    """
    rng = generator(n_images, seed, "n_images")
    check_count("size", size)
    check_flag("missing", missing)
    angle = rng.uniform(-np.pi / 3, np.pi / 3, n_images)
    scale = rng.uniform(0.5, 1, n_images)
    kept = np.ones(n_images, dtype=bool)
    if missing:
        kept = (np.abs(angle) > np.pi / 5) | (np.abs(scale - 0.75) > 0.15)
    angle, scale = angle[kept], scale[kept]
    stencil = _stencil("A", _SUPERSAMPLING * size)
    middle = (_SUPERSAMPLING * size - 1) / 2
    images = np.empty((len(angle), size * size))
    for row, (turn, large) in enumerate(zip(angle, scale, strict=True)):
        cosine, sine = np.cos(turn) / large, np.sin(turn) / large
        matrix = _SUPERSAMPLING * np.array([[cosine, -sine], [sine, cosine]])
        offset = middle - matrix @ np.full(2, (size - 1) / 2)
        image = ndimage.affine_transform(stencil, matrix, offset, (size, size), order=1)
        images[row] = image.ravel()
    parameters = np.column_stack((angle, scale))
    return Dataset(
        images, angle, None, parameters=parameters, kept=np.flatnonzero(kept), shape=(size, size)
    )


def _stencil(letter: str, size: int) -> FloatArray:
    """Draw a letter across a square of ``size`` pixels, its outline blurred a little."""
    try:
        from matplotlib.font_manager import FontProperties
        from matplotlib.path import Path as Outline
        from matplotlib.textpath import TextPath
    except ImportError as error:
        raise ImportError(
            "drawing letters needs matplotlib; install it with pip install 'ptunfold[plot]'"
        ) from error
    outline = TextPath((0, 0), letter, size=1, prop=FontProperties(family="DejaVu Sans"))
    low, high = outline.vertices.min(axis=0), outline.vertices.max(axis=0)
    # The letter is as far across as half the square, so that it can turn.
    place = np.arange(size) / (size - 1) - 0.5
    x, y = np.meshgrid(place, -place)
    spread = 1.6 * np.linalg.norm(high - low)
    pixels = np.column_stack((x.ravel(), y.ravel())) * spread + (low + high) / 2
    inside = np.zeros(size * size, dtype=bool)
    for polygon in outline.to_polygons():
        inside ^= Outline(polygon).contains_points(pixels)
    return ndimage.gaussian_filter(inside.reshape(size, size).astype(float), _BLUR * size)


def light_stage(
    n_images: int = 221, *, height: int = 608, width: int = 456, seed: int = 0
) -> Dataset:
    """Render a thing of several balls in colour, lit from one direction after the other.

    Parameters
    ----------
    n_images : int
        The number of directions, spread evenly within 65 degrees of the view.
    height, width : int
        The size of an image in pixels; there are three colours to a pixel.
    seed : int
        Seed of the random shape.

    Returns
    -------
    data : Dataset
        One row of ``height * width * 3`` float32 numbers an image; ``parameters`` has x and y of
        the unit vectors towards the light.

    Examples
    --------
    >>> from ptunfold.datasets import light_stage
    >>> things = light_stage(20, height=32, width=24)
    >>> things.points.shape, things.shape
    ((20, 2304), (32, 24, 3))
    """
    rng = generator(n_images, seed, "n_images")
    check_count("height", height)
    check_count("width", width)
    place = np.arange(n_images) + 0.5
    polar = np.arccos(1 - (1 - np.cos(np.radians(65))) * place / n_images)
    turn = np.pi * (3 - np.sqrt(5)) * place
    lights = on_sphere(polar, turn)
    normals, colors = _balls(height, width, rng)
    images = np.empty((n_images, height * width * 3), dtype=np.float32)
    view = np.array([0.0, 0.0, 1.0])
    for row, light in enumerate(lights):
        matt = np.maximum(normals @ light, 0)
        halfway = (light + view) / np.linalg.norm(light + view)
        shiny = np.maximum(normals @ halfway, 0) ** 8
        images[row] = (0.85 * matt[:, None] * colors + 0.15 * shiny[:, None]).ravel()
    return Dataset(images, polar, None, parameters=lights[:, :2], shape=(height, width, 3))


def _balls(height: int, width: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return unit normals and colours of pixels, (height * width, 3); 0 off the thing."""
    side = min(height, width)
    y, x = np.mgrid[:height, :width]
    x, y = (x - width / 2) / side, (height / 2 - y) / side
    depth = np.full((height, width), -np.inf)
    normals, colors = np.zeros((height, width, 3)), np.zeros((height, width, 3))
    centres = [(0.0, 0.0, 0.0, 0.34), (0.0, 0.45, 0.0, 0.18)]
    centres += [(*rng.uniform(-0.35, 0.35, 2), 0.2, rng.uniform(0.08, 0.16)) for _ in range(6)]
    for centre_x, centre_y, centre_z, radius in centres:
        square = radius**2 - (x - centre_x) ** 2 - (y - centre_y) ** 2
        rise = np.sqrt(np.maximum(square, 0))
        is_front = (square > 0) & (centre_z + rise > depth)
        depth[is_front] = (centre_z + rise)[is_front]
        normal = np.stack((x - centre_x, y - centre_y, rise), axis=2) / radius
        normals[is_front] = normal[is_front]
        colors[is_front] = rng.uniform(0.3, 1, 3)
    return normals.reshape(-1, 3), colors.reshape(-1, 3)


def digit_zero(n_images: int = 3000, *, path: str | Path | None = None, seed: int = 0) -> Dataset:
    """Read images of handwritten zeros.

    Parameters
    ----------
    n_images : int
        At most so many, chosen at random.
    path : str or path, optional
        A ``.npz`` file with the arrays ``x_train`` and ``y_train``, as MNIST is often kept. By
        default MNIST is fetched from OpenML; where the network does not allow it, the 178 zeros of
        8 × 8 pixels that come with scikit-learn stand in.
    seed : int
        Seed of the choice.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from ptunfold.datasets import digit_zero
    >>> images, digits = np.zeros((5, 28, 28)), np.array([0, 1, 0, 7, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "mnist.npz", x_train=images, y_train=digits)
    ...     zeros = digit_zero(path=Path(folder) / "mnist.npz")
    >>> zeros.points.shape, zeros.shape
    ((3, 784), (28, 28))
    """
    rng = generator(n_images, seed, "n_images")
    images, digits = _mnist(path)
    zeros = np.flatnonzero(digits.astype(int) == 0)
    if not len(zeros):
        raise ValueError(f"{path} has no zeros among its digits; pass a file that has some")
    if len(zeros) > n_images:
        zeros = np.sort(rng.choice(zeros, n_images, replace=False))
    images = images[zeros]
    side = round(np.sqrt(images.shape[1]))
    return Dataset(images, images.mean(axis=1), None, shape=(side, side))


def _mnist(path: str | Path | None) -> tuple[FloatArray, Any]:
    if path is not None:
        return _from_npz(path)
    try:
        found = fetch_openml(
            "mnist_784", version=1, as_frame=False, parser="liac-arff", n_retries=0
        )
    except (OSError, ValueError):  # no network, or OpenML does not answer as it should
        digits = load_digits()
        return digits.data / 16.0, digits.target
    return found.data / 255.0, found.target


def _from_npz(path: str | Path) -> tuple[FloatArray, Any]:
    if not is_zipfile(path) and Path(path).is_file():
        raise ValueError(f"{path} is no npz file; pass one with the arrays x_train and y_train")
    with np.load(path) as file:
        if not {"x_train", "y_train"} <= set(file.files):
            raise ValueError(
                f"{path} has the arrays {', '.join(file.files)}; x_train and y_train are needed"
            )
        images, digits = file["x_train"], file["y_train"]
    if digits.shape != images.shape[:1]:
        raise ValueError(
            f"{path} has images of shape {images.shape} and digits of shape {digits.shape}; one "
            "digit for each image is needed"
        )
    return images.reshape(len(images), -1) / 255.0, digits


def faces(path: str | Path | None = None) -> Dataset:
    """Read images of faces.

    Parameters
    ----------
    path : str or path, optional
        The file ``face_data.mat`` of Isomap's authors: 698 images of 64 × 64 pixels of a head seen
        from different directions. By default the digits that come with scikit-learn stand in.

    Examples
    --------
    >>> from ptunfold.datasets import faces
    >>> faces().shape  # of the digits that stand in
    (8, 8)
    """
    if path is None:
        digits = load_digits()
        return Dataset(digits.data / 16.0, digits.target.astype(float), None, shape=(8, 8))
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(str(path))
    except (ValueError, NotImplementedError, MatReadError, OSError) as error:
        # Without a number it is of SciPy, about what is in the file.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{path} is no MAT-file that SciPy reads; pass face_data.mat") from error
    if "images" not in content:
        names = ", ".join(name for name in content if not name.startswith("__"))
        raise ValueError(f"{path} has the arrays {names}; images is needed")
    images = np.ascontiguousarray(content["images"].T, dtype=np.float64)
    poses = content.get("poses")
    parameters = None if poses is None else np.ascontiguousarray(poses.T, dtype=np.float64)
    color = images.mean(axis=1) if parameters is None else parameters[:, 0]
    side = round(np.sqrt(images.shape[1]))
    return Dataset(images, color, None, parameters=parameters, shape=(side, side))
