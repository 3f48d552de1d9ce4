"""Texts in parts: of any size, from any place, they are the whole."""

import csv
import gc
import io
import random

import numpy as np
import pytest

from ptunfold.io import text as texts
from ptunfold.io.table import Table
from ptunfold.io.text import TEXT, TextParts, text_of

FIELDS = ["1", "2.5", "x", "a b", "", "NA", '"q"', '"a\nb"', '"', "1,5", "é", "\x0c", "\u2028", "0"]


def random_text(rng):
    separator, end = rng.choice(",;\t |"), rng.choice(["\n", "\n", "\r\n", "\r"])
    width = rng.randint(1, 4)
    fields = rng.sample(FIELDS, rng.randint(1, 4)) if rng.random() < 0.6 else ["1", "2.5", "0"]
    rows = [separator.join(["", "x", "y", "z"][:width])] if rng.random() < 0.5 else []
    for row in range(rng.randint(0, 12)):
        cells = [rng.choice(fields) for _ in range(width if rng.random() < 0.99 else 5)]
        cells[0] = str(row) if rng.random() < 0.3 else cells[0]
        rows += [separator.join(cells), *([""] if rng.random() < 0.1 else [])]
    mark = "\ufeff" if rng.random() < 0.2 else ""
    return (mark + end.join(rows) + rng.choice(["", end, end + end])).encode()


def read_all(open_parts, size, rng):
    """Read parts, now and then from a position as if it were another day."""
    parts, found = open_parts(), []
    while (part := parts.read(size)) is not None:
        found.append(part)
        assert 0 < parts.done <= parts.total
        if rng.random() < 0.5:
            position, parts = parts.position, open_parts()
            parts.seek(position)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_parts_are_the_whole(seed, monkeypatch):
    rng = random.Random(seed)
    n_compared = 0
    for _ in range(1000):
        content = random_text(rng)
        ending, header = rng.choice([".csv", ".txt"]), rng.choice([None, None, True, False])
        monkeypatch.setattr(texts, "_BLOCK", rng.choice([1, 2, 7, 64, 1 << 18]))

        def opened(content=content, ending=ending, header=header):
            return TextParts(io.BytesIO(content), "a.csv", ending, header, len(content))

        try:
            whole = opened().read()
        except ValueError:
            with pytest.raises(ValueError, match=r"a\.csv"):
                read_all(opened, rng.randint(1, 5), rng)
            continue
        found = read_all(opened, rng.randint(1, 5), rng)
        if whole is None:
            assert not found
            continue
        n_compared += 1
        columns = [[cell for part in found for cell in part.column(name)] for name in whole.names]
        assert columns == whole.columns
        assert [line for part in found for line in part.lines] == list(whole.lines)
        assert [part.first_row for part in found[1:]] == [
            part.first_row + part.n_rows for part in found[:-1]
        ]
        assert [part.is_last for part in found] == [False] * (len(found) - 1) + [True]
        assert all(part.index for part in found) == bool(whole.index)
        assert {(*part.names, part.style, part.is_named) for part in found} == {
            (*whole.names, whole.style, whole.is_named)
        }
    assert n_compared > 400


PLAIN = b"x,y\n" + b"1,2\n" * 2000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PLAIN + b"3\n", "line 2002 of a.csv has 1 fields, and the first has 2"),
        (b"x,y\n" + b'1,"\n2"\n' * 2000 + b"3\n", "line 4002 of a.csv has 1 fields"),
        (b"x,y\n" + b"1,2\n\n" * 2000 + b"3\n", "line 4002 of a.csv has 1 fields"),
        (b"x\n" + b"1\n\n" * 2000 + b"3,4\n", "line 4002 of a.csv has 2 fields, and .* has 1"),
        (PLAIN + b'3,"4\n', "line 2002 of a.csv cannot be read .*check its quotes"),
        (PLAIN + b"3,\0\n", "line 2002 of a.csv holds a NUL byte"),
        (PLAIN + b"\xff,4\n", r"a.csv is no .* \(line 2002: invalid start byte\)"),
        (b"\xef\xbb\xbf" + PLAIN + b"\xff", r"\(line 2002: invalid start byte\)"),
        (PLAIN + b"3,\xc3", r"\(line 2002: unexpected end of data\)"),
    ],
)
@pytest.mark.parametrize("block", [16, 1 << 18])
def test_lines_are_named_in_later_parts(content, message, block, monkeypatch):
    monkeypatch.setattr(texts, "_BLOCK", block)

    def opened():
        return TextParts(io.BytesIO(content), "a.csv", ".csv", True, len(content))

    with pytest.raises(ValueError, match=message):
        read_all(opened, 100, random.Random(0))


@pytest.mark.parametrize("size", [None, 1])
@pytest.mark.parametrize("block", [3, 1 << 18])
def test_any_break_ends_a_line_of_numbers(size, block, monkeypatch):
    monkeypatch.setattr(texts, "_BLOCK", block)
    content = b" 1  2\x0c 3 4\r\n\n5\t6\x0b7 8"
    parts = TextParts(io.BytesIO(content), "a.txt", ".txt")
    rows = [
        row
        for part in iter(lambda: parts.read(size), None)
        for row in zip(*part.columns, strict=True)
    ]
    assert rows == [("1", "2"), ("3", "4"), ("5", "6"), ("7", "8")]


def test_blocks_of_a_pipe_may_be_short():
    class Slow(io.BytesIO):
        def read1(self, size=-1):
            return super().read1(min(size, 2))

    content = "\ufeffnäme;y\r\n1,5;2\r\n3,5;4\r\n".encode()
    table = TextParts(Slow(content), "a.csv", ".csv").read()
    assert table.names == ["näme", "y"]
    assert table.columns == [["1,5", "3,5"], ["2", "4"]]


def test_a_long_line_is_read_once(monkeypatch):
    monkeypatch.setattr(texts, "_BLOCK", 16)
    asked = []

    class Counted(io.BytesIO):
        def read1(self, size=-1):
            asked.append(size)
            return super().read1(size)

    table = TextParts(Counted(b"1," * 50_000), "a.csv", ".csv", has_header=False).read()
    assert (table.n_rows, len(table.names)) == (1, 50_001)
    assert len(asked) < 100


def test_texts_are_written_as_the_library_does():
    rng = random.Random(0)
    fields = ["a", "", " b ", "1,5", 'q"', "x\ny", "x\ry", "c;d", "e\tf", "é", "'"]
    for _ in range(300):
        names = ["p", "q", "r"][: rng.randint(0, 3)]
        some, n_rows = rng.sample(fields, 2), rng.randint(1, 4)
        columns = [[rng.choice(some) for _ in range(n_rows)] for _ in names]
        values = np.array([rng.choice([0.1, -0.0, 1e300, 5e-324, np.nan]) for _ in range(n_rows)])
        ending, separator = rng.choice(list(TEXT.items()))
        for dtype in (np.float64, np.float32):
            with np.errstate(over="ignore"):
                numbers = values.astype(dtype)
            expected = io.StringIO(newline="")
            found = text_of(Table(names, columns), {"new": numbers}, ending)
            writer = csv.writer(expected, delimiter=separator, lineterminator="\n")
            writer.writerow([*names, "new"])
            writer.writerows(zip(*columns, [repr(float(x)) for x in numbers], strict=True))
            assert found.decode() == expected.getvalue()


def test_cycles_are_looked_for_again():
    for is_on in (True, False):
        (gc.enable if is_on else gc.disable)()
        try:
            TextParts(io.BytesIO(b"x,y\n1,2\n"), "a.csv", ".csv").read()
            assert gc.isenabled() is is_on
        finally:
            gc.enable()
