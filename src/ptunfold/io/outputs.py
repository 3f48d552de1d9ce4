"""Files that are there whole or not at all, one or several together."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from ptunfold.interrupts import held_interrupts

PART = ".ptunfold-"  # what files that are not finished are called, in the beginning


@contextmanager
def whole_file(path: str | Path, *, is_durable: bool = True) -> Iterator[Path]:
    """Give a name to write to; what was written gets its own name only when all is done.

    After an error, or Ctrl-C, nothing is left, and a file that was there before is as it was. If it
    is durable, that holds after a loss of power too.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path={path!r} is not the name of a file; pass one")
    path = Path(path)
    _check_place(path, path)
    part: Path | None = None
    try:
        with held_interrupts():
            part = _part_of(path)
            mode = part.stat().st_mode
        yield part
        part.chmod(mode)  # some writers make it anew, for its owner alone
        if is_durable:  # on the disk before it gets its name
            with part.open("rb+") as file:
                os.fsync(file.fileno())
        part.replace(path)
    finally:
        if part is not None:
            with held_interrupts():
                part.unlink(missing_ok=True)


class Outputs(AbstractContextManager["Outputs"]):
    """Files that are written beside their places and get their names when all are done.

    Places that cannot be written to are found at the start; what is there is replaced by `force`
    alone. After an error, or Ctrl-C, none of the files is there, and those that were there before
    are as they were.
    """

    def __init__(self, *paths: Path | None, force: bool = False) -> None:
        self._force = force
        self._targets: dict[Path, Path] = {}
        self._parts: dict[Path, Path] = {}
        self._lent: set[Path] = set()
        for path in filter(None, paths):
            self._add(path)

    def _add(self, path: Path) -> None:
        target = Path(os.path.realpath(path))  # what a link points to, not the link
        for other, place in self._targets.items():
            if place == target or (target.exists() and place.exists() and target.samefile(place)):
                raise ValueError(f"{other} and {path} are the same file; choose two names")
        _check_place(path, target)
        if target.exists() and not target.is_file():
            raise ValueError(f"{path} is a device or a pipe; pass the name of a file")
        if target.exists() and not self._force:
            raise ValueError(_is_there(path))
        try:
            with held_interrupts():
                _part_of(target).unlink()
        except OSError as error:
            raise ValueError(
                f"{path} cannot be written ({error.strerror}); choose another place"
            ) from error
        self._targets[path] = target

    @contextmanager
    def writing(self, path: Path) -> Iterator[Path]:
        """Give a name to write one of the files to; whatever fails meanwhile is of the writing."""
        part = self.begin(path)
        with writing_of(path):
            yield part

    def begin(self, path: Path, part: Path | None = None) -> Path:
        """Make the file that one is written to, beside its place.

        By default under a name that nobody else has. A `part` of a name that is always the same
        replaces what a process left there that was killed.
        """
        with held_interrupts():
            if part is None:
                part = _part_of(self._targets[path])
            else:
                part.unlink(missing_ok=True)  # not emptied: it may have got its own name too
                part.touch()
            self._parts[path] = part
        return part

    def take_over(self, path: Path, part: Path) -> None:
        """Give its name to what was written elsewhere in the folder, or leave it there."""
        self._parts[path] = part
        self._lent.add(path)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        # Names are given, and parts put away, in one go.
        with held_interrupts():
            try:
                if kind is None:
                    self._publish()
                    self._lent.clear()
            finally:
                for path, part in self._parts.items():
                    if path not in self._lent:
                        part.unlink(missing_ok=True)

    def _publish(self) -> None:
        before: dict[Path, Path | None] = {}
        try:
            for path, part in self._parts.items():
                before[path] = _second_name(self._targets[path])
                self._move(path, part)
        except BaseException:
            for path, old in before.items():
                target, part = self._targets[path], self._parts[path]
                if old is not None:
                    old.replace(target)
                elif not part.exists() or (target.exists() and target.samefile(part)):
                    target.unlink(missing_ok=True)  # it is ours
            raise
        finally:
            for old in before.values():
                if old is not None:
                    old.unlink(missing_ok=True)

    def _move(self, path: Path, part: Path) -> None:
        target = self._targets[path]
        if not self._force:
            try:
                os.link(part, target)  # which does not replace what came in between
                return
            except FileExistsError as error:
                raise ValueError(_is_there(path)) from error
            except OSError:  # no such links here
                if target.exists():
                    raise ValueError(_is_there(path)) from None
        part.replace(target)


@contextmanager
def writing_of(path: Path) -> Iterator[None]:
    """Say in a sentence that a file could not be written."""
    try:
        yield
    except OSError as error:
        raise OSError(
            f"{path} could not be written ({error.strerror or error}), so nothing was; make room, "
            "or choose another place"
        ) from error


def _check_place(path: Path, target: Path) -> None:
    if target.is_dir():
        raise ValueError(f"{path} is a folder; pass the name of a file in it")
    if not target.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent}; make it, or choose another place")


def _part_of(target: Path) -> Path:
    """Make an empty file beside a place."""
    # The same ending, which many writers go by, and no long name, which may not fit.
    name = target.with_name(f"{PART}{secrets.token_hex(8)}{target.suffix}")
    name.touch(exist_ok=False)
    return name


def _second_name(target: Path) -> Path | None:
    """Give a file that is there a second name, to take it back by."""
    if not target.exists():
        return None
    name = _part_of(target)
    name.unlink()
    with suppress(OSError):
        os.link(target, name)
        return name
    shutil.copy2(target, name)
    return name


def _is_there(path: Path) -> str:
    return f"{path} is there already; choose another name, or --force to replace it"
