"""Simpler JSON Schemas: each reference is replaced with its definition.

Not every model and not every API follows references, so only types that contain themselves keep
theirs. Titles are left out: generators fill them with the names of classes and fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

PREFIX: Final = "#/$defs/"

_OF_NAMES: Final = frozenset({"properties", "patternProperties"})
_VALUES: Final = frozenset({"default", "enum", "const", "examples", "required"})
_LEFT_OUT: Final = frozenset({"title", "discriminator", "$defs"})  # "discriminator" is OpenAPI's


class Definitions:
    """The definitions that a set of schemas refers to.

    >>> point = {"title": "Point", "type": "object", "properties": {"x": {"type": "integer"}}}
    >>> Definitions({"Point": point}).inlined({"$ref": "#/$defs/Point", "description": "where"})
    {'type': 'object', 'properties': {'x': {'type': 'integer'}}, 'description': 'where'}
    """

    def __init__(self, named: Mapping[str, Any]) -> None:
        self._named = named
        self._circular = frozenset(name for name in named if name in self._reach(name))
        self._kept: dict[str, Any] = {}

    @property
    def kept(self) -> Mapping[str, Any]:
        """The definitions that the schemas inlined so far still refer to, by name."""
        return self._kept

    def inlined(self, schema: Any) -> Any:
        """Return the schema with definitions in place of references."""
        if isinstance(schema, list):
            return [self.inlined(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        name = _name_of(schema)
        if name is None or name not in self._named:
            return self._members(schema)
        beside = self._members({key: schema[key] for key in schema if key != "$ref"})
        if name not in self._circular:
            return {**self.inlined(self._named[name]), **beside}
        if name not in self._kept:
            self._kept[name] = {}  # stops the recursion when the type contains itself
            self._kept[name] = self._members(self._named[name])
        return {"$ref": PREFIX + name, **beside}

    def _members(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, value in schema.items():
            if key in _LEFT_OUT:
                continue
            if key in _OF_NAMES:
                members[key] = {name: self.inlined(each) for name, each in value.items()}
            else:
                members[key] = value if key in _VALUES else self.inlined(value)
        return members

    def _reach(self, name: str) -> set[str]:
        """Return the definitions that a definition refers to, directly or not."""
        reached: set[str] = set()
        ahead = [name]
        while ahead:
            found = set(_references(self._named.get(ahead.pop()))) - reached
            reached |= found
            ahead += found
        return reached


def _name_of(schema: Mapping[str, Any]) -> str | None:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith(PREFIX):
        return reference.removeprefix(PREFIX)
    return None


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for each in schema:
            yield from _references(each)
    elif isinstance(schema, dict):
        if (name := _name_of(schema)) is not None:
            yield name
        for key, value in schema.items():
            if key not in _VALUES:
                yield from _references(value)
