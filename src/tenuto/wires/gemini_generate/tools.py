"""The functions that a request of Gemini declares.

Their parameters are a subset of OpenAPI 3.0 (`parameters`) or JSON Schema (`parametersJsonSchema`):
https://ai.google.dev/api/caching#FunctionDeclaration (read 2026-11-22).
"""

from __future__ import annotations

from typing import Any

from tenuto.wires.gemini_generate.content import member
from tenuto.wires.json import JsonObject
from tenuto.wires.members import objects_in

_NESTING_MAX = 50
"""The provider accepts no schemas that are nested deeper."""


def declarations(tools: Any) -> list[JsonObject]:
    """Return the declared functions. The provider runs all other tools itself.

    >>> declarations([{"functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}}])
    [{'name': 'f'}]
    """
    names = ("functionDeclarations", "function_declarations")
    return [found for tool in objects_in(tools) for found in objects_in(member(tool, *names))]


def schema_of(declared: JsonObject) -> JsonObject:
    """Return the JSON Schema of a function's parameters; {}: it has none.

    >>> schema_of({"parameters": {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}}})
    {'type': 'object', 'properties': {'n': {'type': 'integer'}}}
    """
    own = declared.get("parameters")
    if isinstance(own, dict):
        return _as_json_schema(own, 0)
    given = member(declared, "parametersJsonSchema", "parameters_json_schema")
    return given if isinstance(given, dict) else {}


def _as_json_schema(schema: JsonObject, depth: int) -> JsonObject:
    """Return the same as JSON Schema, whose types are in lower case and include null."""
    made: JsonObject = {}
    for key, item in schema.items():
        if depth >= _NESTING_MAX:
            return {}
        if key == "type" and isinstance(item, str):
            kind = item.lower()
            made[key] = [kind, "null"] if schema.get("nullable") is True else kind
        elif key == "properties" and isinstance(item, dict):
            made[key] = {
                name: _as_json_schema(one, depth + 1) if isinstance(one, dict) else one
                for name, one in item.items()
            }
        elif key == "items" and isinstance(item, dict):
            made[key] = _as_json_schema(item, depth + 1)
        elif key in ("anyOf", "any_of") and isinstance(item, list):
            made["anyOf"] = [_as_json_schema(o, depth + 1) for o in item if isinstance(o, dict)]
        elif key in _COUNTS and isinstance(item, str):  # the SDK writes them as texts
            made[key] = int(item) if item.isdecimal() else 0
        elif key not in ("nullable", "format", "example"):
            made[key] = item
    return made


_COUNTS = frozenset(
    {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
)
