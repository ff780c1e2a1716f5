"""Read what a Responses request asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tenuto_sim.asked import Asked, Row, at, functions_of, in_schema, joined, objects_of, tokens_of
from tenuto_sim.history import text_of
from tenuto_sim.reply import Settings


def items_of(body: Mapping[str, Any]) -> list[Any]:
    """Return the input of a body as items, even if it is a string.

    >>> items_of({"input": "x"})
    [{'role': 'user', 'content': 'x'}]
    """
    given = body.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return given if isinstance(given, list) else []


def kind_of(item: Any) -> Any:
    """Return the type of an item; one without is a message.

    >>> kind_of({"role": "user"})
    'message'
    """
    return item.get("type", "message") if isinstance(item, dict) else None


def read(body: Mapping[str, Any], settings: Settings) -> Asked:
    """Return what a body asks for. `impossible` has checked it.

    >>> read({"model": "sim", "input": "u"}, Settings()).rows
    (Row(role='user', text='u', resumes=False),)
    """
    items = items_of(body)
    choice = body.get("tool_choice")
    functions = [tool for tool in objects_of(body.get("tools")) if kind_of(tool) == "function"]
    return Asked(
        model=body["model"],
        rows=tuple(joined(row for item in items for row in _rows(item))),
        counted=text_of(body.get("instructions")) + json.dumps(items, ensure_ascii=False),
        tools=functions_of(functions, "parameters"),
        forced=choice == "required" or isinstance(choice, dict),
        budget_tokens=tokens_of(body.get("max_output_tokens")),
        stream=bool(body.get("stream")),
        include_usage=True,
        response_format=_format(at(body, "text", "format")),
        prefill="restart",
    )


def _rows(item: Mapping[str, Any]) -> Iterator[Row]:
    kind = kind_of(item)
    if kind == "message":
        yield Row(item.get("role"), text_of(item.get("content")))
    elif isinstance(kind, str) and kind.endswith("_call_output"):
        yield Row("tool", text_of(item.get("output")))


def _format(given: Any) -> Mapping[str, Any] | None:
    """Return the format of the answer as Chat Completions writes it."""
    if at(given, "type") == "json_schema":
        return in_schema(given.get("schema"))
    return {"type": "json_object"} if at(given, "type") == "json_object" else None
