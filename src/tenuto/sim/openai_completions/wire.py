"""The row of OpenAI's Completions: Chat's, but for the prompt and the text of a choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tenuto.sim import openai_chat
from tenuto.sim.openai_completions.render import render_body, render_events
from tenuto.sim.openai_completions.request import impossible, read, violations
from tenuto.sim.prose import key_of

WIRE: Final = replace(
    openai_chat.WIRE,
    name="openai-completions",
    path="/v1/completions",
    read=read,
    impossible=impossible,
    violations=violations,
    core_keys=frozenset({"model", "prompt", "stream", "stream_options", "max_tokens", "n"}),
    render_body=render_body,
    render_events=render_events,
    answer_id=lambda key: "cmpl-" + key_of(key, length=29),
)
