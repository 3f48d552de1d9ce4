"""Tables in text: separators, decimal marks and a line of names are found, not asked for."""

from __future__ import annotations

import csv
import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain, islice
from typing import Any, TextIO

import numpy as np

from ptunfold.io.lines import Lines, Readable
from ptunfold.io.numerals import decimal_mark, is_gap, is_numeral
from ptunfold.io.table import Parts, RefusedError, Style, Table, listed
from ptunfold.types import FloatArray

TEXT = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
_SEPARATORS = (",", ";", "\t", "|")
_LOOKED_AT = 1000  # rows, to find out how a table is written
_A_FIELD = 64  # bytes of memory, without its letters


class TextParts(Parts):
    """A table in text, as many rows at a time as one likes.

    Parameters
    ----------
    file : file or pipe
        Open for reading bytes.
    name : str
        What the file is called in messages.
    ending : str
        Its ending, for the usual separator.
    has_header : bool, optional
        Whether the first line holds names; by default it does unless there are numbers in it.
    n_bytes : int, optional
        How long the file is, if that is known.
    """

    unit = "bytes"

    def __init__(
        self,
        file: Readable,
        name: str,
        ending: str,
        has_header: bool | None = None,
        n_bytes: int | None = None,
    ) -> None:
        self._file, self._name, self.total = file, name, n_bytes
        self._lines = Lines(file, name)
        if _has_blanks(self._lines.ahead()):
            self._lines.put_tabs()
        self._separator = _separator(self._lines.ahead, TEXT[ending])
        self._width = 0  # not known
        self._n_lines = self._n_rows = 0  # before those of the reader
        head, _ = self._take(self._reader_of(self._lines.ahead()), _LOOKED_AT + 1)
        if not head:
            raise RefusedError(f"{name} is empty")
        self._width = len(head[0])
        if has_header is None:
            has_header = _names_columns(head[0], head[1:], name)
        body = head[has_header:][:_LOOKED_AT]
        self.is_named = has_header
        self.names = [f"x{place}" for place in range(self._width)]
        if has_header:
            self.names = [field.strip() for field in head[0]]
            check_names(self.names, name)
        decimal = decimal_mark(list(zip(*body, strict=True)), self._separator)
        self._style = Style(ending, self._separator, decimal)
        # What pandas writes first, unless it is told not to.
        start = body[0][0].strip() if has_header and self.names[0] == "" and body else ""
        self._count_from = int(start) if start in ("0", "1") else None
        letters = sum(len(field) for row in body for field in row)
        self.n_bytes_a_row = 2 * letters / max(len(body), 1) + _A_FIELD * self._width
        self._reader = self._reader_of(self._lines.take())
        self._has_header_ahead = has_header

    def read(self, n_rows: int | None = None) -> Table | None:
        """Read so many rows, or all; None if there are no more."""
        with _no_collection():
            columns, lines = self._read_columns(n_rows)
        if not columns:
            return None
        counts = self._count_from is not None and _counts(
            columns[0], self._count_from + self._n_rows
        )
        part = Table(
            self.names,
            columns,
            is_named=self.is_named,
            index=frozenset([""] if counts else []),
            style=self._style,
            first_row=self._n_rows,
            lines=lines,
            is_last=not any(map(_is_row, self._lines.ahead(self._reader.line_num))),
        )
        self._n_rows += part.n_rows
        return part

    def _read_columns(self, n_rows: int | None) -> tuple[list[list[str]], Sequence[int]]:
        rows: list[list[str]] = []
        while not rows:  # there may be but names
            n_more = int(self._has_header_ahead)
            found, lines = self._take(self._reader, None if n_rows is None else n_rows + n_more)
            if not found:
                return [], []
            rows, lines, self._has_header_ahead = found[n_more:], lines[n_more:], False
        return [list(column) for column in zip(*rows, strict=True)], lines

    @property
    def done(self) -> int:
        """How many bytes were read."""
        return self._lines.offset(self._reader.line_num)

    @property
    def position(self) -> dict[str, int]:
        """Where the next rows are."""
        n_taken = self._reader.line_num
        return {
            "row": self._n_rows,
            "line": self._n_lines + n_taken,
            "offset": self._lines.offset(n_taken),
            "breaks": self._lines.n_breaks(n_taken),
        }

    def seek(self, position: dict[str, int]) -> None:
        """Go on at a position in the same file."""
        self._file.seek(position["offset"])  # type: ignore[attr-defined]
        self._lines.go_on(position["offset"], position["breaks"])
        self._n_lines, self._n_rows = position["line"], position["row"]
        self._reader = self._reader_of(self._lines.take())
        self._has_header_ahead = False

    def _reader_of(self, lines: Iterable[str]) -> Any:
        return csv.reader(lines, delimiter=self._separator, strict=True)

    def _take(self, reader: Any, n_rows: int | None) -> tuple[list[list[str]], Sequence[int]]:
        """Take rows from a reader, as many as asked for or some less, each with its line."""
        n_before = self._n_lines + reader.line_num
        rows: list[list[str]] = []
        try:
            while more := list(islice(reader, n_rows)):
                rows += more
                if rows[-1]:
                    break  # else it may have come to the empty lines at the end
        except csv.Error as error:
            raise RefusedError(
                f"line {self._n_lines + reader.line_num} of {self._name} cannot be read ({error}); "
                "check its quotes"
            ) from error
        while rows and not rows[-1]:
            rows.pop()
        n_after = n_before + len(rows)
        lines: Sequence[int] = range(n_before + 1, n_after + 1)
        if self._n_lines + reader.line_num != n_after:
            lines = list(accumulate(map(_n_lines_of, rows), initial=n_before))[1:]
        return self._checked(rows, lines)

    def _checked(
        self, rows: list[list[str]], lines: Sequence[int]
    ) -> tuple[list[list[str]], Sequence[int]]:
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
                    f"line {line} of {self._name} has {len(row)} fields, and the first has "
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


def _is_row(line: str) -> bool:
    return line.strip("\r\n") != ""


def _n_lines_of(row: list[str]) -> int:
    """Count the lines of a row, which may have breaks in quotes."""
    breaks = (field.count("\n") + field.count("\r") - field.count("\r\n") for field in row)
    return 1 + sum(breaks)


def read_text(file: Readable, name: str, ending: str, has_header: bool | None = None) -> Table:
    """Read a whole table; parameters as of `TextParts`."""
    parts = TextParts(file, name, ending, has_header)
    table = parts.read()
    return Table(parts.names, [], is_named=parts.is_named) if table is None else table


def check_names(names: Sequence[str], file: str) -> None:
    """Refuse a name that stands for two columns."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise RefusedError(
            f"{file} has two columns of the same name ({listed(twice)}); rename one, or say "
            "--header no if the first line is data"
        )


def _has_blanks(lines: Iterable[str]) -> bool:
    """Tell whether blanks are all that is between numbers, as NumPy writes them."""
    pieces = islice(chain.from_iterable(line.splitlines() for line in lines), 50)
    start = [piece.split() for piece in pieces if piece.strip()]
    if not start or len(start[0]) == 1 or len(set(map(len, start))) > 1:
        return False
    return all(is_numeral(field) or is_gap(field) for fields in start[1:] for field in fields)


def _separator(lines: Callable[[], Iterator[str]], usual: str) -> str:
    """Find the separator that gives rows of one length, and more numbers than any other."""
    best, most = usual, -1.0
    for separator in dict.fromkeys((usual, *_SEPARATORS)):
        # Not strict: what is wrong is said when all is read.
        reader = csv.reader(lines(), delimiter=separator)
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
    is_named = is_data = False
    for place, head in enumerate(first):
        below = [row[place] for row in body if not is_gap(row[place])]
        if not all(is_numeral(text) for text in below):
            continue
        if is_numeral(head):
            is_data = True
        elif not is_gap(head) and below:
            is_named = True
    if is_named and is_data:
        raise RefusedError(
            f"the first line of {name} has numbers and words above numbers, and may be names or "
            "data; say which with --header yes or --header no"
        )
    return not is_data


def _counts(column: list[str], start: int) -> bool:
    return all(text.strip() == str(row) for row, text in enumerate(column, start=start))


def write_text(
    file: TextIO,
    table: Table,
    added: dict[str, FloatArray],
    ending: str,
    *,
    with_names: bool = True,
) -> None:
    """Write a table with more columns, in the way of the file it came from if that is alike."""
    style = table.style
    separator = style.separator if style.ending == ending else TEXT[ending]
    with_commas = style.decimal == "," and separator != ","
    kept = {
        name: _as_texts(column)
        for name, column in zip(table.names, table.columns, strict=True)
        if name not in added
    }
    for name, values in added.items():
        texts = [repr(float(value)) for value in values]
        kept[name] = [text.replace(".", ",") for text in texts] if with_commas else texts
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    if with_names:
        writer.writerow(kept)
    writer.writerows(zip(*kept.values(), strict=True))


def _as_texts(column: Any) -> list[str]:
    if isinstance(column, list):
        return column
    values = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    return ["" if value is None else str(value) for value in values]
