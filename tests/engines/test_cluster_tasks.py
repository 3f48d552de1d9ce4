"""What workers of a cluster do, without a cluster."""

import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import swiss_roll
from ptunfold.engines import cluster_tasks
from ptunfold.engines.cluster_tasks import (
    FileArray,
    Scratch,
    fold_slab,
    make_scratch,
    opened,
    products_of_slabs,
    remove_scratch,
    slab_rows,
    tiles_in,
)
from ptunfold.geodesics.arrangement import arrange
from ptunfold.geodesics.distances import OneWayRows, squared_distances
from ptunfold.geodesics.squares import plan_slabs, whole_of

pytest.importorskip("distributed")


@pytest.fixture(params=[True, False])
def scratch(request, monkeypatch, tmp_path):
    worker = SimpleNamespace(local_directory=str(tmp_path / "worker"))
    monkeypatch.setattr("distributed.get_worker", lambda: worker)
    assert make_scratch("fit/0", 1, worker)
    yield Scratch("fit/0", is_shared=request.param)
    remove_scratch("fit", worker)
    assert not (tmp_path / "fit").exists()


@pytest.fixture(scope="module")
def arranged():
    points = swiss_roll(900).points
    points = np.concatenate((points, points[:40]))  # copies
    connection = PTU().fit(points).connection_
    arrangement = arrange(connection, np.arange(len(points)))
    return arrangement.connection, np.sort(arrangement.position)


def folded(arranged, scratch, dtype):
    """All slabs, as the engine has them made."""
    rows_of = OneWayRows(*arranged)
    slabs = plan_slabs(len(arranged[1]))
    rows = [slab_rows(rows_of, slab.start, slab.stop, dtype, scratch) for slab in slabs]
    bands = []
    for index, slab in enumerate(slabs):
        below = rows[index + 1 :]
        if not scratch.is_shared:
            below = [one[:, slab] for one in below]
        bands.append(fold_slab(rows[index], below, slab.start, scratch))
    return slabs, rows, bands


def whole(slabs, flats, n_points):
    tiles = (
        tile
        for slab, flat in zip(slabs, flats, strict=True)
        for tile in tiles_in(opened(flat), slab, n_points)
    )
    return whole_of(tiles, n_points)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slabs_have_the_bits_of_bands(arranged, scratch, dtype):
    dtype = np.dtype(dtype)
    slabs, rows, flats = folded(arranged, scratch, dtype)
    assert len(slabs) > 2
    assert all(isinstance(array, FileArray) is scratch.is_shared for array in (*rows, *flats))
    expected = squared_distances(*arranged, dtype=dtype)
    np.testing.assert_array_equal(whole(slabs, flats, expected.n_points), expected.whole())
    factor = np.random.default_rng(0).standard_normal((expected.n_points, 3)).astype(dtype)
    products = products_of_slabs(slabs, flats, factor)
    total = np.zeros(factor.shape)
    for slab, product in zip(slabs, products, strict=True):
        total[slab.start :] += product
    np.testing.assert_array_equal(total, expected.multiply(factor))


def test_what_is_there_is_not_computed_again(arranged, scratch, monkeypatch):
    rows_of = OneWayRows(*arranged)
    dtype = np.dtype(np.float32)
    first = opened(slab_rows(rows_of, 0, 256, dtype, scratch)).copy()

    def fails(*args):
        raise AssertionError("computed again")

    monkeypatch.setattr(OneWayRows, "write", fails)
    again = opened(slab_rows(rows_of, 0, 256, dtype, scratch))
    np.testing.assert_array_equal(again, first)
    with pytest.raises(AssertionError):
        slab_rows(rows_of, 256, 512, dtype, scratch)


def test_what_was_not_finished_does_not_count(arranged, scratch, monkeypatch, tmp_path):
    rows_of = OneWayRows(*arranged)
    dtype = np.dtype(np.float32)
    write = OneWayRows.write

    def breaks(self, block, rows, first_row):
        write(self, block, rows, first_row)
        raise KeyboardInterrupt

    monkeypatch.setattr(OneWayRows, "write", breaks)
    with pytest.raises(KeyboardInterrupt):
        slab_rows(rows_of, 0, 256, dtype, scratch)
    assert not [name for name in tmp_path.rglob("*") if name.is_file()]


@pytest.mark.parametrize("trouble", ["no room", "no folder"])
def test_without_a_disk_arrays_are_in_memory(arranged, scratch, monkeypatch, tmp_path, trouble):
    if trouble == "no room":
        open_file = Path.open

        class Full:
            """A file on a disk that takes the first bytes only."""

            def __init__(self, file):
                self.file, self.n_written = file, 0

            def __enter__(self):
                return self

            def __exit__(self, *error):
                self.file.close()

            def write(self, what):
                self.n_written += memoryview(what).nbytes
                if self.n_written > 10_000:
                    raise OSError(28, "No space left on device")
                return self.file.write(what)

        def opened_file(path, mode="r", **how):
            file = open_file(path, mode, **how)
            return Full(file) if mode == "xb" else file

        monkeypatch.setattr(Path, "open", opened_file)
    else:
        remove_scratch("fit", SimpleNamespace(local_directory=str(tmp_path / "worker")))
    dtype = np.dtype(np.float32)
    slabs, rows, flats = folded(arranged, scratch, dtype)
    assert all(isinstance(array, np.ndarray) for array in (*rows, *flats))
    assert not [name for name in tmp_path.rglob("*") if name.is_file()]
    expected = squared_distances(*arranged, dtype=dtype)
    np.testing.assert_array_equal(whole(slabs, flats, expected.n_points), expected.whole())


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="asks Linux what is mapped")
def test_nothing_stays_mapped(arranged, scratch):
    """What is mapped counts as memory of a worker, and Dask stops one that has too much."""
    slabs, rows, flats = folded(arranged, scratch, np.dtype(np.float32))
    factor = np.ones((len(arranged[1]), 2), dtype=np.float32)
    products_of_slabs(slabs, flats, factor)
    if not scratch.is_shared:  # there results themselves are mapped
        assert "squares-" in Path("/proc/self/maps").read_text()
    del rows, flats
    assert str(scratch.folder()) not in Path("/proc/self/maps").read_text()


def test_folders_are_told_apart(tmp_path, monkeypatch):
    one, same, other = (
        SimpleNamespace(local_directory=str(tmp_path / place))
        for place in ("a/worker-1", "a/worker-2", "b/worker-1")
    )
    here = make_scratch("fit", 1, one)
    assert here is not None
    assert here == make_scratch("fit", 1, same)
    assert here != make_scratch("fit", 1, other)
    assert make_scratch("fit", 1 << 60, one) is None  # no room
    monkeypatch.setattr(cluster_tasks.platform, "node", lambda: "elsewhere")
    assert here != make_scratch("fit", 1, one)


def test_a_folder_is_removed_while_somebody_writes(tmp_path):
    worker = SimpleNamespace(local_directory=str(tmp_path / "worker"))
    is_over = threading.Event()

    def write():
        while not is_over.is_set():
            with suppress(OSError):
                for folder in (tmp_path / "fit").iterdir():
                    (folder / uuid.uuid4().hex).touch()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(30):
            make_scratch("fit", 1, worker)
            time.sleep(0.005)
            remove_scratch("fit", worker)
            assert not list(tmp_path.iterdir())
    finally:
        is_over.set()
        thread.join()
