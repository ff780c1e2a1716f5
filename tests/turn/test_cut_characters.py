"""A character that the limit cut is written once, also where the attempt behind it brought nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import ConnectionLost, Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, lost
from tenuto.turn.pipeline.engine import Engine

ASKED = {"max_tokens": 4_096, "messages": [{"role": "user", "content": "Say it."}]}


def chat(text: str, cut: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": "length" if cut else "stop"}]}


def messages(text: str, cut: bool) -> dict[str, Any]:
    stop = "max_tokens" if cut else "end_turn"
    return {"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": stop}


def gemini(text: str, cut: bool) -> dict[str, Any]:
    stop = "MAX_TOKENS" if cut else "STOP"
    return {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": stop}]}


WIRES = {
    "/v1/chat/completions": (chat, ASKED | {"model": "m"}),
    "/v1/messages": (messages, ASKED | {"model": "claude-sonnet-4-5"}),
    "/v1beta/models/gemini-2.5-pro:generateContent": (
        gemini,
        {"contents": [{"role": "user", "parts": [{"text": "Say it."}]}]},
    ),
}


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("path", WIRES)
@pytest.mark.parametrize("breaks", ["connection", "half a body", "error"])
def test_a_character_cut_in_two_is_whole_after_an_attempt_that_brought_nothing(
    path: str, breaks: str
) -> None:
    answer, asked = WIRES[path]
    whole = json.dumps(answer("いる。", False)).encode()
    pieces: tuple[bytes | ConnectionLost, ...] = (whole[: len(whole) // 2],)
    nothing = {
        "connection": Scripted.body(*pieces, lost()),
        "half a body": Scripted.body(*pieces),
        "error": Scripted.body(b"{}", status=503),
    }[breaks]
    first = json.dumps(answer("仕事の量は増えて\ufffd", True)).encode()
    script = Script(Scripted.body(first), nothing, Scripted.body(whole))
    request = Request("POST", f"https://host{path}", (), json.dumps(asked).encode())
    run = Engine(Policy(backoff_s=0)).begin(request)
    assert run is not None
    _, body = Drive(run, script.connect).pieces()
    assert isinstance(body, bytes)
    assert "仕事の量は増えている。" in json.dumps(json.loads(body), ensure_ascii=False)
