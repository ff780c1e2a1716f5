"""Read what a Chat Completions request asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tenuto_sim.asked import Asked, Row, functions_of, texts_of, tokens_of
from tenuto_sim.history import text_of
from tenuto_sim.reply import Settings


def read(body: Mapping[str, Any], _: Settings) -> Asked:
    """Return what a body asks for. `impossible` has checked it.

    >>> read({"model": "sim", "messages": [{"role": "user", "content": "u"}]}, Settings()).rows
    (Row(role='user', text='u', resumes=False),)
    """
    messages = body["messages"]
    choices = body.get("n")
    format_ = body.get("response_format")
    choice = body.get("tool_choice")
    stop = body.get("stop")
    return Asked(
        model=body["model"],
        rows=tuple(Row(m["role"], text_of(m.get("content"))) for m in messages),
        counted=json.dumps(messages, ensure_ascii=False),
        tools=functions_of(body.get("tools"), "parameters", "function"),
        forced=choice == "required" or isinstance(choice, dict),
        budget_tokens=tokens_of(body.get("max_completion_tokens", body.get("max_tokens"))),
        stream=bool(body.get("stream")),
        choices=choices if isinstance(choices, int) and 1 <= choices <= 8 else 1,
        include_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        response_format=format_ if isinstance(format_, dict) else None,
        stop_sequences=(stop,) if isinstance(stop, str) else texts_of(stop),
    )
