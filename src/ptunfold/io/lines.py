"""Lines of a text, decoded as they are read, however long the file is."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from itertools import chain
from typing import Protocol

from ptunfold.io.table import RefusedError

_BLOCK = 1 << 18  # bytes


class Readable(Protocol):
    """A file, or a pipe."""

    def read1(self, size: int, /) -> bytes:
        """Read what is there, at most so many bytes; none at the end."""


class Lines:
    r"""Lines that are taken one after the other, and can be looked at before.

    Who takes them has to say how many were taken: counting them here would take as long as
    reading them. What is no text in UTF-8 is refused where it is read, with the number of its line.

    Parameters
    ----------
    file : file or pipe
        Open for reading bytes.
    name : str
        What the file is called in messages.

    Examples
    --------
    >>> lines = Lines(io.BytesIO(b"a,b\n1,2\r\n"), "a.csv")
    >>> taking = lines.take()
    >>> next(taking), lines.offset(1), list(lines.ahead(1))
    ('a,b\n', 4, ['1,2\r\n'])
    """

    def __init__(self, file: Readable, name: str) -> None:
        self._file, self.name = file, name
        self._has_tabs = False
        start = b""
        while len(start) < len(codecs.BOM_UTF8) and (more := file.read1(1)):
            start += more
        has_mark = start == codecs.BOM_UTF8
        self.go_on(len(start) if has_mark else 0, 0)
        self._unread = b"" if has_mark else start

    def go_on(self, offset: int, n_breaks: int) -> None:
        """Go on at an offset of before, to which the file is set, after so many breaks."""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._unread = b""
        self._rest = ""  # of a line whose end is not read
        self._is_over = False
        # Lines that are not taken, in blocks, and what is before them.
        self._blocks: list[list[str]] = []
        self._n_taken, self._offset, self._n_breaks = 0, offset, n_breaks

    def take(self) -> Iterator[str]:
        """Take lines from the start, or from where it was gone on; once."""
        return chain.from_iterable(self._take_blocks())

    def _take_blocks(self) -> Iterator[list[str]]:
        while self._blocks or self._read():
            block = self._blocks[0]
            yield [_with_tabs(line) for line in block] if self._has_tabs else block
            self._blocks.pop(0)
            text = "".join(block)
            self._n_taken += len(block)
            self._offset += len(text.encode())
            self._n_breaks += text.count("\n")

    def ahead(self, n_taken: int = 0) -> Iterator[str]:
        """Look at the lines that come after those that were taken."""
        start, place = n_taken - self._n_taken, 0
        while place < len(self._blocks) or self._read():
            for line in self._blocks[place][start:]:
                yield _with_tabs(line) if self._has_tabs else line
            start, place = 0, place + 1

    def offset(self, n_taken: int) -> int:
        """Return where in the file the lines end that were taken."""
        return self._offset + len(self._taken(n_taken).encode())

    def n_breaks(self, n_taken: int) -> int:
        """Count the line breaks before `offset`."""
        return self._n_breaks + self._taken(n_taken).count("\n")

    def _taken(self, n_taken: int) -> str:
        """Put together what was taken of the block at hand."""
        return "".join(self._blocks[0][: n_taken - self._n_taken]) if self._blocks else ""

    def put_tabs(self) -> None:
        """Put tabs for blanks; before any line is taken."""
        self._has_tabs = True
        self._blocks = [self._split("".join(block)) for block in self._blocks]

    def _read(self) -> bool:
        """Read another block of lines; False if there is none."""
        lines: list[str] = []
        while not lines and not self._is_over:
            # More for a long line, or it would be put together again and again.
            content = self._unread + self._file.read1(max(_BLOCK, len(self._rest)))
            self._is_over = not content
            lines = self._split(self._rest + self._decode(content))
            self._unread, self._rest = b"", ""
            # What ends in \r may go on with \n.
            if lines and not self._is_over and not lines[-1].endswith("\n"):
                self._rest = lines.pop()
        if lines:
            self._blocks.append(lines)
        return bool(lines)

    def _decode(self, content: bytes) -> str:
        try:
            text = self._decoder.decode(content, final=not content)
        except UnicodeDecodeError as error:
            line = self._n_decoded_breaks + error.object[: error.start].count(b"\n") + 1
            raise RefusedError(
                f"{self.name} is no table in UTF-8 text (line {line}: {error.reason}); save it as "
                "UTF-8"
            ) from error
        if "\0" in text:
            line = self._n_decoded_breaks + text[: text.index("\0")].count("\n") + 1
            raise RefusedError(
                f"line {line} of {self.name} holds a NUL byte, which is not text; check how it was "
                "written"
            )
        return text

    @property
    def _n_decoded_breaks(self) -> int:
        blocks = sum(line.count("\n") for block in self._blocks for line in block)
        return self._n_breaks + blocks + self._rest.count("\n")

    def _split(self, text: str) -> list[str]:
        if self._has_tabs:  # any break is a blank, and has to stay a break
            return text.splitlines(keepends=True)
        return list(io.StringIO(text, newline=""))


def _with_tabs(line: str) -> str:
    return "\t".join(line.split()) + "\n"
