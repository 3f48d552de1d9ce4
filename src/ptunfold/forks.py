"""A forked process has the locks of its parent, and not the threads that hold them.

What waits for one of those threads waits for ever, so nothing here is shared with the parent.
"""

from __future__ import annotations

import functools
import os
import threading
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801  it stands for that one
        """A property that is worked out once for each object, without a lock.

        Before Python 3.12 there is one lock for all objects of a class. Two threads that come at
        once both work it out here, to the same value.
        """

        def __get__(self, instance, owner=None):
            """Return what is kept, or work it out."""
            if instance is None:
                return self
            kept = instance.__dict__
            if self.attrname not in kept:
                kept[self.attrname] = self.func(instance)
            return kept[self.attrname]


class Lock:
    """A lock that is free in a forked process, whoever held it in the parent.

    Only for work that can be done again from the start, because a child may find it half done.
    """

    def __init__(self) -> None:
        self._inner = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._inner.acquire()

    def __exit__(self, *_: object) -> None:
        self._inner.release()


def _free_all() -> None:
    for lock in list(_locks):
        lock._inner = threading.Lock()


_locks: WeakSet[Lock] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_all)
