"""The output tokens that an agent's turn may use, where the provider does not tell them."""

from __future__ import annotations

import asyncio
import json

import pytest
from support.far_sides import FarSide, json_answer, sse_answer

from tenuto import Agent, Limits, Model

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
    shared = {"id": "c", "created": 1, "model": "m", **({"usage": told} if told else {})}
    said = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    if mode == "body":
        choice = {"index": 0, "message": said, "finish_reason": "tool_calls"}
        made = {**shared, "object": "chat.completion", "choices": [choice]}
        return json_answer(json.dumps(made).encode())
    choice = {"index": 0, "delta": said, "finish_reason": "tool_calls"}
    made = {**shared, "object": "chat.completion.chunk", "choices": [choice]}
    return sse_answer(b"data: " + json.dumps(made).encode() + b"\n\ndata: [DONE]\n\n")


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
