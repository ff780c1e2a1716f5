"""What a Converse request asks for. The path says the model, and whether a stream is wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto.sim.asked import Asked, Row, functions_of, in_schema, texts_of, tokens_of
from tenuto.sim.bedrock_converse.models import takes_prefill
from tenuto.sim.history import text_of
from tenuto.sim.reply import Settings

STREAM: Final = "converse-stream"
Body = Mapping[str, Any]


def located(body: Body, said: Mapping[str, str]) -> dict[str, Any]:
    """Return a body with what its path says.

    >>> located({}, {"model": "sim", "what": "converse-stream"})
    {'model': 'sim', 'stream': True}
    """
    return dict(body) | {"model": said["model"], "stream": said["what"] == STREAM}


def read(body: Body, settings: Settings) -> Asked:
    """Return what a body asks for, which `impossible` let pass.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": [{"text": "u"}]}]}
    >>> read(ask, Settings()).rows
    (Row(role='user', text='u', resumes=False),)
    """
    messages = body["messages"]
    config = member(body, "inferenceConfig")
    choice = member(member(body, "toolConfig"), "toolChoice")
    tools = member(body, "toolConfig").get("tools")
    specs = [member(t, "toolSpec") for t in tools] if isinstance(tools, list) else []
    functions = [spec | {"schema": member(member(spec, "inputSchema"), "json")} for spec in specs]
    takes = takes_prefill(body["model"], settings.prefill)
    return Asked(
        model=body["model"],
        rows=tuple(row for message in messages for row in _rows(message)),
        counted=text_of(body.get("system")) + json.dumps(messages, ensure_ascii=False),
        tools=functions_of(functions, "schema"),
        forced="any" in choice or "tool" in choice,
        budget_tokens=tokens_of(config.get("maxTokens")),
        stream=bool(body.get("stream")),
        response_format=_format(body),
        thinking=thinks(body),
        stop_sequences=texts_of(config.get("stopSequences")),
        prefill="continue" if takes else "restart",
    )


def member(value: Any, name: str) -> dict[str, Any]:
    """Return a member that is an object, an empty one where there is none.

    >>> member({"a": {"b": 1}}, "a"), member(None, "a")
    ({'b': 1}, {})
    """
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, dict) else {}


def thinks(body: Body) -> bool:
    """Return whether a request asks for thoughts.

    >>> thinks({"additionalModelRequestFields": {"thinking": {"type": "enabled"}}})
    True
    """
    thinking = member(member(body, "additionalModelRequestFields"), "thinking")
    return thinking.get("type") in ("enabled", "adaptive")


def blocks_of(message: Any) -> list[dict[str, Any]]:
    """Return the blocks of a message.

    >>> blocks_of({"content": [{"text": "x"}]})
    [{'text': 'x'}]
    """
    content = message.get("content") if isinstance(message, dict) else None
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _rows(message: Body) -> Iterator[Row]:
    blocks = blocks_of(message)
    results = [block["toolResult"] for block in blocks if "toolResult" in block]
    for result in results:
        yield Row("tool", text_of(result.get("content")))
    said = [block for block in blocks if "text" in block]
    if said or not results:
        yield Row(message.get("role"), text_of(said))


def _format(body: Body) -> Mapping[str, Any] | None:
    given = member(member(body, "outputConfig"), "textFormat")
    if given.get("type") != "json_schema":
        return None
    schema = member(member(given, "structure"), "jsonSchema").get("schema")
    return in_schema(json.loads(str(schema)))
