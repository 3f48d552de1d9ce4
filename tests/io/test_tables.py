"""Tables as they come: every way to write them, and files that are broken or hostile."""

import contextlib
import io
import os
import threading
import zipfile
from decimal import Decimal
from typing import NamedTuple

import anndata
import h5py
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from PIL import Image
from scipy import sparse

from ptunfold.io.choice import Choice
from ptunfold.io.table import RefusedError, Table
from ptunfold.io.tables import STREAM, read_table, write_table


class Numbers(NamedTuple):
    points: np.ndarray
    names: list[str]
    notes: dict[str, str]
    left_out: dict[str, str]


def numbers_of(table, names=None):
    choice = Choice(names)
    points = choice.points(table)
    return Numbers(points, choice.used, choice.notes, choice.left_out)


ROWS = ["0.5,1,2", "1.5,3,4", "2.5,5,6"]


def text(tmp_path, *lines, name="a.csv", start=""):
    path = tmp_path / name
    path.write_text(start + "\n".join(lines) + "\n", encoding="utf-8", newline="")
    return path


def test_a_first_line_of_data_stays(tmp_path):
    table = read_table(text(tmp_path, *(f"p{row},{line}" for row, line in enumerate(ROWS))))
    assert (table.n_rows, table.is_named) == (3, False)
    points, names, _, left_out = numbers_of(table)
    assert names == ["x1", "x2", "x3"]
    np.testing.assert_array_equal(points[0], [0.5, 1, 2])
    assert left_out == {"x0": "words, as 'p0' in row 1"}
    for gap in ("", "NA", "nan"):
        table = read_table(text(tmp_path, f"{gap},1,2", *ROWS))
        assert table.n_rows == 4
        assert np.isnan(numbers_of(table).points[0, 0])


def test_a_first_line_of_names_is_one(tmp_path):
    for first in ("x,y,z", '"x","y","z"', "x, y, z", "\ufeffx,y,z"):
        table = read_table(text(tmp_path, first, *ROWS))
        assert (table.names, table.n_rows, table.is_named) == (["x", "y", "z"], 3, True)
    assert read_table(text(tmp_path, "a,b", "c,d")).names == ["a", "b"]
    assert read_table(text(tmp_path, "name,x", "p,", "q,2")).names == ["name", "x"]


def test_a_first_line_that_may_be_both(tmp_path):
    path = text(tmp_path, "id,2019,2020", *ROWS)
    with pytest.raises(ValueError, match=r"may be names or data; say which with --header yes"):
        read_table(path)
    assert read_table(path, has_header=True).names == ["id", "2019", "2020"]
    assert read_table(path, has_header=False).n_rows == 4


def test_names_that_count_the_columns_were_a_data_point(tmp_path):
    """As pandas writes arrays that were never given names."""
    for rows in (ROWS, ["3,4,5", "1,7,2"]):
        for first in ("0,1,2", "1,2,3", " 0, 1, 2"):
            path = text(tmp_path, first, *rows)
            with pytest.raises(ValueError, match=r"counts the columns .* say which with --header"):
                read_table(path)
            assert read_table(path, has_header=False).n_rows == len(rows) + 1
            assert read_table(path, has_header=True).n_rows == len(rows)
    for lines in (["0", "0.5", "1"], ["0,1,label", "0.5,2,a"], ["label,0,1", "a,0.5,2"]):
        with pytest.raises(ValueError, match="may be names or data"):
            read_table(text(tmp_path, *lines))
    # Rows that all go up by one are data, and so is a line with nothing below.
    for lines in (["0", "3", "7"], ["1,2", "3,4", "5,6"], ["a,1", "b,2.5"], ["0,1"]):
        assert read_table(text(tmp_path, *lines)).n_rows == len(lines)


@pytest.mark.parametrize("index", [[0, 1, 2], [7, -3, 5], ["a", "b", "c"]])
def test_names_that_count_the_columns_after_an_index(index, tmp_path):
    for values in (np.random.default_rng(0).random((3, 4)), np.arange(12).reshape(3, 4), [1, 2, 3]):
        frame = pd.DataFrame(values, index=index)
        frame.to_csv(tmp_path / "a.csv")
        table = read_table(tmp_path / "a.csv")
        assert table.names == ["", *map(str, frame.columns)]
        np.testing.assert_array_equal(numbers_of(table).points, frame)
        assert list(numbers_of(table).left_out) == [""]
    path = text(tmp_path, ",1,2", "0.5,7,2", "1.5,3,4")  # a gap above 0.5, or no name
    with pytest.raises(ValueError, match="may be names or data"):
        read_table(path)


def test_the_column_of_row_numbers_is_left_out(tmp_path):
    path = text(tmp_path, ",x,y,z", *(f"{row},{line}" for row, line in enumerate(ROWS)))
    numbers = numbers_of(read_table(path))
    assert numbers.names == ["x", "y", "z"]
    assert numbers.left_out == {"": "numbers the rows"}
    assert numbers_of(read_table(path), ["", "x"]).points.shape == (3, 2)
    for index in ("1 2 3", "17 4 -2", "9 9 9"):  # those of a sample were columns of numbers
        rows = zip(index.split(), ROWS, strict=True)
        table = read_table(text(tmp_path, ",x,y,z", *map(",".join, rows)))
        assert numbers_of(table).left_out == {"": "numbers the rows"}
    table = read_table(text(tmp_path, ",x", "0.5,1", "2,3"))
    assert numbers_of(table).names == ["", "x"]
    frame = pd.DataFrame({"x": [0.5, 1, 2], "y": [1, 2, 4]}, index=[7, 8, 9])
    frame.to_parquet(tmp_path / "a.parquet")
    numbers = numbers_of(read_table(tmp_path / "a.parquet"))
    assert numbers.names == ["x", "y"]
    assert list(numbers.left_out.values()) == ["numbers the rows"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt"])
def test_separators(separator, name, tmp_path):
    lines = [line.replace(",", separator) for line in ("x,y,z", *ROWS)]
    table = read_table(text(tmp_path, *lines, name=name))
    assert table.names == ["x", "y", "z"]
    np.testing.assert_array_equal(numbers_of(table).points[1], [1.5, 3, 4])


def test_blanks_between_numbers(tmp_path):
    points = np.random.default_rng(0).normal(size=(5, 3))
    np.savetxt(tmp_path / "a.txt", points)
    np.testing.assert_array_equal(numbers_of(read_table(tmp_path / "a.txt")).points, points)
    path = text(tmp_path, " x   y", " 1   2", " 3 -4.5", name="b.txt")
    assert read_table(path).names == ["x", "y"]
    assert read_table(text(tmp_path, "a b", "c d")).names == ["a b"]


@pytest.mark.parametrize("header", [["x;y;z"], []])
def test_decimal_commas_come_and_go(header, tmp_path):
    lines = ["0,5;1;1.234,5", "1,5;3;4", "2,5;5;6,25"]
    table = read_table(text(tmp_path, *header, *lines, start="\ufeff"))
    points, _, notes, _ = numbers_of(table)
    np.testing.assert_array_equal(points, [[0.5, 1, 1234.5], [1.5, 3, 4], [2.5, 5, 6.25]])
    assert set(notes.values()) == {"decimal commas"}
    write_table(tmp_path / "out.csv", table, {"ptu0": np.array([0.5, 1, 2])})
    again = read_table(tmp_path / "out.csv")
    np.testing.assert_array_equal(numbers_of(again).points[:, :3], points)
    np.testing.assert_array_equal(numbers_of(again).points[:, 3], [0.5, 1, 2])
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "0,5;1;1.234,5;0,5"
    write_table(tmp_path / "out.tsv", table, {"ptu0": np.array([0.5, 1, 2])})
    np.testing.assert_array_equal(
        numbers_of(read_table(tmp_path / "out.tsv")).points[:, :3], points
    )


def test_commas_between_thousands(tmp_path):
    numbers = numbers_of(read_table(text(tmp_path, "v,w", '"1,234.5",1', '"12,000",2')))
    np.testing.assert_array_equal(numbers.points, [[1234.5, 1], [12000, 2]])
    assert numbers.notes == {"v": "commas between thousands"}


def test_what_holds_nothing_is_left_out(tmp_path):
    numbers = numbers_of(read_table(text(tmp_path, "x,y,", "1,2,", "3,4,")))
    assert numbers.names == ["x", "y"]
    assert numbers.left_out == {"": "nothing but gaps"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x,y\n1,2\n\n3,4,5\n", "line 4 of .* has 3 fields, and the first has 2"),
        (b'x,y\n"a\nb",2\n3\n', "line 4 of .* has 1 fields"),
        (b"x,y,x\n1,2,3\n", r"two columns of the same name \(x\)"),
        (b"x,y\n1,\x002\n", "line 2 of .* holds a NUL byte"),
        (b"x,y\n1,2\n\xff,3\n", "no table in UTF-8 text .line 3"),
        (b'x,y\n1,2\n3,"4\n5,6\n', "line 4 of .* check its quotes"),
        (b"\n\n", "is empty"),
        (b"", "is empty"),
    ],
)
def test_broken_texts(content, message, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(path)


def test_a_single_column_keeps_its_gaps(tmp_path):
    assert read_table(text(tmp_path, "x", "1", "", "3")).n_rows == 3


def test_columns_of_parquet(tmp_path):
    table = pyarrow.table(
        {
            "price": pyarrow.array([Decimal("1.25"), None, Decimal("3.50")]),
            "half": pyarrow.array(np.arange(1, 4, dtype=np.float16)),
            "large": pyarrow.array([2**60, 2, 3], pyarrow.int64()),
            "coded": pyarrow.array([1.5, 2.5, 1.5]).dictionary_encode(),
            "flag": [True, False, True],
            "word": ["a", "b", "c"],
            "none": pyarrow.nulls(3),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    points, names, _, left_out = numbers_of(read_table(tmp_path / "a.parquet"))
    assert names == ["price", "half", "large", "coded"]
    np.testing.assert_array_equal(points[:, 0], [1.25, np.nan, 3.5])
    np.testing.assert_array_equal(points[:, 3], [1.5, 2.5, 1.5])
    assert left_out == {
        "flag": "values of type bool",
        "word": "values of type string",
        "none": "nothing but gaps",
    }
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"b\.parquet cannot be read; it may be damaged"):
        read_table(tmp_path / "b.parquet")


@pytest.mark.parametrize(
    ("column", "described"),
    [
        (["7", "", "12"], [7, np.nan, 12]),
        (["007", "", "12"], ["007", None, "12"]),
        (["+49", "NA", "12"], ["+49", None, "12"]),
        (["9007199254740992", "0.5", "1"], [2.0**53, 0.5, 1]),
        (["9007199254740993", "0.5", "1"], ["9007199254740993", "0.5", "1"]),
        (pyarrow.array([2**53 + 1, None, 1]), [str(2**53 + 1), None, "1"]),
        (pyarrow.array([2**60, None, 1]), [2.0**60, np.nan, 1]),
        (pyarrow.array([1e300, None, 1.5]), [1e300, np.nan, 1.5]),
        (np.array([2**64 - 1, 1], dtype=np.uint64), [str(2**64 - 1), "1"]),
    ],
)
def test_names_in_digits_are_described_as_they_are(column, described):
    found = Table(["a"], [column]).described["a"].tolist()
    np.testing.assert_equal(found, described)


def header(shape, kind="<f8"):
    file = io.BytesIO()
    about = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, about)
    return file.getvalue()


def packed(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


def test_arrays_that_lie(tmp_path):
    (tmp_path / "a.npy").write_bytes(header((10**9, 10**6)) + b"123")
    with pytest.raises(ValueError, match="asks for 8,000,000,000,000,000 bytes, and 3 are there"):
        read_table(tmp_path / "a.npy")
    path = packed(tmp_path / "a.npz", X=header((10**9, 10**6)) + b"123")
    with pytest.raises(ValueError, match=r"X\.npy in .*a\.npz is damaged: its header asks for"):
        read_table(path)
    bomb = packed(tmp_path / "bomb.npz", X=header((5_000, 1_000)) + bytes(40_000_000))
    assert bomb.stat().st_size < 100_000
    with pytest.raises(ValueError, match=r"bomb\.npz holds 40 MB when it is unpacked, and 10 MB"):
        read_table(bomb, most_bytes=1e7)
    assert read_table(bomb, most_bytes=1e8).n_rows == 5_000


def test_arrays_of_objects(tmp_path):
    for name in ("a.npy", "a.npz"):
        objects = np.array([[{}, 1]], dtype=object)
        if name == "a.npy":
            np.save(tmp_path / name, objects)
        else:
            np.savez(tmp_path / name, X=objects)
        with pytest.raises(ValueError, match="holds Python objects, which are not read"):
            read_table(tmp_path / name)


@pytest.mark.parametrize("ending", [".npy", ".npz", ".parquet", ".feather", ".h5ad"])
def test_damaged_files_end_in_words(ending, tmp_path):
    points = np.random.default_rng(0).random((30, 3))
    path = tmp_path / f"a{ending}"
    if ending == ".npy":
        np.save(path, points)
    elif ending == ".npz":
        np.savez_compressed(path, X=points)
    elif ending == ".h5ad":
        anndata.AnnData(points).write_h5ad(path)
    else:
        frame = pd.DataFrame(points, columns=list("xyz"))
        frame.to_parquet(path) if ending == ".parquet" else frame.to_feather(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    other = tmp_path / f"b{ending}"
    for turn in range(60):
        content = bytearray(whole)
        if turn % 3 == 0 or ending == ".h5ad":  # the library of HDF5 may not end on others
            content = content[: rng.integers(len(content))]
        else:
            for place in rng.integers(len(content) if turn % 3 == 1 else 300, size=4):
                content[place % len(content)] = rng.integers(256)
        other.write_bytes(content)
        with contextlib.suppress(RefusedError):
            read_table(other, most_bytes=1e8)


def test_npz_under_other_names(tmp_path):
    points = np.eye(3)
    np.savez(tmp_path / "a.npz", X=points)
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="cannot be read; it may be damaged"):
        read_table(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", points)
    (tmp_path / "b.npy").rename(tmp_path / "b.npz")
    with pytest.raises(ValueError, match="cannot be read; it may be damaged"):
        read_table(tmp_path / "b.npz")
    packed(tmp_path / "c.npz", X=header((3, 1)) + bytes(24), file=header((3,)) + bytes(24))
    table = read_table(tmp_path / "c.npz")
    assert table.left_out == {"file": "another array"}
    write_table(tmp_path / "d.npz", table, {"ptu0": np.zeros(3)})
    assert set(np.load(tmp_path / "d.npz")) == {"X", "file", "X_ptu"}


@pytest.mark.filterwarnings("ignore")
def test_cells(tmp_path):
    path = tmp_path / "a.h5ad"
    cells = anndata.AnnData(obs=pd.DataFrame(index=list("abc")))
    cells.write_h5ad(path)
    with pytest.raises(ValueError, match=r'has neither X nor obsm\["X_pca"\]; put one there'):
        read_table(path)
    genes = pd.DataFrame(index=["g", "h"])
    cells = anndata.AnnData(sparse.csr_matrix(np.arange(6.0).reshape(3, 2)), var=genes)
    cells.write_h5ad(path)
    table = read_table(path)
    assert (table.names, table.is_named, table.place) == (["g", "h"], True, "X")
    cells.obsm["X_pca"] = np.eye(3)
    cells.write_h5ad(path)
    table = read_table(path)
    assert (table.names, table.is_named) == (["x0", "x1", "x2"], False)
    assert table.left_out == {"X": "there are components"}
    with h5py.File(path, "a") as file:  # no data, and 8 TB to be read
        file["obsm"].create_dataset("large", shape=(10**6, 10**6), chunks=(100, 100))
    with pytest.raises(ValueError, match="GB of memory are free"):
        read_table(path, most_bytes=1e9)


def folder_of(tmp_path, *images):
    folder = tmp_path / "images"
    folder.mkdir()
    for place, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{place}.png")
    return folder


def test_sixteen_bits_stay(tmp_path):
    pixels = np.arange(0, 60000, 5000, dtype=np.uint16).reshape(3, 4) + 1
    table = read_table(folder_of(tmp_path, pixels, pixels[::-1].copy()))
    np.testing.assert_allclose(table.source[0] * 65535, pixels.ravel(), rtol=1e-6)
    assert table.shape == (3, 4)


def test_what_of_images_is_left_out(tmp_path):
    folder = folder_of(tmp_path, np.zeros((4, 4, 4), dtype=np.uint8))
    (folder / "notes.md").write_text("none")
    (folder / "more.png").mkdir()
    frames = [Image.fromarray(np.full((4, 4, 3), shade, np.uint8)) for shade in (0, 90)]
    frames[0].save(folder / "moving.gif", save_all=True, append_images=frames[1:])
    table = read_table(folder)
    assert table.columns == [["0.png", "moving.gif"]]
    assert set(table.left_out) == {
        "notes.md",
        "more.png",
        "transparency of 0.png",
        "all but the first picture of moving.gif",
    }


def test_images_that_are_too_large_or_broken(tmp_path, monkeypatch):
    pixels = np.random.default_rng(0).integers(256, size=(40, 40), dtype=np.uint8)
    folder = folder_of(tmp_path, pixels)
    for most in (700, 1000):  # an error of Pillow's, and a warning
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", most)
        with pytest.raises(ValueError, match=r"0\.png has more pixels than are read \(.*\); make"):
            read_table(folder)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="MB of memory are free"):
        read_table(folder, most_bytes=1000)
    whole = (folder / "0.png").read_bytes()
    for broken in (whole[:60], whole[:20], b"", whole[:16] + b"\xff" * 8 + whole[24:]):
        (folder / "1.png").write_bytes(broken)
        with pytest.raises(ValueError, match=r"1\.png (is no image|has)"):
            read_table(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("ending", ["", ".csv"])
def test_a_named_pipe(ending, tmp_path):
    pipe = tmp_path / f"pipe{ending}"
    os.mkfifo(pipe)
    content = text(tmp_path, "x,y,z", *ROWS).read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    table = read_table(pipe)
    writer.join()
    assert (table.names, table.n_rows) == (["x", "y", "z"], 3)


def test_names_of_files_that_are_no_text(tmp_path):
    table = Table(["file"], [["a\udcff.png"]])
    write_table(tmp_path / "a.csv", table, {"ptu0": np.zeros(1)})
    assert b"a\xff.png,0.0" in (tmp_path / "a.csv").read_bytes()


def test_tabs_with_nothing_between_them(tmp_path):
    """A gap that comes after what was looked at, beside a number with a blank in it."""
    lines = ["x\ty\tz", *["1.5\t2.5\t3.5"] * 100, "1.5\t\t12 000"]
    (tmp_path / "a.tsv").write_text("\n".join(lines) + "\n")
    table = read_table(tmp_path / "a.tsv")
    assert table.names == ["x", "y", "z"]
    assert [column[-1] for column in table.columns] == ["1.5", "", "12 000"]


def test_a_table_whose_first_name_is_pk(monkeypatch):
    text = b"PK,x\n" + b"1,2\n" * 20
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert read_table(STREAM).names == ["PK", "x"]
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(ValueError, match="standard input is closed"):
        read_table(STREAM)
