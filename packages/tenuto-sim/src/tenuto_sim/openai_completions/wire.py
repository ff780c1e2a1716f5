"""The simulator's row for OpenAI's Completions: Chat's, except for the prompt and a choice's
text."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tenuto_sim.openai_chat import wire as chat
from tenuto_sim.openai_completions import cases, render, request
from tenuto_sim.prose import key_of

WIRE: Final = replace(
    chat.WIRE,
    name="openai-completions",
    tables=cases.TABLES,
    path="/v1/completions",
    read=request.read,
    impossible=request.impossible,
    violations=request.violations,
    core_keys=frozenset({"model", "prompt", "stream", "stream_options", "max_tokens", "n"}),
    document=render.document,
    payloads=render.payloads,
    answer_id=lambda key: "cmpl-" + key_of(key, length=29),
)
