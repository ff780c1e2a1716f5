"""What a request asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto.sim.asked import Asked, Row
from tenuto.sim.gemini_interactions.seals import opened
from tenuto.sim.history import text_of
from tenuto.sim.reply import Settings

Body = Mapping[str, Any]
CONTENT: Final = ("text", "image", "audio", "video", "document")
_SAID_BY: Final = {"user_input": "user", "model_output": "assistant"}


def kind_of(value: Any) -> Any:
    """Return the type of a step or of a part.

    >>> kind_of({"type": "text"}), kind_of(3)
    ('text', None)
    """
    return value.get("type") if isinstance(value, dict) else None


def steps_of(body: Body) -> list[Any]:
    """Return the input of a body as steps, also where it is a text or content.

    >>> steps_of({"input": "x"})
    [{'type': 'user_input', 'content': [{'type': 'text', 'text': 'x'}]}]
    """
    given = body.get("input")
    if isinstance(given, str):
        given = {"type": "text", "text": given}
    rows = [given] if isinstance(given, dict) else given if isinstance(given, list) else []
    if rows and all(kind_of(row) in CONTENT for row in rows):
        return [{"type": "user_input", "content": rows}]
    return list(rows)


def read(body: Body, settings: Settings) -> Asked:
    """Return what a body asks for, which `impossible` let pass.

    >>> read({"model": "sim", "input": "u"}, Settings()).rows
    (Row(role='user', text='u', resumes=False),)
    """
    steps = steps_of(body)
    rows = _joined(row for step in steps for row in _rows(step))
    paused = opened(body.get("continuation_token"))
    if paused is not None:
        before = rows[:-1] if rows and rows[-1].role == "assistant" else rows
        rows = [*before, Row("assistant", paused[0], resumes=True)]
    config = body.get("generation_config") or {}
    budget = config.get("max_output_tokens")
    choice = config.get("tool_choice")
    return Asked(
        model=body["model"],
        rows=tuple(rows),
        counted=text_of(body.get("system_instruction")) + json.dumps(steps, ensure_ascii=False),
        tools=tuple(_tools(body.get("tools"))),
        forced=choice == "any" or isinstance(choice, dict),
        budget_tokens=budget if type(budget) is int else None,
        stream=body.get("stream") is True,
        include_usage=True,
        response_format=_format(body.get("response_format")),
        prefill="continue" if paused is not None else "restart",
    )


def _joined(rows: Iterator[Row]) -> list[Row]:
    """Join what the model said in several steps."""
    out: list[Row] = []
    for row in rows:
        if out and out[-1].role == row.role == "assistant":
            out[-1] = Row(row.role, out[-1].text + row.text)
        else:
            out.append(row)
    return out


def _rows(step: Body) -> Iterator[Row]:
    kind = kind_of(step)
    if kind in _SAID_BY:
        yield Row(_SAID_BY[kind], text_of(step.get("content")))
    elif kind == "function_result":
        yield Row("tool", json.dumps(step.get("result"), ensure_ascii=False))


def _tools(tools: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in tools if isinstance(tools, list) else ():
        if kind_of(tool) == "function" and isinstance(tool.get("name"), str):
            schema = tool.get("parameters")
            yield tool["name"], schema if isinstance(schema, dict) else {}


def _format(given: Any) -> Mapping[str, Any] | None:
    """Return the form of the answer as Chat Completions spells it."""
    formats = given if isinstance(given, list) else [given]
    made: Any = next((one for one in formats if kind_of(one) == "text"), {})
    if made.get("mime_type") != "application/json":
        return None
    if made.get("schema") is None:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"schema": made["schema"]}}
