"""The two libraries whose clients carry turns over HTTP."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any

LIBRARIES = ("httpx2", "httpx")
"""The two libraries, the one that current SDKs stand on first."""


def library_of(client: object) -> ModuleType | None:
    """The library that a client's class comes from, or None.

    >>> library_of(object()) is None
    True
    """
    cls: Any = type(client)
    return library_of_class(cls)


@cache
def library_of_class(client: Any) -> ModuleType | None:
    """The library that a client class comes from, or None."""
    for cls in client.__mro__:
        root = cls.__module__.partition(".")[0]
        if root in LIBRARIES and cls.__name__ in ("Client", "AsyncClient"):
            return importlib.import_module(root)
    return None
