"""Tables in text: separators, decimal marks and a line of names are found, not asked for."""

from __future__ import annotations

import codecs
import csv
import gc
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import accumulate, chain, islice, tee
from typing import Any

import numpy as np

from ptunfold.io.numerals import decimal_mark, is_gap, is_numeral
from ptunfold.io.table import Parts, RefusedError, Style, Table, listed, values_of
from ptunfold.types import FloatArray

TEXT = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
_SEPARATORS = (",", ";", "\t", "|")
_BLOCK = 1 << 18  # bytes that are read together
_LOOKED_AT = 1000  # rows, to find out how a table is written
_A_FIELD = 64  # bytes of memory, without its letters
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")  # as long as numbers of 64 bits
_Rows = tuple[list[list[str]], Sequence[int]]  # each with its line


class TextParts(Parts):
    """A table in text, from a file or a pipe that is open for reading bytes.

    Whether the first line holds names is found out unless it is said; `n_bytes` is the length of
    the file, if that is known.
    """

    unit = "bytes"

    def __init__(
        self,
        file: Any,
        name: str,
        ending: str,
        has_header: bool | None = None,
        n_bytes: int | None = None,
    ) -> None:
        self.name, self._file, self._n_bytes_done = name, file, 0
        # Copies of it look at lines that are not yet taken.
        lines = self._lines = tee(chain.from_iterable(self._blocks()), 1)[0]
        if _has_blanks(copy(lines)):
            self._lines = tee(("\t".join(line.split()) for line in _pieces(lines)), 1)[0]
        self._separator = _separator(self._lines, TEXT[ending])
        self._width = 0  # not known
        self._n_lines = 0  # before those of the reader
        head, _ = self._take(self._reader_of(copy(self._lines)), _LOOKED_AT + 1)
        if not head:
            raise RefusedError(f"{name} is empty")
        self._width = len(head[0])
        if has_header is None:
            has_header = _names_columns(head[0], head[1:], name)
        body = head[has_header:][:_LOOKED_AT]
        names = [f"x{place}" for place in range(self._width)]
        if has_header:
            names = [field.strip() for field in head[0]]
            check_names(names, name)
        decimal = decimal_mark(list(zip(*body, strict=True)), self._separator)
        self._style = Style(ending, self._separator, decimal)
        letters = sum(len(field) for row in body for field in row)
        self.n_bytes_a_row = 2 * letters / max(len(body), 1) + _A_FIELD * self._width
        super().__init__(name, names, n_bytes, is_named=has_header)
        self._reader = self._reader_of(self._lines)
        self._n_names = int(has_header)  # lines of names that are ahead

    def read(self, n_rows: int | None = None) -> Table | None:
        """Read so many rows, or all; None if there are no more."""
        with _no_collection():
            rows: list[list[str]] = []
            while not rows:  # there may be but names
                n_names, self._n_names = self._n_names, 0
                n_taken = None if n_rows is None else n_rows + n_names
                rows, lines = self._take(self._reader, n_taken)
                if not rows:
                    return None
                rows, lines = rows[n_names:], lines[n_names:]
            columns = [list(column) for column in zip(*rows, strict=True)]
        # What pandas writes first, unless it is told not to; of some rows of a table any numbers.
        counts = self.is_named and self.names[0] == "" and _are_whole(columns[0])
        part = Table(
            self.names,
            columns,
            is_named=self.is_named,
            index=frozenset([""] if counts else []),
            style=self._style,
            first_row=self.n_done,
            lines=lines,
            is_last=not any(line.strip("\r\n") for line in copy(self._lines)),
        )
        self.n_done += part.n_rows
        return part

    @property
    def done(self) -> int:
        """How many bytes were read, some of them ahead."""
        return self._n_bytes_done

    @property
    def position(self) -> dict[str, int]:
        """Where the next rows are."""
        return {"row": self.n_done, "line": self._n_lines + self._reader.line_num}

    def seek(self, position: dict[str, int]) -> None:
        """Go on at a position of a file that was just opened."""
        self.n_done, self._n_lines = position["row"], position["line"]
        next(islice(self._lines, self._n_lines, self._n_lines), None)
        self._reader, self._n_names = self._reader_of(self._lines), 0

    def _blocks(self) -> Iterator[list[str]]:
        """Read lines block by block; what is no text is refused, with the number of its line."""
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        rest, n_breaks, is_over = "", 0, False
        while not is_over:
            # More for a long line, or it would be put together again and again.
            content = self._file.read1(max(_BLOCK, len(rest)))
            self._n_bytes_done += len(content)
            is_over = not content
            try:
                text = decoder.decode(content, final=is_over)
            except UnicodeDecodeError as error:
                line = n_breaks + error.object[: error.start].count(b"\n") + 1
                raise RefusedError(
                    f"{self.name} is no table in UTF-8 text (line {line}: {error.reason}); save it "
                    "as UTF-8"
                ) from error
            if "\0" in text:
                line = n_breaks + text[: text.index("\0")].count("\n") + 1
                raise RefusedError(
                    f"line {line} of {self.name} holds a NUL byte, which is not text; check how it "
                    "was written"
                )
            n_breaks += text.count("\n")
            lines = list(io.StringIO(rest + text, newline=""))
            # What ends in \r may go on with \n.
            is_open = lines and not is_over and not lines[-1].endswith("\n")
            rest = lines.pop() if is_open else ""
            yield lines

    def _reader_of(self, lines: Iterable[str]) -> Any:
        return csv.reader(lines, delimiter=self._separator, strict=True)

    def _take(self, reader: Any, n_rows: int | None) -> _Rows:
        """Take rows from a reader, as many as asked for or some less."""
        n_before = self._n_lines + reader.line_num
        rows: list[list[str]] = []
        try:
            while more := list(islice(reader, n_rows)):
                rows += more
                if rows[-1]:
                    break  # else it may have come to the empty lines at the end
        except csv.Error as error:
            line = self._n_lines + reader.line_num
            raise RefusedError(
                f"line {line} of {self.name} cannot be read ({error}); check its quotes"
            ) from error
        while rows and not rows[-1]:
            rows.pop()
        lines: Sequence[int] = range(n_before + 1, n_before + len(rows) + 1)
        if self._n_lines + reader.line_num != n_before + len(rows):
            lines = list(accumulate(map(_n_lines_of, rows), initial=n_before))[1:]
        return self._checked(rows, lines)

    def _checked(self, rows: list[list[str]], lines: Sequence[int]) -> _Rows:
        """Give every row the fields of the first; empty lines are no rows, or gaps."""
        width = self._width or next((len(row) for row in rows if row), 0)
        if not all(rows) and width == 1:
            rows = [row or [""] for row in rows]
        elif not all(rows):
            lines = [line for line, row in zip(lines, rows, strict=True) if row]
            rows = list(filter(None, rows))
        for row, line in zip(rows, lines, strict=True) if set(map(len, rows)) - {width} else ():
            if len(row) != width:
                raise RefusedError(
                    f"line {line} of {self.name} has {len(row)} fields, and the first has "
                    f"{width}; give every line as many"
                )
        return rows, lines


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep Python from looking for cycles, which takes longer than reading; texts have none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _n_lines_of(row: list[str]) -> int:
    """Count the lines of a row, which may have breaks in quotes."""
    breaks = (field.count("\n") + field.count("\r") - field.count("\r\n") for field in row)
    return 1 + sum(breaks)


def check_names(names: Sequence[str], file: str) -> None:
    """Refuse a name that stands for two columns."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise RefusedError(
            f"{file} has two columns of the same name ({listed(twice)}); rename one, or say "
            "--header no if the first line is data"
        )


def _pieces(lines: Iterable[str]) -> Iterator[str]:
    """Break lines at every kind of break, which are blanks too."""
    return chain.from_iterable(map(str.splitlines, lines))


def _has_blanks(lines: Iterable[str]) -> bool:
    """Tell whether blanks are all that is between numbers, as NumPy writes them."""
    looked_at = [piece for piece in islice(_pieces(lines), 50) if piece.strip()]
    n_tabs = {piece.count("\t") for piece in looked_at}
    if len(n_tabs) == 1 and 0 not in n_tabs:
        return False  # tabs are separators, and there may be nothing between two of them
    start = [piece.split() for piece in looked_at]
    if not start or len(start[0]) == 1 or len(set(map(len, start))) > 1:
        return False
    return all(is_numeral(field) or is_gap(field) for fields in start[1:] for field in fields)


def _separator(lines: Iterator[str], usual: str) -> str:
    """Find the separator that gives rows of one length, and more numbers than any other."""
    best, most = usual, -1.0
    for separator in dict.fromkeys((usual, *_SEPARATORS)):
        # Not strict: what is wrong is said when all is read.
        reader = csv.reader(copy(lines), delimiter=separator)
        try:
            rows = list(islice((row for row in reader if row), 50))
        except csv.Error:
            continue
        if not rows or len(rows[0]) == 1:
            continue
        fields = [field for row in rows for field in row]
        share = sum(map(is_numeral, fields)) / len(fields)
        # Lines of different lengths speak against it, but someone has to name them.
        score = share + 1 if len(set(map(len, rows))) == 1 else 0.0
        if score > most:
            best, most = separator, score
    return best


def _names_columns(first: list[str], body: list[list[str]], name: str) -> bool:
    """Tell whether the first line names the columns: by columns of numbers, how they start."""
    is_named, heads = False, []
    for place, head in enumerate(first):
        below = [row[place] for row in body if not is_gap(row[place])]
        if not all(is_numeral(text) for text in below):
            continue
        if is_numeral(head):
            heads.append(place)
        elif not is_gap(head) and below:
            is_named = True
    if is_named and heads:
        raise _may_be_both(name, "has numbers and words above numbers")
    if body and _counts_columns([first[place] for place in heads]):
        if first[0].strip() == "" and _is_index([row[0] for row in body]):
            return True
        # One number beside words is too often data, and so is what goes on in the rows below.
        is_telling = len(heads) > 1 or len(first) == 1
        if is_telling and not all(_goes_up([row[place] for place in heads]) for row in body):
            raise _may_be_both(name, f"counts the columns from {first[heads[0]].strip()}")
    return not heads


def _may_be_both(name: str, why: str) -> RefusedError:
    return RefusedError(
        f"the first line of {name} {why}, and may be names or data; say which with --header yes or "
        "--header no"
    )


def _counts_columns(heads: list[str]) -> bool:
    """Tell whether numbers are those that pandas calls columns by which have no names."""
    return bool(heads) and heads[0].strip() in ("0", "1") and _goes_up(heads)


def _goes_up(texts: list[str]) -> bool:
    """Tell whether each is a whole number, and the next after the one before."""
    if not _are_whole(texts):
        return False
    start = int(texts[0])
    return [int(text) for text in texts] == list(range(start, start + len(texts)))


def _is_index(texts: list[str]) -> bool:
    """Tell whether a column without a name is an index: whole numbers, or words."""
    return _are_whole(texts) or not all(is_numeral(text) or is_gap(text) for text in texts)


def _are_whole(texts: list[str]) -> bool:
    return all(_WHOLE.fullmatch(text.strip()) for text in texts)


def text_of(
    table: Table, added: dict[str, FloatArray], ending: str, *, with_names: bool = True
) -> bytes:
    """Write a table with more columns, in the way of the file it came from if that is alike."""
    style = table.style
    separator = style.separator if style.ending == ending else TEXT[ending]
    columns = table.written.items()
    kept = {name: _as_texts(column) for name, column in columns if name not in added}
    for name, values in added.items():
        texts = list(map(repr, np.asarray(values).tolist()))  # as numbers of Python
        # As those that stay: of two marks in a file one would be read as between thousands.
        kept[name] = [text.replace(".", style.decimal) for text in texts]
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    if with_names:
        writer.writerow(kept)
    rows = zip(*kept.values(), strict=True)
    if len(kept) == 1 or any(_has_quotes(texts, separator) for texts in kept.values()):
        writer.writerows(rows)
    else:  # the same in a third of the time
        file.writelines(f"{separator.join(row)}\n" for row in rows)
    # Names of files may hold bytes that are no text.
    return file.getvalue().encode("utf-8", errors="surrogateescape")


def _has_quotes(texts: list[str], separator: str) -> bool:
    """Tell whether some text has to stand in quotes."""
    everything = "".join(texts)
    return any(mark in everything for mark in (separator, '"', "\n", "\r"))


def _as_texts(column: Any) -> list[str]:
    if isinstance(column, list):
        return column
    return ["" if value is None else str(value) for value in values_of(column)]
