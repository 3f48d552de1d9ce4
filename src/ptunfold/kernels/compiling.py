"""Compile kernels, and keep what is compiled for the next process.

Numba's own cache fails where no folder can be written to or a file is damaged, sees only the file
that a kernel is in, and takes the code of another signature if two processes saved at once.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from time import perf_counter

from numba import config, njit
from numba.core.compiler_lock import global_compiler_lock

from ptunfold.caller import warn
from ptunfold.interrupts import unswallowed_interrupts

# Sums in any order, so that they are done with vector instructions. A loop that sums must write
# into no array: LLVM would see by the addresses, while it runs, whether that array may be one of
# those it reads, and sum in another order if it lies close behind them.
SUMS = {"reassoc", "contract"}


def compiled(variant="", **options):
    """Compile a function when it is called; it releases the GIL.

    Parameters
    ----------
    variant : str
        Tells apart functions whose code is the same and whose callees are not.
    **options
        Others of Numba's.
    """
    options.setdefault("no_cfunc_wrapper", True)  # nobody passes kernels on as pointers

    def decorate(function):
        function.__qualname__ += variant  # which names the file
        try:
            dispatcher = njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:
            _say_that_nothing_is_kept()
            return njit(nogil=True, **options)(function)
        with suppress(AttributeError):  # Numba may be told to compile nothing, or be another one
            dispatcher._cache = _Cache(dispatcher._cache)
            dispatcher.compile = _heedful(dispatcher.compile)
        return dispatcher

    return decorate


# Kernels that are imported when they are needed are so with this in hand: see below.
loading = global_compiler_lock
if hasattr(os, "register_at_fork"):
    # A fork waits for the kernel that another thread is loading or compiling: the child does not
    # have that thread, and would wait for its lock for ever.
    os.register_at_fork(
        before=loading.acquire, after_in_parent=loading.release, after_in_child=loading.release
    )


def _heedful(compile_):
    """Let no Ctrl-C be lost while a kernel is loaded or compiled, in callbacks of LLVM."""

    @wraps(compile_)
    def heedful(*arguments):
        with unswallowed_interrupts():
            return compile_(*arguments)

    return heedful


def most_threads() -> int:
    """Tell how many threads Numba gives to loops of its own: as many as cores when it began."""
    return config.NUMBA_NUM_THREADS


def can_keep(dispatcher):
    """Tell whether there is a place to leave the code in, for other processes."""
    return hasattr(dispatcher._cache, "_cache_file")


def is_kept(dispatcher, arguments):
    """Tell whether the code for these types is there, here or from another process."""
    if arguments in dispatcher.overloads:
        return True
    try:
        index = dispatcher._cache._cache_file._load_index()
        return any(key[0] == arguments for key in index)
    except Exception:  # no cache, a damaged one, or another Numba
        return False


@cache
def _say_that_nothing_is_kept():
    warn(
        "compiled code cannot be kept, and every process has to compile for up to a minute; set "
        "NUMBA_CACHE_DIR to a folder that can be written to"
    )


class _Cache:
    """A cache of Numba, of which a fit never fails."""

    def __init__(self, inner):
        self._inner = inner
        inner._cache_file._source_stamp = _all_sources()

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def load_overload(self, sig, target_context):
        try:
            found = self._inner.load_overload(sig, target_context)
        except Exception:  # whatever unpickling a damaged file comes to
            found = None
        if found is None or found.signature.args != tuple(sig):
            _patience.begin()
            return None
        return found

    def save_overload(self, sig, data):
        _patience.end()
        with suppress(Exception):
            self._inner.save_overload(sig, data)
            return
        with suppress(Exception):  # the disk may be full
            self._inner.flush()  # the index may be damaged
            self._inner.save_overload(sig, data)


class _Patience:
    """Says in one line what a first fit is waiting for, to whoever may be looking at it."""

    def __init__(self):
        self.begun = []  # kernels being compiled, each inside the one before
        self.seconds = 0.0
        self.is_told = False

    def begin(self):
        """Note that a kernel is going to be compiled."""
        self.begun.append(perf_counter())
        waited = self.seconds + perf_counter() - self.begun[0]
        if waited > _LONG and not self.is_told and is_watched():
            self.is_told = True
            print(
                "ptunfold is being compiled for this machine, which is done once and takes about "
                "half a minute",
                file=sys.stderr,
            )

    def end(self):
        """Note that one is."""
        if self.begun:
            begun = self.begun.pop()
            self.seconds += 0.0 if self.begun else perf_counter() - begun


_LONG = 2.0  # seconds
_patience = _Patience()


def is_watched():
    """Tell whether somebody sees what is written to stderr: at a terminal, or in a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


@cache
def _all_sources():
    """Return a hash of all kernels: the code of one contains that of others, of any file."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
