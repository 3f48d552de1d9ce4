"""The command on tables as people have them: nothing lost, nothing silent, all outputs or none."""

import errno
import io
import json
import os
import signal
import subprocess
import sys
import time

import anndata
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from PIL import Image
from scipy import sparse
from sklearn.neighbors import kneighbors_graph
from typer.testing import CliRunner

from ptunfold import PTU
from ptunfold.cli import app
from ptunfold.datasets import s_with_hole

N = 60


def run(*words, **options):
    done = CliRunner().invoke(app, [str(word) for word in words], **options)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def names(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def frame():
    return pd.DataFrame(s_with_hole(N, seed=1).points, columns=["x", "y", "z"])


@pytest.fixture
def source(frame, tmp_path):
    frame.to_csv(tmp_path / "in.csv", index=False)
    return tmp_path / "in.csv"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    frame = pd.DataFrame(s_with_hole(N, seed=1).points, columns=["x", "y", "z"])
    frame.to_csv(folder / "in.csv", index=False)
    path = folder / "m.safetensors"
    done = run("embed", folder / "in.csv", "-o", folder / "out.csv", "--save", path)
    assert done.exit_code == 0, done.stderr
    return path


def test_no_row_is_lost_to_a_header(frame, tmp_path):
    frame.insert(0, "name", [f"p{row}" for row in range(N)])
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    frame.to_csv(source, index=False, header=False)
    done = run("embed", source, "-o", output)
    assert done.exit_code == 0, done.stderr
    after = pd.read_csv(output)
    assert list(after["x0"]) == list(frame["name"])
    assert done.stderr == (
        "ptunfold: note: columns used: x1, x2, x3 (no line of names); left out: x0 (words, as "
        "'p0' in row 1)\n"
    )


def test_no_name_becomes_a_point(frame, tmp_path):
    """Distances as pandas writes them: the names of the columns were a row with a gap."""
    points = frame.to_numpy()
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    pd.DataFrame(distances).to_csv(tmp_path / "d.csv")
    words = ["embed", tmp_path / "d.csv", "--precomputed", "-o", tmp_path / "out.csv"]
    done = run(*words)
    assert done.exit_code == 0, done.stderr
    assert f"{N} points" in done.stdout
    assert "left out: '' (numbers the rows)" in done.stderr


def test_no_option_is_advised_that_is_refused(frame, model, tmp_path):
    frame.iloc[3, 1] = np.nan
    frame.to_csv(tmp_path / "in.csv", index=False)
    page = tmp_path / "a.html"
    for words in (
        ["embed", tmp_path / "in.csv", "--precomputed", "-o", tmp_path / "out.csv"],
        ["inverse", model, tmp_path / "in.csv", "--columns", "x,y", "-o", tmp_path / "out.csv"],
        ["explore", model, "--compare", tmp_path / "in.csv", "-o", page],
    ):
        done = run(*words)
        assert done.exit_code == 1
        assert "columns used (y); fill them, or leave these points out of the file" in done.stderr


def test_identifiers_are_no_numbers(frame, tmp_path):
    frame["id"] = [f"{row + 10}_{row}" for row in range(N)]
    frame.to_csv(tmp_path / "in.csv", index=False)
    done = run("embed", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--json")
    said = json.loads(done.stdout)
    assert said["columns"] == ["x", "y", "z"]
    assert said["left_out"] == {"id": "words, as '10_0' in row 1"}
    assert "left out: id (words, as '10_0' in row 1)" in done.stderr
    done = run("embed", tmp_path / "in.csv", "-o", tmp_path / "b.csv", "--columns", "x,id")
    assert "column id does not hold numbers (words, as '10_0' in row 1)" in done.stderr


def test_columns_in_another_order(frame, model, tmp_path):
    expected = pd.read_csv(model.parent / "out.csv")[["ptu0", "ptu1"]].to_numpy()
    assert list(PTU.load(model).feature_names_in_) == ["x", "y", "z"]
    assert json.loads(run("info", model, "--json").stdout)["columns"] == ["x", "y", "z"]
    frame = frame[["z", "x", "y"]].assign(more=1.0)
    frame.to_csv(tmp_path / "new.csv", index=False)
    for place, options in enumerate([[], ["--columns", "z,y,x"]]):
        output = tmp_path / f"{place}.csv"
        done = run("transform", model, tmp_path / "new.csv", "-o", output, *options)
        assert done.exit_code == 0, done.stderr
        assert "columns used: x, y, z; left out: more (not named)" in done.stderr
        np.testing.assert_array_equal(pd.read_csv(output)[["ptu0", "ptu1"]], expected)


def test_more_columns_than_were_fitted(frame, model, tmp_path):
    frame.assign(w=1.0).to_csv(tmp_path / "new.csv", index=False)
    words = ["transform", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv"]
    done = run(*words, "--columns", "x,y,z,w")
    assert done.exit_code == 1
    assert "4 columns are used (x, y, z, w), and the model was fitted to 3" in done.stderr


def test_columns_under_other_names(frame, model, tmp_path):
    new, output = tmp_path / "new.csv", tmp_path / "out.csv"
    frame.rename(columns={"x": "a"}).to_csv(new, index=False)
    done = run("transform", model, new, "-o", output)
    assert done.exit_code == 1
    assert "new.csv lacks x of the columns the model was fitted to (x, y, z)" in done.stderr
    done = run("transform", model, new, "-o", output, "--columns", "y,a,z")
    assert done.exit_code == 1  # y is not where it was
    done = run("transform", model, new, "-o", output, "--columns", "a,y,z")
    assert done.exit_code == 0
    assert "columns a, y, z are taken for x, y, z" in done.stderr


def test_columns_without_names(frame, model, tmp_path):
    np.save(tmp_path / "new.npy", frame.to_numpy())
    done = run("transform", model, tmp_path / "new.npy", "-o", tmp_path / "out.csv")
    assert done.exit_code == 0
    assert "has no names; its columns are taken for x, y, z" in done.stderr
    np.save(tmp_path / "new.npy", frame[["x", "y"]].to_numpy())
    done = run("transform", model, tmp_path / "new.npy", "-o", tmp_path / "b.csv")
    assert done.exit_code == 1
    assert "2 columns are used (x0, x1), and the model was fitted to 3" in done.stderr


def test_what_is_replaced_is_said(model, tmp_path):
    done = run("inverse", model, model.parent / "out.csv", "-o", tmp_path / "back.csv")
    assert "columns x, y, z of the input are replaced in the output" in done.stderr
    done = run("embed", tmp_path / "back.csv", "-o", tmp_path / "b.csv", "--columns", "x,y,z")
    assert "columns ptu0, ptu1 of the input are replaced in the output" in done.stderr


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", [".npz", ".h5ad"])
def test_places_beside_data_are_brought_back(ending, frame, model, tmp_path):
    """The data were taken for places, or refused for their number of columns."""
    source, placed, back = (tmp_path / f"{name}{ending}" for name in ("in", "placed", "back"))
    points = frame.to_numpy()
    if ending == ".npz":
        np.savez(source, X=points)
    else:
        anndata.AnnData(points, var=pd.DataFrame(index=["x", "y", "z"])).write_h5ad(source)
    done = run("transform", model, source, "-o", placed)
    assert "replaced" not in done.stderr
    done = run("inverse", model, placed, "-o", back)
    assert done.exit_code == 0, done.stderr
    place = "array X_ptu" if ending == ".npz" else 'obsm["X_ptu"]'
    assert f"columns used: x0, x1 of {place}; left out: X (" in done.stderr
    assert "replaced" not in done.stderr  # of x0 and x1 nothing is
    found = np.load(back) if ending == ".npz" else anndata.read_h5ad(back).obsm
    np.testing.assert_allclose(found["X_back"], points, atol=1e-6)
    for command in (["transform", model, placed], ["embed", placed]):
        done = run(*command, "-o", tmp_path / f"again{ending}", "--force")
        assert f"note: {place} of the input is replaced in the output" in done.stderr
    done = run("inverse", model, placed, "-o", tmp_path / "back.npy")
    assert "replaced" not in done.stderr


@pytest.fixture
def cells(frame, tmp_path):
    """Cells with names and columns about them, one of which is called as a gene is."""
    kinds = pd.Categorical(["a", None, "b"] * (N // 3))
    obs = pd.DataFrame(
        {"kind": kinds, "depth": np.arange(N), "z": 0.5}, index=[*"ab", *range(N - 2)]
    )
    obs.index = [f"cell {name}" for name in obs.index]
    cells = anndata.AnnData(frame.to_numpy(), obs, pd.DataFrame(index=["x", "y", "z"]))
    cells.layers["counts"] = np.ones((N, 3))
    cells.uns["made"] = "by hand"
    cells.write_h5ad(tmp_path / "in.h5ad")
    return cells


@pytest.mark.filterwarnings("ignore")
def test_names_of_cells_and_columns_about_them_were_lost(cells, model, tmp_path):
    source, missing = tmp_path / "in.h5ad", 'not in the output: layers["counts"], uns'
    for words in (["embed", source], ["transform", model, source]):
        done = run(*words, "-o", tmp_path / "out.csv", "--force")
        assert done.exit_code == 0, done.stderr
        assert f"note: {missing}\n" in done.stderr
        after = pd.read_csv(tmp_path / "out.csv", index_col=0)
        assert list(after) == ["kind", "depth", "obs_z", "x", "y", "z", "ptu0", "ptu1"]
        assert list(after.index) == list(cells.obs_names)
        assert list(after["kind"].fillna("")) == list(cells.obs["kind"].astype(object).fillna(""))
        assert list(after["depth"]) == list(range(N))
        done = run(*words, "-o", tmp_path / "out.parquet", "--force")
        pd.testing.assert_index_equal(
            after.columns, pd.read_parquet(tmp_path / "out.parquet").columns[1:]
        )
        done = run(*words, "-o", tmp_path / "out.npy", "--force")
        assert 'not in the output: obs["kind"], obs["depth"], obs["z"], X, ' in done.stderr
        done = run(*words, "-o", tmp_path / "out.h5ad", "--force")
        assert "not in the output" not in done.stderr
    done = run("embed", source, "-o", "-", "--keep", "kind,x")
    assert done.stdout.startswith(",kind,x,ptu0,ptu1\ncell a,a,")
    done = run("embed", source, "-o", "-", "--keep", "sort")
    assert "there is no column sort; the columns are '', kind, depth, obs_z, x" in done.stderr


@pytest.mark.filterwarnings("ignore")
def test_names_of_cells_stay_at_their_rows(cells, tmp_path):
    values = np.array(cells.X)
    values[3, 1] = np.nan
    cells.X = values
    cells.write_h5ad(tmp_path / "in.h5ad")
    done = run("embed", tmp_path / "in.h5ad", "-o", tmp_path / "out.csv", "--missing", "drop")
    assert done.exit_code == 0, done.stderr
    after = pd.read_csv(tmp_path / "out.csv", index_col=0)
    assert list(after.index) == list(cells.obs_names.delete(3))
    assert list(after["depth"]) == [*range(3), *range(4, N)]


def test_data_sets_of_arrays_replace_nothing(tmp_path):
    done = run("datasets", "s_with_hole", "-o", tmp_path / "a.npz", "--n-points", 100)
    assert done.stderr == ""
    assert set(np.load(tmp_path / "a.npz")) == {"X", "true0", "true1"}


def test_the_same_file_twice(source, tmp_path):
    done = run("embed", source, "-o", tmp_path / "p.csv", "--save", tmp_path / "p.csv", "--force")
    assert done.exit_code == 1
    assert "are the same file; choose two names" in done.stderr
    assert names(tmp_path) == ["in.csv"]


@pytest.mark.parametrize("count", [-5, 0])
def test_no_data_sets_of_no_points(count, tmp_path):
    done = run("datasets", "petals", "-o", tmp_path / "a.csv", "--n-points", count)
    assert done.exit_code == 1
    assert f"--n-points {count} is no number of points; pass 1 or more" in done.stderr
    assert names(tmp_path) == []


def test_data_sets_that_cannot_be(tmp_path):
    words = ["datasets", "spherical_cap", "-o"]
    for options, message in (
        ([tmp_path / "a.csv", "--n-points", 1], "spherical_cap cannot be made of 1 points"),
        ([tmp_path / "a.csv", "--seed", -1], "--seed -1 is below 0; pass 0 or more"),
        ([tmp_path / "a.h5ad"], "a.h5ad can only be made from a .h5ad file"),
    ):
        done = run(*words, *options)
        assert done.exit_code == 1
        assert message in done.stderr
    assert names(tmp_path) == []


@pytest.mark.parametrize("option", ["-o", "--save", "--plot", "--explore"])
def test_places_are_tried_before_the_work(option, source, tmp_path, monkeypatch):
    monkeypatch.setattr(PTU, "fit", None)  # it is not reached
    ending = {"-o": "csv", "--save": "safetensors", "--plot": "png", "--explore": "html"}[option]
    words = ["embed", source] if option == "-o" else ["embed", source, "-o", tmp_path / "out.csv"]
    done = run(*words, option, tmp_path / "no" / f"a.{ending}")
    assert done.exit_code == 1
    assert "there is no folder" in done.stderr
    if os.path.isdir("/proc/self"):
        done = run(*words, option, f"/proc/a.{ending}")
        assert done.exit_code == 1
        assert f"/proc/a.{ending} cannot be written" in done.stderr
    (tmp_path / f"there.{ending}").mkdir()
    done = run(*words, option, tmp_path / f"there.{ending}", "--force")
    assert "is a folder; pass the name of a file in it" in done.stderr
    assert names(tmp_path) == ["in.csv", f"there.{ending}"]


def full(*args, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "writer",
    [
        "ptunfold.io.models._write",
        "ptunfold.show.embedding",
        "ptunfold.explorer.page.Page.save",
        "ptunfold.io.tables.text_of",
    ],
)
def test_a_full_disk_leaves_nothing(writer, source, tmp_path, monkeypatch):
    (tmp_path / "a.png").write_text("old")
    monkeypatch.setattr(writer, full)
    words = ["embed", source, "-o", tmp_path / "a.csv", "--save", tmp_path / "a.safetensors"]
    words += ["--plot", tmp_path / "a.png", "--explore", tmp_path / "a.html", "--force"]
    done = run(*words)
    assert done.exit_code == 1
    assert "could not be written (No space left on device), so nothing was" in done.stderr
    assert names(tmp_path) == ["a.png", "in.csv"]
    assert (tmp_path / "a.png").read_text() == "old"


def test_cells_only_from_cells(source, tmp_path, monkeypatch):
    monkeypatch.setattr(PTU, "fit", None)
    done = run("embed", source, "-o", tmp_path / "a.h5ad")
    assert "can only be made from a .h5ad file" in done.stderr


def test_standard_input_and_output(frame, source, tmp_path):
    done = run("embed", "-", "-o", "-", input=source.read_bytes())
    assert done.exit_code == 0, done.stderr
    after = pd.read_csv(io.StringIO(done.stdout))
    pd.testing.assert_frame_equal(after[["x", "y", "z"]], frame)
    assert "60 points" in done.stderr
    whole = io.BytesIO()
    np.save(whole, frame.to_numpy())
    again = run("embed", "-", "-o", "-", input=whole.getvalue())
    numbers = pd.read_csv(io.StringIO(again.stdout))[["ptu0", "ptu1"]]
    np.testing.assert_array_equal(numbers, after[["ptu0", "ptu1"]])
    done = run("embed", "-", "-o", "-", input=b"")
    assert "standard input is empty" in done.stderr


def test_names_with_commas(frame, tmp_path):
    frame.rename(columns={"x": "x, in m"}).to_csv(tmp_path / "in.csv", index=False)
    words = ["embed", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--columns"]
    assert run(*words, '"x, in m",y,z').exit_code == 0
    assert "no column is named" in run(*words, " , ", "--force").stderr
    assert "column y is named twice" in run(*words, "y,z,y", "--force").stderr
    assert "there is no column w" in run(*words, "y,w", "--force").stderr
    done = run(*words, '"x, in m"\ny\r\nz,\n', "--force")  # as they come from a file
    assert "columns used: x, in m, y, z; left out: none" in done.stderr


@pytest.mark.parametrize("ending", [".npy", ".npz", ".h5ad"])
def test_nothing_is_kept_where_there_are_no_columns(ending, source, tmp_path, monkeypatch):
    monkeypatch.setattr(PTU, "fit", None)  # it is not reached
    done = run("embed", source, "-o", tmp_path / f"a{ending}", "--keep", "x")
    assert done.exit_code == 1
    assert f"--keep names columns, and {tmp_path / f'a{ending}'} will have none" in done.stderr
    assert names(tmp_path) == ["in.csv"]


def test_a_store_in_words_of_the_command(source, tmp_path, monkeypatch):
    store = tmp_path / "store"
    words = ["embed", source, "-o", tmp_path / "a.csv", "--store"]
    assert run(*words, store).exit_code == 0
    monkeypatch.setattr(PTU, "fit", None)  # it is not reached
    words[3] = tmp_path / "b.csv"
    for options, message in (
        ([store], f"--store {store} has distances in it already; --resume goes on with them"),
        ([tmp_path / "new", "--landmarks", 50], "--landmarks 50 needs none of them; leave one of"),
        ([source / "b"], f"{source} is a file, not a folder for distances; pass another name"),
    ):
        done = run(*words, *options)
        assert done.exit_code == 1
        assert message in done.stderr
    if os.path.isdir("/proc/self"):
        assert "nothing can be written to /proc" in run(*words, "/proc/self/a").stderr
    assert names(tmp_path) == ["a.csv", "in.csv", "store"]


def test_errors_nobody_has_thought_of(source, tmp_path, monkeypatch):
    def failing(*args, **options):
        raise IndexError("3 is out of bounds")

    monkeypatch.setattr(PTU, "fit", failing)
    done = run("embed", source, "-o", tmp_path / "a.csv")
    assert done.exit_code == 1
    assert "ptunfold itself (IndexError: 3 is out of bounds); --debug shows where" in done.stderr
    monkeypatch.setattr(PTU, "fit", lambda *args: exec("raise MemoryError"))
    done = run("embed", source, "-o", tmp_path / "a.csv")
    assert "there is not enough memory" in done.stderr


@pytest.mark.filterwarnings("ignore")
def test_files_that_ended_in_tracebacks(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04nonsense")
    anndata.AnnData(obs=pd.DataFrame(index=list("abc"))).write_h5ad(tmp_path / "a.h5ad")
    folder = tmp_path / "images"
    folder.mkdir()
    Image.new("1", (20_000, 20_000)).save(folder / "a.png")
    for source, message in (
        (tmp_path / "a.npz", "a.npz cannot be read; it may be damaged"),
        (tmp_path / "a.h5ad", 'has neither X nor obsm["X_pca"]'),
        (folder, "a.png has more pixels than are read"),
    ):
        done = run("embed", source, "-o", tmp_path / "out.csv")
        assert done.exit_code == 1
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


def command(*words, **options):
    words = [sys.executable, "-m", "ptunfold", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, timeout=200, **options)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_an_output_that_is_full(source, tmp_path):
    with open("/dev/full", "w") as full:
        words = ["embed", source, "-o", tmp_path / "a.csv", "--report"]
        done = subprocess.run(
            [sys.executable, "-m", "ptunfold", *map(str, words)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=200,
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert names(tmp_path) == ["in.csv"]


def test_a_reader_that_has_seen_enough(source, tmp_path):
    code = (
        "import os, sys; read, write = os.pipe(); os.close(read); os.dup2(write, 1); "
        "sys.argv = ['ptunfold'] + sys.argv[1:]; from ptunfold.__main__ import main; main()"
    )
    words = ["embed", source, "-o", "-", "--save", tmp_path / "a.safetensors"]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert "Broken" not in done.stderr
    assert names(tmp_path) == ["a.safetensors", "in.csv"]


def test_letters_that_a_terminal_does_not_have(source, tmp_path):
    """Names that could not be printed were an error after all the work."""
    source = source.rename(tmp_path / "日.csv")
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = command("embed", source, "-o", tmp_path / "木.csv", env=latin)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\\u6728.csv\n")
    assert names(tmp_path) == ["日.csv", "木.csv"]
    done = command("datasets", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr


def test_stopping_while_libraries_load(source, tmp_path):
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept BaseException:\n"
        "    pass  # as some libraries do\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = command(
        "embed", source, "-o", tmp_path / "a.csv", env={**os.environ, "PYTHONPATH": path}
    )
    assert (done.returncode, done.stderr) == (130, "ptunfold: stopped\n")


def test_stopping_at_work(tmp_path):
    np.save(tmp_path / "in.npy", np.random.default_rng(0).random((6000, 3)))
    words = ["embed", tmp_path / "in.npy", "-o", tmp_path / "a.csv", "--save", tmp_path / "a.m"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ptunfold", *map(str, words)], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert "columns used" in process.stderr.readline()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "ptunfold: stopped"
    assert names(tmp_path) == ["in.npy"]


def test_help_tells_the_exit_codes():
    for words in (["--help"], ["embed", "--help"], ["transform", "--help"]):
        assert "Exit codes: 0 done; 1 not done" in " ".join(run(*words).stdout.split())


def test_rows_left_out_of_all_arrays_of_a_file(tmp_path):
    points = s_with_hole(200).points
    points[3, 1] = np.nan
    about = {"label": np.arange(200), "unit": np.array(["mm"])}
    np.savez(tmp_path / "a.npz", X=points, **about)
    done = run("embed", tmp_path / "a.npz", "-o", tmp_path / "b.npz", "--missing", "drop")
    assert done.exit_code == 0, done.output
    with np.load(tmp_path / "b.npz") as found:
        assert found["X_ptu"].shape == (199, 2)
        assert found["X"].shape == (199, 3)
        np.testing.assert_array_equal(found["label"], np.delete(np.arange(200), 3))
        assert found["unit"].tolist() == ["mm"]


def test_numbers_of_another_machine(tmp_path):
    np.save(tmp_path / "a.npy", s_with_hole(200).points.astype(">f8"))
    done = run("embed", tmp_path / "a.npy", "-o", tmp_path / "b.parquet")
    assert done.exit_code == 0, done.output


def test_files_of_one_name_to_compare(tmp_path):
    model = PTU().fit(s_with_hole(200).points)
    model.save(tmp_path / "m.safetensors")
    words = ["explore", tmp_path / "m.safetensors", "-o", tmp_path / "e.html"]
    for folder in ("u", "v"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "places.npy", model.embedding_)
        words += ["--compare", tmp_path / folder / "places.npy"]
    done = run(*words)
    assert done.exit_code == 1
    assert "several files to compare are called places" in done.stderr
    assert not (tmp_path / "e.html").exists()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_new_columns_alone(ending, frame, source, tmp_path):
    """A table of Arrow without columns had no rows."""
    points, output = frame.to_numpy(), tmp_path / f"out{ending}"
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.save(tmp_path / "d.npy", distances)
    pd.DataFrame(distances).to_csv(tmp_path / "d.csv", index=False)
    near = kneighbors_graph(points, 12, mode="distance")
    sparse.save_npz(tmp_path / "s.npz", near.maximum(near.T).tocsr())
    for words in (
        ["embed", tmp_path / "d.csv", "--header", "yes", "--precomputed"],
        ["embed", tmp_path / "d.npy", "--precomputed"],
        ["embed", tmp_path / "s.npz", "--precomputed"],
        ["embed", source, "--keep", ""],
        ["datasets", "swiss_roll", "--n-points", N],
    ):
        done = run(*words, "-o", output, "--force")
        assert done.exit_code == 0, done.stderr
        found = pyarrow.parquet.read_table(output) if ending == ".parquet" else None
        found = pd.read_feather(output) if found is None else found.to_pandas()
        assert len(found) == N
        new = ["x", "y", "z", "color", "true0", "true1"]
        assert list(found) == (new if words[0] == "datasets" else ["ptu0", "ptu1"])


@pytest.mark.filterwarnings("ignore")
def test_places_beside_data_are_compared(frame, tmp_path):
    """The data were taken for the places, or refused for their number of columns."""
    flat = frame[["x", "y"]]
    model, placed = tmp_path / "m.safetensors", {}
    for ending in (".csv", ".npz", ".h5ad"):
        source, placed[ending] = tmp_path / f"in{ending}", tmp_path / f"out{ending[1:]}{ending}"
        if ending == ".csv":
            flat.to_csv(source, index=False)
        elif ending == ".npz":
            np.savez(source, X=flat)
        else:
            cells = anndata.AnnData(flat.to_numpy())
            cells.obsm["X_pca"] = flat.to_numpy()
            cells.write_h5ad(source)
        done = run("embed", source, "-o", placed[ending], "--save", model, "--force")
        assert done.exit_code == 0, done.stderr
    words = [word for file in placed.values() for word in ("--compare", file)]
    done = run("explore", model, "-o", tmp_path / "e.html", *words)
    assert done.exit_code == 0, done.stderr
    for file, used in zip(
        placed.values(),
        ("ptu0, ptu1; left out: x", "x0, x1 of array X_ptu", 'x0, x1 of obsm["X_ptu"]'),
        strict=True,
    ):
        assert f"note: {file}, columns used: {used}" in done.stderr
    run("embed", tmp_path / "in.csv", "-o", tmp_path / "solid.csv", "-d", 1)
    words = ["explore", model, "-o", tmp_path / "f.html", "--compare", tmp_path / "solid.csv"]
    assert "has 1 coordinates a point, but the embedding has 2" in run(*words).stderr


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("width", [3, 5])
def test_names_come_before_components(width, frame, model, tmp_path):
    """Components were taken for what the model knows by name, or their number was refused."""
    cells = anndata.AnnData(frame.to_numpy(), var=pd.DataFrame(index=["x", "y", "z"]))
    cells.obsm["X_pca"] = np.random.default_rng(0).random((N, width))
    cells.write_h5ad(tmp_path / "new.h5ad")
    expected = pd.read_csv(model.parent / "out.csv")[["ptu0", "ptu1"]]
    words = [tmp_path / "new.h5ad", "--force", "-o", tmp_path / "out.csv"]
    for more in (["transform", model], ["embed"], ["transform", model, "--columns", "x,y,z"]):
        more += ["--columns", "x,y,z"] if more == ["embed"] else []
        done = run(*more, *words)
        assert done.exit_code == 0, done.stderr
        assert "columns used: x, y, z of X; left out: none" in done.stderr
        found = pd.read_csv(tmp_path / "out.csv")[["ptu0", "ptu1"]]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    done = run("transform", model, *words, "--columns", "x0,x1,x2")
    assert 'columns used: x0, x1, x2 of obsm["X_pca"]' in done.stderr


@pytest.mark.filterwarnings("ignore")
def test_no_column_of_cells_is_lost_to_another(frame, tmp_path):
    """Words of obs were gone where obs_x was there too, names where the index was called x."""
    cells = anndata.AnnData(frame.to_numpy(), var=pd.DataFrame(index=["x", "y", "z"]))
    cells.obs_names = [f"cell {row}" for row in range(N)]
    cells.obs["x"], cells.obs["obs_x"] = "words", "others"
    cells.write_h5ad(tmp_path / "in.h5ad")
    words = ["embed", tmp_path / "in.h5ad", "--force", "-o"]
    done = run(*words, tmp_path / "out.csv", "--explore", tmp_path / "a.html")
    found = pd.read_csv(tmp_path / "out.csv", index_col=0)
    assert list(found) == ["obs_obs_x", "obs_x", "x", "y", "z", "ptu0", "ptu1"]
    assert (found["obs_obs_x"] == "words").all()
    assert (found["obs_x"] == "others").all()
    renamed = "renamed in the output, where these names are taken: "
    assert f'{renamed}obs["x"] to obs_obs_x\n' in done.stderr
    assert '"x (given)"' in (tmp_path / "a.html").read_text()
    cells.obs = pd.DataFrame(index=cells.obs_names.rename("x"))
    cells.write_h5ad(tmp_path / "in.h5ad")
    done = run(*words, tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    assert list(found) == ["obs_x", "x", "y", "z", "ptu0", "ptu1"]
    assert list(found["obs_x"]) == list(cells.obs_names)
    assert f"{renamed}the names of the observations to obs_x\n" in done.stderr
    assert "renamed" not in run(*words, tmp_path / "out.npy").stderr


def test_one_decimal_mark_in_a_file(frame, tmp_path):
    """The command read its own numbers a thousand times too large."""
    model = tmp_path / "m.safetensors"
    frame = (frame * 400).round(2).assign(v=np.arange(N) + 0.25)
    for name, separator in (("in.csv", ","), ("in.txt", ";")):
        frame.to_csv(tmp_path / name, decimal=",", sep=separator, index=False)
        outputs = [tmp_path / f"{name[3:]}-{place}.csv" for place in range(3)]
        words = ["embed", tmp_path / name, "-o", outputs[0], "--columns", "x,y,z"]
        assert run(*words, "--save", model, "--force").exit_code == 0
        assert "." not in outputs[0].read_text()
        done = run("transform", model, outputs[0], "-o", outputs[1])
        assert "decimal commas in x, y, z" in done.stderr
        done = run("inverse", model, outputs[1], "-o", outputs[2])
        assert "decimal commas in ptu0, ptu1" in done.stderr
        first, again, back = (pd.read_csv(file, decimal=",") for file in outputs)
        pd.testing.assert_frame_equal(again, first, rtol=1e-9)
        np.testing.assert_allclose(back[["x", "y", "z"]], frame[["x", "y", "z"]], atol=40)


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_lists_are_words_in_a_picture(ending, frame, tmp_path):
    table = pyarrow.Table.from_pandas(frame)
    kinds = {
        "list": pyarrow.array([[row % 3, 1] for row in range(N)]),
        "struct": pyarrow.array([{"a": row % 2} for row in range(N)]),
        "map": pyarrow.array(
            [[("a", row % 2)] for row in range(N)], pyarrow.map_(pyarrow.string(), pyarrow.int64())
        ),
    }
    for name, values in kinds.items():
        table = table.append_column(name, values)
    if ending == ".parquet":
        pyarrow.parquet.write_table(table, tmp_path / f"in{ending}")
    else:
        pyarrow.feather.write_feather(table, tmp_path / f"in{ending}")
    for name in kinds:
        words = ["embed", tmp_path / f"in{ending}", "-o", tmp_path / "out.csv", "--force"]
        done = run(*words, "--plot", tmp_path / "a.svg", "--color", name)
        assert done.exit_code == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are texts here")
@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_an_image_whose_name_is_no_text(ending, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for row, pixels in enumerate(np.random.default_rng(0).integers(0, 255, (N, 4, 4))):
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"a{row:02}.png")
    os.replace(folder / "a59.png", os.fsencode(folder) + b"/b\xff.png")
    done = run("embed", folder, "-o", tmp_path / f"out{ending}")
    assert done.exit_code == 0, done.stderr
    found = tmp_path / f"out{ending}"
    table = pd.read_parquet(found) if ending == ".parquet" else pd.read_feather(found)
    assert list(table["file"])[-2:] == ["a58.png", "b\\udcff.png"]


def test_times_of_a_zone_that_nobody_knows(frame, tmp_path):
    times = pyarrow.array(np.arange(N), pyarrow.timestamp("s", "Mars/Base"))
    table = pyarrow.Table.from_pandas(frame).append_column("time", times)
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet")
    done = run("embed", tmp_path / "in.parquet", "-o", tmp_path / "out.csv")
    assert done.exit_code == 0, done.stderr
    assert list(pd.read_csv(tmp_path / "out.csv")["time"])[:2] == [
        "1970-01-01 00:00:00+00:00",
        "1970-01-01 00:00:01+00:00",
    ]
    lists = pyarrow.array([[time] for time in range(N)], pyarrow.list_(times.type))
    pyarrow.parquet.write_table(table.append_column("list", lists), tmp_path / "in.parquet")
    done = run("embed", tmp_path / "in.parquet", "-o", tmp_path / "b.csv")
    assert "have no words here" in done.stderr
    assert "leave out their column" in done.stderr
    assert "something is wrong" not in done.stderr


@pytest.mark.parametrize("command", ["demo", "paper"])
def test_a_folder_that_is_a_file(command, source):
    for folder, why in ((source, "it is a file"), (source / "a", os.strerror(errno.ENOTDIR))):
        done = run(command, "-o", folder)
        assert done.exit_code == 1
        message = f"{folder} cannot be a folder for the files ({why}); pass another name"
        assert message in done.stderr


def test_options_that_would_do_nothing(frame, source, tmp_path, monkeypatch):
    monkeypatch.setattr(PTU, "fit", None)  # it is not reached
    near = kneighbors_graph(frame.to_numpy(), 12, mode="distance")
    sparse.save_npz(tmp_path / "s.npz", near.maximum(near.T).tocsr())
    output = tmp_path / "out.csv"
    done = run("embed", tmp_path / "s.npz", "-o", output, "--precomputed", "--columns", "a,b")
    assert done.exit_code == 1
    assert "is a sparse matrix, whose columns have no names; leave --columns out" in done.stderr
    done = run("embed", source, "-o", output, "--color", "x")
    assert done.exit_code == 1
    assert "--color is for a picture or a page; pass --plot or --explore" in done.stderr


def test_where_a_model_cannot_go(source, tmp_path, monkeypatch):
    """It was written to a file called -, or in the place of the data."""
    monkeypatch.setattr(PTU, "fit", None)  # it is not reached
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.csv").symlink_to(source)
    before = source.read_bytes()
    for place, message in (
        ("-", "--save - would print the model, which is no text; pass a file for it"),
        (source, f"--save {source} would put the model in the place of the input; choose another"),
        ("link.csv", "--save link.csv would put the model in the place of the input"),
    ):
        done = run("embed", source, "-o", tmp_path / "out.csv", "--save", place, "--force")
        assert done.exit_code == 1
        assert message in done.stderr
    assert source.read_bytes() == before
    assert names(tmp_path) == ["in.csv", "link.csv"]
