"""Ctrl-C while something must not be left half done."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any


@contextmanager
def held_interrupts(stop: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Keep what Ctrl-C raises until the end of the block, and raise it there.

    Only the main thread is ever interrupted; in others nothing is changed. ``stop`` is called when
    there is something to raise, so that the block ends soon.

    Examples
    --------
    >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)
    >>> done = []
    >>> try:
    ...     with held_interrupts():
    ...         signal.raise_signal(signal.SIGINT)
    ...         done.append("all of it")
    ... except KeyboardInterrupt:
    ...     done.append("stopped")
    >>> done
    ['all of it', 'stopped']
    >>> _ = signal.signal(signal.SIGINT, before)
    """
    handler = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(handler):
        yield
        return
    raised: list[BaseException] = []

    def hold(*what: Any) -> None:
        try:
            handler(*what)  # it may be one that raises nothing
        except BaseException as error:
            raised.append(error)
            stop()

    try:
        signal.signal(signal.SIGINT, hold)
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if raised:
            error = raised[0].with_traceback(None)
            raised.clear()  # or it would keep all that is in its frames
            try:
                raise error
            finally:
                del error


@contextmanager
def unswallowed_interrupts() -> Iterator[None]:
    """Raise at the end of the block what Ctrl-C raised inside it and others have swallowed.

    What is raised in a finalizer or a callback of a C library is printed and forgotten, and
    libraries turn it into errors of their own.

    Examples
    --------
    >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)
    >>> done = []
    >>> try:
    ...     with unswallowed_interrupts():
    ...         try:
    ...             signal.raise_signal(signal.SIGINT)
    ...         except BaseException:
    ...             done.append("swallowed")
    ... except KeyboardInterrupt:
    ...     done.append("stopped")
    >>> done
    ['swallowed', 'stopped']
    >>> _ = signal.signal(signal.SIGINT, before)
    """
    handler = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(handler):
        yield
        return
    raised: list[type[BaseException]] = []

    def keep(*what: Any) -> None:
        try:
            handler(*what)
        except BaseException as error:
            raised.append(type(error))
            raise

    signal.signal(signal.SIGINT, keep)
    try:
        yield
    except BaseException as error:
        if raised and not isinstance(error, raised[0]):
            raise raised[0] from error
        raise
    else:
        if raised:
            raise raised[0]
    finally:
        signal.signal(signal.SIGINT, handler)
