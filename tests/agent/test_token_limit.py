"""The output tokens that an agent's turn may use, where the provider does not tell them."""

from __future__ import annotations

import asyncio
import json

import pytest
from support.events import openai_chat as chat
from support.events.framing import sse
from support.far_sides import FarSide, json_answer, sse_answer

from tenuto_agent import Agent, Limits, Model

CALL = {
    "id": "call_1",
    "index": 0,
    "type": "function",
    "function": {"name": "note", "arguments": json.dumps({"text": "x" * 288})},
}
"""300 characters of arguments: 100 tokens by the ratio of the documentation."""


def calling(mode: str, usage: int | None) -> bytes:
    """An answer that calls a tool, whatever it was asked."""
    told = {"prompt_tokens": 1, "completion_tokens": usage, "total_tokens": 1} if usage else None
    said = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    beside = {"usage": told} if told else {}
    if mode == "body":
        return json_answer(json.dumps(chat.whole(said, "tool_calls") | beside).encode())
    made = chat.chunk(said, beside={"finish_reason": "tool_calls"}) | beside
    return sse_answer(b"".join(sse([made], done=True)))


@pytest.mark.behaviour("C29")
@pytest.mark.parametrize("mode", ["body", "stream"])
@pytest.mark.parametrize(("usage", "steps"), [(None, 3), (50, 5), (250, 1)])
def test_characters_are_counted_where_no_usage_is_told(
    way: str, mode: str, usage: int | None, steps: int
) -> None:
    written: list[str] = []

    def note(text: str) -> str:
        """Note a text."""
        written.append(text)
        return f"noted as number {len(written)}"

    with FarSide(calling(mode, usage)) as far:
        model = Model("openai-chat:m", base_url=far.base_url, api_key="k")
        limits = Limits(max_output_tokens=250, max_steps=8, repeated_calls=0)
        with Agent(model, tools=[note], limits=limits, stream=mode == "stream") as agent:
            result = agent.run("Go.") if way == "sync" else asyncio.run(agent.arun("Go."))
    assert (result.status, result.reason) == ("partial", "token_limit")
    assert (result.steps, len(far.requests)) == (steps, steps)
    assert result.usage.output_tokens == (usage * steps if usage else None)


def test_a_number_that_was_not_told_is_unknown_and_not_0() -> None:
    answer = chat.whole({"role": "assistant", "content": "Twice a day."}, "stop")
    answer["usage"] = {"completion_tokens": 4}
    with FarSide(json_answer(json.dumps(answer).encode())) as far:
        model = Model("openai-chat:m", base_url=far.base_url, api_key="k")
        with Agent(model, stream=False) as agent:
            result = agent.run("When?")
    assert (result.usage.input_tokens, result.usage.output_tokens) == (None, 4)
