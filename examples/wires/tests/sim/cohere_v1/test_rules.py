"""Each rule refuses what breaks it, in the provider's words, and lets pass what does not."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from examples.wires.tests.asking.cohere_v1 import TOOLS
from examples.wires.tests.simulated.cohere_v1.rules import (
    MESSAGE_AND_RESULTS,
    NO_MESSAGE,
    NOTHING_ASKED,
    ORPHAN_CALL,
    ORPHAN_RESULT,
)
from tenuto_sim import Simulator

USER: dict[str, Any] = {"role": "USER", "message": "hello"}
CALL: dict[str, Any] = {"name": "write_file", "parameters": {"path": "a"}}
CALLS: dict[str, Any] = {"role": "CHATBOT", "message": "", "tool_calls": [CALL]}
RESULT: dict[str, Any] = {"call": CALL, "outputs": [{"text": "ok"}]}
RESULTS: dict[str, Any] = {"role": "TOOL", "tool_results": [RESULT]}
WRONG = "invalid type: parameter "


def refusal(sim: Simulator, **members: Any) -> str:
    body = {"model": "sim", "message": "Hi", "tools": TOOLS} | members
    answer = httpx.post(f"{sim.root_url}/v1/chat", json=body)
    return "" if answer.is_success else str(answer.json()["message"])


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unanswered call": ({"chat_history": [USER, CALLS]}, f"{ORPHAN_CALL}write_file"),
    "unanswered call before": ({"chat_history": [USER, CALLS, USER]}, f"{ORPHAN_CALL}write_file"),
    "result without a call": (
        {"chat_history": [USER, RESULTS, USER]},
        f"{ORPHAN_RESULT}write_file",
    ),
    "message behind results": ({"chat_history": [USER, CALLS, RESULTS]}, MESSAGE_AND_RESULTS),
    "a blank row": ({"chat_history": [USER, {"role": "CHATBOT", "message": " "}]}, NO_MESSAGE),
    "arguments as text": (
        {"chat_history": [CALLS | {"tool_calls": [CALL | {"parameters": "{}"}]}, RESULTS, USER]},
        f"{WRONG}tool_calls",
    ),
    "an output as text": (
        {"message": "", "chat_history": [CALLS], "tool_results": [RESULT | {"outputs": ["ok"]}]},
        f"{WRONG}tool_results.outputs",
    ),
    "a private key": ({"chat_history": [USER | {"_note": 1}]}, "unknown field: parameter '_note'"),
    "a role of another wire": (
        {"chat_history": [{"role": "user", "message": "x"}]},
        "invalid request: Invalid role in chat_history at index 0.",
    ),
    "nothing asked": ({"message": " "}, NOTHING_ASKED),
    "results without tools": ({"tool_results": [RESULT], "tools": None}, "invalid request: tool_r"),
    "two histories": ({"conversation_id": "c", "chat_history": [USER]}, "invalid request: cannot"),
    "unknown": ({"n": 2}, "unknown field: parameter 'n'"),
    "above the ceiling": ({"max_tokens": 100_000}, "too many tokens: max tokens must be less"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_that_breaks_a_rule_is_refused(sim: Simulator, name: str) -> None:
    members, words = REFUSED[name]
    assert refusal(sim, **members).startswith(words)


@pytest.mark.parametrize(
    "members",
    [
        {"chat_history": [USER, USER, {"role": "SYSTEM", "message": "Be brief."}]},
        {"message": "", "chat_history": [USER, CALLS, RESULTS]},
        {"message": "", "chat_history": [USER, CALLS], "tool_results": [RESULT]},
        {"chat_history": [CALLS, RESULTS, {"role": "CHATBOT", "message": "Done."}]},
        {"tool_results": [RESULT]},
    ],
)
def test_what_breaks_none_passes(sim: Simulator, members: dict[str, Any]) -> None:
    assert refusal(sim, **members) == ""
