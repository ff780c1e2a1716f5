"""An answer that is cut in the text behind a whole call: the text goes on, and the call is owed."""

import json
from typing import Any

import pytest
from support.events import anthropic_messages as messages
from support.events import gemini_generate as gemini
from support.events import openai_chat as chat
from support.one_turn import Played, events

from tenuto.turn.drivers.scripted import Scripted

CUT, REST = "The tide comes in tw", "ice a day."
TOOLS = {"name": "pay", "parameters": {"type": "object", "properties": {"amount": {}}}}
USER = {"role": "user", "content": "Pay, and tell me of the tides."}


def chat_stream(parts: list[Any], stop: str) -> Scripted:
    deltas: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, str):
            deltas.append({"content": part})
        else:
            function = {"name": "pay", "arguments": '{"amount": 1}'}
            call = {"index": 0, "id": "a", "type": "function", "function": function}
            deltas.append({"tool_calls": [call]})
    return events(*chat.chunks(deltas, stop))


def anthropic_body(parts: list[Any], stop: str) -> Scripted:
    call = {"type": "tool_use", "id": "a", "name": "pay", "input": {"amount": 1}}
    blocks = [{"type": "text", "text": p} if isinstance(p, str) else call for p in parts]
    return Scripted.body(json.dumps(messages.message(blocks, stop)).encode())


def gemini_body(parts: list[Any], stop: str) -> Scripted:
    call = {"functionCall": {"name": "pay", "args": {"amount": 1}}}
    made = [{"text": part} if isinstance(part, str) else call for part in parts]
    return Scripted.body(json.dumps(gemini.response(made, stop)).encode())


GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent"
ON = {
    "openai-chat": (
        "https://api.openai.com/v1/chat/completions",
        {
            "model": "m",
            "stream": True,
            "messages": [USER],
            "tools": [{"type": "function", "function": TOOLS}],
        },
        chat_stream,
        ("length", "stop", "tool_calls"),
    ),
    "anthropic-messages": (
        "https://api.anthropic.com/v1/messages",
        {
            "model": "m",
            "max_tokens": 50,
            "messages": [USER],
            "tools": [{"name": "pay", "input_schema": TOOLS["parameters"]}],
        },
        anthropic_body,
        ("max_tokens", "end_turn", "tool_use"),
    ),
    "gemini-generate": (
        GEMINI,
        {
            "contents": [{"role": "user", "parts": [{"text": "Pay."}]}],
            "tools": [{"functionDeclarations": [TOOLS]}],
        },
        gemini_body,
        ("MAX_TOKENS", "STOP", "STOP"),
    ),
}


@pytest.mark.behaviour("C6", "C14", "T3", "T16", "S2")
@pytest.mark.parametrize("wire", ON)
def test_the_text_goes_on_without_a_seam_and_the_call_is_made_once(wire: str) -> None:
    url, body, answer, (cut, end, called) = ON[wire]
    attempts = (answer([0, CUT], cut), answer([REST], end), answer([0], called))
    got = Played(url, body, *attempts, on_incomplete="error")
    assert (got.report.status, got.report.attempts) == ("complete", 3)
    assert got.report.rungs[0].startswith("continue_with_")
    assert got.report.rungs[1] == "ask_for_owed_call"
    assert "was cut off by the output limit and was not run" not in str(got.sent[1])
    said = got.got.decode()
    assert said.count("pay") == 1
    assert CUT + REST in said or (CUT in said and REST in said)
    assert "\\n\\n" not in said


@pytest.mark.behaviour("T3", "T16", "P1a", "P10")
@pytest.mark.parametrize("wire", ON)
def test_a_call_that_does_not_come_again_is_shown_beside_the_stop_of_the_cut(wire: str) -> None:
    url, body, answer, (cut, end, _) = ON[wire]
    attempts = (answer([0, CUT], cut), answer([REST], end), answer(["No."], end))
    got = Played(url, body, *attempts)
    assert (got.report.status, got.report.reason) == ("partial", "tool_calls_missing")
    assert got.report.never_came == ()
    said = got.got.decode()
    assert (said.count("pay"), f'"{cut}"' in said) == (1, True)
    assert "pay" not in Played(url, body, *attempts, on_incomplete="error").got.decode()
