"""Tables in text: separators, decimal marks and a line of names are found, not asked for."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any, TextIO

import numpy as np

from ptunfold.io.numerals import decimal_mark, is_gap, is_numeral
from ptunfold.io.table import RefusedError, Style, Table, listed
from ptunfold.types import FloatArray

TEXT = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
_SEPARATORS = (",", ";", "\t", "|")
_LOOKED_AT = 1000  # rows, to find out how a table is written
_Rows = list[tuple[int, list[str]]]


def read_text(content: bytes, name: str, ending: str, has_header: bool | None = None) -> Table:
    """Read a table.

    Parameters
    ----------
    content : bytes
        Of the file.
    name : str
        What the file is called in messages.
    ending : str
        Its ending, for the usual separator.
    has_header : bool, optional
        Whether the first line holds names; by default it does unless there are numbers in it.
    """
    text = _without_blanks(_decode(content, name))
    separator = _separator(text, TEXT[ending])
    rows = _rows(text, separator, name)
    first = rows[0][1]
    for number, row in rows:
        if len(row) != len(first):
            raise RefusedError(
                f"line {number} of {name} has {len(row)} fields, and the first has {len(first)}; "
                "give every line as many"
            )
    if has_header is None:
        has_header = _names_columns(first, [row for _, row in rows[1 : _LOOKED_AT + 1]], name)
    body = [row for _, row in rows[has_header:]]
    names = [f"x{place}" for place in range(len(first))]
    if has_header:
        names = [name.strip() for name in first]
        check_names(names, name)
    columns = [list(column) for column in zip(*body, strict=True)]
    decimal = decimal_mark([column[:_LOOKED_AT] for column in columns], separator)
    style = Style(ending, separator, decimal)
    # What pandas writes first, unless it is told not to.
    counts = has_header and names[0] == "" and bool(columns) and _counts(columns[0])
    index = frozenset([""] if counts else [])
    return Table(names, columns, is_named=has_header, index=index, style=style)


def check_names(names: Sequence[str], file: str) -> None:
    """Refuse a name that stands for two columns."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise RefusedError(
            f"{file} has two columns of the same name ({listed(twice)}); rename one, or say "
            "--header no if the first line is data"
        )


def _decode(content: bytes, name: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise RefusedError(
            f"{name} is no table in UTF-8 text (line {line}: {error.reason}); save it as UTF-8"
        ) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise RefusedError(
            f"line {line} of {name} holds a NUL byte, which is not text; check how it was written"
        )
    return text


def _rows(text: str, separator: str, name: str) -> _Rows:
    """Split a text into rows, each with the line it ends on; empty lines are none."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise RefusedError(
            f"line {reader.line_num} of {name} cannot be read ({error}); check its quotes"
        ) from error
    while rows and not rows[-1][1]:
        rows.pop()
    if all(len(row) <= 1 for _, row in rows):
        rows = [(line, row or [""]) for line, row in rows]  # of a single column they are gaps
    rows = [(line, row) for line, row in rows if row]
    if not rows:
        raise RefusedError(f"{name} is empty")
    return rows


def _without_blanks(text: str) -> str:
    """Put tabs for blanks, where these are all that is between numbers, as NumPy writes them."""
    lines = text.splitlines()
    start = [line.split() for line in lines[:50] if line.strip()]
    if not start or len(start[0]) == 1 or len(set(map(len, start))) > 1:
        return text
    if not all(is_numeral(field) or is_gap(field) for fields in start[1:] for field in fields):
        return text
    return "\n".join("\t".join(line.split()) for line in lines)


def _separator(text: str, usual: str) -> str:
    """Find the separator that gives rows of one length, and more numbers than any other."""
    best, most = usual, -1.0
    for separator in dict.fromkeys((usual, *_SEPARATORS)):
        # Not strict: what is wrong is said when all is read.
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
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


def _counts(column: list[str]) -> bool:
    start = column[0].strip()
    return start in ("0", "1") and all(
        text.strip() == str(row) for row, text in enumerate(column, start=int(start))
    )


def write_text(file: TextIO, table: Table, added: dict[str, FloatArray], ending: str) -> None:
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
    writer.writerow(kept)
    writer.writerows(zip(*kept.values(), strict=True))


def _as_texts(column: Any) -> list[str]:
    if isinstance(column, list):
        return column
    values = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    return ["" if value is None else str(value) for value in values]
