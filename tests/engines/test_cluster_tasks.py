"""What workers of a cluster do, without a cluster."""

import threading
import time
import uuid
from contextlib import suppress
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ptunfold import PTU
from ptunfold.datasets import swiss_roll
from ptunfold.engines import cluster_tasks
from ptunfold.engines.cluster_files import RowFile, fold_files, plan_shares
from ptunfold.engines.cluster_tasks import (
    bands_in,
    fold_slab,
    is_here,
    make_scratch,
    product_of_slab,
    remove_scratch,
    share_of_rows,
    slab_rows,
)
from ptunfold.geodesics.arrangement import arrange
from ptunfold.geodesics.bands import BAND
from ptunfold.geodesics.distances import OneWayRows, squared_distances
from ptunfold.geodesics.squares import BandSquares, plan_slabs
from ptunfold.threads import single_threaded_blas

pytest.importorskip("distributed")


@pytest.fixture
def worker(monkeypatch, tmp_path):
    worker = SimpleNamespace(local_directory=str(tmp_path / "worker"))
    monkeypatch.setattr("distributed.get_worker", lambda: worker)
    return worker


@pytest.fixture
def scratch(worker, tmp_path):
    assert make_scratch("fit/0", 1, worker)
    yield "fit/0"
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
    rows = [slab_rows(rows_of, slab.start, slab.stop, scratch, dtype) for slab in slabs]
    flats = [
        fold_slab(own, [one[:, slab] for one in rows[index:][1:]], slab.start, scratch)
        for index, (own, slab) in enumerate(zip(rows, slabs, strict=True))
    ]
    return slabs, rows, flats


def whole(slabs, flats, n_points):
    bands = map(bands_in, flats, slabs, [n_points] * len(slabs))
    return BandSquares(list(chain.from_iterable(bands))).whole()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slabs_have_the_bits_of_bands(arranged, scratch, dtype):
    dtype = np.dtype(dtype)
    slabs, rows, flats = folded(arranged, scratch, dtype)
    assert len(slabs) > 2
    assert all(is_mapped(array) for array in (*rows, *flats))
    expected = squared_distances(*arranged, dtype=dtype)
    np.testing.assert_array_equal(whole(slabs, flats, expected.n_points), expected.whole())
    factor = np.random.default_rng(0).standard_normal((expected.n_points, 3)).astype(dtype)
    total = np.zeros(factor.shape)
    for slab, flat in zip(slabs, flats, strict=True):
        total[slab.start :] += product_of_slab(slab, flat, factor)
    with single_threaded_blas():  # as in a fit: threads of BLAS would share the sums
        np.testing.assert_array_equal(total, expected.multiply(factor))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_from_a_network_give_the_same_bits(arranged, scratch, dtype):
    """They lie at any address."""
    slabs, _, flats = folded(arranged, scratch, np.dtype(dtype))
    factor = np.random.default_rng(0).standard_normal((len(arranged[1]), 9)).astype(dtype)
    for slab, flat in zip(slabs, flats, strict=True):
        expected = product_of_slab(slab, flat, factor)
        found = product_of_slab(slab, moved(flat), moved(factor))
        np.testing.assert_array_equal(found, expected)


def moved(array):
    """Put an array at an odd address."""
    room = np.empty(array.nbytes + 7, dtype=np.uint8)
    at = 1 if room.ctypes.data % 2 == 0 else 0
    found = room[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    assert not found.flags.aligned
    return found


def is_mapped(array):
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shares_have_the_bits_of_bands(arranged, tmp_path, dtype):
    dtype, rows_of = np.dtype(dtype), OneWayRows(*arranged)
    shares = [slice(0, 512), slice(512, 768), slice(768, len(arranged[1]))]
    files = [RowFile(tmp_path / f"{share.start}.npy", share) for share in shares]
    for share, file in zip(shares, files, strict=True):
        share_of_rows(rows_of, share.start, share.stop, str(file.path), dtype)
    bands = fold_files(files, n_jobs=2)
    expected = squared_distances(*arranged, dtype=dtype).bands
    assert [band.shape for band in bands] == [band.shape for band in expected]
    for band, one in zip(bands, expected, strict=True):
        np.testing.assert_array_equal(band, one)


@pytest.mark.parametrize("n_workers", [1, 3, 100])
@pytest.mark.parametrize("n_rows", [1, 256, 257, 5000, 30_000])
def test_shares_are_whole_bands(n_rows, n_workers):
    shares = plan_shares(n_rows, n_workers)
    assert [share.start for share in shares] == [0, *(share.stop for share in shares[:-1])]
    assert shares[-1].stop == n_rows
    assert all(share.start % BAND == 0 for share in shares)
    sizes = [share.stop - share.start for share in shares]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= BAND


def test_what_is_there_is_not_computed_again(arranged, scratch, monkeypatch, tmp_path):
    rows_of = OneWayRows(*arranged)
    dtype = np.dtype(np.float32)
    first = slab_rows(rows_of, 0, 256, scratch, dtype).copy()
    share = tmp_path / "share.npy"
    share_of_rows(rows_of, 0, 256, str(share), dtype)
    np.testing.assert_array_equal(np.load(share), first)

    def fails(*args):
        raise AssertionError("computed again")

    monkeypatch.setattr(OneWayRows, "write", fails)
    np.testing.assert_array_equal(slab_rows(rows_of, 0, 256, scratch, dtype), first)
    share_of_rows(rows_of, 0, 256, str(share), dtype)
    np.testing.assert_array_equal(np.load(share), first)
    with pytest.raises(AssertionError):
        slab_rows(rows_of, 256, 512, scratch, dtype)


def test_what_was_not_finished_does_not_count(arranged, scratch, monkeypatch, tmp_path):
    rows_of = OneWayRows(*arranged)
    dtype = np.dtype(np.float32)
    write = OneWayRows.write

    def breaks(self, block, rows, first_row):
        write(self, block, rows, first_row)
        raise KeyboardInterrupt

    monkeypatch.setattr(OneWayRows, "write", breaks)
    with pytest.raises(KeyboardInterrupt):
        slab_rows(rows_of, 0, 256, scratch, dtype)
    assert not [name for name in tmp_path.rglob("*") if name.is_file()]


@pytest.mark.parametrize("trouble", ["no room", "no folder"])
def test_without_a_disk_arrays_are_in_memory(
    arranged, worker, scratch, monkeypatch, tmp_path, trouble
):
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
        remove_scratch("fit", worker)
    dtype = np.dtype(np.float32)
    slabs, rows, flats = folded(arranged, scratch, dtype)
    assert not any(is_mapped(array) for array in (*rows, *flats))
    assert not [name for name in tmp_path.rglob("*") if name.is_file()]
    expected = squared_distances(*arranged, dtype=dtype)
    np.testing.assert_array_equal(whole(slabs, flats, expected.n_points), expected.whole())


def test_a_task_of_a_fit_that_is_over_ends(arranged, worker, scratch, monkeypatch):
    write, n_written = OneWayRows.write, []

    def removing(self, block, rows, first_row):
        remove_scratch("fit", worker)
        n_written.append(block)
        write(self, block, rows, first_row)

    monkeypatch.setattr(OneWayRows, "write", removing)
    with pytest.raises(FileNotFoundError):
        slab_rows(OneWayRows(*arranged), 0, 256, scratch, np.dtype(np.float32))
    assert len(n_written) == len({block.start for block in n_written})


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="asks Linux what is mapped")
def test_nothing_stays_mapped(arranged, scratch, tmp_path):
    """What is mapped counts as memory of a worker, and Dask stops one that has too much."""
    slabs, rows, flats = folded(arranged, scratch, np.dtype(np.float32))
    factor = np.ones((len(arranged[1]), 2), dtype=np.float32)
    for slab, flat in zip(slabs, flats, strict=True):
        product_of_slab(slab, flat, factor)
    assert f"{tmp_path}" in Path("/proc/self/maps").read_text()
    del rows, flats, flat
    assert f"{tmp_path}" not in Path("/proc/self/maps").read_text()


def test_folders_are_told_apart(tmp_path, monkeypatch):
    one, same, other = (
        SimpleNamespace(local_directory=str(tmp_path / place))
        for place in ("a/worker-1", "a/worker-2", "b/worker-1")
    )
    here = make_scratch("fit", 1, one)
    assert here is not None
    assert is_here(*here)
    assert not is_here(here[0], here[1], here[2] + 1)
    assert not is_here(here[0] + "-other", *here[1:])
    assert here == make_scratch("fit", 1, same)
    assert here != make_scratch("fit", 1, other)
    assert make_scratch("full", 1 << 60, one) is None  # no room
    assert not list((tmp_path / "a").glob("full/*"))
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
