"""The functions that a request of Gemini declares.

Their parameters are a subset of OpenAPI 3.0 (`parameters`) or JSON Schema (`parametersJsonSchema`):
https://ai.google.dev/api/caching#FunctionDeclaration (read 2026-11-22).
"""

from __future__ import annotations

from typing import Any

from tenuto.wires.gemini_generate.content import member
from tenuto.wires.gemini_like.schema import as_json_schema
from tenuto.wires.json import JsonObject
from tenuto.wires.members import objects_in


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
        return as_json_schema(own) or {}
    given = member(declared, "parametersJsonSchema", "parameters_json_schema")
    return given if isinstance(given, dict) else {}
