"""Several files that appear together, each whole, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from ptunfold.interrupts import held_interrupts


class Outputs:
    """Files that are written beside their places and get their names when all are done.

    Places that cannot be written to are found at the start. After an error, or Ctrl-C, none of
    the files is there, and those that were there before are as they were.

    Parameters
    ----------
    *paths : path or None
        The files to write; None for none.
    force : bool
        Replace files that are there.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Outputs(folder / "a.txt", folder / "b.txt") as outputs:
    ...     for name in ("a.txt", "b.txt"):
    ...         with outputs.writing(folder / name) as part:
    ...             _ = part.write_text("all of it")
    >>> sorted(file.name for file in folder.iterdir())
    ['a.txt', 'b.txt']
    """

    def __init__(self, *paths: Path | None, force: bool = False) -> None:
        self._force = force
        self._targets: dict[Path, Path] = {}
        self._parts: dict[Path, Path] = {}
        self._lent: set[Path] = set()
        for path in paths:
            if path is not None:
                self._add(path)

    def _add(self, path: Path) -> None:
        target = Path(os.path.realpath(path))  # what a link points to, not the link
        for other, place in self._targets.items():
            if place == target or (target.exists() and place.exists() and target.samefile(place)):
                raise ValueError(f"{other} and {path} are the same file; choose two names")
        if not target.parent.is_dir():
            raise ValueError(f"there is no folder {path.parent}; make it, or choose another place")
        if target.is_dir():
            raise ValueError(f"{path} is a folder; pass the name of a file in it")
        if target.exists() and not target.is_file():
            raise ValueError(f"{path} is a device or a pipe; pass the name of a file")
        if target.exists() and not self._force:
            raise ValueError(_is_there(path))
        try:
            with held_interrupts():
                handle, name = _part_of(target)
                os.close(handle)
                os.unlink(name)
        except OSError as error:
            raise ValueError(
                f"{path} cannot be written ({error.strerror}); choose another place"
            ) from error
        self._targets[path] = target

    @contextmanager
    def writing(self, path: Path) -> Iterator[Path]:
        """Give a name to write one of the files to."""
        target = self._targets[path]
        with held_interrupts():
            handle, name = _part_of(target)
            os.close(handle)
            self._parts[path] = Path(name)
        with writing_of(path):
            yield self._parts[path]

    def take_over(self, path: Path, part: Path) -> None:
        """Give one of the files its name that was written elsewhere in its folder.

        If that fails, it is left where it is.
        """
        self._parts[path] = part
        self._lent.add(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
                self._take_back(path, old)
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

    def _take_back(self, path: Path, old: Path | None) -> None:
        target, part = self._targets[path], self._parts[path]
        if old is not None:
            old.replace(target)
        elif not part.exists() or (target.exists() and target.samefile(part)):
            target.unlink(missing_ok=True)


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


def _part_of(target: Path) -> tuple[int, str]:
    # The same ending, which many writers go by, and no long name, which may not fit.
    return tempfile.mkstemp(dir=target.parent, prefix=".ptunfold-", suffix=target.suffix)


def _second_name(target: Path) -> Path | None:
    """Give a file that is there a second name, to take it back by."""
    if not target.exists():
        return None
    handle, name = _part_of(target)
    os.close(handle)
    os.unlink(name)
    with suppress(OSError):
        os.link(target, name)
        return Path(name)
    shutil.copy2(target, name)
    return Path(name)


def _is_there(path: Path) -> str:
    return f"{path} is there already; choose another name, or --force to replace it"
