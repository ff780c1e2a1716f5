"""What a request asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto.sim.asked import Asked, Row
from tenuto.sim.reply import Settings

_LEAVES_OPEN: Final = re.compile(r"\A(?:qwen3|olmo-?3|lfm2|laguna)")
"""Models whose prompt the server writes by itself: a trailing assistant message stays open."""


def located(body: Mapping[str, Any], _: Mapping[str, str]) -> dict[str, Any]:
    """Return a body that says whether to stream, which is done unless it says otherwise.

    >>> located({}, {})
    {'stream': True}
    """
    return {"stream": True, **body}


def read(body: Mapping[str, Any], settings: Settings) -> Asked:
    """Return what a body asks for, which `impossible` let pass.

    >>> read({"model": "sim", "messages": [{"role": "user", "content": "u"}]}, Settings()).rows
    (Row(role='user', text='u', resumes=False),)
    """
    messages = body["messages"]
    options = body.get("options") if isinstance(body.get("options"), dict) else {}
    budget = options.get("num_predict") if options else None
    stops = options.get("stop") if options else None
    return Asked(
        model=body["model"],
        rows=tuple(Row(m.get("role"), str(m.get("content") or "")) for m in messages),
        counted=json.dumps(messages, ensure_ascii=False),
        tools=tuple(_tools(body.get("tools"))),
        budget_tokens=budget if type(budget) is int and budget > 0 else None,
        stream=body.get("stream") is not False,
        response_format=_format(body.get("format")),
        thinking=body.get("think") is True,
        stop_sequences=tuple(map(str, stops)) if isinstance(stops, list) else (),
        prefill="continue" if _leaves_open(body["model"], settings.prefill) else "restart",
    )


def _leaves_open(model: str, setting: str) -> bool:
    """Return whether the answer goes on with a trailing assistant message; of a model whose name
    says nothing, its own template decides."""
    return _LEAVES_OPEN.search(model) is not None or setting == "continue"


def _tools(tools: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in tools if isinstance(tools, list) else ():
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict):
            yield str(function.get("name")), function.get("parameters") or {}


def _format(given: Any) -> Mapping[str, Any] | None:
    if not given:
        return None
    if given == "json":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"schema": given}}
