"""Each rule refuses what breaks it, in the provider's words, and lets pass what does not."""

from __future__ import annotations

from typing import Any

import pytest
from cohere.core import ApiError
from support.asking.cohere import TOOLS

from tenuto_sim.cohere.history import (
    BROKEN_ARGUMENTS,
    EMPTY_TURN,
    ORPHAN_CALL,
    ORPHAN_RESULT,
)

USER: dict[str, Any] = {"role": "user", "content": "hello"}
CALL: dict[str, Any] = {
    "id": "a",
    "type": "function",
    "function": {"name": "write_file", "arguments": "{}"},
}
CALLS: dict[str, Any] = {"role": "assistant", "tool_plan": "I will.", "tool_calls": [CALL]}
RESULT: dict[str, Any] = {"role": "tool", "tool_call_id": "a", "content": "ok"}
CUT: dict[str, Any] = CALL | {"function": {"name": "write_file", "arguments": '{"a'}}

REFUSED: dict[str, tuple[list[Any], str]] = {
    "unanswered call": ([USER, CALLS, USER], f"{ORPHAN_CALL}a"),
    "unanswered call at the end": ([USER, CALLS], f"{ORPHAN_CALL}a"),
    "result without a call": ([USER, RESULT], f"{ORPHAN_RESULT}a"),
    "a second result": ([USER, CALLS, RESULT, RESULT], f"{ORPHAN_RESULT}a"),
    "broken arguments": ([USER, CALLS | {"tool_calls": [CUT]}, RESULT], BROKEN_ARGUMENTS),
    "a blank row": ([USER, {"role": "assistant", "content": " "}, USER], EMPTY_TURN),
    "no content": ([{"role": "user"}], EMPTY_TURN),
    "a private key": ([USER | {"_note": 1}], "unknown field: parameter '_note' is not"),
    "a role of another wire": (
        [{"role": "developer", "content": "x"}],
        "invalid request: Invalid role in messages at index 0.",
    ),
}


def refusal(got: Any) -> str:
    assert isinstance(got.error, ApiError)
    said: str = got.error.body["message"]
    return said


@pytest.mark.parametrize("name", REFUSED)
def test_a_history_that_breaks_a_rule_is_refused(bare, name):
    rows, words = REFUSED[name]
    # The SDK's own types would leave out what they do not know.
    assert refusal(bare.ask(rows)).startswith(words)


MEMBERS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": (
        {"request_options": {"additional_body_parameters": {"n": 2}}},
        "unknown field: parameter 'n'",
    ),
    "above the ceiling": (
        {"max_tokens": 100_000},
        "too many tokens: max tokens must be less than or equal to 16384",
    ),
    "a choice of another wire": (
        {"tool_choice": "auto", "tools": TOOLS},
        "invalid request: tool_choice must be one of REQUIRED or NONE.",
    ),
    "a choice without tools": (
        {"tool_choice": "REQUIRED"},
        "invalid request: tool_choice cannot be specified without tools.",
    ),
    "a form beside tools": (
        {"response_format": {"type": "json_object"}, "tools": TOOLS},
        "invalid request: response_format is not supported with RAG.",
    ),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_that_breaks_a_rule_is_refused(bare, name):
    members, words = MEMBERS[name]
    assert refusal(bare.ask([USER], **members)).startswith(words)


@pytest.mark.parametrize(
    "rows",
    [
        [USER, CALLS, RESULT],
        [USER, {"role": "assistant", "content": "Well."}, USER],
        [{"role": "system", "content": "Be brief."}, USER],
        [USER, {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}, USER],
    ],
    ids=["calls", "text", "system", "thinking"],
)
def test_a_history_that_breaks_no_rule_is_answered(bare, rows):
    assert bare.ask(rows, tools=TOOLS).error is None
