"""Completions of the simulator: refusals in OpenAI's words, and how it goes on."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tenuto_sim import Simulator


def ask(sim: Simulator, **body: Any) -> httpx.Response:
    given = {"model": "sim", "prompt": "Tell me.\n"} | body
    return httpx.post(f"{sim.base_url}/completions", json=given)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"model": ""}, "you must provide a model parameter"),
        ({"prompt": None}, "Missing required parameter: 'prompt'."),
        ({"prompt": 7}, "expected a string or an array, but got an integer instead."),
        ({"stream": 1}, "Invalid type for 'stream'"),
        ({"max_tokens": 0}, "integer below minimum value"),
        ({"max_tokens": 99_999}, "supports at most 16384 completion tokens"),
        ({"n": 0}, "Invalid 'n': integer below minimum value. Expected a value >= 1"),
        ({"n": 129}, "Invalid 'n': integer above maximum value. Expected a value <= 128"),
        ({"n": True}, "Invalid type for 'n': expected an integer, but got a boolean"),
        ({"stream_options": {}}, "only allowed when 'stream' is enabled"),
        ({"messages": []}, "Unrecognized request argument supplied: messages"),
    ],
)
def test_what_the_provider_would_refuse_is_refused_in_its_words(
    sim: Simulator, body: dict[str, Any], says: str
) -> None:
    answer = ask(sim, **body)
    assert answer.status_code == 400
    assert says in answer.json()["error"]["message"]


def test_several_prompts_have_several_choices_and_what_was_written_is_gone_on_with(
    sim: Simulator,
) -> None:
    several = ask(sim, prompt=["One.\n", "Two.\n"]).json()["choices"]
    assert [choice["index"] for choice in several] == [0, 1]
    whole = ask(sim, prompt="Go on.\n").json()["choices"][0]["text"]
    rest = ask(sim, prompt=f"Go on.\n{whole[:50]}").json()["choices"][0]["text"]
    assert rest == whole[50:]
    lines = ask(sim, prompt="Go on.\n", stream=True).text.split("\n\n")
    events = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert "".join(event["choices"][0]["text"] for event in events) == whole
    assert events[-1]["choices"][0]["finish_reason"] == "stop"
