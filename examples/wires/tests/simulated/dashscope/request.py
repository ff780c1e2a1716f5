"""Read what a request asks for: as on Chat Completions, in `input` and `parameters`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tenuto_sim.asked import Asked
from tenuto_sim.openai_chat.request import read as read_chat
from tenuto_sim.reply import Settings

LISTS: Final = "lists"
"""Contents are lists of parts, as on the multimodal path."""
TEXT: Final = "text"
"""The answer is a text, without a message."""
SO_FAR: Final = "so far"
"""Each event repeats everything so far."""

_SPEAKERS: Final = (("user", "user"), ("assistant", "bot"))


def located(body: Mapping[str, Any], said: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the body with the service that its path names."""
    return {**body, "service": said["service"]}


def headed(body: Mapping[str, Any], headers: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the body with whether to stream, which a header says."""
    return {**body, "stream": headers.get("x-dashscope-sse") == "enable"}


def as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request in the form of Chat Completions.

    >>> as_chat({"model": "q", "input": {"prompt": "Hi"}, "parameters": {"n": 1}, "stream": True})
    {'model': 'q', 'messages': [{'role': 'user', 'content': 'Hi'}], 'n': 1, 'stream': True}
    """
    asked = body["input"]
    turns = asked.get("history") or ()
    before = [{"role": r, "content": turn[k]} for turn in turns for r, k in _SPEAKERS]
    rows = asked.get("messages") or [*before, {"role": "user", "content": asked.get("prompt")}]
    parameters = body.get("parameters") or {}
    return {"model": body["model"], "messages": rows, **parameters, "stream": body["stream"]}


def read(body: Mapping[str, Any], settings: Settings) -> Asked:
    """Return what a body asks for. `impossible` has checked it."""
    chat = as_chat(body)
    last = chat["messages"][-1]
    forms = {
        LISTS: body.get("service") == "multimodal",
        TEXT: chat.get("result_format", "text") == "text",
        SO_FAR: not chat.get("incremental_output"),
    }
    return replace(
        read_chat(chat, settings),
        thinking=chat.get("enable_thinking") is True,
        prefill="continue" if last.get("partial") is True else "restart",
        forms=frozenset(name for name, wanted in forms.items() if wanted),
    )
