"""Read which document a request asks for: the JSON Schema in any provider's constraint.

Theory of operation
-------------------
Each provider wraps the schema in its own way, but no wrapping looks like another's, or like a
schema: the kinds of forms (`json_schema`) are no types of JSON Schema (`object`). So one function
reads all of them, and a wire only says where its constraints are (`request_edits.Paths`).

What providers accept within a schema is less than JSON Schema allows, and means the same. Gemini's
older form is the exception (`gemini_generate.schema`).
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.members import object_in

JSON_KINDS: Final = ("json_object", "json_schema", "json")
"""The kinds of forms that ask for JSON. `json` is that of Text Generation Inference."""

_WORDS: Final = ("json", "application/json", "APPLICATION_JSON")
"""Texts that ask for JSON without a schema: Ollama's, and media types."""

_TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

_MEDIA_TYPES: Final = ("mime_type", "mimeType")

_WRAPPINGS: Final = (
    "json_schema",  # OpenAI, and most others; Cohere's is the schema itself
    "json",  # vLLM's `structured_outputs`
    "value",  # Text Generation Inference
    "structure",  # Converse, around the next one
    "jsonSchema",
)
"""Members that hold the schema, or an object whose `schema` it is."""

_BESIDE: Final = frozenset({"name", "description", "strict"})
"""What such an object has beside the schema."""


class Constrained(Protocol):
    """The members of `CONSTRAINTS` in a request."""

    response_format: Any
    guided_json: Any
    structured_outputs: Any
    json_schema: Any


CONSTRAINTS: Final = [
    (("guided_json",),),
    (("structured_outputs",),),
    (("json_schema",),),
    (("response_format",),),
]
"""The paths of what constrains the output of OpenAI's older APIs. Of servers with their own
members, vLLM has the first two, and llama.cpp the third."""


def constrains(asked: Constrained) -> bool:
    """Return whether a request of these APIs asks for a document."""
    return (
        asks_for_json(asked.response_format)
        or asked.guided_json is not None
        or asked.json_schema is not None
        or asks_vllm_for_json(asked.structured_outputs)
    )


def schema_in(form: Any) -> JsonObject | None:
    """Return the JSON Schema of the document that a constraint asks for. {}: it asks for JSON
    without a schema. None: it asks for something else, or its schema can't be read.

    >>> schema_in({"type": "json_schema", "json_schema": {"name": "n", "schema": {"minItems": 2}}})
    {'minItems': 2}
    >>> schema_in({"type": "json_object", "schema": {"type": "object"}}), schema_in("json")
    ({'type': 'object'}, {})
    >>> schema_in({"type": "regex", "value": "[0-9]+"}) is None
    True
    """
    if isinstance(form, str):
        return {} if form in _WORDS else _read(form)
    if isinstance(form, list):  # one form for each kind of output
        return next((found for one in form if (found := schema_in(one)) is not None), None)
    if not isinstance(form, dict):
        return None
    kind = form.get("type")
    if kind in JSON_KINDS or asks_vllm_for_json(form):
        return _unwrapped(form)
    if kind == "text":
        asks = form.get("schema") is not None or any(form.get(k) in _WORDS for k in _MEDIA_TYPES)
        return _unwrapped(form) if asks else None
    are_types = all(
        str(one).lower() in _TYPES for one in (kind if isinstance(kind, list) else [kind])
    )
    return form if kind is None or are_types else None


def asks_for_json(form: Any) -> bool:
    """Return whether a response format asks for JSON, in OpenAI's terms.

    >>> asks_for_json({"type": "json_schema"}), asks_for_json({"type": "text"}), asks_for_json(None)
    (True, False, False)
    """
    return isinstance(form, dict) and form.get("type") in JSON_KINDS


def asks_vllm_for_json(form: Any) -> bool:
    """Return whether `structured_outputs` of vLLM ask for JSON.

    >>> asks_vllm_for_json({"json": {}}), asks_vllm_for_json({"choice": ["yes", "no"]})
    (True, False)
    """
    found = object_in(form)
    return "type" not in found and (
        found.get("json") is not None or found.get("json_object") is True
    )


def _unwrapped(form: JsonObject) -> JsonObject | None:
    """Return the schema in a form; {}: it has none."""
    if (schema := form.get("schema")) is not None:
        return _read(schema)
    for name in _WRAPPINGS:
        if (held := form.get(name)) is None:
            continue
        if not isinstance(held, dict) or "schema" in held or "jsonSchema" in held:
            return _unwrapped(held) if isinstance(held, dict) else _read(held)
        return {key: item for key, item in held.items() if key not in _BESIDE}
    return {}


def _read(schema: Any) -> JsonObject | None:
    """Return a schema, which may be written as a text. None: it is neither."""
    read = decode_object(schema.encode("utf-8", "replace")) if isinstance(schema, str) else schema
    return read if isinstance(read, dict) else None
