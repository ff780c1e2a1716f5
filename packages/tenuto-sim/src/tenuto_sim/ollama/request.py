"""Read what a request asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto_sim.asked import Asked, Row, at, in_schema, objects_of, texts_of, tokens_of
from tenuto_sim.reply import Settings

_LEAVES_OPEN: Final = re.compile(r"\A(?:qwen3|olmo-?3|lfm2|laguna)")
"""Models whose prompt the server writes itself, so a trailing assistant message stays open."""


def located(body: Mapping[str, Any], _: Mapping[str, str]) -> dict[str, Any]:
    """Return a body that says whether to stream, which is the default.

    >>> located({}, {})
    {'stream': True}
    """
    return {"stream": True, **body}


def located_prompt(body: Mapping[str, Any], _: Mapping[str, str]) -> dict[str, Any]:
    """Return a body with a prompt as one with messages. A prompt is one text: its first paragraph
    is the user's question. If there are more, the last one is the current question, and those
    between are the model's. In a raw prompt, everything after the first is the model's.

    >>> located_prompt({"prompt": "Say on.\\n\\nHalf, \\n\\nGo on."}, {})["messages"][1]
    {'role': 'assistant', 'content': 'Half, '}
    """
    prompt = body.get("prompt")
    asked, *more = prompt.split("\n\n") if isinstance(prompt, str) else ("",)
    now = [] if body.get("raw") is True else more[-1:]
    said = "\n\n".join(more[: len(more) - len(now)])
    told = (("user", asked), ("assistant", said), ("user", "".join(now)))
    messages = [{"role": role, "content": text} for role, text in told if text]
    return located(body, {}) | {"messages": messages}


def read(body: Mapping[str, Any], settings: Settings) -> Asked:
    """Return what a body asks for. `impossible` has checked it.

    >>> read({"model": "sim", "messages": [{"role": "user", "content": "u"}]}, Settings()).rows
    (Row(role='user', text='u', resumes=False),)
    """
    messages = body["messages"]
    budget = tokens_of(at(body, "options", "num_predict"))
    return Asked(
        model=body["model"],
        rows=tuple(Row(m.get("role"), str(m.get("content") or "")) for m in messages),
        counted=json.dumps(messages, ensure_ascii=False),
        tools=tuple(_tools(body.get("tools"))),
        budget_tokens=budget if budget and budget > 0 else None,
        stream=body.get("stream") is not False,
        response_format=_format(body.get("format")),
        thinking=body.get("think") is True,
        stop_sequences=texts_of(at(body, "options", "stop")),
        prefill="continue" if _leaves_open(body, settings.prefill) else "restart",
    )


def _leaves_open(body: Mapping[str, Any], setting: str) -> bool:
    """Return whether the answer continues a trailing assistant message, as in all raw requests. For
    a model whose name says nothing, its own template decides."""
    known = _LEAVES_OPEN.search(body["model"]) is not None
    return known or body.get("raw") is True or setting == "continue"


def _tools(tools: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in objects_of(tools):
        function = tool.get("function")
        if isinstance(function, dict):
            yield str(function.get("name")), function.get("parameters") or {}


def _format(given: Any) -> Mapping[str, Any] | None:
    if not given:
        return None
    if given == "json":
        return {"type": "json_object"}
    return in_schema(given)
