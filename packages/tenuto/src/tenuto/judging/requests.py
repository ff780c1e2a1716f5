"""What a stored request asks for: its limit, its schema, its tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tenuto.judging.beside import with_settings
from tenuto.judging.cells import count_in
from tenuto.judging.names import LIMITS
from tenuto.judging.opening import opened
from tenuto.providers.registry import route
from tenuto.wires.base import Wire
from tenuto.wires.dialect import Dialect
from tenuto.wires.documents import schema_in
from tenuto.wires.json import JsonObject, encode
from tenuto.wires.members import object_in, objects_in
from tenuto.wires.registry import wires, wires_for_path


class Asked(NamedTuple):
    """What a request asks for.

    Attributes:
        limit: the output limit in tokens; None: it sets none.
        schema: the JSON Schema of the document; {}: JSON without a schema; None: no document.
        tools: the JSON Schema of each tool's parameters, by name.
        begun: the first words of the answer, which the caller wrote; "": none.
        choices: how many answers it asks for.
    """

    limit: int | None = None
    schema: Mapping[str, Any] | None = None
    tools: Mapping[str, Mapping[str, Any]] = {}
    begun: str = ""
    choices: int = 1


NOTHING = Asked()


def asked_in(request: object, wire: str = "", path: str = "") -> Asked:
    """Return what a request asks for. A request that no wire can read is read by the names of its
    members alone.

    >>> asked_in({"messages": [], "max_tokens": 20, "response_format": {"type": "json_object"}})[:2]
    (20, {})
    """
    value = opened(request) if request is not None else None
    if not isinstance(value, dict):
        return NOTHING
    value = _body_in(value)
    plain = _by_names(value)
    spoken = _wire_of(value, wire, path)
    if spoken is None:
        return plain
    try:
        parsed = spoken.request(encode(value), 0, path, Dialect())
        if parsed is None:
            return plain
        facts = parsed.facts
        schema, tools = parsed.document(), parsed.tool_parameters()
    except Exception:  # noqa: BLE001 - a request that somebody shortened for a log
        return plain
    return plain._replace(
        limit=facts.max_tokens or plain.limit,
        schema=schema if schema is not None else plain.schema,
        tools=tools or plain.tools,
        begun=facts.begun,
    )


def _wire_of(value: JsonObject, wire: str, path: str) -> Wire | None:
    if path:
        found = route(f"https://localhost{path}" if path.startswith("/") else path)[0]
        if found is not None:
            return found
    return wires().get(wire)


_BODIES = ("body", "canonical_json", "content", "payload", "json", "body_segments")


def _body_in(value: JsonObject) -> JsonObject:
    """Return the body of a request that is kept with its URL and headers."""
    for name in _BODIES:
        held = value.get(name)
        if isinstance(held, list) and held:
            held = held[0]
        if isinstance(held, str):
            held = opened(held)
        if isinstance(held, dict) and not _ASKS.isdisjoint(held):
            return held
        if isinstance(held, dict) and isinstance(held.get("canonical_json"), dict):
            return object_in(held["canonical_json"])
    inner = value.get("canonical_json")
    return inner if isinstance(inner, dict) else value


def asks(request: object) -> bool:
    """Return whether a request is one to a model, kept alone or with its URL and headers.

    >>> asks({"url": "https://api.acme.example/", "body": {"messages": []}}), asks({"q": "name"})
    (True, False)
    """
    value = opened(request) if isinstance(request, dict | str | bytes) else None
    if not isinstance(value, dict):
        return False
    body = _body_in(value)
    if not _ASKS.isdisjoint(body):
        return True
    url = value.get("url") or value.get("uri") or value.get("path")
    return isinstance(url, str) and url.startswith(("/", "http")) and bool(_wires_of(url))


def _wires_of(url: str) -> list[Wire]:
    return wires_for_path(urlsplit(url).path)


_ASKS = frozenset({"messages", "contents", "input", "prompt", "inputs", "inputText"})

_LIMITS = (*LIMITS, "max_length")
"""Beside an answer, `max_length` may be that of a text."""


def limit_asked(value: JsonObject) -> int | None:
    """Return the output limit among the members of a request or of its settings; None: it has
    none.

    >>> limit_asked({"generationConfig": {"maxOutputTokens": 5}}), limit_asked({"max_tokens": 0})
    (5, None)
    """
    places = (*with_settings(value), object_in(value.get("extra")))
    found = (count_in(place.get(name)) for place in places for name in _LIMITS)
    return next((limit for limit in found if limit), None)


def _by_names(value: JsonObject) -> Asked:
    config = object_in(value.get("generationConfig") or value.get("config"))
    forms = (
        value.get("response_format"),
        object_in(value.get("text")).get("format"),
        config.get("responseJsonSchema") or config.get("responseSchema"),
        value.get("output_format"),
        value.get("guided_json"),
    )
    schema = next(
        (found for form in forms if form and (found := schema_in(form)) is not None), None
    )
    if schema is None and "json" in str(config.get("responseMimeType") or ""):
        schema = {}
    n = count_in(value.get("n")) or count_in(config.get("candidateCount")) or 1
    return Asked(limit_asked(value), schema, tools_in(value.get("tools")), choices=n)


def tools_in(tools: object) -> dict[str, Mapping[str, Any]]:
    """Return the schema of each tool's parameters by name, in whichever form they are declared.

    >>> tools_in([{"type": "function", "function": {"name": "add", "parameters": {"a": 1}}}])
    {'add': {'a': 1}}
    """
    found: dict[str, Mapping[str, Any]] = {}
    for tool in objects_in(tools):
        inner = objects_in(tool.get("functionDeclarations")) or [object_in(tool.get("function"))]
        for one in [each for each in inner if each] or [tool]:
            if isinstance(name := one.get("name"), str):
                schema = one.get("parameters") or one.get("input_schema") or {}
                found[name] = object_in(schema)
    return found
