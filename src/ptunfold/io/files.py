"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ptunfold.interrupts import held_interrupts


@contextmanager
def whole_file(path: str | Path, *, is_durable: bool = True) -> Iterator[Path]:
    """Give a name to write to; what was written gets its own name only when all is done.

    After an error, or Ctrl-C, nothing is left, and a file that was there before is as it was. If it
    is durable, that holds after a loss of power too.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "a.txt") as name:
    ...     _ = name.write_text("all of it")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path={path!r} is not the name of a file; pass one")
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; pass the name of a file in it")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent}; make it, or choose another place")
    part: Path | None = None
    try:
        with held_interrupts():
            # The same ending, which many writers go by.
            handle, name = tempfile.mkstemp(
                dir=path.parent,
                prefix=f".{path.name.removesuffix(path.suffix)}-",
                suffix=path.suffix,
            )
            os.close(handle)
            part = Path(name)
        yield part
        part.chmod(0o666 & ~_umask())
        if is_durable:  # on the disk before it gets its name
            with part.open("rb+") as file:
                os.fsync(file.fileno())
        part.replace(path)
    finally:
        if part is not None:
            with held_interrupts():
                part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
