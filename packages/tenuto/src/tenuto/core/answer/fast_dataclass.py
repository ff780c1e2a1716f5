"""`fast_dataclass`: a decorator for values that are made for every event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def fast_dataclass(of: type[T]) -> type[T]:
    """Make a dataclass that only the type checker protects from changes. At run time, protection
    would cost a call for each field of each value (StopSeen: 1.0 µs instead of 0.3).

    >>> @fast_dataclass
    ... class Seen:
    ...     what: str
    >>> Seen("a stop"), Seen("a stop") == Seen("a stop"), hash(Seen("a")) == hash(Seen("a"))
    (Seen(what='a stop'), True, True)
    """
    return dataclass(slots=True, unsafe_hash=True)(of)
