"""A table of values by name that can grow at run time (N8)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class Names(Generic[T]):
    """Values by `name`, or by `name@version`. The last one added comes first.

    Each change makes a new mapping, so readers need no lock.

    Args:
        shipped: returns the initial values. Called once, when they are first needed.

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
        """Return all values by key. Don't change the mapping."""
        if self._all is not None:
            return self._all
        with self._lock:
            if self._all is None:
                self._all = dict(self._shipped())
            return self._all

    def add(self, key: str, value: T) -> None:
        """Add a value, or replace the one with this key."""
        with self._lock:
            others = {k: v for k, v in self.all().items() if k != key}
            self._all = {key: value, **others}
            self.changes += 1

    def find(self, name: str) -> T | None:
        """Return the value of a name; None: the name is unknown. An unknown version gives the value
        without a version, or else the newest version."""
        known = self.all()
        if name in known:
            return known[name]
        bare = name.partition("@")[0]
        if bare in known:
            return known[bare]
        return next((v for key, v in known.items() if key.startswith(f"{bare}@")), None)


def key_of(name: str, version: str = "") -> str:
    """Return the key of a name in a version.

    >>> key_of("acme"), key_of("acme", "2")
    ('acme', 'acme@2')
    """
    return f"{name}@{version}" if version else name


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

UNKNOWN = "unknown"
"""The name of all that no name fits."""


def wrong_name(what: str, value: object) -> str:
    """Return why a value is no name of a wire, a provider or a version; "": it is one.

    >>> wrong_name("name", "acme"), wrong_name("name", "a b")[:13]
    ('', "name is 'a b'")
    """
    if isinstance(value, str) and _NAME.fullmatch(value) and value != UNKNOWN:
        return ""
    return (
        f"{what} is {value!r}, but it must be up to 64 letters, digits, dots, hyphens and "
        f"underscores, and not {UNKNOWN!r}"
    )
