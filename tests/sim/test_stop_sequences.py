"""Stop sequences of a request end the text on every wire that has them."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from tenuto_sim import Simulator

PROMPT = "Where do the tides come from?"
ROWS = [{"role": "user", "content": PROMPT}]
Asks = Callable[[str], tuple[str, dict[str, Any]]]

WIRES: dict[str, tuple[Asks, str, str]] = {
    "openai-chat": (
        lambda stop: ("/v1/chat/completions", {"messages": ROWS, "stop": [stop]}),
        "finish_reason",
        "stop",
    ),
    "openai-chat, one text": (
        lambda stop: ("/v1/chat/completions", {"messages": ROWS, "stop": stop}),
        "finish_reason",
        "stop",
    ),
    "anthropic-messages": (
        lambda stop: (
            "/v1/messages",
            {"messages": ROWS, "max_tokens": 500, "stop_sequences": [stop]},
        ),
        "stop_reason",
        "stop_sequence",
    ),
    "cohere": (
        lambda stop: ("/v2/chat", {"messages": ROWS, "stop_sequences": [stop], "stream": False}),
        "finish_reason",
        "STOP_SEQUENCE",
    ),
    "ollama": (
        lambda stop: (
            "/api/chat",
            {"messages": ROWS, "options": {"stop": [stop]}, "stream": False},
        ),
        "done_reason",
        "stop",
    ),
    "gemini-interactions": (
        lambda stop: (
            "/v1beta/interactions",
            {"input": PROMPT, "generation_config": {"stop_sequences": [stop]}},
        ),
        "status",
        "completed",
    ),
}


@pytest.mark.parametrize("wire", WIRES)
def test_a_stop_sequence_ends_the_text_before_it(sim: Simulator, wire: str) -> None:
    asks, key, native = WIRES[wire]
    whole = sim.answer(PROMPT)
    path, body = asks("Point 3")
    headers = {
        "content-type": "application/json", "authorization": "Bearer key",
        "x-api-key": "key", "x-goog-api-key": "key", "anthropic-version": "2023-06-01",
    }  # fmt: skip
    request = urllib.request.Request(
        sim.root_url + path, json.dumps({"model": "sim", **body}).encode(), headers
    )
    with urllib.request.urlopen(request) as response:
        said = response.read().decode()
    assert f'"{key}":"{native}"' in said
    assert json.dumps(whole[: whole.find("Point 3")], ensure_ascii=False)[1:-1] in said
    assert "Point 3" not in said.replace('"stop_sequence":"Point 3"', "")
