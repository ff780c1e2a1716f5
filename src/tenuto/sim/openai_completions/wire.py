"""The row of OpenAI's Completions: Chat's, but for the prompt and the text of a choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tenuto.sim import openai_chat
from tenuto.sim.openai_completions.cases import TABLES
from tenuto.sim.openai_completions.render import document, payloads
from tenuto.sim.openai_completions.request import impossible, read, violation
from tenuto.sim.prose import key_of

WIRE: Final = replace(
    openai_chat.WIRE,
    name="openai-completions",
    tables=TABLES,
    path="/v1/completions",
    read=read,
    impossible=impossible,
    violation=violation,
    core_keys=frozenset({"model", "prompt", "stream", "stream_options", "max_tokens", "n"}),
    document=document,
    payloads=payloads,
    answer_id=lambda key: "cmpl-" + key_of(key, length=29),
)
