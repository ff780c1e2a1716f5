"""Turns of the pipe over scripted answers, for what listens to them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import tenuto
from support.one_turn import drive
from tenuto.turn.drivers.commands import Head
from tenuto.turn.drivers.scripted import Script, Scripted

URL = "https://api.openai.com/v1/chat/completions"
POLICY = tenuto.Policy(backoff_s=0.0)
PROMPT = "Say a secret thing."


def answer(
    text: str, stop: str = "stop", status: int = 200, tokens: tuple[int, int] = (10, 5)
) -> Scripted:
    """An answer of Chat Completions; `tokens`: how many it billed, in and out."""
    message = {"role": "assistant", "content": text}
    value: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": stop}]}
    value |= {"usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}}
    made = Scripted.body(json.dumps(value).encode())
    return replace(made, head=Head(status, made.head.headers))


def refused(status: int) -> Scripted:
    """An error of the provider."""
    made = Scripted.body(b'{"error": {"message": "A secret no.", "type": "server_error"}}')
    return replace(made, head=Head(status, made.head.headers))


def chat(
    *answers: Scripted,
    on_event: Any = None,
    model: str = "gpt-5",
    policy: tenuto.Policy = POLICY,
) -> str:
    """Run one turn, and return the text that its caller got; "" where that was an error."""
    body = {"model": model, "messages": [{"role": "user", "content": PROMPT}]}
    turn = tenuto.sansio.Turn(
        "POST", URL, [], json.dumps(body).encode(), policy=policy, on_event=on_event
    )
    choices = json.loads(drive(turn, Script(*answers)).body).get("choices")
    return choices[0]["message"]["content"] if choices else ""
