"""An answer that the limit cut before it had any text: nothing can be gone on with, and the reason
says what was cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.one_turn import Played

from tenuto.turn.drivers.scripted import Scripted

RESPONSES = "https://api.openai.com/v1/responses"
MESSAGES = "https://api.anthropic.com/v1/messages"
REFUSAL = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "incomplete",
    "content": [{"type": "refusal", "refusal": "I can't he"}],
}
SEARCH = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "in_progress",
    "action": {"type": "search", "query": "tides"},
}


def response(item: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [item],
        "usage": {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13},
    }


MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}],
    "stop_reason": "max_tokens",
    "stop_sequence": None,
    "usage": {"input_tokens": 9, "output_tokens": 4},
}
ASKED = {"model": "m", "input": "Hi"}
ASKED_MESSAGES = {"model": "m", "max_tokens": 900, "messages": [{"role": "user", "content": "Hi"}]}
CUT: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "refusal": (RESPONSES, ASKED, response(REFUSAL), "refused"),
    "search": (RESPONSES, ASKED, response(SEARCH), "tool_call_truncated"),
    "search_of_anthropic": (MESSAGES, ASKED_MESSAGES, MESSAGE, "tool_call_truncated"),
}


@pytest.mark.behaviour("P1", "C6", "C7")
@pytest.mark.parametrize("name", CUT)
def test_the_reason_says_what_was_cut_and_the_answer_is_handed_on(name: str) -> None:
    url, asked, answer, reason = CUT[name]
    came = json.dumps(answer).encode()
    played = Played(url, asked, Scripted.body(came))
    assert played.got == came
    assert len(played.sent) == 1
    assert (played.report.status, played.report.reason) == ("partial", reason)
    assert played.report.advice != ""
    refused = Played(url, asked, Scripted.body(came), on_incomplete="error")
    assert reason in refused.got.decode()
