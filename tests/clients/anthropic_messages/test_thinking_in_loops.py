"""A thinking model in a loop of calls: what an answer of thinking alone leaves for the next request."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

import tenuto
from tenuto_sim import Simulator, Step
from tenuto_sim.case import Kind, Say

TOOL = {
    "name": "write",
    "description": "Write a file.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}


def ask(client: Any, stream: bool, **request: Any) -> Any:
    if not stream:
        return client.messages.create(**request)
    with client.messages.stream(**request) as streamed:
        return streamed.get_final_message()


@pytest.mark.behaviour("H9", "E4")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("finish", ["length", "end_turn"])
@pytest.mark.parametrize("budget", [1_024, 2_000])
def test_a_call_after_thinking_alone_has_thinking_before_it(stream, finish, budget) -> None:
    """The simulator refuses results whose call has no thinking before it, as older models do."""
    with Simulator() as sim:
        plain = anthropic.Anthropic(base_url=sim.root_url, api_key="key", max_retries=0)
        client = tenuto.wrap(plain, policy=tenuto.Policy(on_incomplete="error"))
        thinking = {"type": "enabled", "budget_tokens": budget}
        request = {"model": "m", "max_tokens": 4_096, "thinking": thinking, "tools": [TOOL]}
        rows: list[Any] = [{"role": "user", "content": "Write the file."}]
        sim.script([Step(say=Say.REASONING, finish=finish), Step(kind=Kind.CALL, think=True)])
        made = ask(client, stream, messages=rows, **request)
        (call,) = [block for block in made.content if block.type == "tool_use"]
        asked = [sent.json["thinking"] for sent in sim.requests]
        assert asked[0] == thinking
        assert [each["type"] for each in asked] == ["enabled", "enabled"]

        result = {"type": "tool_result", "tool_use_id": call.id, "content": "written"}
        rows.append(made.model_dump(include={"role", "content"}, exclude_none=True))
        rows.append({"role": "user", "content": [result]})
        sim.script([])
        assert ask(client, stream, messages=rows, **request).stop_reason == "end_turn"
        assert all(sent.status == 200 for sent in sim.requests)
        plain.close()


@pytest.mark.behaviour("H9", "C4")
@pytest.mark.parametrize("stream", [False, True])
def test_no_further_request_is_sent_without_room_for_thinking(stream) -> None:
    with Simulator() as sim:
        plain = anthropic.Anthropic(base_url=sim.root_url, api_key="key", max_retries=0)
        client = tenuto.wrap(plain, policy=tenuto.Policy(hard_max_tokens=1_024))
        thinking = {"type": "enabled", "budget_tokens": 1_024}
        request = {"model": "m", "max_tokens": 2_000, "thinking": thinking, "tools": [TOOL]}
        sim.script([Step(say=Say.REASONING, finish="length"), Step(kind=Kind.CALL)])
        rows = [{"role": "user", "content": "Write the file."}]
        assert ask(client, stream, messages=rows, **request).stop_reason == "max_tokens"
        assert [sent.json["thinking"] for sent in sim.requests] == [thinking]
        plain.close()
