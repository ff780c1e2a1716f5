"""Read what a Converse request asks for. The path names the model, and whether to stream."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tenuto_sim.asked import (
    Asked,
    Row,
    at,
    functions_of,
    in_schema,
    object_at,
    objects_of,
    texts_of,
    tokens_of,
)
from tenuto_sim.bedrock_converse.models import takes_prefill
from tenuto_sim.history import text_of
from tenuto_sim.reply import Settings

Body = Mapping[str, Any]


def located(body: Body, said: Mapping[str, str]) -> dict[str, Any]:
    """Return a body with what its path says, for Converse and InvokeModel.

    >>> located({}, {"model": "sim", "what": "converse-stream"})
    {'model': 'sim', 'stream': True}
    """
    return {**body, "model": said["model"], "stream": said["what"].endswith("-stream")}


def read(body: Body, settings: Settings) -> Asked:
    """Return what a body asks for. `impossible` has checked it.

    >>> ask = {"model": "sim", "messages": [{"role": "user", "content": [{"text": "u"}]}]}
    >>> read(ask, Settings()).rows
    (Row(role='user', text='u', resumes=False),)
    """
    messages = body["messages"]
    config = object_at(body, "inferenceConfig")
    choice = object_at(body, "toolConfig", "toolChoice")
    takes = takes_prefill(body["model"], settings.prefill)
    return Asked(
        model=body["model"],
        rows=tuple(row for message in messages for row in _rows(message)),
        counted=text_of(body.get("system")) + json.dumps(messages, ensure_ascii=False),
        tools=functions_of(at(body, "toolConfig", "tools"), "inputSchema.json", "toolSpec"),
        forced="any" in choice or "tool" in choice,
        budget_tokens=tokens_of(config.get("maxTokens")),
        stream=bool(body.get("stream")),
        response_format=_format(at(body, "outputConfig", "textFormat")),
        thinking=thinks(body),
        stop_sequences=texts_of(config.get("stopSequences")),
        prefill="continue" if takes else "restart",
    )


def thinks(body: Body) -> bool:
    """Return whether a request asks for thinking.

    >>> thinks({"additionalModelRequestFields": {"thinking": {"type": "enabled"}}})
    True
    """
    kind = at(body, "additionalModelRequestFields", "thinking", "type")
    return kind in ("enabled", "adaptive")


def blocks_of(message: Any) -> list[dict[str, Any]]:
    """Return the blocks of a message.

    >>> blocks_of({"content": [{"text": "x"}]})
    [{'text': 'x'}]
    """
    return objects_of(at(message, "content"))


def _rows(message: Body) -> Iterator[Row]:
    blocks = blocks_of(message)
    results = [block["toolResult"] for block in blocks if "toolResult" in block]
    for result in results:
        yield Row("tool", text_of(result.get("content")))
    said = [block for block in blocks if "text" in block]
    if said or not results:
        yield Row(message.get("role"), text_of(said))


def _format(given: Any) -> Mapping[str, Any] | None:
    if at(given, "type") != "json_schema":
        return None
    return in_schema(json.loads(str(at(given, "structure", "jsonSchema", "schema"))))
