"""Where a value of another type may stand in a body or in an event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key), in a fixed order."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


def shape(value: Any) -> Any:
    """What members there are; of values only the kinds of events and blocks, and which are null: in
    many streams the stop differs from text by nothing else."""
    if isinstance(value, dict):
        return tuple((k, v if k == "type" else shape(v)) for k, v in value.items())
    return tuple(map(shape, value)) if isinstance(value, list) else value is None
