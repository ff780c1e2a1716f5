"""Members of answers that are null, under another name, or where another API has them."""

from __future__ import annotations

from typing import Any

import pytest

from examples.wires.tests.at_hand import every_wire as wires
from tenuto.core.answer.parts import CallPiece
from tenuto.core.answer.signals import CallDelta, Usage, UsageSeen


@pytest.mark.parametrize(
    "usage",
    [
        {"promptTokenCount": 5, "prompt_token_count": None},
        {"prompt_token_count": None, "promptTokenCount": 5},
        {"promptTokenCount": None, "prompt_token_count": 5, "new_word": 1},
    ],
)
def test_a_count_of_gemini_stays_beside_a_null_under_the_other_name(usage):
    signals = wires()["gemini-generate"].read({"usageMetadata": usage}, event=True)
    assert UsageSeen(Usage(5)) in signals


@pytest.mark.behaviour("N6", "T13")
@pytest.mark.parametrize(
    ("call", "read"),
    [
        (
            {"id": "a", "type": "function", "name": "f", "arguments": "{}"},
            CallDelta(0, "a", None, None, extra={"name": "f", "arguments": "{}"}),
        ),
        (
            {"id": "a", "type": "function", "custom": {"name": "f", "input": "x"}},
            CallDelta(0, "a", None, None, extra={"custom": {"name": "f", "input": "x"}}),
        ),
        (
            {"id": "a", "type": "function", "function": "x", "name": "f"},
            CallDelta(0, None, None, None, unreadable=True),
        ),
        (
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            CallDelta(0, "a", "f", "{}"),
        ),
    ],
)
def test_a_call_of_cohere_is_no_older_call_of_openai(call: Any, read: CallDelta):
    signals = wires()["cohere"].read({"message": {"tool_calls": [call]}}, event=False)
    assert [signal for signal in signals if isinstance(signal, CallPiece)] == [
        CallPiece(("tool_calls", 0), read)
    ]


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize(("index", "number"), [(999, 999), (1_000, None), (2.0, 2), (-1, None)])
def test_an_index_of_cohere_beyond_any_answer_is_none(index, number):
    chunk = {
        "event_type": "tool-calls-chunk",
        "tool_call_delta": {"name": "f", "index": index},
    }
    signals = wires()["cohere-v1"].read(chunk, event=True)
    assert [one.place for one in signals if isinstance(one, CallPiece)] == [("tool_calls", number)]


@pytest.mark.parametrize(
    ("wire", "value", "usage"),
    [
        ("anthropic-messages", {"type": "message_start", "message": {"usage": {"a": 1}}}, {"a": 1}),
        ("anthropic-messages", {"type": "message_delta", "message": {"usage": {"a": 1}}}, None),
        ("anthropic-messages", {"type": "message_delta", "usage": {"a": 1}}, {"a": 1}),
        ("openai-responses", {"response": {"usage": {"a": 1}}}, {"a": 1}),
        ("openai-responses", {"response": {}, "usage": {"a": 1}}, None),
        ("openai-responses", {"usage": {"a": 1}}, {"a": 1}),
    ],
)
def test_usage_is_read_where_a_wire_has_it_and_nowhere_else(wire, value, usage):
    assert wires()[wire].usage_object(value) == usage
