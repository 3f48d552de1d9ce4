"""The installed command on files of every kind, good and bad."""

import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pyarrow.feather
import pytest
from PIL import Image
from typer.testing import CliRunner

from ptunfold import PTU, show
from ptunfold.cli import app
from ptunfold.cli.embedding import embed
from ptunfold.datasets import letter_a, s_with_hole

COMMAND = Path(sys.executable).parent / "ptunfold"
N = 200


def run(*words, **options):
    return CliRunner().invoke(app, [str(word) for word in words], **options)


@pytest.fixture
def frame():
    points = s_with_hole(N, seed=1).points
    frame = pd.DataFrame(points, columns=["x", "y", "z"])
    frame.insert(0, "name", [f"point, {row}" for row in range(N)])
    frame["count"] = np.arange(N, dtype=np.int16)
    return frame


@pytest.fixture
def expected(frame):
    return PTU(n_jobs=-1).fit_transform(frame[["x", "y", "z"]].to_numpy())


def write(frame, path):
    if path.suffix in (".csv", ".tsv"):
        frame.to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")
    elif path.suffix == ".parquet":
        frame.set_index("name").to_parquet(path)
    else:
        pyarrow.feather.write_feather(frame, path)


def read(path):
    if path.suffix in (".csv", ".tsv"):
        return pd.read_csv(path, sep="," if path.suffix == ".csv" else "\t")
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_feather(path)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather"])
def test_tables_go_out_as_they_came_in(ending, frame, expected, tmp_path):
    source, output = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    write(frame, source)
    done = run("embed", source, "-o", output, "--columns", "x,y,z")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.startswith("ptunfold: note: columns used: x, y, z; left out: ")
    assert "count (not named)" in done.stderr
    before, after = read(source), read(output)
    np.testing.assert_allclose(after[["ptu0", "ptu1"]].to_numpy(), expected, rtol=1e-12)
    pd.testing.assert_frame_equal(after[before.columns], before)
    if ending == ".parquet":
        assert after.index.name == "name"
        assert after["count"].dtype == np.int16


def test_every_format_into_every_other(frame, expected, tmp_path):
    write(frame, tmp_path / "in.csv")
    for ending in (".tsv", ".parquet", ".feather", ".npy", ".npz"):
        output = tmp_path / f"out{ending}"
        done = run("embed", tmp_path / "in.csv", "-o", output, "--columns", "x,y,z")
        assert done.exit_code == 0, done.stderr
        if ending == ".npy":
            found = np.load(output)
        elif ending == ".npz":
            found = np.load(output)["X_ptu"]
        else:
            found = read(output)[["ptu0", "ptu1"]].to_numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_arrays(ending, frame, expected, tmp_path):
    points = frame[["x", "y", "z"]].to_numpy()
    source, output = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    if ending == ".npy":
        np.save(source, points)
    else:
        np.savez(source, X=points, label=np.arange(N))
    assert run("embed", source, "-o", output).exit_code == 0
    found = np.load(output)
    if ending == ".npz":
        np.testing.assert_array_equal(found["label"], np.arange(N))
        found = found["X_ptu"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_anndata(frame, expected, tmp_path):
    obs = pd.DataFrame({"kind": pd.Categorical(["a", "b"] * (N // 2))}, index=frame["name"])
    cells = anndata.AnnData(frame[["x", "y", "z"]].to_numpy(), obs=obs)
    cells.write_h5ad(tmp_path / "in.h5ad")
    done = run("embed", tmp_path / "in.h5ad", "-o", tmp_path / "out.h5ad")
    assert done.exit_code == 0, done.stderr
    after = anndata.read_h5ad(tmp_path / "out.h5ad")
    np.testing.assert_allclose(after.obsm["X_ptu"], expected, rtol=1e-6)
    pd.testing.assert_frame_equal(after.obs, cells.obs)


def test_a_folder_of_images(tmp_path):
    letters = letter_a(80, size=24)
    folder = tmp_path / "images"
    folder.mkdir()
    for row, image in enumerate(letters.points):
        pixels = np.round(255 * image.reshape(24, 24)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{row:03}.png")
    (folder / "notes.md").write_text("not an image")
    done = run("embed", folder, "-o", tmp_path / "out.csv")
    assert done.exit_code == 0, done.stderr
    after = pd.read_csv(tmp_path / "out.csv")
    assert list(after.columns) == ["file", "ptu0", "ptu1"]
    assert list(after["file"]) == [f"{row:03}.png" for row in range(80)]
    Image.fromarray(np.zeros((8, 8), dtype=np.uint8)).save(folder / "small.png")
    done = run("embed", folder, "-o", tmp_path / "more.csv")
    assert "images of one size and kind are needed" in done.stderr


def test_there_and_back(frame, tmp_path):
    write(frame, tmp_path / "in.csv")
    model, out = tmp_path / "m.safetensors", tmp_path / "out.csv"
    options = ["--columns", "x,y,z", "--save", model, "--keep", "name", "--json"]
    done = run("embed", tmp_path / "in.csv", "-o", out, *options)
    said = json.loads(done.stdout)
    assert said["points"] == N
    assert said["columns"] == ["x", "y", "z"]
    assert list(read(out).columns) == ["name", "ptu0", "ptu1"]
    done = run(
        "transform", model, tmp_path / "in.csv", "-o", tmp_path / "t.csv", "--columns", "x,y,z"
    )
    assert done.exit_code == 0, done.stderr
    columns = ["ptu0", "ptu1"]
    np.testing.assert_array_equal(read(tmp_path / "t.csv")[columns], read(out)[columns])
    done = run("inverse", model, out, "-o", tmp_path / "b.csv", "--json")
    assert json.loads(done.stdout)["points"] == N
    back = read(tmp_path / "b.csv")[["x", "y", "z"]].to_numpy()
    np.testing.assert_allclose(back, frame[["x", "y", "z"]], atol=1e-6)
    assert json.loads(run("info", model, "--json").stdout)["points"] == N
    assert "texture" in run("info", model).stdout


def test_gaps(frame, tmp_path):
    frame.loc[[3, 17], "y"] = np.nan
    write(frame, tmp_path / "in.csv")
    words = ["embed", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--columns", "x,y,z"]
    done = run(*words)
    assert done.exit_code == 1
    assert "rows 4, 18 of" in done.stderr
    assert "--missing drop" in done.stderr
    done = run(*words, "--missing", "drop")
    assert done.exit_code == 0
    assert "rows 4, 18 have gaps and are left out" in done.stderr
    after = read(tmp_path / "out.csv")
    assert list(after["name"]) == list(frame["name"].drop([3, 17]))


def test_nothing_is_overwritten_unless_asked(frame, tmp_path):
    write(frame, tmp_path / "in.csv")
    (tmp_path / "out.csv").write_text("mine")
    words = ["embed", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--columns", "x,y,z"]
    done = run(*words)
    assert done.exit_code == 1
    assert "is there already; choose another name, or --force" in done.stderr
    assert (tmp_path / "out.csv").read_text() == "mine"
    assert run(*words, "--force").exit_code == 0
    assert len(read(tmp_path / "out.csv")) == N


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"x,y\n", "has no rows"),
        ("a.csv", b"x,y\n1,2\n3\n", "line 3 of"),
        ("a.csv", b"x,x\n1,2\n", "two columns of the same name"),
        ("a.csv", b"x,y\na,b\n", "none of the columns x, y holds numbers"),
        ("a.csv", b"\xff\xfe\x00x", "is no table in UTF-8 text"),
        ("a.parquet", b"nonsense", "cannot be read; it may be damaged"),
        ("a.feather", b"nonsense", "cannot be read; it may be damaged"),
        ("a.npy", b"nonsense", "cannot be read; it may be damaged"),
        ("a.npz", b"nonsense", "cannot be read; it may be damaged"),
        ("a.h5ad", b"nonsense", "cannot be read; it may be damaged"),
        ("a.xyz", b"1 2 3", "is of no kind that is known; the endings are .csv"),
    ],
)
def test_bad_files(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    done = run("embed", tmp_path / name, "-o", tmp_path / "out.csv")
    assert done.exit_code == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


def test_bad_options(frame, tmp_path):
    write(frame, tmp_path / "in.csv")
    words = ["embed", tmp_path / "in.csv", "--columns", "x,y,z", "-o"]
    for option, message in (
        (["out.csv", "--step", "leap"], "step='leap' is not known"),
        (["out.csv", "-k", "500"], "n_neighbors=500 needs more than 500 points"),
        (["out.csv", "-d", "300"], "n_components=300 needs more than 300 points"),
        (["out.what"], "has no ending that is known"),
        (["nowhere/out.csv"], "there is no folder"),
    ):
        done = run(*words, tmp_path / option[0], *option[1:])
        assert done.exit_code == 1
        assert message in done.stderr
    done = run("--debug", *words, tmp_path / "out.csv", "--step", "leap")
    assert isinstance(done.exception, ValueError)


def test_outputs_are_checked_before_the_work(frame, tmp_path, monkeypatch):
    write(frame, tmp_path / "in.csv")
    monkeypatch.setattr(PTU, "fit", None)  # it is not reached
    words = ["embed", tmp_path / "in.csv", "--columns", "x,y,z", "-o"]
    assert "has no ending that is known" in run(*words, tmp_path / "out.what").stderr
    assert "there is no folder" in run(*words, tmp_path / "no" / "out.csv").stderr
    done = run(*words, tmp_path / "out.csv", "--plot", tmp_path / "a.doc")
    assert "has no ending of a picture" in done.stderr


def test_data_sets(tmp_path):
    listed = run("datasets").stdout
    assert "swiss_roll" in listed
    done = run("datasets", "swiss_roll", "-o", tmp_path / "roll.csv", "--n-points", "50")
    assert done.exit_code == 0, done.stderr
    assert list(read(tmp_path / "roll.csv").columns) == ["x", "y", "z", "color", "true0", "true1"]
    done = run("datasets", "petals", "-o", tmp_path / "petals.npz", "--n-points", "50")
    assert np.load(tmp_path / "petals.npz")["X"].shape == (50, 3)
    assert "there is no data set roll; choose among" in run("datasets", "roll").stderr
    assert "say where to write it" in run("datasets", "petals").stderr


def test_help_is_for_people():
    for command in ("embed", "transform", "inverse", "info", "datasets", "paper"):
        done = run(command, "--help")
        assert done.exit_code == 0
        assert len(done.stdout) > 200
    assert run().exit_code in (0, 2)
    assert shutil.which("ptunfold", path=str(COMMAND.parent))


def test_a_picture(frame, tmp_path):
    write(frame, tmp_path / "in.csv")
    words = ["embed", tmp_path / "in.csv", "--columns", "x,y,z", "-o", tmp_path / "out.csv"]
    done = run(*words, "--plot", tmp_path / "a.png", "--color", "count")
    assert done.exit_code == 0, done.stderr
    with Image.open(tmp_path / "a.png") as picture:
        assert len(np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0)) > 50
    words += ["--force"]
    done = run(*words, "--plot", tmp_path / "a.doc")
    assert "has no ending of a picture" in done.stderr
    done = run(*words, "--plot", tmp_path / "a.png", "--color", "nome")
    assert "there is no column nome" in done.stderr


def test_demo(tmp_path):
    done = subprocess.run(
        [COMMAND, "demo"], capture_output=True, text=True, timeout=200, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    names = {file.name for file in (tmp_path / "ptunfold-demo").iterdir()}
    assert names == {"sheet.csv", "flat.csv", "sheet.safetensors", "sheet.png", "sheet.html"}
    again = run("demo", "-o", tmp_path / "ptunfold-demo")
    assert again.exit_code == 1


def stored(page):
    """What a page says of itself."""
    text = page.read_text(encoding="utf-8")
    start = text.index('id="meta">') + len('id="meta">')
    return json.loads(text[start : text.index("</script>", start)])


def test_a_page_to_explore(frame, tmp_path):
    source, page = tmp_path / "sheet.csv", tmp_path / "page.html"
    write(frame, source)
    words = ["embed", source, "-o", tmp_path / "out.csv", "--columns", "x,y,z"]
    assert run(*words, "--explore", page, "--color", "count").exit_code == 0
    meta = stored(page)
    assert (meta["title"], meta["points"], meta["color"]) == ("sheet", N, "count")
    assert meta["features"] == ["x", "y", "z"]
    names = [column["name"] for column in meta["columns"]]
    assert names == [
        "name",
        "count",
        "local distortion",
        "coherence",
        "stretch",
        "curvature",
        "error bar",
        "rim",
        "void",
    ]
    assert meta["columns"][0]["labels"][0] == "point, 0"
    scales = "count=12, x=diverging, curvature=sequential"
    assert run(*words, "--force", "--explore", page, "--scales", scales).exit_code == 0
    told = stored(page)
    found = {column["name"]: column["scale"] for column in told["columns"]}
    assert found["count"] == {"kind": "cyclic", "start": 0, "period": 12}
    assert found["curvature"]["kind"] == "sequential"
    assert told["axes"][0]["kind"] == "diverging"
    for text, said in (("count", "tells no column and its scale"), ("nothing=kinds", "no column")):
        assert said in run(*words, "--force", "--explore", page, "--scales", text).stderr
    assert "pass --explore" in run(*words, "--force", "--scales", "count=12").stderr
    before = page.read_bytes()
    assert "is there already" in run(*words, "--explore", page).stderr
    assert page.read_bytes() == before

    wrong = run("embed", source, "-o", tmp_path / "b.csv", "--explore", tmp_path / "page.pdf")
    assert wrong.exit_code == 1
    assert "call it" in wrong.stderr
    for own in ("ptu1", "local distortion", "rim", "y"):
        assert run(*words, "--force", "--explore", page, "--color", own).exit_code == 0
        assert stored(page)["color"] == own
    wrong = run(*words, "--force", "--explore", tmp_path / "nowhere" / "page.html")
    assert "there is no folder" in wrong.stderr
    wrong = run(*words, "--force", "--explore", page, "--color", "nothing")
    assert wrong.exit_code == 1
    assert "there is no column nothing" in wrong.stderr


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".h5ad"])
@pytest.mark.filterwarnings("ignore")
def test_names_in_digits_are_no_numbers(ending, frame, tmp_path):
    """All points had one long number, and 007 was 7."""
    points = frame[["x", "y", "z"]]
    about = pd.DataFrame({"id": 1234567890123456789 + np.arange(N)}, index=map(str, range(N)))
    about["code"] = [f"{row:03}" for row in range(N)]
    about["whole"], about["signed"] = np.arange(N), [f"{row / 7:+.3f}" for row in range(N)]
    source, page = tmp_path / f"in{ending}", tmp_path / "a.html"
    if ending == ".h5ad":
        var = pd.DataFrame(index=["x", "y", "z"])
        anndata.AnnData(points.to_numpy(), obs=about, var=var).write_h5ad(source)
    else:
        write(about.reset_index(names="name").join(points), source)
    words = ["embed", source, "-o", tmp_path / "out.csv", "--columns", "x,y,z"]
    done = run(*words, "--explore", page)
    assert done.exit_code == 0, done.stderr
    columns = {column["name"]: column.get("labels") for column in stored(page)["columns"]}
    assert columns["id"] == [str(1234567890123456789 + row) for row in range(N)]
    assert columns["code"][:3] == ["000", "001", "002"]
    assert columns["whole"] is None
    assert ending != ".csv" or columns["signed"] is None


def test_a_page_of_a_saved_model(frame, tmp_path):
    source, model, page = tmp_path / "a.csv", tmp_path / "a.safetensors", tmp_path / "a.html"
    write(frame, source)
    assert not run(
        "embed", source, "-o", tmp_path / "out.csv", "--columns", "x,y,z", "--save", model
    ).exit_code
    assert run("explore", model, "-o", page, "--scales", "ptu0=diverging").exit_code == 0
    assert stored(page)["points"] == N
    assert stored(page)["axes"][3]["kind"] == "diverging"
    again = run("explore", model, "-o", page)
    assert again.exit_code == 1
    assert "is there already" in again.stderr


def test_a_page_beside_another_embedding(frame, tmp_path):
    source, model, page = tmp_path / "a.csv", tmp_path / "a.safetensors", tmp_path / "a.html"
    write(frame, source)
    words = ("embed", source, "-o", tmp_path / "out.csv", "--columns", "x,y,z", "--save", model)
    assert not run(*words).exit_code
    places = np.random.default_rng(0).random((N, 2))
    np.save(tmp_path / "noise.npy", places)
    np.savetxt(tmp_path / "Isomap.csv", places, delimiter=",", header="a,b", comments="")
    files = [
        word for name in ("noise.npy", "Isomap.csv") for word in ("--compare", tmp_path / name)
    ]
    assert not run("explore", model, "-o", page, *files).exit_code
    assert stored(page)["others"] == ["noise", "Isomap"]
    np.save(tmp_path / "short.npy", places[1:])
    wrong = run("explore", model, "-o", page, "--force", "--compare", tmp_path / "short.npy")
    assert wrong.exit_code == 1
    assert f"has shape ({N - 1}, 2), but there are {N} points" in wrong.stderr


def test_the_report_on_a_saved_model(frame, tmp_path):
    source, model, page = tmp_path / "a.csv", tmp_path / "a.safetensors", tmp_path / "a.html"
    write(frame, source)
    assert not run(
        "embed", source, "-o", tmp_path / "out.csv", "--columns", "x,y,z", "--save", model
    ).exit_code
    report = PTU.load(model).diagnose()
    done = run("diagnose", model)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"{report}\n"
    assert json.loads(run("diagnose", model, "--json").stdout) == report.as_dict()

    done = run("diagnose", model, "-o", page)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"{report}\nopen it in a browser: {page}\n"
    written = page.read_text(encoding="utf-8")
    assert "<title>a</title>" in written
    assert "data:image/png" in written
    again = run("diagnose", model, "-o", page)
    assert again.exit_code == 1
    assert "is there already; choose another name, or --force" in again.stderr
    assert not again.stdout
    assert page.read_text(encoding="utf-8") == written
    page.write_text("old")
    done = run("diagnose", model, "-o", page, "--json", "--force")
    assert json.loads(done.stdout) == report.as_dict()
    assert page.read_text(encoding="utf-8") == written

    wrong = run("diagnose", model, "-o", tmp_path / "a.pdf")
    assert wrong.exit_code == 1
    assert "call it" in wrong.stderr
    assert "there is no folder" in run("diagnose", model, "-o", tmp_path / "no" / "a.html").stderr
    wrong = run("diagnose", source, "-o", tmp_path / "b.html")
    assert wrong.exit_code == 1
    assert len(wrong.stderr.splitlines()) == 1
    assert not (tmp_path / "b.html").exists()


def test_pages_of_images_and_cells(frame, tmp_path):
    folder = tmp_path / "letters"
    folder.mkdir()
    letters = letter_a(60).points
    side = int(np.sqrt(letters.shape[1]))
    for row, letter in enumerate(letters):
        Image.fromarray((255 * letter.reshape(side, side)).astype(np.uint8)).save(
            folder / f"{row:03}.png"
        )
    assert not run(
        "embed", folder, "-o", tmp_path / "a.csv", "--explore", tmp_path / "a.html"
    ).exit_code
    meta = stored(tmp_path / "a.html")
    assert meta["image_shape"] == [48, 48, 1]
    assert meta["columns"][0]["labels"][:2] == ["000.png", "001.png"]

    cells = anndata.AnnData(frame[["x", "y", "z"]].to_numpy())
    cells.obs["kind"] = pd.Categorical(np.where(np.arange(N) % 2, "odd", "even"))
    cells.write_h5ad(tmp_path / "cells.h5ad")
    words = ["embed", tmp_path / "cells.h5ad", "-o", tmp_path / "b.h5ad"]
    assert not run(*words, "--explore", tmp_path / "b.html", "--color", "kind").exit_code
    meta = stored(tmp_path / "b.html")
    assert meta["columns"][0]["name"] == "kind"
    assert meta["columns"][0]["labels"] == ["even", "odd"]


def test_pictures_in_colours_of_cells(frame, tmp_path, monkeypatch):
    cells = anndata.AnnData(frame[["x", "y", "z"]].to_numpy())
    days = [f"day {2 * (row % 5 + 1)}" for row in range(N)]
    order = ["day 2", "day 4", "day 6", "day 8", "day 10"]
    cells.obs["day"] = pd.Categorical(days, order)
    cells.obs["depth"] = np.linspace(0, 1, N)
    cells.obs["batch"] = np.where(np.arange(N) % 2, "a", "b")
    cells.write_h5ad(tmp_path / "cells.h5ad")
    drawn = {}
    draw = show.embedding

    def embedding(model, color):
        drawn["color"] = color
        return draw(model, color)

    monkeypatch.setattr("ptunfold.show.embedding", embedding)
    words = ["embed", tmp_path / "cells.h5ad", "-o", tmp_path / "b.h5ad", "--force"]
    words += ["--plot", tmp_path / "b.png", "--color"]
    for name in ("day", "depth", "batch", "x1"):
        done = run(*words, name)
        assert done.exit_code == 0, done.stderr
        assert list(drawn["color"]) == list(
            frame["y"] if name == "x1" else cells.obs[name].to_numpy()
        )
    done = run(*words, "days")
    assert done.exit_code == 1
    assert "there is no column days; the columns are day, depth, batch" in done.stderr
    page = tmp_path / "b.html"
    assert not run(*words, "day", "--explore", page).exit_code
    assert stored(page)["columns"][0]["labels"] == order


def test_report(frame, tmp_path):
    source = tmp_path / "a.csv"
    write(frame, source)
    words = ["embed", source, "-o", tmp_path / "b.csv", "--columns", "x,y,z", "--report"]
    told = run(*words)
    assert told.exit_code == 0
    for line in ("local distortion, median", "disagreement", "shortcuts found", "two-sided"):
        assert line in told.stdout
    report = json.loads(run(*words, "--force", "--json").stdout)["report"]
    assert 0 < report["local distortion, median"] < 1
    frame = pd.read_csv(source)[["x", "y", "z"]].to_numpy()
    scores = PTU().fit(frame).scores()["local distortion"]
    assert report["local distortion, worst twentieth"] == pytest.approx(np.quantile(scores, 0.95))
    assert report["coherence, worst twentieth"] <= report["coherence, median"]
    assert report["bridges between pieces"] == 0
    median = report["local distortion, median"]
    assert median < report["local distortion, worst twentieth"]
    assert report["two-sided"] is True
    assert report["points left out"] == 0


def test_a_report_that_fails_leaves_nothing(frame, tmp_path, monkeypatch):
    source = tmp_path / "a.csv"
    write(frame, source)

    def failing(self):
        raise ValueError("no scores")

    monkeypatch.setattr(PTU, "scores", failing)
    words = ["embed", source, "-o", tmp_path / "b.csv", "--columns", "x,y,z"]
    done = run(*words, "--save", tmp_path / "b.safetensors", "--report")
    assert done.exit_code == 1
    assert "no scores" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


def test_stopping_leaves_nothing(frame, tmp_path, monkeypatch):
    source, output = tmp_path / "a.csv", tmp_path / "b.csv"
    write(frame, source)

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("ptunfold.io.text.csv.writer", interrupted)
    done = run("embed", source, "-o", output, "--columns", "x,y,z")
    assert done.exit_code == 130
    assert "stopped" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


def test_every_parameter_is_an_option():
    known = set(inspect.signature(embed).parameters)
    assert set(PTU().get_params()) - known == {"verbose"}  # bars are for terminals
