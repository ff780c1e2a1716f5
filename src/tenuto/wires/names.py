"""A table by name that may grow at run time (N8)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class Names(Generic[T]):
    """Values by `name`, or by `name@version`; what was added last comes first.

    Each change makes a new mapping, so that those who read need no lock.

    Args:
        shipped: gives what is there from the beginning; asked once, when it is first needed.

    >>> names = Names(lambda: {"a": 1})
    >>> names.add("a@2", 2)
    >>> names.find("a"), names.find("a@2"), names.find("a@3"), names.find("b")
    (1, 2, 1, None)
    """

    def __init__(self, shipped: Callable[[], Mapping[str, T]]) -> None:
        self._shipped = shipped
        self._lock = threading.RLock()
        self._all: dict[str, T] | None = None
        self.changes: int = 0

    def all(self) -> dict[str, T]:
        """Everything by its key; not to be changed."""
        if self._all is not None:
            return self._all
        with self._lock:
            if self._all is None:
                self._all = dict(self._shipped())
            return self._all

    def add(self, key: str, value: T) -> None:
        """Add a value, or put it in the place of the one that has this key."""
        with self._lock:
            others = {k: v for k, v in self.all().items() if k != key}
            self._all = {key: value, **others}
            self.changes += 1

    def find(self, name: str) -> T | None:
        """The value of a name. A version that is not known gives the one without, and a name that
        is only known in versions the newest of them; None: the name is not known."""
        known = self.all()
        if name in known:
            return known[name]
        bare = name.partition("@")[0]
        if bare in known:
            return known[bare]
        return next((v for key, v in known.items() if key.startswith(f"{bare}@")), None)


def key_of(name: str, version: str = "") -> str:
    """The key of a name in a version.

    >>> key_of("acme"), key_of("acme", "2")
    ('acme', 'acme@2')
    """
    return f"{name}@{version}" if version else name
