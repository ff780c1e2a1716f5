"""A request that offers a tool `final_answer` gets its answer as a call of it, as smolagents reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest

MODES = ("body", "stream")
PROMPT = "New task:\nTell me about the harbour."
TASK: Any = {"role": "user", "content": PROMPT}
FINAL: Any = {
    "type": "function",
    "function": {
        "name": "final_answer",
        "parameters": {
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
        },
    },
}
FORCED: Any = {"tool_choice": "required"}


def answer_of(got: Any) -> Any:
    assert [call["function"]["name"] for call in got.calls] == ["final_answer"]
    return json.loads(got.raw_arguments[0])


@pytest.mark.parametrize("mode", MODES)
def test_a_text_comes_as_a_call(bare, mode, way):
    got = bare.ask([TASK], mode, way, tools=[FINAL], **FORCED)
    assert (got.text, got.finish) == ("", "tool_calls")
    assert answer_of(got) == {"answer": bare.sim.answer(PROMPT)}


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_of_a_task_are_called_before_it(bare, tools, mode):
    ask: Any = {"model": "sim/tool", "tools": [*tools, FINAL], **FORCED}
    got = bare.ask([TASK], mode, **ask)
    assert [call["function"]["name"] for call in got.calls] == ["write_file"]
    result = {"role": "tool", "tool_call_id": got.calls[0]["id"], "content": "ok"}
    after = bare.ask([TASK, got.message, result], mode, **ask)
    assert answer_of(after) == {"answer": bare.sim.answer(PROMPT)}


def test_a_result_that_the_history_has_as_text_is_a_result(bare, tools):
    ask: Any = {"model": "sim/tool", "tools": [*tools, FINAL], **FORCED}
    calling = {"role": "assistant", "content": "Calling tools:\n[{'id': 'call_1'}]"}
    seen = {"role": "user", "content": "Observation:\nwritten"}
    got = bare.ask([TASK, calling, seen], **ask)
    assert answer_of(got) == {"answer": bare.sim.answer(PROMPT)}


def test_an_error_behind_the_task_leaves_the_answer_as_it_was(bare):
    task = TASK | {"content": PROMPT + "\nError:\nNo call was found."}
    got = bare.ask([task], tools=[FINAL], **FORCED)
    assert answer_of(got) == {"answer": bare.sim.answer(PROMPT)}


@pytest.mark.parametrize("mode", MODES)
def test_a_cut_answer_is_half_a_call(bare, mode):
    task = {"role": "user", "content": f"Tell me about it, {mode}."}
    got = bare.ask([task], mode, model="sim/length_once", tools=[FINAL], **FORCED)
    assert got.finish == "length"
    whole = json.dumps({"answer": bare.sim.answer(task["content"])}, ensure_ascii=False)
    (begun,) = got.raw_arguments
    assert 0 < len(begun) < len(whole)
    assert whole.startswith(begun)
    again = bare.ask([task], mode, model="sim/length_once", tools=[FINAL], **FORCED)
    assert again.raw_arguments == [whole]


def test_without_the_tool_the_same_history_is_only_text(bare, tools):
    calling = {"role": "assistant", "content": "Calling tools:"}
    seen = {"role": "user", "content": "Observation:\nwritten"}
    got = bare.ask([TASK, calling, seen], model="sim/tool", tools=tools)
    assert [call["function"]["name"] for call in got.calls] == ["write_file"]
