"""Files of any length: the bytes of the whole, in bounded memory, whatever stops the work."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from ptunfold import PTU
from ptunfold.cli import app
from ptunfold.datasets import s_with_hole
from ptunfold.io import partial
from ptunfold.io import text as blocks
from tests.fuzz import kills

try:
    import termios
except ImportError:
    termios = None

N = 300
WORDS = ["é", 'a "b"', "c, d", "", "two\nlines", "plain"]


def run(*words, **options):
    done = CliRunner().invoke(app, [str(word) for word in words], **options)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def outputs(folder):
    return [name for name in names(folder) if not name.startswith("in.")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and new points for it in files of many kinds."""
    folder = tmp_path_factory.mktemp("model")
    points = s_with_hole(600, seed=1).points
    PTU().fit(pd.DataFrame(points[:300], columns=["x", "y", "z"])).save(folder / "m.safetensors")
    PTU().fit(points[:300].astype(np.float32)).save(folder / "unnamed.safetensors")
    frame = pd.DataFrame(points[300:], columns=["x", "y", "z"])
    frame.iloc[7] += 100  # far outside
    frame.insert(0, "word", [WORDS[row % len(WORDS)] for row in range(N)])
    frame["count"] = np.arange(N, dtype=np.int16)
    frame.to_csv(folder / "in.csv", index=False)
    frame[["z", "word", "y", "x"]].to_csv(folder / "other.csv", sep=";", decimal=",", index=False)
    frame.set_index("word").to_parquet(folder / "in.parquet", row_group_size=130)
    np.save(folder / "in.npy", frame[["x", "y", "z"]].to_numpy())
    np.savetxt(folder / "in.txt", frame[["x", "y", "z"]].to_numpy())
    frame.to_feather(folder / "in.feather")
    return folder


@pytest.fixture
def model(folder):
    return folder / "m.safetensors"


INPUTS = ["in.csv", "other.csv", "in.parquet", "in.npy", "in.txt", "in.feather"]


@pytest.mark.parametrize("source", INPUTS)
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".npy", ".npz", ".feather"])
def test_parts_give_the_whole(source, ending, folder, model, tmp_path):
    expected = tmp_path / f"whole{ending}"
    said = run("transform", model, folder / source, "-o", expected)
    assert said.exit_code == 0, said.stderr
    sizes = (7, 100, N) if "csv" in source + ending else (70,)
    for size in (1, *sizes) if source == "in.csv" and ending in (".csv", ".parquet") else sizes:
        output = tmp_path / f"{size}{ending}"
        done = run("transform", model, folder / source, "-o", output, "--chunk-size", size)
        assert done.exit_code == 0, done.stderr
        assert done.stderr == said.stderr
        assert done.stdout == said.stdout.replace(expected.name, output.name)
        if ending == ".parquet":
            one, other = (pyarrow.parquet.read_table(file) for file in (output, expected))
            assert one.schema.equals(other.schema, check_metadata=True)
            assert one.to_pandas().equals(other.to_pandas())
        else:
            assert output.read_bytes() == expected.read_bytes()
    assert "1 of the points lie far outside the data" in said.stderr
    assert all(not name.startswith(".") for name in names(tmp_path))


@pytest.mark.parametrize("source", ["in.csv", "in.npy", "in.parquet"])
def test_back_in_parts(source, folder, model, tmp_path):
    for size in (20, 1000):
        placed, back = tmp_path / f"p{size}.csv", tmp_path / f"b{size}.csv"
        words = ["--chunk-size", size]
        assert run("transform", model, folder / source, "-o", placed, *words).exit_code == 0
        done = run("inverse", model, placed, "-o", back, *words)
        assert done.exit_code == 0, done.stderr
    assert (tmp_path / "b20.csv").read_bytes() == (tmp_path / "b1000.csv").read_bytes()


def test_single_precision_stays(folder, tmp_path):
    model = folder / "unnamed.safetensors"
    for ending in (".npy", ".parquet"):
        output = tmp_path / f"out{ending}"
        words = ["transform", model, folder / "in.npy", "-o", output, "--chunk-size", 40]
        assert run(*words).exit_code == 0
        table = np.load(output) if ending == ".npy" else pd.read_parquet(output)[["ptu0", "ptu1"]]
        assert np.asarray(table).dtype == np.float32


def test_groups_of_rows_in_parquet(folder, model, tmp_path):
    output = tmp_path / "out.parquet"
    run("transform", model, folder / "in.csv", "-o", output, "--chunk-size", 100)
    assert pyarrow.parquet.read_metadata(output).num_row_groups == 3
    assert output.stat().st_mode == (folder / "in.csv").stat().st_mode


def lines_of(folder, n_times=1, **changes):
    """Lines of plain points inside the data, as often as one likes, some of them replaced."""
    frame = pd.read_csv(folder / "in.csv")[["x", "y", "z"]].drop(index=7).astype(str)
    lines = ["x,y,z", *(",".join(row) for row in frame.to_numpy())]
    lines = lines[:1] + lines[1:] * n_times
    for number, line in changes.items():
        lines[int(number[4:]) - 1] = line
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("ending", [".csv", ".npy", ".parquet"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "1,word,3",
            r"column y does not hold numbers to its end (words, as 'word' in row 1249, line 1250",
        ),
        ("1,,3", "rows 1249 of the first 1,250 of "),
        ("1,inf,3", "have infinite numbers in the columns used (y); fill them, or --missing drop"),
        ("1,2", "line 1250 of "),
        ('1,2,"3', "check its quotes"),
        ("1,\0,3", "line 1250 of "),
        ("1,1e300,3", "too large for squares"),
    ],
)
def test_errors_in_later_parts(line, message, ending, folder, model, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "_BLOCK", 1000)
    source = tmp_path / "in.csv"
    source.write_text(lines_of(folder, 5, line1250=line))
    words = ["transform", model, source, "-o", tmp_path / f"out{ending}", "--chunk-size", 50]
    done = run(*words)
    assert done.exit_code == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 2  # and the columns used
    assert names(tmp_path) == ["in.csv"]


def test_rows_with_gaps_are_left_out_of_all_parts(folder, model, tmp_path):
    source = tmp_path / "in.csv"
    gaps = {f"line{line}": "1,,2" for line in (*range(2, 60), 111, 298)}
    source.write_text(lines_of(folder, **gaps))
    said = set()
    for size in (10, 1000):
        output = tmp_path / f"{size}.csv"
        words = ["transform", model, source, "-o", output, "--missing", "drop"]
        done = run(*words, "--chunk-size", size)
        assert done.exit_code == 0, done.stderr
        said.add(tuple(sorted(done.stderr.splitlines())))
    assert len(said) == 1
    assert (
        "rows 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 50 more have gaps and are left out" in done.stderr
    )
    assert (tmp_path / "10.csv").read_bytes() == (tmp_path / "1000.csv").read_bytes()
    source.write_text("x,y,z\n" + "1,,2\n" * 30)
    done = run(
        "transform",
        model,
        source,
        "-o",
        tmp_path / "no.csv",
        "--columns",
        "x,y,z",
        "--missing",
        "drop",
        "--chunk-size",
        7,
    )
    assert "column y does not hold numbers (nothing but gaps)" in done.stderr
    source.write_text("x,y,z\n" + "1,,2\n,1,2\n" * 30)
    for size in (7, 1000):
        words = ["transform", model, source, "-o", tmp_path / "no.csv", "--missing", "drop"]
        done = run(*words, "--chunk-size", size)
        assert "X has 0 sample(s)" in done.stderr
    assert "no.csv" not in names(tmp_path)


def test_what_is_found_later_is_said_later(folder, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("x;y;z\n" + "1;1;1\n" * 2000 + "1,5;1;1\n")
    words = ["transform", folder / "unnamed.safetensors", source, "-o", tmp_path / "out.csv"]
    whole = run(*words)
    assert "decimal commas in x; left out: none" in whole.stderr
    done = run(*words, "--chunk-size", 500, "--force")
    assert "columns used: x, y, z; left out: none\n" in done.stderr
    assert "note: decimal commas in x\n" in done.stderr


TRANSFORM = PTU.transform


def stopping_after(n_calls, monkeypatch):
    """Let Ctrl-C come after some parts; returns the numbers of rows that were carried."""
    carried = []

    def transform(self, points, **options):
        if len(carried) == n_calls:
            raise KeyboardInterrupt
        carried.append(len(points))
        return TRANSFORM(self, points, **options)

    monkeypatch.setattr(PTU, "transform", transform)
    return carried


RESUMED = [
    (source, ending)
    for source in ("in.csv", "other.csv", "in.parquet", "in.npy", "in.txt")
    for ending in (".csv", ".npy", ".parquet")
]


@pytest.mark.parametrize(("source", "ending"), RESUMED)
def test_it_goes_on_after_an_interruption(source, ending, folder, model, tmp_path, monkeypatch):
    words = ["transform", model, folder / source, "--chunk-size", 40, "-o"]
    whole = run(*words, tmp_path / f"whole{ending}")
    output = tmp_path / f"out{ending}"
    carried = stopping_after(3, monkeypatch)
    done = run(*words, output)
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-2:] == [
        "ptunfold: note: 120 rows are kept; --resume goes on with them",
        "ptunfold: stopped",
    ]
    assert not output.exists()
    assert len(names(tmp_path)) == 3
    done = run(*words, output)
    assert "was stopped when 120 rows were done; --resume goes on with it" in done.stderr
    carried = stopping_after(2, monkeypatch)  # and a second time
    assert "200 rows are kept" in run(*words, output, "--resume").stderr
    carried = stopping_after(99, monkeypatch)
    done = run(*words, output, "--resume")
    assert done.exit_code == 0, done.stderr
    assert sum(carried) == N - 200  # what was done is not done again
    assert done.stderr == whole.stderr
    assert done.stdout == whole.stdout.replace("whole", "out")
    assert output.read_bytes() == (tmp_path / f"whole{ending}").read_bytes()
    assert names(tmp_path) == sorted([output.name, f"whole{ending}"])


def test_with_other_parts_too(folder, model, tmp_path, monkeypatch):
    for ending in (".csv", ".parquet"):
        words = ["transform", model, folder / "in.csv", "-o"]
        run(*words, tmp_path / f"whole{ending}", "--chunk-size", 33)
        stopping_after(3, monkeypatch)
        run(*words, tmp_path / f"out{ending}", "--chunk-size", 40)
        monkeypatch.undo()
        done = run(*words, tmp_path / f"out{ending}", "--chunk-size", 33, "--resume")
        assert done.exit_code == 0, done.stderr
        assert (tmp_path / f"out{ending}").read_bytes() == (
            tmp_path / f"whole{ending}"
        ).read_bytes()


def test_rows_left_out_before_an_interruption_are_told(folder, model, tmp_path, monkeypatch):
    source = tmp_path / "in.csv"
    source.write_text(lines_of(folder, line9="1,,2", line250="1,,2"))
    words = ["transform", model, source, "--chunk-size", 40, "--missing", "drop", "-o"]
    run(*words, tmp_path / "whole.csv")
    stopping_after(3, monkeypatch)
    run(*words, tmp_path / "out.csv")
    monkeypatch.undo()
    done = run(*words, tmp_path / "out.csv", "--resume")
    assert "rows 8, 249 have gaps and are left out" in done.stderr
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_nothing_else_is_gone_on_with(folder, model, tmp_path, monkeypatch):
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text(lines_of(folder))
    words = ["--chunk-size", 40, "--resume"]
    stopping_after(3, monkeypatch)
    run("transform", model, source, "-o", output, *words)
    monkeypatch.undo()
    kept = {name: (tmp_path / name).read_bytes() for name in outputs(tmp_path)}
    assert len(kept) == 2
    other = folder / "unnamed.safetensors"
    done = run("transform", other, source, "-o", output, *words)
    assert "that was stopped is of another model; pass what it was begun with" in done.stderr
    done = run("transform", model, folder / "in.csv", "-o", output, *words)
    assert "is of another input, or one that was changed" in done.stderr
    done = run("transform", model, source, "-o", output, *words, "--columns", "z,y,x")
    assert "is of other options" in done.stderr
    done = run("inverse", model, source, "-o", output, *words, "--columns", "x,y")
    assert "is of other options" in done.stderr
    assert {name: (tmp_path / name).read_bytes() for name in outputs(tmp_path)} == kept
    done = run("transform", model, source, "-o", output, "--force")
    assert done.exit_code == 0
    assert outputs(tmp_path) == ["out.csv"]
    done = run("transform", model, source, "-o", output, "--resume")
    assert "out.csv is there already" in done.stderr


def test_what_cannot_be_gone_on_with(folder, model, tmp_path):
    content = (folder / "in.csv").read_bytes()
    done = run("transform", model, "-", "-o", tmp_path / "a.csv", "--resume", input=content)
    assert "- cannot be read again, and --resume has to; pass the name of a file" in done.stderr
    for output in ("-", tmp_path / "a.npz"):
        done = run("transform", model, folder / "in.csv", "-o", output, "--resume")
        assert f"{output} cannot be gone on with; the endings for --resume are .csv" in done.stderr
    assert names(tmp_path) == []


def test_a_full_disk_keeps_what_is_done(folder, model, tmp_path, monkeypatch):
    output = tmp_path / "out.csv"
    n_written = []

    def write(self, content, _write=partial.Partial.write):
        n_written.append(len(content))
        if len(n_written) == 4:
            with partial.writing_of(self._target):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _write(self, content)

    monkeypatch.setattr(partial.Partial, "write", write)
    words = ["transform", model, folder / "in.csv", "--chunk-size", 40, "-o", output]
    done = run(*words)
    assert done.exit_code == 1
    assert "out.csv could not be written (No space left on device), so nothing was" in done.stderr
    assert "120 rows are kept; --resume goes on with them" in done.stderr
    monkeypatch.undo()
    assert run(*words, "--resume").exit_code == 0
    whole = tmp_path / "whole.csv"
    run("transform", model, folder / "in.csv", "-o", whole)
    assert output.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("ending", [".csv", ".npy", ".parquet"])
def test_what_cannot_be_read_is_not_said_of_the_output(
    ending, folder, model, tmp_path, monkeypatch
):
    n_read = []

    def read(self, size, _read=blocks.TextParts.read):
        n_read.append(size)
        if len(n_read) == 4:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return _read(self, size)

    monkeypatch.setattr(blocks.TextParts, "read", read)
    output = tmp_path / f"out{ending}"
    words = ["transform", model, folder / "in.csv", "--chunk-size", 40, "-o", output]
    done = run(*words)
    assert done.exit_code == 1
    assert "Input/output error" in done.stderr
    assert "written" not in done.stderr
    assert "120 rows are kept; --resume goes on with them" in done.stderr
    assert not output.exists()
    monkeypatch.undo()
    assert run(*words, "--resume").exit_code == 0
    assert not [name for name in names(tmp_path) if name != output.name]


@pytest.mark.parametrize("method", ["write_table", "close"])
def test_a_parquet_file_on_a_full_disk(method, folder, model, tmp_path, monkeypatch):
    def fail(self, *arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pyarrow.parquet.ParquetWriter, method, fail)
    output = tmp_path / "out.parquet"
    words = ["transform", model, folder / "in.csv", "--chunk-size", 40, "-o", output]
    done = run(*words)
    assert done.exit_code == 1
    assert "out.parquet could not be written (No space left on device), so nothing" in done.stderr
    assert not output.exists()


def test_outputs_are_checked_first(folder, model, tmp_path, monkeypatch):
    monkeypatch.setattr(PTU, "transform", None)
    (tmp_path / "there.csv").write_text("mine")
    for output, message in (
        (tmp_path / "there.csv", "is there already"),
        (tmp_path / "no" / "a.csv", "there is no folder"),
        (tmp_path / "a.what", "has no ending that is known"),
    ):
        done = run("transform", model, folder / "in.csv", "-o", output)
        assert message in done.stderr
    assert names(tmp_path) == ["there.csv"]


def test_a_file_onto_itself(folder, model, tmp_path):
    run("transform", model, folder / "in.csv", "-o", tmp_path / "whole.csv")
    path = tmp_path / "in.csv"
    path.write_bytes((folder / "in.csv").read_bytes())
    assert run("transform", model, path, "-o", path, "--chunk-size", 9, "--force").exit_code == 0
    assert path.read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_pipes(folder, model, tmp_path):
    run("transform", model, folder / "in.csv", "-o", tmp_path / "whole.csv")
    expected = (tmp_path / "whole.csv").read_text()
    content = (folder / "in.csv").read_bytes()
    for size in (11, 1000):
        done = run("transform", model, "-", "-o", "-", "--chunk-size", size, input=content)
        assert done.exit_code == 0, done.stderr
        assert done.stdout == expected
        assert "300 points: -" in done.stderr
    run("transform", model, "-", "-o", tmp_path / "a.csv", "--chunk-size", 7, input=content)
    assert (tmp_path / "a.csv").read_text() == expected
    array = (folder / "in.npy").read_bytes()
    run("transform", model, "-", "-o", tmp_path / "a.npy", "--chunk-size", 7, input=array)
    run("transform", model, folder / "in.npy", "-o", tmp_path / "b.npy")
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    broken = lines_of(folder, 5).encode() + b"1\n"
    done = run("transform", model, "-", "-o", "-", "--chunk-size", 50, input=broken)
    assert done.exit_code == 1
    assert "of standard input has 1 fields" in done.stderr
    assert "what was printed is not all" in done.stderr
    done = run("transform", model, "-", "-o", "-", input=broken)
    assert "what was printed is not all" not in done.stderr
    assert done.stdout == ""
    assert (
        "standard input has no rows"
        in run("transform", model, "-", "-o", "-", input="x,y,z\n").stderr
    )


def command(*words):
    return [sys.executable, "-m", "ptunfold", *map(str, words)]


@pytest.fixture
def lines(folder):
    return lines_of(folder).splitlines(keepends=True)


def test_rows_are_printed_before_the_last_is_read(model, lines):
    words = command("transform", model, "-", "-o", "-", "--chunk-size", 100)
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        rows = lines[1:] * 10
        process.stdin.write("".join([lines[0], *rows[:2000]]).encode())
        process.stdin.flush()
        # Standard input is open; nothing tells that there is an end.
        head = [process.stdout.readline() for _ in range(1800)]
        assert all(line.count(b",") == 4 for line in head)
        process.stdin.write("".join(rows[2000:]).encode())
        process.stdin.close()
        rest = process.stdout.read().splitlines()
        assert len(head) + len(rest) == len(rows) + 1
    assert process.returncode == 0


def test_a_reader_that_has_seen_enough_ends_the_work(model, lines):
    words = command("transform", model, "-", "-o", "-", "--chunk-size", 100)
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(words, **pipes) as process:

        def write():
            with contextlib.suppress(OSError):
                process.stdin.write(lines[0].encode())
                while True:  # there is no last row
                    process.stdin.write("".join(lines[1:]).encode())

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(5):
                process.stdout.readline()
            process.stdout.close()
            assert process.wait(timeout=60) == 0
            assert b"Broken" not in process.stderr.read()
        finally:
            process.kill()
            writer.join()
            with contextlib.suppress(OSError):
                process.stdin.close()


# Children that have all libraries already: each carries some parts, and is killed.
KILLED = """
import os, signal, sys
from ptunfold import PTU
from ptunfold.__main__ import main
calls = []
def transform(self, points, _transform=PTU.transform, **options):
    if len(calls) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    calls.append(len(points))
    return _transform(self, points, **options)
PTU.transform = transform
*words, outputs = sys.argv[1:]
for output in outputs.split("|"):
    child = os.fork()
    if not child:
        sys.argv = ["ptunfold", *words, output]
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_a_process_that_is_killed_leaves_what_is_done(folder, model, tmp_path, monkeypatch):
    endings = [".csv", ".npy", ".parquet"]
    words = ["transform", model, folder / "in.csv", "--chunk-size", 40, "-o"]
    outputs = [tmp_path / f"out{ending}" for ending in endings]
    code = [sys.executable, "-c", KILLED, *map(str, words), "|".join(map(str, outputs))]
    done = subprocess.run(code, capture_output=True, text=True, timeout=200)
    assert done.stdout.split() == [str(-signal.SIGKILL)] * 3, done.stderr
    kept = [name.split(".")[-1] for name in names(tmp_path)]
    assert sorted(kept) == ["json"] * 3 + ["parquet"] + ["part"] * 3
    for output, ending in zip(outputs, endings, strict=True):
        assert not output.exists()
        run(*words, tmp_path / f"whole{ending}")
        carried = stopping_after(99, monkeypatch)
        done = run(*words, output, "--resume")
        monkeypatch.undo()
        assert done.exit_code == 0, done.stderr
        assert sum(carried) == N - 160
        assert output.read_bytes() == (tmp_path / f"whole{ending}").read_bytes()
    assert [name for name in names(tmp_path) if name.startswith(".")] == []


@pytest.mark.long
def test_a_killed_process_at_any_moment(folder, model, tmp_path):
    """Not between two parts, but whenever it is: a sample of what `make fuzz` does."""
    source = tmp_path / "in.csv"
    source.write_text(lines_of(folder, 100))
    found = kills.run(2, model, source)
    assert set(found) == {"right"}


@pytest.mark.skipif(termios is None, reason="there are no terminals here")
def test_progress_on_a_terminal(folder, model, tmp_path):
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    calls = [
        ["transform", model, folder / source, "-o", tmp_path / f"{source}.npy", "--chunk-size", 30]
        for source in ("in.csv", "in.npy")
    ]
    code = [sys.executable, "-c", CALLING, *(json.dumps(words, default=str) for words in calls)]
    done = subprocess.run(code, stderr=theirs, stdout=subprocess.DEVNULL, timeout=200)
    os.close(theirs)
    said = b""
    while True:
        try:
            said += os.read(ours, 1 << 16)
        except OSError:  # all was read
            break
    os.close(ours)
    assert done.returncode == 0
    assert said.count(b"100%") >= 2
    assert b"transform" in said
    for unit in ("bytes", "rows"):
        assert f"{unit}/s".encode() in said


# One command after the other, and after each the most memory that was taken so far.
CALLING = """
import json, sys
from ptunfold.cli import app
for words in sys.argv[1:]:
    try:
        app(json.loads(words))
    except SystemExit as error:
        assert error.code == 0
    if sys.platform == "linux":
        print([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0])
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory cannot be measured")
def test_memory_does_not_grow_with_the_rows(folder, model, tmp_path):
    points = pd.read_csv(folder / "in.csv")[["x", "y", "z"]].drop(index=7).to_numpy()
    calls = []
    for n_times in (100, 3500):  # all short files first: what they take is there for the long ones
        rows = np.tile(points, (n_times, 1))
        rows += 1e-6 * np.random.default_rng(0).random(rows.shape)  # nothing is repeated
        np.save(tmp_path / f"{n_times}.npy", rows)
        table = pyarrow.table(dict(zip("xyz", rows.T, strict=True)))  # in one group
        pyarrow.parquet.write_table(
            table, tmp_path / f"{n_times}.parquet", row_group_size=len(rows)
        )
        (tmp_path / f"{n_times}.csv").write_text(lines_of(folder, min(n_times, 800)))
        for kind in ("csv", "parquet", "npy"):
            source, output = tmp_path / f"{n_times}.{kind}", tmp_path / f"out{n_times}.{kind}"
            calls.append(["transform", model, source, "-o", output, "--chunk-size", 20_000])
    code = [sys.executable, "-c", CALLING, *(json.dumps(words, default=str) for words in calls)]
    done = subprocess.run(code, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    used = [int(line.split()[1]) / 1024 for line in done.stdout.splitlines() if "VmHWM" in line]
    assert len(used) == len(calls)
    # In one part each of them takes 100 MB more, or more than that.
    assert used[5] - used[2] < 60, used


def test_options_are_checked(folder, model, tmp_path):
    words = ["transform", model, folder / "in.csv", "-o", tmp_path / "a.csv", "--chunk-size"]
    assert run(*words, 0).exit_code == 2
    assert json.loads(run(*words, 50, "--json").stdout) == {
        "output": str(tmp_path / "a.csv"),
        "points": N,
        "outside": 1,
    }
