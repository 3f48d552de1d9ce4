"""The GPU engine: on a GPU where there is one, and around its kernels where there is none."""

import sys

import numpy as np
import pytest

from ptunfold import PTU, Disk
from ptunfold.datasets import petals, s_with_hole, swiss_roll
from ptunfold.engines import cuda
from ptunfold.geodesics.arrangement import arrange
from ptunfold.geodesics.distances import distances_among
from tests.engines.emulator import COMPILER, make_cupy

DIMENSIONS = (1, 2, 3)


def sheet(dim, n_points=500):
    rng = np.random.default_rng(0)
    if dim == 1:
        angle = rng.uniform(0, 4, n_points)
        return np.column_stack((np.cos(angle), np.sin(angle)))
    if dim == 2:
        return swiss_roll(n_points).points
    points = rng.random((n_points, 3))
    return np.column_stack((points, np.sin(points[:, 0])))


@pytest.fixture
def gpu():
    """A real one, or no test."""
    try:
        return cuda._cupy()
    except ValueError as error:
        pytest.skip(f"no GPU here: {error}")


@pytest.fixture
def emulated(monkeypatch):
    """No GPU, but everything else."""
    if COMPILER is None:
        pytest.skip("no C++ compiler on this machine, to compile the kernels for the CPU")

    def use(**options):
        fake = make_cupy(**options)
        monkeypatch.setitem(sys.modules, "cupy", fake)
        monkeypatch.setitem(sys.modules, "cupy.cuda", fake.cuda)
        cuda._kernel.cache_clear()

    monkeypatch.setattr(cuda, "LANES", 1)
    use()
    yield use
    cuda._kernel.cache_clear()


def check_everything(points, dim):
    """Compare with threads: distances, embeddings, landmarks."""
    model = PTU(dim, landmarks=None).fit(points)
    connection = arrange(model.connection_, np.arange(len(points))).connection
    n_nodes = connection.graph.n_points
    paths = cuda.DevicePaths(cuda._cupy(), connection)
    rows = paths.cupy.empty((n_nodes, n_nodes), dtype=np.float32)
    paths.measure(paths.cupy.arange(n_nodes, dtype=np.int32), rows)
    expected = distances_among(connection, np.arange(n_nodes), is_one_way=True)
    off = np.abs(paths.cupy.asnumpy(rows) - expected)
    assert off.max() < 1e-4 * expected.max()

    found = PTU(dim, landmarks=None, engine="cuda").fit(points)
    size = np.abs(model.embedding_).max()
    assert found.embedding_.dtype == points.dtype
    np.testing.assert_allclose(found.embedding_, model.embedding_, atol=1e-4 * size)
    np.testing.assert_allclose(found.eigenvalues_, model.eigenvalues_, rtol=1e-4)

    some = PTU(dim, landmarks=30).fit(points)
    found = PTU(dim, landmarks=30, engine="cuda").fit(points)
    np.testing.assert_array_equal(found.landmarks_, some.landmarks_)
    np.testing.assert_allclose(found.embedding_, some.embedding_, atol=1e-4 * size)


@pytest.mark.gpu
@pytest.mark.parametrize("dim", DIMENSIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_answers_on_a_gpu(gpu, dim, dtype):
    check_everything(sheet(dim, 3000).astype(dtype), dim)


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_same_answers_without_one(emulated, dim):
    check_everything(sheet(dim), dim)


def copies():
    points = s_with_hole(400).points
    return np.concatenate((points, points[:60]))


@pytest.mark.gpu
def test_copies_on_a_gpu(gpu):
    check_everything(copies(), 2)


def test_copies_without_one(emulated):
    check_everything(copies(), 2)


def bumps(n_points):
    plane = np.random.default_rng(0).uniform(-1, 1, (n_points, 2))
    return np.column_stack((plane, 0.12 * np.sin(9 * plane[:, 0]) * np.cos(8 * plane[:, 1])))


@pytest.mark.gpu
def test_partly_coherent_on_a_gpu(gpu):
    check_everything(bumps(1500), 2)


def test_partly_coherent_without_one(emulated):
    assert PTU().fit(bumps(400)).connection_.coherence.mean() < 0.9
    check_everything(bumps(400), 2)


@pytest.mark.gpu
def test_curved_on_a_gpu(gpu):
    check_everything(petals(1500).points, 2)


def test_curved_without_one(emulated):
    assert PTU().fit(petals(400).points).connection_.curvature is not None
    check_everything(petals(400).points, 2)


def check_strained(n_points):
    """A picture that is relaxed, by rows of the matrix on the device, is that of threads."""
    points = np.random.default_rng(0).standard_normal((n_points, 6))
    embeddings = []
    for options in ({}, {"engine": "cuda"}, {"mds": "classical"}):
        with pytest.warns(UserWarning, match="tangent planes"):
            embeddings.append(PTU(landmarks=None, **options).fit_transform(points))
    here, there, classical = embeddings
    scale = np.abs(here).max()
    assert np.abs(here - classical).max() > 0.05 * scale
    assert np.median(np.abs(there - here)) < 1e-3 * scale


@pytest.mark.gpu
def test_strained_on_a_gpu(gpu):
    check_strained(1500)


def test_strained_without_one(emulated):
    check_strained(400)


@pytest.mark.gpu
@pytest.mark.parametrize("kept", [1, 40])
def test_a_short_memory_of_visits_on_a_gpu(gpu, monkeypatch, kept):
    monkeypatch.setattr(cuda, "_ROUNDS_KEPT", kept)
    check_everything(swiss_roll(1500).points, 2)


@pytest.mark.parametrize("kept", [1, 40])
def test_a_short_memory_of_visits_without_one(emulated, monkeypatch, kept):
    monkeypatch.setattr(cuda, "_ROUNDS_KEPT", kept)
    check_everything(swiss_roll(300).points, 2)


@pytest.mark.gpu
def test_ties_on_a_gpu(gpu):
    grid = np.stack(np.meshgrid(np.arange(40.0), np.arange(30.0)), axis=-1).reshape(-1, 2)
    found = PTU(engine="cuda").fit(grid).embedding_
    from scipy.spatial.distance import pdist

    np.testing.assert_allclose(pdist(found), pdist(grid), rtol=1e-4)


def test_rows_that_do_not_fit_go_to_memory(emulated, tmp_path):
    points = swiss_roll(500).points.astype(np.float32)
    expected = PTU(engine="cuda").fit(points).embedding_
    n_bytes = 4 * 500**2
    emulated(memory=n_bytes)  # too little for all of them and the workspace
    found = PTU(engine="cuda").fit(points).embedding_
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())
    stored = PTU(engine=Disk(tmp_path / "store", engine="cuda")).fit(points).embedding_
    np.testing.assert_array_equal(stored, found)


def test_a_gpu_that_is_too_small(emulated):
    emulated(memory=20_000)
    with pytest.raises(MemoryError, match="use another engine"):
        PTU(engine="cuda").fit(swiss_roll(500).points)
    with pytest.raises(MemoryError, match="fewer points"):
        PTU(engine="cuda", landmarks=100).fit(swiss_roll(500).points)


def test_no_gpu(emulated):
    emulated(n_devices=0)
    with pytest.raises(ValueError, match=r"finds no GPU.*use engine="):
        PTU(engine="cuda").fit(swiss_roll(300).points)


def test_no_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ValueError, match="pip install cupy"):
        PTU(engine="cuda").fit(swiss_roll(300).points)


@pytest.mark.parametrize("points", [swiss_roll(200).points, petals(200).points])
def test_workspace_is_as_large_as_the_kernel_cuts_it(emulated, points):
    """A byte too few would be another block's: the kernel is run with a guard behind it."""
    connection = arrange(PTU().fit(points).connection_, np.arange(200)).connection
    paths = cuda.DevicePaths(cuda._cupy(), connection)
    rows = np.empty((3, 200), dtype=np.float32)
    for is_both in (False,) if paths.is_curved else (False, True):
        n_bytes = paths.bytes_of_space(1, is_both=is_both)
        guarded = np.full(n_bytes + 4096, 171, dtype=np.uint8)
        sizes = []

        def empty(shape, dtype, guarded=guarded, n_bytes=n_bytes, sizes=sizes):
            sizes.append(shape)
            return guarded[:n_bytes]

        paths.cupy.empty, kept = empty, paths.cupy.empty
        paths.plan = lambda *args, **options: (1, 3)
        paths.measure(np.arange(3, dtype=np.int32), rows, lanes=1, is_both=is_both)
        paths.cupy.empty = kept
        assert sizes == [n_bytes]
        assert (guarded[n_bytes:] == 171).all()


def test_hubs_are_refused(emulated):
    from ptunfold.types import Graph

    n_points = 66_000
    indptr = np.concatenate(([0], np.full(n_points, n_points - 1)))
    indices = np.arange(1, n_points, dtype=np.int32)
    with pytest.raises(ValueError, match="numbers them in 16 bits"):
        cuda._check_neighbors(Graph(indptr, indices, np.ones(n_points - 1)))
