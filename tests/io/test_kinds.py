"""Columns of texts in files whose columns have types: numbers stay numbers."""

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from ptunfold import PTU
from ptunfold.cli import app
from ptunfold.datasets import s_with_hole
from ptunfold.io.foreign import with_columns
from ptunfold.io.kinds import Kinds
from ptunfold.io.table import RefusedError, Style, Table
from ptunfold.io.tables import read_table, write_table


def part(first_line=2, decimal=".", **columns):
    n_rows = len(next(iter(columns.values())))
    lines = range(first_line, first_line + n_rows)
    return Table(
        list(columns), list(columns.values()), style=Style(".csv", ";", decimal), lines=lines
    )


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["1", " 2", "-3"], "int64", [1, 2, -3]),
        (["1", "", "NA"], "int64", [1, None, None]),
        (["9007199254740993", "0", "1"], "int64", [9007199254740993, 0, 1]),
        (["1", "2.5", ""], "double", [1.0, 2.5, None]),
        (["1e3", "-0.5", "nan"], "double", [1000.0, -0.5, None]),
        (["1", "word", ""], "string", ["1", "word", ""]),
        (["007", "12", "1"], "string", ["007", "12", "1"]),  # a number would lose the zeros
        (["+49", "12", "1"], "string", ["+49", "12", "1"]),
        (["9" * 19, "1", "2"], "string", ["9" * 19, "1", "2"]),  # beyond 64 bits
        (["9007199254740993", "0.5", "1"], "string", ["9007199254740993", "0.5", "1"]),
        (["", "NA", ""], "string", ["", "NA", ""]),
    ],
)
def test_what_a_column_is(texts, kind, values):
    table = with_columns(part(a=texts), {})
    assert str(table.schema.field("a").type) == kind
    assert table["a"].to_pylist() == values


def test_decimal_commas():
    table = with_columns(part(a=["1,5", "1.234,5"], decimal=","), {})
    assert table["a"].to_pylist() == [1.5, 1234.5]


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        (["1"], ["2", "word"], "column a held whole numbers .* holds 'word' in line 4, but"),
        (["1"], ["0.5"], "held whole numbers in the first part, and holds '0.5' in line 3"),
        (["0.5"], ["1", "", "x"], "held numbers in the first part, and holds 'x' in line 5"),
        (["1,234"], ["1,5"], "held numbers in the first part, and holds '1,5' in line 3"),
    ],
)
def test_parts_keep_to_the_first(first, then, message):
    kinds = Kinds()
    with_columns(part(a=first), {}, kinds)
    with pytest.raises(RefusedError, match=f"{message}.*; write a text, or pass a larger"):
        with_columns(part(3, a=then), {}, kinds)
    other = with_columns(part(3, a=["", "NA"]), {}, kinds)  # gaps are of every type
    assert other["a"].to_pylist() == [None, None]
    kinds = Kinds()
    with_columns(part(a=["word"]), {}, kinds)
    assert with_columns(part(3, a=then), {}, kinds)["a"].to_pylist() == then


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_the_index_of_pandas_is_no_column_of_numbers_later(ending, tmp_path):
    frame = pd.DataFrame({"x": [0.5, 1, 2]}, index=[7, 3, 5])
    frame.to_csv(tmp_path / "a.csv")
    write_table(tmp_path / f"a{ending}", read_table(tmp_path / "a.csv"), {"y": np.zeros(3)})
    table = read_table(tmp_path / f"a{ending}")
    assert table.index == {""}
    assert [str(column.type) for column in table.columns] == ["int64", "double", "double"]


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def frame():
    frame = pd.DataFrame(s_with_hole(200, seed=1).points, columns=["x", "y", "z"])
    frame["z"] = (frame["z"] * 4).round().astype(int)
    return frame.assign(name="a", number=range(200), share=0.5)


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_numbers_of_a_text_were_words(ending, frame, tmp_path):
    """The command refused what it had written."""
    frame.to_csv(tmp_path / "in.csv", index=False)
    model, output = tmp_path / "m.safetensors", tmp_path / f"out{ending}"
    words = ["embed", tmp_path / "in.csv", "-o", output, "--columns", "x,y,z", "--save", model]
    assert run(*words).exit_code == 0
    after = read_table(output)
    kinds = dict(zip(after.names, (str(column.type) for column in after.columns), strict=True))
    assert kinds == dict.fromkeys(["x", "y", "z", "share", "ptu0", "ptu1"], "double") | {
        "name": "string",
        "number": "int64",
    }
    done = run("transform", model, output, "-o", tmp_path / f"again{ending}")
    assert done.exit_code == 0, done.stderr
    pd.testing.assert_frame_equal(
        read_table(tmp_path / f"again{ending}").source.to_pandas(), after.source.to_pandas()
    )


def test_types_do_not_depend_on_the_parts(frame, tmp_path):
    """What is used may be whole at first; it is no error if it does not go on so."""
    frame = frame.astype({"z": object, "share": object})
    frame.loc[150, "z"] = 0.25
    frame.to_csv(tmp_path / "in.csv", index=False)
    points = frame[["x", "y", "z"]].astype(float)
    PTU().fit(points).save(tmp_path / "m.safetensors")
    words = ["transform", tmp_path / "m.safetensors", tmp_path / "in.csv", "--force", "-o"]
    for size in (7, 1000):
        done = run(*words, tmp_path / f"{size}.parquet", "--chunk-size", size)
        assert done.exit_code == 0, done.stderr
    some, whole = (pyarrow.parquet.read_table(tmp_path / f"{size}.parquet") for size in (7, 1000))
    assert some.equals(whole)
    frame.loc[150, "share"] = "half"
    frame.to_csv(tmp_path / "in.csv", index=False)
    done = run(*words, tmp_path / "7.parquet", "--chunk-size", 7)
    assert done.exit_code == 1
    assert (
        "column share held numbers in the first part, and holds 'half' in line 152" in done.stderr
    )
    assert run(*words, tmp_path / "1000.parquet", "--chunk-size", 1000).exit_code == 0
