"""The two libraries whose clients send turns over HTTP."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any

LIBRARIES = ("httpx2", "httpx")
"""The two libraries, first the one that current SDKs use."""


def library_of(client: object) -> ModuleType | None:
    """Return the library that a client's class comes from, or None.

    >>> library_of(object()) is None
    True
    """
    cls: Any = type(client)
    return library_of_class(cls)


def library_of_request(request: object) -> ModuleType | None:
    """Return the library that a request's class comes from, or None.

    >>> import httpx
    >>> library_of_request(httpx.Request("GET", "http://a")) is httpx
    True
    """
    cls: Any = type(request)
    return library_of_class(cls, ("Request",))


@cache
def library_of_class(
    given: Any, names: tuple[str, ...] = ("Client", "AsyncClient")
) -> ModuleType | None:
    """Return the library with a base class of one of these names for this class, or None."""
    for cls in given.__mro__:
        root = cls.__module__.partition(".")[0]
        if root in LIBRARIES and cls.__name__ in names:
            return importlib.import_module(root)
    return None
