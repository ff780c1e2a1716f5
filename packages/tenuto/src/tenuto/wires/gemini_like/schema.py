"""Gemini's own schemas as JSON Schema.

`responseSchema` and `parameters` are a subset of OpenAPI 3.0: types in upper case, `nullable`, and
counts and enums of integers written as texts. `responseJsonSchema` is a subset of JSON Schema in
which `oneOf` means `anyOf`: https://ai.google.dev/api/caching#Schema and `google/genai/types.py` of
google-genai 3.4 (read 2026-11-28).
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from tenuto.wires.json import JsonObject

_NESTING_MAX = 50
"""The provider accepts no schemas that are nested deeper."""

_COUNTS = frozenset(
    {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
)
_NOTES = frozenset({"nullable", "format", "example", "propertyOrdering"})
"""Members that JSON Schema doesn't have, or doesn't check."""

_RENAMED = {"ref": "$ref", "defs": "$defs", "oneOf": "anyOf"}


def as_json_schema(schema: JsonObject) -> JsonObject | None:
    """Return an equivalent JSON Schema of draft 2020-12. None: the schema is nested too deeply.

    >>> as_json_schema({"type": "STRING", "enum": ["a"], "nullable": True})
    {'type': ['string', 'null'], 'enum': ['a', None]}
    >>> as_json_schema({"any_of": [{"type": "INTEGER", "enum": ["1"]}, {"ref": "#/defs/b"}]})
    {'anyOf': [{'type': 'integer', 'enum': [1]}, {'$ref': '#/$defs/b'}]}
    """
    try:
        made: JsonObject = _converted(schema, _NESTING_MAX)
        return made
    except _TooDeep:
        return None


class _TooDeep(Exception):
    pass


def _converted(schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict):  # true and false are schemas too
        return schema
    if depth < 0:
        raise _TooDeep
    made: JsonObject = {}
    for key, item in schema.items():
        name = re.sub(r"(?<=[a-z])_([a-z])", lambda found: found[1].upper(), key)
        name = _RENAMED.get(name, name)
        if name not in _NOTES and item is not None:
            made[name] = _value(name, item, depth - 1)
    if made.get("type") == "type_unspecified":
        del made["type"]
    if made.get("type") in ("integer", "number") and isinstance(made.get("enum"), list):
        made["enum"] = list(map(_number, made["enum"]))
    if schema.get("nullable") is True:
        _allow_null(made)
    return made


def _value(name: str, item: Any, depth: int) -> Any:
    """Return the value of a keyword."""
    match item:
        case str() if name == "type":
            return item.lower()
        case str() if name == "$ref":
            return item.replace("#/defs/", "#/$defs/")
        case str() if name in _COUNTS:  # the SDK writes them as texts
            return _number(item)
        case list() if name == "type":
            return [one.lower() if isinstance(one, str) else one for one in item]
        case list() if name in ("anyOf", "allOf", "prefixItems"):
            return [_converted(one, depth) for one in item]
        case dict() if name in ("properties", "$defs", "definitions"):
            return {key: _converted(one, depth) for key, one in item.items()}
        case dict() if name in ("items", "additionalProperties"):
            return _converted(item, depth)
    return item


def _number(value: Any) -> Any:
    """Return a number that may be written as a text.

    >>> _number("101"), _number(101), _number("many")
    (101, 101, 'many')
    """
    try:
        return msgspec.json.decode(value, type=int | float) if isinstance(value, str) else value
    except msgspec.DecodeError:
        return value


def _allow_null(made: JsonObject) -> None:
    kind = made.get("type")
    if kind is not None:
        kinds = kind if isinstance(kind, list) else [kind]
        made["type"] = kinds if "null" in kinds else [*kinds, "null"]
    if isinstance(made.get("enum"), list) and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    if "$ref" in made and "anyOf" not in made:
        made["anyOf"] = [{"$ref": made.pop("$ref")}]
    if isinstance(made.get("anyOf"), list):
        made["anyOf"] = [*made["anyOf"], {"type": "null"}]
