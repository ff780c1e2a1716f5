"""Find out from a tool's schema whether it accepts a call without arguments (T12a)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def requires_something(schema: Mapping[str, Any]) -> bool:
    """Return whether no empty object satisfies a JSON Schema, as far as its members show. A schema
    that cannot be followed requires nothing. Each part is read once, so circular references end,
    and the work is linear in the schema.

    >>> requires_something({"type": "object", "required": ["path"]})
    True
    >>> requires_something({"type": "object", "properties": {"path": {}}, "required": []})
    False
    """
    try:
        return _requires(schema, schema, {})
    except RecursionError:
        return False


def _requires(schema: Any, root: Mapping[str, Any], seen: dict[int, bool]) -> bool:
    if not isinstance(schema, Mapping):
        return False
    if id(schema) not in seen:
        seen[id(schema)] = False  # for a reference that leads back here
        seen[id(schema)] = _looked_at(schema, root, seen)
    return seen[id(schema)]


def _looked_at(schema: Mapping[str, Any], root: Mapping[str, Any], seen: dict[int, bool]) -> bool:
    least = schema.get("minProperties")
    if lists_names(schema.get("required")) or (isinstance(least, int) and least > 0):
        return True
    reference = schema.get("$ref")
    if isinstance(reference, str) and _requires(_at(reference, root), root, seen):
        return True
    if any(_requires(part, root, seen) for part in _parts(schema, "allOf")):
        return True
    ways = ([_requires(part, root, seen) for part in _parts(schema, k)] for k in ("anyOf", "oneOf"))
    return any(found and all(found) for found in ways)


def lists_names(required: Any) -> bool:
    """Return whether the value of `required` names a member.

    >>> lists_names(["path"]), lists_names([]), lists_names(True)
    (True, False, False)
    """
    return isinstance(required, list) and any(isinstance(key, str) for key in required)


def _parts(schema: Mapping[str, Any], key: str) -> list[Any]:
    parts = schema.get(key)
    return parts if isinstance(parts, list) else []


def _at(reference: str, root: Any) -> Any:
    """Return the target of a reference within the schema; None if there is none."""
    place = root if reference.startswith("#") else None
    for step in reference.removeprefix("#").split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        place = place.get(key) if isinstance(place, Mapping) else None
    return place
