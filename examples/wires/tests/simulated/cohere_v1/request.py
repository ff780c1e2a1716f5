"""Read what a request asks for: rows of a history, and the current question beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto_sim.asked import Asked, Row, texts_of, tokens_of
from tenuto_sim.cohere.request import form_of
from tenuto_sim.envelope import dump
from tenuto_sim.reply import Settings

_SPEAKERS: Final = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}


def rows_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows of the history, with the current question as the last.

    >>> rows_of({"message": "Hi", "tool_results": []})
    [{'role': 'USER', 'message': 'Hi'}]
    """
    rows: list[Mapping[str, Any]] = list(body.get("chat_history") or ())
    if body["message"]:
        rows.append({"role": "USER", "message": body["message"]})
    if body.get("tool_results"):
        rows.append({"role": "TOOL", "tool_results": body["tool_results"]})
    return rows


def read(body: Mapping[str, Any], _: Settings) -> Asked:
    """Return what a body asks for. `impossible` has checked it. Every answer repeats the rows.

    >>> read({"message": "Hi", "max_tokens": 5}, Settings()).rows
    (Row(role='user', text='Hi', resumes=False),)
    """
    rows = rows_of(body)
    return Asked(
        model=str(body.get("model") or "command-r"),
        rows=tuple(Row(_SPEAKERS.get(r["role"]), str(r.get("message") or "")) for r in rows),
        counted=dump(rows),
        tools=tuple(_tools(body.get("tools"))),
        budget_tokens=tokens_of(body.get("max_tokens")),
        stream=body.get("stream") is True,
        response_format=form_of(body.get("response_format"), "schema"),
        stop_sequences=texts_of(body.get("stop_sequences")),
        prefill="restart",
        echoed=dump(rows),
    )


def _tools(tools: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in tools if isinstance(tools, list) else ():
        told = tool.get("parameter_definitions") or {}
        needed = [name for name, one in told.items() if one.get("required")]
        types = {
            name: {"type": _TYPES.get(one.get("type"), "string")} for name, one in told.items()
        }
        yield str(tool.get("name")), {"type": "object", "properties": types, "required": needed}


_TYPES: Final = {"int": "integer", "float": "number", "bool": "boolean"}
