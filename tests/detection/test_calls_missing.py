"""A stop that says that tools are called, in an answer without a call (N14)."""

from __future__ import annotations

from typing import Any

import pytest

from tenuto import Confidence, StopReason, decide, detect, detect_conversation

WORDS = "I will look it up."
MISSING = ("tool_calls_missing",)


def chat(stop: str, **message: Any) -> Any:
    said = {"role": "assistant", "content": WORDS, **message}
    return {"choices": [{"index": 0, "message": said, "finish_reason": stop}]}


def langchain(stop: str, **more: Any) -> Any:
    return {"type": "ai", "content": WORDS, "response_metadata": {"finish_reason": stop}, **more}


def haystack(*parts: Any) -> Any:
    return {
        "role": "assistant",
        "meta": {"finish_reason": "tool_calls"},
        "content": [{"text": WORDS}, *parts],
    }


ANSWERS: dict[str, tuple[Any, str]] = {
    "openai-chat": (chat("tool_calls"), "tool_calls"),
    "openai-chat, older": (chat("function_call"), "function_call"),
    "openai-chat, as chunks": (
        [
            {"choices": [{"index": 0, "delta": {"content": WORDS}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        ],
        "tool_calls",
    ),
    "anthropic-messages": (
        {"type": "message", "content": [{"type": "text", "text": WORDS}], "stop_reason": "tool_use"},
        "tool_use",
    ),
    "bedrock-converse": (
        {"output": {"message": {"role": "assistant", "content": [{"text": WORDS}]}}, "stopReason": "tool_use"},
        "tool_use",
    ),
    "cohere": (
        {
            "id": "c", "finish_reason": "TOOL_CALL",
            "message": {"role": "assistant", "content": [{"type": "text", "text": WORDS}]},
        },
        "TOOL_CALL",
    ),
    "gemini-interactions": (
        {
            "object": "interaction", "model": "m", "status": "requires_action",
            "steps": [{"type": "model_output", "content": [{"type": "text", "text": WORDS}]}],
        },
        "requires_action",
    ),
    "LangChain": (langchain("tool_calls"), "tool_calls"),
    "Haystack": (haystack(), "tool_calls"),
}  # fmt: skip


@pytest.mark.behaviour("N14", "N3")
@pytest.mark.parametrize("name", ANSWERS)
def test_the_stop_is_told_as_it_was_given_with_the_fact_that_no_call_is_there(name: str) -> None:
    answer, raw = ANSWERS[name]
    stop = detect(answer)
    assert (stop.reason, stop.raw, stop.confidence) == (StopReason.TOOL_CALL, raw, Confidence.HIGH)
    assert stop.anomalies == MISSING
    assert stop.message == (
        "The provider says that the model asks for a tool, but the answer holds no tool call."
    )
    assert decide(stop).outcome == "calls_missing"


@pytest.mark.behaviour("N14")
def test_a_call_of_a_framework_is_one() -> None:
    call = {"tool_call": {"id": "a", "tool_name": "tide", "arguments": {}}}
    called = langchain("tool_calls", tool_calls=[{"id": "a", "name": "tide", "args": {}}])
    for answer in (haystack(call), called):
        stop = detect(answer)
        assert (stop.reason, stop.anomalies) == (StopReason.TOOL_CALL, ())


@pytest.mark.behaviour("N14")
def test_metadata_alone_do_not_show_that_a_call_is_missing() -> None:
    stop = detect({"model_name": "m", "finish_reason": "tool_calls"})
    assert (stop.reason, stop.anomalies) == (StopReason.TOOL_CALL, ())


@pytest.mark.behaviour("N14")
def test_a_conversation_may_not_end_with_a_call_that_never_came() -> None:
    told = detect_conversation(
        [{"role": "user", "content": "When is high tide?"}, chat("tool_calls")]
    )
    assert (told.may_end, told.waiting) == (False, ())
    assert told.why == told.turns[0].stop.message
