"""Find out from a tool's schema whether a call's arguments lack something (T12a, T12b)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def requires_something(schema: Mapping[str, Any]) -> bool:
    """Return whether no empty object satisfies a JSON Schema, as far as its members show.

    >>> requires_something({"type": "object", "required": ["path"]})
    True
    >>> requires_something({"type": "object", "properties": {"path": {}}, "required": []})
    False
    """
    return lacks_required(schema, {})


def lacks_required(schema: Any, value: object, root: Any = None, seen: _Seen | None = None) -> bool:
    """Return whether a value lacks a member that a JSON Schema requires, at any depth. Nothing else
    is checked. A schema that cannot be followed requires nothing. Each part of the value is
    compared with each part of the schema at most once, so circular references end.

    `root`: the schema that references begin at; None for the schema itself; `seen`: what was
    compared already.

    >>> wants = {"properties": {"to": {"required": ["name"]}}, "required": ["to"]}
    >>> lacks_required(wants, {}), lacks_required(wants, {"to": {}})
    (True, True)
    >>> lacks_required(wants, {"to": {"name": 1}})
    False
    """
    if not isinstance(schema, Mapping) or not isinstance(value, dict | list):
        return False
    root, seen = root or schema, {} if seen is None else seen
    key = (id(schema), id(value))
    if key in seen:
        return seen[key]
    seen[key] = False  # for a reference that leads back here
    if isinstance(value, list):
        inside = [(schema.get("items"), item) for item in value]
    elif _lacks_member(schema, value):
        seen[key] = True
        return True
    else:
        members = schema.get("properties")
        known = members if isinstance(members, Mapping) else {}
        inside = [(known.get(name), member) for name, member in value.items()]
    try:
        for part, member in inside:
            seen[key] = seen[key] or lacks_required(part, member, root, seen)
        if not _COMBINED.isdisjoint(schema):
            seen[key] = seen[key] or _parts_lack(schema, value, root, seen)
    except RecursionError:
        pass
    return seen[key]


_Seen = dict[tuple[int, int], bool]
_COMBINED = frozenset({"$ref", "allOf", "anyOf", "oneOf"})


def _lacks_member(schema: Mapping[str, Any], value: dict[str, Any]) -> bool:
    """Return whether an object lacks members of its own."""
    least, required = schema.get("minProperties"), schema.get("required")
    if isinstance(least, int) and least > len(value):
        return True
    names = required if isinstance(required, list) else ()
    return any(isinstance(name, str) and name not in value for name in names)


def _parts_lack(schema: Mapping[str, Any], value: object, root: Any, seen: _Seen) -> bool:
    """Return whether a value lacks something by what a schema refers to or is made of."""
    reference = schema.get("$ref")
    if isinstance(reference, str) and lacks_required(_at(reference, root), value, root, seen):
        return True
    if any(lacks_required(part, value, root, seen) for part in _parts(schema, "allOf")):
        return True
    for key in ("anyOf", "oneOf"):
        found = [lacks_required(part, value, root, seen) for part in _parts(schema, key)]
        if found and all(found):
            return True
    return False


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
