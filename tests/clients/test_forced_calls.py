"""A forced choice of a tool whose preface was cut or broke off: the continuation frees the choice
(C28a), so that the turn owes its call. Whatever it takes, no such turn is complete without one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.replay.openai_chat import END, FILES, MAX, TOOL, Call, R

from examples.wires.tests.at_hand import every_wire as wires
from tenuto.core import hints
from tenuto.wires.dialect import Dialect

both = pytest.mark.parametrize("mode", ["body", "stream"])
FORCED: dict[str, Any] = {"type": "function", "function": {"name": "write_file"}}
CHOICES = {"named": FORCED, "required": "required"}
PREFACES = {"cut": R("I write the", MAX), "broken": R("I write the", dropped=True)}
MORE = {"empty": R("", END), "words": R(" file now.", END), "thoughts": R("", END, reasoning="Hm.")}
DONE = R("", TOOL, [Call()])


prefaced = pytest.mark.parametrize(
    ("mode", "preface"), [("body", "cut"), ("stream", "cut"), ("stream", "broken")]
)
"""Nothing of a body that breaks off is kept: it is sent again as it was."""


@pytest.mark.behaviour("C28a", "C24", "T5")
@prefaced
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("more", MORE)
def test_a_forced_call_is_asked_for_where_the_continuation_brings_none(
    play, mode, way, preface, more, choice
):
    turn = play(PREFACES[preface], MORE[more], DONE, on_incomplete="error")
    got = turn.tell(mode, way, **FILES, tool_choice=CHOICES[choice])
    assert got.error is None
    assert (got.raw_arguments, turn.sent) == ([Call().arguments], 3)
    assert got.text.rstrip() == ("I write the" + MORE[more].text).rstrip()
    choices = [body["tool_choice"] for body in turn.bodies]
    assert choices == [CHOICES[choice], "auto", CHOICES[choice]]
    assert turn.added(2)[-1] == {"role": "user", "content": hints.CALL_PENDING}
    assert turn.ending["status"] == "complete"


@pytest.mark.behaviour("C28a", "P1", "P1a")
@prefaced
@pytest.mark.parametrize("on_incomplete", ["stop", "error"])
@pytest.mark.parametrize("more", MORE)
def test_a_forced_call_that_never_comes_leaves_the_turn_partial(
    play, mode, way, preface, more, on_incomplete
):
    turn = play(PREFACES[preface], *[MORE[more]] * 3, on_incomplete=on_incomplete)
    got = turn.tell(mode, way, **FILES, tool_choice=FORCED)
    assert turn.ending["status"] == "partial"
    assert (got.error is not None) == (on_incomplete == "error")
    assert on_incomplete == "error" or got.finish == "length"


@pytest.mark.behaviour("C25", "P8")
@both
def test_a_whole_answer_without_the_forced_call_is_handed_on_as_it_came(play, mode, way):
    turn = play(R("I would rather not.", END))
    got = turn.tell(mode, way, **FILES, tool_choice=FORCED)
    assert (got.text, got.finish, turn.sent) == ("I would rather not.", "stop", 1)


@pytest.mark.behaviour("C1", "C24")
@both
@pytest.mark.parametrize("choice", ["auto", "none", None])
def test_a_call_that_is_not_forced_is_not_owed(play, mode, way, choice):
    turn = play(R("I write the", MAX), R(" file now.", END))
    got = turn.tell(mode, way, **FILES, **({} if choice is None else {"tool_choice": choice}))
    assert (got.text, got.finish, turn.sent) == ("I write the file now.", "stop", 2)


ROW = {"role": "user", "content": "Go."}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {}}}
CHAT = {"messages": [ROW], "tools": [FUNCTION]}
CLAUDE: dict[str, Any] = {
    "messages": [ROW],
    "max_tokens": 900,
    "tools": [{"name": "f", "input_schema": {}}],
}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
CONVERSE_ROW = {"role": "user", "content": [{"text": "Go."}]}
SPEC = {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]}
GEMINI: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "Go."}]}]}
GEMINI |= {"tools": [{"functionDeclarations": [{"name": "f"}]}]}
RESPONSES: dict[str, Any] = {
    "model": "m",
    "input": "Go.",
    "tools": [{"type": "function", "name": "f"}],
}
INTERACTION = {"model": "m", "input": "Go.", "tools": [{"type": "function", "name": "f"}]}


def gemini(mode: str, *, snake: bool = False) -> dict[str, Any]:
    if snake:
        return GEMINI | {"tool_config": {"function_calling_config": {"mode": mode}}}
    return GEMINI | {"toolConfig": {"functionCallingConfig": {"mode": mode}}}


def allowed(mode: str) -> dict[str, Any]:
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": []}}


ASKED: list[tuple[str, str, dict[str, Any], bool]] = [
    ("openai-chat", "/v1/chat/completions", CHAT, False),
    ("openai-chat", "/v1/chat/completions", CHAT | {"tool_choice": "auto"}, False),
    ("openai-chat", "/v1/chat/completions", CHAT | {"tool_choice": "none"}, False),
    ("openai-chat", "/v1/chat/completions", CHAT | {"tool_choice": "required"}, True),
    ("openai-chat", "/v1/chat/completions", CHAT | {"tool_choice": FORCED}, True),
    ("openai-chat", "/v1/chat/completions", CHAT | {"tool_choice": allowed("auto")}, False),
    ("openai-chat", "/v1/chat/completions", CHAT | {"tool_choice": allowed("required")}, True),
    ("openai-chat", "/v1/chat/completions", CHAT | {"function_call": {"name": "f"}}, True),
    ("mistral", "/v1/chat/completions", CHAT | {"tool_choice": "any"}, True),
    ("cohere", "/v2/chat", CHAT | {"tool_choice": "REQUIRED"}, True),
    ("watsonx", "/ml/v1/text/chat", CHAT | {"tool_choice_option": "required"}, True),
    ("watsonx", "/ml/v1/text/chat", CHAT | {"tool_choice_option": "auto"}, False),
    (
        "dashscope",
        "/api/v1/services/aigc/text-generation/generation",
        {
            "model": "m",
            "input": {"messages": [ROW]},
            "parameters": {"tools": [FUNCTION], "tool_choice": FORCED},
        },
        True,
    ),
    ("anthropic-messages", "/v1/messages", CLAUDE | {"tool_choice": {"type": "auto"}}, False),
    ("anthropic-messages", "/v1/messages", CLAUDE | {"tool_choice": {"type": "any"}}, True),
    (
        "anthropic-messages",
        "/v1/messages",
        CLAUDE | {"tool_choice": {"type": "tool", "name": "f"}},
        True,
    ),
    (
        "anthropic-messages",
        "/v1/messages",
        CLAUDE | {"tools": [*CLAUDE["tools"], SEARCH], "tool_choice": {"type": "any"}},
        False,
    ),
    (
        "bedrock-converse",
        "/model/m/converse",
        {"messages": [CONVERSE_ROW], "toolConfig": SPEC | {"toolChoice": {"any": {}}}},
        True,
    ),
    (
        "bedrock-converse",
        "/model/m/converse",
        {"messages": [CONVERSE_ROW], "toolConfig": SPEC | {"toolChoice": {"auto": {}}}},
        False,
    ),
    (
        "bedrock-invoke",
        "/model/amazon.nova-lite-v1:0/invoke",
        {"messages": [CONVERSE_ROW], "toolConfig": SPEC | {"toolChoice": {"tool": {"name": "f"}}}},
        True,
    ),
    ("bedrock-invoke", "/model/openai.gpt-oss/invoke", CHAT | {"tool_choice": "required"}, True),
    ("gemini-generate", "/v1beta/models/m:generateContent", gemini("ANY"), True),
    ("gemini-generate", "/v1beta/models/m:generateContent", gemini("any", snake=True), True),
    ("gemini-generate", "/v1beta/models/m:generateContent", gemini("AUTO"), False),
    ("gemini-generate", "/v1beta/models/m:generateContent", gemini("VALIDATED"), False),
    ("openai-responses", "/v1/responses", RESPONSES | {"tool_choice": "required"}, True),
    ("openai-responses", "/v1/responses", RESPONSES | {"tool_choice": "auto"}, False),
    (
        "openai-responses",
        "/v1/responses",
        RESPONSES | {"tool_choice": {"type": "function", "name": "f"}},
        True,
    ),
    (
        "openai-responses",
        "/v1/responses",
        RESPONSES | {"tool_choice": {"type": "web_search_preview"}},
        False,
    ),
    (
        "openai-responses",
        "/v1/responses",
        RESPONSES
        | {"tools": [*RESPONSES["tools"], {"type": "web_search"}], "tool_choice": "required"},
        False,
    ),
    (
        "gemini-interactions",
        "/v1beta/interactions",
        INTERACTION | {"generation_config": {"tool_choice": "any"}},
        True,
    ),
    (
        "gemini-interactions",
        "/v1beta/interactions",
        INTERACTION | {"generation_config": {"tool_choice": {"allowed_tools": {"mode": "any"}}}},
        True,
    ),
    (
        "gemini-interactions",
        "/v1beta/interactions",
        INTERACTION | {"generation_config": {"tool_choice": "auto"}},
        False,
    ),
]


@pytest.mark.behaviour("C28a")
@pytest.mark.parametrize(("wire", "path", "body", "forced"), ASKED)
def test_each_wire_says_whether_a_request_demands_a_call(wire, path, body, forced) -> None:
    asked = wires()[wire].request(json.dumps(body).encode(), 0, path, Dialect())
    assert asked is not None
    assert asked.facts.call_forced is forced
