"""Read what a request asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto_sim.asked import (
    Asked,
    Row,
    functions_of,
    in_schema,
    joined,
    objects_of,
    texts_of,
    tokens_of,
)
from tenuto_sim.gemini_interactions.seals import opened
from tenuto_sim.history import text_of
from tenuto_sim.reply import Settings

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
    """Return the input of a body as steps, even if it is a text or content.

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
    """Return what a body asks for. `impossible` has checked it.

    >>> read({"model": "sim", "input": "u"}, Settings()).rows
    (Row(role='user', text='u', resumes=False),)
    """
    steps = steps_of(body)
    rows = joined(row for step in steps for row in _rows(step))
    paused = opened(body.get("continuation_token"))
    if paused is not None:
        before = rows[:-1] if rows and rows[-1].role == "assistant" else rows
        rows = [*before, Row("assistant", paused[0], resumes=True)]
    config = body.get("generation_config") or {}
    functions = [tool for tool in objects_of(body.get("tools")) if kind_of(tool) == "function"]
    choice = config.get("tool_choice")
    return Asked(
        model=body["model"],
        rows=tuple(rows),
        counted=text_of(body.get("system_instruction")) + json.dumps(steps, ensure_ascii=False),
        tools=functions_of(functions, "parameters"),
        forced=choice == "any" or isinstance(choice, dict),
        budget_tokens=tokens_of(config.get("max_output_tokens")),
        stream=body.get("stream") is True,
        include_usage=True,
        response_format=_format(body.get("response_format")),
        stop_sequences=texts_of(config.get("stop_sequences")),
        prefill="continue" if paused is not None else "restart",
    )


def _rows(step: Body) -> Iterator[Row]:
    kind = kind_of(step)
    if kind in _SAID_BY:
        yield Row(_SAID_BY[kind], text_of(step.get("content")))
    elif kind == "function_result":
        yield Row("tool", json.dumps(step.get("result"), ensure_ascii=False))


def _format(given: Any) -> Mapping[str, Any] | None:
    """Return the format of the answer as Chat Completions writes it."""
    formats = given if isinstance(given, list) else [given]
    made: Any = next((one for one in formats if kind_of(one) == "text"), {})
    if made.get("mime_type") != "application/json":
        return None
    if made.get("schema") is None:
        return {"type": "json_object"}
    return in_schema(made["schema"])
