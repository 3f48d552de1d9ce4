"""An output that grows part by part, and what is left of it when the process ends too early."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from ptunfold.interrupts import held_interrupts
from ptunfold.io.outputs import writing_of

fcntl: Any
try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None

BINARY = getattr(os, "O_BINARY", 0)
_VERSION = 2
_BLOCK = 1 << 20
_ENDS = 1 << 16  # bytes at both ends of a file that are compared
_OTHERS = {
    "model": "another model",
    "input": "another input, or one that was changed",
    "settings": "other options",
    "ptunfold": "another version of ptunfold",
}
# What comes from outside, and may be over when the work is gone on with; no fault of the data.
_INTERRUPTIONS = (KeyboardInterrupt, OSError, MemoryError)


class Partial(AbstractContextManager["Partial"]):
    """A file beside its place that is only added to, with a journal of what is sure to be there.

    What is written after the last mark is forgotten when the work is gone on with. Both files stay
    after an interruption, and if the process is killed; not after an error in the data.

    `about` tells what the content is made from, in what JSON can hold: work on other things is not
    gone on with. Without it, nothing is marked, and nothing kept. `resume` goes on with what is
    there, `force` drops it. The first `n_head` bytes are written last. `state` is what was marked
    last, `path` the file, and `size` its length.
    """

    def __init__(
        self,
        target: Path,
        about: dict[str, Any] | None = None,
        *,
        resume: bool = False,
        force: bool = False,
        n_head: int = 0,
    ) -> None:
        # Names that are short, and the same for the same place.
        folder, name = os.path.split(os.path.realpath(target))
        stem = f".ptunfold-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
        self.path, self._journal = Path(folder, f"{stem}.part"), Path(folder, f"{stem}.json")
        self._next = Path(folder, f"{stem}.next")
        self._target, self._about, self._n_head = target, about, n_head
        self.state: dict[str, Any] | None = None
        self._is_whole = False
        self.size, self._checksum = n_head, 0
        with held_interrupts():
            self._file = self._open()
            try:
                self._begin(resume, force)
            except BaseException:
                self._file.close()
                raise

    def _open(self) -> BinaryIO:
        """Open the file, or make it, and keep others away from it."""
        while True:
            file = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT | BINARY, 0o666), "r+b")
            try:
                if not take_lock(file.fileno()):
                    raise ValueError(
                        f"{self._target} is being written by another process; wait for it, or "
                        "choose another name"
                    )
                about = os.fstat(file.fileno())
                is_there = self.path.exists() and os.path.samestat(about, self.path.stat())
                if is_there and about.st_nlink == 1:
                    return file
                if is_there:  # it had got its own name when the process was killed
                    self.path.unlink()
                    self._forget()
            except BaseException:
                file.close()
                raise
            file.close()  # and again: another process has finished it in between

    def _begin(self, resume: bool, force: bool) -> None:
        if not self._journal.exists() or (force and not resume):
            self._forget()
            self._file.truncate(0)
            self._file.write(bytes(self._n_head))
            return
        found = self._read_journal()
        if not resume:
            raise ValueError(
                f"the work on {self._target} was stopped when {found['state']['rows']:,} rows were "
                "done; --resume goes on with it, --force starts anew"
            )
        for key, other in _OTHERS.items():
            if found["about"].get(key) != (self._about or {}).get(key):
                raise ValueError(
                    f"the work on {self._target} that was stopped is of {other}; pass what it was "
                    "begun with, or --force without --resume to start anew"
                )
        self._file.seek(self._n_head)
        while block := self._file.read(min(_BLOCK, max(found["size"] - self.size, 0))):
            self._count(block)
        if (self.size, self._checksum) != (found["size"], found["checksum"]):
            raise self._damage()
        self.state = found["state"]
        self._next.unlink(missing_ok=True)
        self._file.truncate(self.size)
        self._file.seek(self.size)

    def _read_journal(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._journal.read_text(encoding="utf-8"))
            if found["version"] != _VERSION:
                found["about"]["ptunfold"] = None
            int(found["size"]), int(found["checksum"]), int(found["state"]["rows"])
        except (OSError, ValueError, TypeError, LookupError) as error:
            raise self._damage() from error
        return found

    def _damage(self) -> ValueError:
        return ValueError(
            f"what was kept of the work on {self._target} is damaged; --force without --resume "
            "starts anew"
        )

    def write(self, content: bytes) -> None:
        """Add something at the end."""
        with writing_of(self._target):
            self._file.write(content)
        self._count(content)

    def _count(self, content: bytes) -> None:
        self.size += len(content)
        self._checksum = zlib.crc32(content, self._checksum)

    def mark(self, state: dict[str, Any]) -> None:
        """Let all that is written be there for sure, and with it the state of the work."""
        if self._about is None:
            return
        told = {"version": _VERSION, "about": self._about, "state": state}
        told |= {"size": self.size, "checksum": self._checksum}
        with writing_of(self._target):
            self._sync()
            # Always the same name: what a kill leaves there, the next process finds.
            with self._next.open("w", encoding="utf-8") as file:
                file.write(json.dumps(told))
                file.flush()
                os.fsync(file.fileno())
            self._next.replace(self._journal)
        self.state = state

    def _forget(self) -> None:
        for name in (self._journal, self._next):
            name.unlink(missing_ok=True)

    def finish(self, head: bytes = b"") -> None:
        """Say that nothing is missing but the head, which may come again."""
        assert len(head) == self._n_head
        with writing_of(self._target):
            self._file.seek(0)
            self._file.write(head)
            self._sync()
        self._is_whole = True
        if fcntl is None:  # where files that are open cannot be moved
            self._file.close()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        with held_interrupts():
            if fcntl is None:
                self._file.close()
            if not self.is_kept(error):
                self.path.unlink(missing_ok=True)
                self._forget()
            self._file.close()

    def is_kept(self, error: BaseException | None) -> bool:
        """Tell whether there is something to go on with after an error."""
        if error is None or self.state is None:
            return False
        return self._is_whole or isinstance(error, _INTERRUPTIONS)


def take_lock(file: int) -> bool:
    """Keep others away from a file that is open; false if another process has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # else there are no locks in this folder
        return not isinstance(error, BlockingIOError)
    return True


def let_go(file: int) -> None:
    """Let others have the file, though a forked process may have it open too."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)


def fingerprint(path: Path) -> dict[str, Any]:
    """Tell one file from another, and from itself when it was changed, without reading it all."""
    about = path.stat()
    with path.open("rb") as file:
        ends = hashlib.sha256(file.read(_ENDS))
        file.seek(max(about.st_size - _ENDS, 0))
        ends.update(file.read(_ENDS))
    return {"size": about.st_size, "changed": about.st_mtime_ns, "ends": ends.hexdigest()}
