"""Files in parts, whatever their kind: together they are what is read at once."""

import io
import os
import threading

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from ptunfold.io.choice import Choice
from ptunfold.io.tables import STREAM, Pipe, open_parts, read_table, usual_rows

N = 250


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["x", "y", "z"])
    frame["name"] = [f"point {row}" for row in range(N)]
    frame["kind"] = pd.Categorical(rng.choice(["a", "b"], N))
    frame["count"] = np.arange(N, dtype=np.int16)
    frame.index = pd.Index(np.arange(N) + 7, name="id")
    return frame


def read_all(path, size, again=False):
    """Read all parts; if asked for, each from the position of the one before."""
    found, position = [], None
    while True:
        with open_parts(path) as parts:
            if position is not None:
                parts.seek(position)
            while (part := parts.read(size)) is not None:
                found.append(part)
                assert 0 < parts.done <= parts.total
                position = parts.position
                if again:
                    break
            if part is None:
                return found


def check_parts(found, whole):
    assert [part.first_row for part in found] == list(
        np.cumsum([0, *(p.n_rows for p in found[:-1])])
    )
    assert [part.is_last for part in found] == [False] * (len(found) - 1) + [True]
    for part in found:
        assert (part.names, part.is_named, part.index) == (whole.names, whole.is_named, whole.index)
    choice = Choice()
    points = np.concatenate([choice.points(part) for part in found])
    other = Choice()
    np.testing.assert_array_equal(points, other.points(whole))
    assert (choice.used, choice.left_out) == (other.used, other.left_out)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("size", [1, 60, 100, 1000])
@pytest.mark.parametrize("group", [7, 100, 1000])
def test_parquet(group, size, again, frame, tmp_path):
    path = tmp_path / "a.parquet"
    frame.to_parquet(path, row_group_size=group)
    found, whole = read_all(path, size, again), read_table(path)
    check_parts(found, whole)
    assert [part.n_rows for part in found[:-1]] == [size] * (len(found) - 1)
    together = pyarrow.concat_tables([part.source for part in found]).unify_dictionaries()
    assert together.schema.equals(whole.source.schema, check_metadata=True)
    assert together.to_pandas().equals(whole.source.to_pandas())


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("size", [1, 60, 1000])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<i2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays(order, dtype, size, again, frame, tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.asarray(100 * frame[["x", "y", "z"]].to_numpy(), dtype=dtype, order=order))
    check_parts(read_all(path, size, again), read_table(path))


@pytest.mark.parametrize("ending", [".npz", ".feather"])
def test_other_files_come_as_a_whole(ending, frame, tmp_path):
    path = tmp_path / f"a{ending}"
    if ending == ".npz":
        np.savez(path, X=frame[["x", "y", "z"]].to_numpy())
    else:
        frame.reset_index().to_feather(path)
    found = read_all(path, 10)
    assert len(found) == 1
    check_parts(found, read_table(path))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
def test_pipes(kind, order, frame, tmp_path, monkeypatch):
    points = np.asarray(frame[["x", "y", "z"]], order=order)
    path = tmp_path / f"a.{kind}"
    if kind == "npy":
        np.save(path, points)
    else:
        table = pd.DataFrame(points, columns=["x", "y", "z"])
        table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
    whole = read_table(path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    with open_parts(STREAM) as parts:
        found = []
        while (part := parts.read(60)) is not None:
            found.append(part)
    assert len(found) == 5
    check_parts(found, whole)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_named_pipe(frame, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = frame.to_csv(index=False).encode()
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    with open_parts(pipe) as parts:
        assert parts.total is None
        assert sum(part.n_rows for part in iter(lambda: parts.read(33), None)) == N
        assert parts.done == len(content)
    writer.join()


def test_a_pipe_is_read_as_it_starts():
    class Slow(io.BytesIO):
        def read1(self, size=-1):
            return super().read1(min(size, 3))

    start = Pipe(Slow(b"0123456789" * 3))
    assert start.start == b"0123456"[: len(start.start)]
    pipe = io.BufferedReader(start)
    found = [pipe.read1(100), pipe.read1(2), pipe.read(5), pipe.read1(100), pipe.read()]
    assert b"".join(found) == b"0123456789" * 3
    assert 0 < len(found[3]) <= 3


def test_files_that_lie(tmp_path, monkeypatch):
    about = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**6)}
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, about)
    (tmp_path / "a.npy").write_bytes(file.getvalue() + b"123")
    with pytest.raises(ValueError, match="asks for 8,000,000,000,000,000 bytes, and 3 are there"):
        read_all(tmp_path / "a.npy", 10)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.getvalue() + b"123")))
    with open_parts(STREAM, most_bytes=1e6) as parts:
        assert usual_rows(parts) == 4
        with pytest.raises(ValueError, match=r"standard input holds .* MB when it is unpacked"):
            parts.read(4)
    np.save(tmp_path / "b.npy", np.zeros(5))
    with pytest.raises(
        ValueError, match=r"0 arrays of two dimensions and numbers \(x \(5,\) float"
    ):
        read_all(tmp_path / "b.npy", 10)
    np.save(tmp_path / "c.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(ValueError, match="holds Python objects, which are not read"):
        read_all(tmp_path / "c.npy", 10)
    (tmp_path / "d.npy").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"d\.npy cannot be read; it may be damaged"):
        read_all(tmp_path / "d.npy", 10)


def test_a_parquet_file_that_is_damaged_in_the_middle(frame, tmp_path):
    path = tmp_path / "a.parquet"
    frame.to_parquet(path, row_group_size=50, compression=None)
    content = bytearray(path.read_bytes())
    start = pyarrow.parquet.read_metadata(path).row_group(3).column(0).dictionary_page_offset
    content[start : start + 40] = b"\xff" * 40
    path.write_bytes(content)
    with open_parts(path) as parts:
        assert parts.read(50).n_rows == 50
        with pytest.raises(ValueError, match=r"a\.parquet cannot be read; it may be damaged"):
            list(iter(lambda: parts.read(50), None))
    path.write_bytes(content[:100])
    with pytest.raises(ValueError, match=r"a\.parquet cannot be read; it may be damaged"):
        read_all(path, 10)


def test_rows_of_a_part(frame, tmp_path):
    np.save(tmp_path / "narrow.npy", np.zeros((2, 3)))
    np.save(tmp_path / "wide.npy", np.zeros((2, 100_000)))
    frame.to_csv(tmp_path / "a.csv")
    sizes = {}
    for name in ("narrow.npy", "wide.npy", "a.csv"):
        with open_parts(tmp_path / name) as parts:
            sizes[name] = usual_rows(parts)
    assert sizes["narrow.npy"] == 1 << 17
    assert sizes["wide.npy"] == (1 << 25) // 800_000
    assert 30_000 < sizes["a.csv"] < 80_000


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_at_all(shape, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(shape))
    pd.DataFrame(np.zeros(shape)).rename(columns=str).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("x,y\n")
    for ending in ("npy", "parquet", "csv"):
        assert read_all(tmp_path / f"a.{ending}", 10) == []
