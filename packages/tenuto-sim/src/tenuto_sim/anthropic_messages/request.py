"""Read what a Messages request asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto_sim.anthropic_messages.models import takes_prefill
from tenuto_sim.anthropic_messages.seals import SUMMARY
from tenuto_sim.asked import (
    Asked,
    Row,
    at,
    functions_of,
    in_schema,
    objects_of,
    texts_of,
    tokens_of,
)
from tenuto_sim.history import text_of
from tenuto_sim.reply import Settings

RESUMED_BY: Final = frozenset({"server_tool_use", "web_search_tool_result", "compaction"})
"""Blocks after which the provider itself continues. A message that ends in one is no prefill."""


def read(body: Mapping[str, Any], settings: Settings) -> Asked:
    """Return what a body asks for. `impossible` has checked it.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": "u"}], "max_tokens": 5}
    >>> read(ask, Settings()).rows
    (Row(role='user', text='u', resumes=False),)
    """
    messages = body["messages"]
    rows = tuple(row for message in messages for row in _rows(message))
    if not any(row.role == "user" for row in rows):
        rows = (*_summarized(messages), *rows)
    tools = objects_of(body.get("tools"))
    custom = [tool for tool in tools if tool.get("type", "custom") == "custom"]
    resumes = rows[-1].resumes or takes_prefill(body["model"], settings.prefill)
    return Asked(
        model=body["model"],
        rows=rows,
        counted=text_of(body.get("system")) + json.dumps(messages, ensure_ascii=False),
        tools=functions_of(custom, "input_schema"),
        forced=at(body, "tool_choice", "type") in ("any", "tool"),
        budget_tokens=tokens_of(body.get("max_tokens")),
        stream=bool(body.get("stream")),
        response_format=_format(at(body, "output_config", "format")),
        thinking=thinks(body) is not None,
        stop_sequences=texts_of(body.get("stop_sequences")),
        prefill="continue" if resumes else "restart",
    )


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """Return a content as blocks, even if it is a string.

    >>> blocks_of("x")
    [{'type': 'text', 'text': 'x'}]
    """
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return objects_of(content)


def thinks(body: Mapping[str, Any]) -> str | None:
    """Return how a request asks for thinking; None: it doesn't.

    >>> thinks({"thinking": {"type": "adaptive"}}), thinks({})
    ('adaptive', None)
    """
    kind = at(body, "thinking", "type")
    return kind if kind in ("enabled", "adaptive") else None


def _rows(message: Mapping[str, Any]) -> Iterator[Row]:
    blocks = blocks_of(message.get("content"))
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        yield Row("tool", text_of(block.get("content")))
    said = [block for block in blocks if block.get("type") == "text"]
    if results and not said:
        return
    last = blocks[-1].get("type") if blocks else None
    resumes = isinstance(last, str) and last in RESUMED_BY and message.get("role") == "assistant"
    yield Row(message.get("role"), text_of(said), resumes)


def _summarized(messages: list[Any]) -> Iterator[Row]:
    """Yield the question in a summary of the conversation, if one comes first."""
    for block in blocks_of(messages[0].get("content")):
        if block.get("type") == "compaction":
            yield Row("user", str(block.get("content")).removeprefix(SUMMARY))


def _format(given: Any) -> Mapping[str, Any] | None:
    return in_schema(given.get("schema")) if at(given, "type") == "json_schema" else None
