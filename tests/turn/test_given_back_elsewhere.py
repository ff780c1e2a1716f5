"""What goes back beside text and calls on the wires that have a form of their own for it (H5b)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from support.one_turn import Played, events

from tenuto.core.history.signed import STAND_IN
from tenuto.turn.drivers.scripted import Scripted

Row = dict[str, Any]
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
}
TOOLS = [{"type": "function", "function": {"name": "write", "parameters": SCHEMA}}]
CUT, WHOLE = '{"path":"a', '{"path":"a"}'


def body(value: Row, status: int = 200) -> Scripted:
    return Scripted.body(json.dumps(value).encode(), status=status)


def call(arguments: str) -> Row:
    function = {"name": "write", "arguments": arguments}
    return {"id": "abcdefghi", "type": "function", "function": function}


# --- how each wire says it ------------------------------------------------------------------------


def mistral(stop: str, content: Any, *calls: Row) -> Scripted:
    message = {"role": "assistant", "content": content, "tool_calls": list(calls) or None}
    choice = {"index": 0, "message": message, "finish_reason": stop}
    return body({"id": "08f3" * 8, "model": "magistral-medium", "choices": [choice]})


def cohere(stop: str, **message: Any) -> Scripted:
    return body({"id": "x", "finish_reason": stop, "message": {"role": "assistant", **message}})


def ollama(stop: str, **message: Any) -> Scripted:
    said = {"role": "assistant", "content": "", **message}
    return body({"model": "gpt-oss", "message": said, "done": True, "done_reason": stop})


def responses(status: str, *items: Row) -> Scripted:
    why = {"incomplete_details": {"reason": "max_output_tokens"}} if status == "incomplete" else {}
    made = {"id": "resp_1", "object": "response", "status": status, "output": list(items)}
    return body(made | why)


def anthropic(stop: str, *blocks: Row) -> Scripted:
    made = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
    return body(made | {"content": list(blocks), "stop_reason": stop})


def converse(stop: str, *blocks: Row) -> Scripted:
    message = {"role": "assistant", "content": list(blocks)}
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    return body({"output": {"message": message}, "stopReason": stop, "usage": usage})


def gemini(stop: str, *parts: Row) -> Scripted:
    content = {"role": "model", "parts": list(parts)}
    return body({"candidates": [{"content": content, "finishReason": stop}]})


CHAT = {"messages": [{"role": "user", "content": "Go"}], "tools": TOOLS, "stream": False}
BLOCKS = {
    "model": "m",
    "max_tokens": 999,
    "messages": [{"role": "user", "content": "Go"}],
    "tools": [{"name": "write", "input_schema": SCHEMA}],
}
ITEMS = {
    "model": "gpt-5",
    "input": [{"role": "user", "content": "Go"}],
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "tools": [{"type": "function", "name": "write", "parameters": SCHEMA}],
}
CONVERSE = {
    "messages": [{"role": "user", "content": [{"text": "Go"}]}],
    "toolConfig": {"tools": [{"toolSpec": {"name": "write", "inputSchema": {"json": SCHEMA}}}]},
}
PARTS = {
    "contents": [{"role": "user", "parts": [{"text": "Go"}]}],
    "tools": [{"functionDeclarations": [{"name": "write", "parameters": SCHEMA}]}],
}
MISTRAL_URL = "https://api.mistral.ai/v1/chat/completions"
COHERE_URL = "https://api.cohere.com/v2/chat"
OLLAMA_URL = "http://localhost:11434/api/chat"
RESPONSES_URL = "https://api.openai.com/v1/responses"
ANTHROPIC_URL = "https://api.anthropic.com/v1/messages"
DEEPSEEK_URL = "https://api.deepseek.com/anthropic/v1/messages"
CONVERSE_URL = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-x/converse"
GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent"

CHUNK = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
SUMMARY = {
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm.", "signature": "s"}],
}
SEALED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "enc"}
OPEN = {"type": "reasoning", "id": "rs_1", "summary": []}
SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
HIDDEN = {"type": "redacted_thinking", "data": "x"}
UNSIGNED = {"type": "thinking", "thinking": "Hm."}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}
USE = {"type": "tool_use", "id": "t1", "name": "write", "input": {}}


def text(words: str) -> Row:
    return {"type": "text", "text": words}


def item(words: str, status: str) -> Row:
    part = {"type": "output_text", "text": words, "annotations": []}
    return {"type": "message", "id": "m1", "role": "assistant", "status": status, "content": [part]}


@dataclass(frozen=True)
class Case:
    url: str
    asked: Row
    cut: Scripted
    done: Scripted
    rows: str
    row: Any
    at: int = 1


TEXTS: dict[str, Case] = {
    "cohere": Case(
        COHERE_URL, CHAT | {"model": "m"},
        cohere("MAX_TOKENS", content=[{"type": "thinking", "thinking": "Hm."}, text("Half of ")]),
        cohere("COMPLETE", content=[text("half.")]), "messages",
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}, text("Half of")]},
    ),
    "databricks": Case(
        "https://dbc.cloud.databricks.com/serving-endpoints/claude/invocations", CHAT,
        mistral("length", [SUMMARY, text("Half of ")]), mistral("stop", "half."), "messages",
        {"role": "assistant", "content": [SUMMARY, text("Half of")]},
    ),
    "ollama": Case(
        OLLAMA_URL, CHAT | {"model": "gpt-oss"},
        ollama("length", content="Half of ", thinking="Hm."), ollama("stop", content="half."),
        "messages", {"role": "assistant", "content": "Half of", "thinking": "Hm."},
    ),
    "responses, sealed": Case(
        RESPONSES_URL, ITEMS, responses("incomplete", SEALED, item("Half of ", "incomplete")),
        responses("completed", item("half.", "completed")), "input", SEALED,
    ),
    "responses, open": Case(
        RESPONSES_URL, ITEMS, responses("incomplete", OPEN, item("Half of ", "incomplete")),
        responses("completed", item("half.", "completed")), "input",
        {"role": "assistant", "content": "Half of"},
    ),
    "anthropic": Case(
        ANTHROPIC_URL, BLOCKS, anthropic("max_tokens", SIGNED, HIDDEN, text("Half of ")),
        anthropic("end_turn", text("half.")), "messages",
        {"role": "assistant", "content": [SIGNED, HIDDEN, text("Half of")]},
    ),
    "anthropic, unsigned": Case(
        ANTHROPIC_URL, BLOCKS, anthropic("max_tokens", UNSIGNED, text("Half of ")),
        anthropic("end_turn", text("half.")), "messages",
        {"role": "assistant", "content": [text("Half of")]},
    ),
    "deepseek, which signs nothing": Case(
        DEEPSEEK_URL, BLOCKS, anthropic("max_tokens", UNSIGNED, text("Half of ")),
        anthropic("end_turn", text("half.")), "messages",
        {"role": "assistant", "content": [UNSIGNED, text("Half of")]},
    ),
    "converse": Case(
        CONVERSE_URL, CONVERSE, converse("max_tokens", THOUGHT, {"text": "Half of "}),
        converse("end_turn", {"text": "half."}), "messages",
        {"role": "assistant", "content": [THOUGHT, {"text": "Half of"}]},
    ),
    "gemini": Case(
        GEMINI_URL, PARTS, gemini("MAX_TOKENS", {"text": "Half of ", "thoughtSignature": "s"}),
        gemini("STOP", {"text": "half."}), "contents",
        {"role": "model", "parts": [{"text": "Half of", "thoughtSignature": "s"}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.behaviour("H5b")
def test_a_continuation_holds_it(name: str) -> None:
    case = TEXTS[name]
    turn = Played(case.url, case.asked, case.cut, case.done)
    assert turn.report.status == "complete"
    assert turn.sent[1][case.rows][case.at] == case.row


_FC = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "write"}
_CALL = {"functionCall": {"name": "write", "args": {}}}

CALLS: dict[str, Case] = {
    "mistral": Case(
        MISTRAL_URL, CHAT | {"model": "magistral-medium"}, mistral("length", [CHUNK], call(CUT)),
        mistral("tool_calls", "", call(WHOLE)), "messages",
        {"role": "assistant", "content": [CHUNK], "tool_calls": [call("{}")]},
    ),
    "cohere": Case(
        COHERE_URL, CHAT | {"model": "m"},
        cohere("MAX_TOKENS", tool_plan="I write.", tool_calls=[call(CUT)]),
        cohere("TOOL_CALL", tool_calls=[call(WHOLE)]), "messages",
        {"role": "assistant", "content": None, "tool_plan": "I write.", "tool_calls": [call("{}")]},
    ),
    "responses, sealed": Case(
        RESPONSES_URL, ITEMS,
        responses("incomplete", SEALED, _FC | {"arguments": CUT, "status": "incomplete"}),
        responses("completed", SEALED, _FC | {"arguments": WHOLE, "status": "completed"}), "input",
        SEALED,
    ),
    "responses, open": Case(
        RESPONSES_URL, ITEMS,
        responses("incomplete", OPEN, _FC | {"arguments": CUT, "status": "incomplete"}),
        responses("completed", OPEN, _FC | {"arguments": WHOLE, "status": "completed"}), "input",
        {"type": "function_call", "call_id": "c1", "name": "write", "arguments": "{}"},
    ),
    "anthropic": Case(
        ANTHROPIC_URL, BLOCKS, anthropic("max_tokens", SIGNED, HIDDEN, USE),
        anthropic("tool_use", USE | {"input": {"path": "a"}}), "messages",
        {"role": "assistant", "content": [SIGNED, HIDDEN, USE]},
    ),
    "deepseek, which signs nothing": Case(
        DEEPSEEK_URL, BLOCKS, anthropic("max_tokens", UNSIGNED, USE),
        anthropic("tool_use", USE | {"input": {"path": "a"}}), "messages",
        {"role": "assistant", "content": [UNSIGNED, USE]},
    ),
    "gemini": Case(
        GEMINI_URL, PARTS, gemini("MAX_TOKENS", _CALL | {"thoughtSignature": "own"}),
        gemini("STOP", {"functionCall": {"name": "write", "args": {"path": "a"}}}), "contents",
        {"role": "model", "parts": [_CALL | {"thoughtSignature": "own"}]},
    ),
    "gemini, unsigned": Case(
        GEMINI_URL, PARTS, gemini("MAX_TOKENS", _CALL),
        gemini("STOP", {"functionCall": {"name": "write", "args": {"path": "a"}}}), "contents",
        {"role": "model", "parts": [_CALL | {"thoughtSignature": STAND_IN}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.behaviour("H5b")
def test_a_failed_call_goes_back_with_it(name: str) -> None:
    case = CALLS[name]
    turn = Played(case.url, case.asked, case.cut, case.cut, case.done)
    assert turn.report.status == "complete"
    assert turn.sent[2][case.rows][case.at] == case.row


@pytest.mark.behaviour("H5b")
def test_thinking_that_a_relay_wants_back_is_put_in_once() -> None:
    words = "The `content[].thinking` in the thinking mode must be passed back to the API."
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
    turn = Played(
        "https://relay.example/v1/messages",
        BLOCKS | {"model": "deepseek-v4"},
        anthropic("max_tokens", UNSIGNED, text("Half of ")),
        body(error, 400),
        anthropic("end_turn", text("half.")),
    )
    assert turn.report.status == "complete"
    assert [sent["messages"][1]["content"] for sent in turn.sent[1:]] == [
        [text("Half of")],
        [UNSIGNED, text("Half of")],
    ]


@pytest.mark.behaviour("H5b")
def test_a_signature_that_a_relay_wants_is_put_in_once() -> None:
    def chat(stop: str, arguments: str) -> Scripted:
        message = {"role": "assistant", "content": None, "tool_calls": [call(arguments)]}
        return body({"choices": [{"index": 0, "message": message, "finish_reason": stop}]})

    words = "Function call is missing a thought_signature in functionCall parts."
    error = body({"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}, 400)
    cut = chat("length", CUT)
    turn = Played(
        "https://relay.example/v1/chat/completions",
        CHAT | {"model": "gemini-relayed"},
        cut, cut, error, chat("tool_calls", WHOLE),
    )  # fmt: skip
    assert turn.report.status == "complete"
    signed = {"google": {"thought_signature": STAND_IN}}
    sent = [request["messages"][1]["tool_calls"][0] for request in turn.sent[2:]]
    assert [one.get("extra_content") for one in sent] == [None, signed]


@pytest.mark.parametrize(
    ("url", "chunk", "left"),
    [
        (MISTRAL_URL, CHUNK, [CHUNK | {"closed": True}]),
        # Its signature comes last, and Claude refuses a summary without one.
        ("https://dbc.cloud.databricks.com/serving-endpoints/claude/invocations", SUMMARY, None),
    ],
)
@pytest.mark.behaviour("H5b")
def test_thinking_in_the_content_of_a_stream(url: str, chunk: Row, left: Any) -> None:
    def chunks(stop: str, *deltas: Row) -> Scripted:
        said = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}
        return events(*({"id": "08f3" * 8, "model": "magistral-medium"} | e for e in [*said, end]))

    begun = call(CUT) | {"index": 0}
    cut = chunks("length", {"content": [chunk]}, {"tool_calls": [begun]})
    done = chunks("tool_calls", {"tool_calls": [call(WHOLE) | {"index": 0}]})
    turn = Played(url, CHAT | {"model": "magistral-medium", "stream": True}, cut, cut, done)
    assert turn.report.status == "complete"
    assert turn.sent[2]["messages"][1]["content"] == left


HISTORY = [
    {"role": "user", "content": "Go"},
    {"role": "assistant", "content": None, "tool_calls": [call(WHOLE)]},
    {"role": "tool", "tool_call_id": "abcdefghi", "content": "done"},
]
CALLED = {"model": "gemini-3-flash", "messages": HISTORY, "tools": TOOLS}
SAID = body({"choices": [{"index": 0, "message": {"content": "Yes."}, "finish_reason": "stop"}]})


@pytest.mark.parametrize("host", ["generativelanguage.googleapis.com", "relay.example"])
@pytest.mark.behaviour("H2", "H5a")
def test_calls_without_signatures_get_the_stand_in_in_googles_form_of_a_chat(host: str) -> None:
    turn = Played(f"https://{host}/v1/chat/completions", CALLED, SAID)
    signed = {"google": {"thought_signature": STAND_IN}}
    assert turn.sent[0]["messages"][1]["tool_calls"] == [call(WHOLE) | {"extra_content": signed}]
    assert turn.of("history_repaired") == [{"repairs": ["missing_signature_filled"]}]


@pytest.mark.parametrize(
    ("url", "model"),
    [
        ("https://openrouter.ai/api/v1/chat/completions", "google/gemini-3-flash"),
        ("https://relay.example/v1/chat/completions", "gemini-2.5-flash"),
    ],
)
@pytest.mark.behaviour("C7", "P8")
def test_others_get_none(url: str, model: str) -> None:
    turn = Played(url, CALLED | {"model": model}, SAID)
    assert turn.sent == [CALLED | {"model": model}]


@pytest.mark.behaviour("H5")
def test_a_gateway_that_refuses_the_stand_in_is_asked_without_it() -> None:
    error = {"message": "messages.1.tool_calls.0.extra_content: Extra inputs are not permitted"}
    url = "https://strict.example/v1/chat/completions"
    turn = Played(url, CALLED, body({"error": error}, 400), SAID)
    assert turn.report.status == "complete"
    assert turn.sent[1] == CALLED
