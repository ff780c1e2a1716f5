"""What a provider gave beside its text and calls goes back in the rows that Tenuto adds (H5b, H5)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.one_turn import Played, events

from tenuto.turn.drivers.scripted import Scripted

HOST = "https://relay.example/v1/chat/completions"
TOOL = {
    "type": "function",
    "function": {
        "name": "write",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
            "required": ["path", "text"],
        },
    },
}
ASKED: dict[str, Any] = {
    "model": "relayed-model",
    "messages": [{"role": "user", "content": "Write it."}],
    "tools": [TOOL],
}
CUT, WHOLE = '{"path":"a', '{"path":"a","text":"b"}'


def call(arguments: str, **more: Any) -> dict[str, Any]:
    made = {"id": "c1", "type": "function", "function": {"name": "write", "arguments": arguments}}
    return {"index": 0, **made, **more}


def body(value: dict[str, Any], status: int = 200) -> Scripted:
    return Scripted.body(json.dumps(value).encode(), status=status)


def answer(stream: bool, stop: str, *deltas: dict[str, Any]) -> Scripted:
    """An answer of these deltas; as a body, they are one message."""
    if stream:
        chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}
        return events(*({"id": "x", "object": "chat.completion.chunk"} | c for c in [*chunks, end]))
    message: dict[str, Any] = {"role": "assistant", "content": None}
    for delta in deltas:
        for key, item in delta.items():
            joins = isinstance(item, str) and isinstance(message.get(key), str)
            message[key] = message[key] + item if joins else item
    choice = {"index": 0, "message": message, "finish_reason": stop}
    return body({"id": "x", "object": "chat.completion", "choices": [choice]})


def refused(message: str, status: int = 400, **more: Any) -> Scripted:
    return body({"error": {"message": message, "type": "invalid_request_error", **more}}, status)


def played(stream: bool, *answers: Scripted, url: str = HOST, **more: Any) -> Played:
    return Played(url, ASKED | {"stream": stream} | more, *answers)


def model_row(sent: dict[str, Any]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = sent["messages"]
    return [row for row in rows if row["role"] == "assistant"][-1]


BOTH = pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])

GIVEN: dict[str, Any] = {
    "reasoning_content": "I must write.",
    "reasoning": "I must write.",
    "reasoning_text": "I must write.",
    "reasoning_opaque": "b3BhcXVl",
    "extra_content": {"google": {"thought_signature": "c2ln", "continuation": "dG9rZW4"}},
    "reasoning_details": [
        {"type": "reasoning.text", "text": "Hm.", "signature": "s", "format": "f", "index": 0},
        {"type": "reasoning.encrypted", "data": "e", "id": "r1", "index": 1},
    ],
    "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}],
    "provider_specific_fields": {"thought_signatures": ["s"]},
}


@BOTH
@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.behaviour("H5b")
def test_a_failed_call_goes_back_with_what_was_given_beside_it(name, stream) -> None:
    beside = {name: GIVEN[name]}
    cut = answer(stream, "length", beside, {"tool_calls": [call(CUT)]})
    turn = played(stream, cut, cut, answer(stream, "tool_calls", {"tool_calls": [call(WHOLE)]}))
    assert turn.report.status == "complete"
    row = model_row(turn.sent[-1])
    assert row[name] == GIVEN[name]
    assert row["tool_calls"][0]["function"]["arguments"] == "{}"


@BOTH
@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.behaviour("H5b")
def test_a_continuation_holds_what_was_given_beside_the_text(name, stream) -> None:
    cut = answer(stream, "length", {name: GIVEN[name]}, {"content": "Half of "})
    turn = played(stream, cut, answer(stream, "stop", {"content": "half."}))
    assert model_row(turn.sent[-1]) == {
        "role": "assistant",
        "content": "Half of",
        name: GIVEN[name],
    }


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.behaviour("H5b")
def test_any_chunk_with_text_may_hold_it(name, at) -> None:
    said: list[dict[str, Any]] = [{"content": text} for text in ("Half ", "of a ", "half")]
    said[at] |= {name: GIVEN[name]}
    cut = answer(True, "length", *said)
    turn = played(True, cut, answer(True, "stop", {"content": " is a quarter."}))
    assert model_row(turn.sent[-1])[name] == GIVEN[name]
    cut = answer(True, "length", *said, {"tool_calls": [call(CUT)]})
    again = answer(True, "length", {"tool_calls": [call(CUT)]})
    turn = played(True, cut, again, answer(True, "tool_calls", {"tool_calls": [call(WHOLE)]}))
    assert turn.report.status == "complete"
    assert model_row(turn.sent[-1])[name] == GIVEN[name]


@BOTH
@pytest.mark.behaviour("H5b")
def test_what_stands_in_a_call_goes_back_in_it(stream) -> None:
    signed = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    cut = answer(stream, "length", {"tool_calls": [call(CUT, **signed, status="begun")]})
    turn = played(stream, cut, cut, answer(stream, "tool_calls", {"tool_calls": [call(WHOLE)]}))
    (sent,) = model_row(turn.sent[-1])["tool_calls"]
    assert sent["extra_content"] == signed["extra_content"]
    assert "status" not in sent


@BOTH
@pytest.mark.behaviour("H5b")
def test_what_stands_in_the_function_of_a_call_goes_back_in_it(stream) -> None:
    begun = call(CUT)
    begun["function"] |= {"thought_signature": "c2ln", "parsed": None}
    cut = answer(stream, "length", {"tool_calls": [begun]})
    turn = played(stream, cut, cut, answer(stream, "tool_calls", {"tool_calls": [call(WHOLE)]}))
    (sent,) = model_row(turn.sent[-1])["tool_calls"]
    assert sent["function"] == {"name": "write", "arguments": "{}", "thought_signature": "c2ln"}


@pytest.mark.parametrize(
    ("pieces", "joined"),
    [
        (
            [
                [{"type": "reasoning.text", "text": "I ", "index": 0, "format": "f"}],
                [{"type": "reasoning.text", "text": "see.", "index": 0}],
                [{"type": "reasoning.text", "signature": "s", "index": 0}],
                [{"type": "reasoning.text", "text": "More", "index": 0}],
            ],
            [
                {
                    "type": "reasoning.text",
                    "text": "I see.",
                    "index": 0,
                    "format": "f",
                    "signature": "s",
                },
                {"type": "reasoning.text", "text": "More", "index": 0},
            ],
        ),
        (
            [
                [{"type": "reasoning.summary", "summary": "On ", "index": 0}],
                [{"type": "reasoning.encrypted", "data": "AA", "id": "rs_1", "index": 0}],
                [{"type": "reasoning.summary", "summary": "on.", "index": 0}],
                [{"type": "reasoning.encrypted", "data": "AA", "id": "rs_1", "index": 0}],
                [{"type": "reasoning.encrypted", "data": "BB", "id": "rs_2", "index": 0}],
            ],
            [
                {"type": "reasoning.summary", "summary": "On on.", "index": 0},
                {"type": "reasoning.encrypted", "data": "AA", "id": "rs_1", "index": 0},
                {"type": "reasoning.encrypted", "data": "BB", "id": "rs_2", "index": 0},
            ],
        ),
        (
            [
                [{"type": "reasoning.text", "text": "a"}],
                [{"type": "reasoning.text", "text": "b"}],
                [{"type": "reasoning.encrypted", "data": "AA"}],
                [{"type": "reasoning.encrypted", "data": "BB"}],
            ],
            [
                {"type": "reasoning.text", "text": "ab"},
                {"type": "reasoning.encrypted", "data": "AA"},
                {"type": "reasoning.encrypted", "data": "BB"},
            ],
        ),
        (
            [
                [{"type": "thinking", "thinking": "Hm"}],
                [{"type": "thinking", "thinking": "", "signature": "s"}],
            ],
            [{"type": "thinking", "thinking": "Hm", "signature": "s"}],
        ),
    ],
    ids=["text", "encrypted", "no numbers", "blocks"],
)
@pytest.mark.behaviour("H5b")
def test_details_of_a_stream_are_put_together(pieces, joined) -> None:
    deltas = [{"reasoning_details": piece} for piece in pieces]
    cut = answer(True, "length", *deltas, {"content": "Half of "})
    turn = played(True, cut, answer(True, "stop", {"content": "half."}))
    assert model_row(turn.sent[-1])["reasoning_details"] == joined


@pytest.mark.behaviour("H5b")
def test_a_token_that_comes_again_is_not_doubled() -> None:
    deltas = [
        {"extra_content": {"google": {"thought_signature": s}}} for s in ("old", "new", "new")
    ]
    cut = answer(True, "length", *deltas, {"content": "Half of "})
    turn = played(True, cut, answer(True, "stop", {"content": "half."}))
    assert model_row(turn.sent[-1])["extra_content"] == {"google": {"thought_signature": "new"}}


@pytest.mark.behaviour("H5b")
def test_what_tells_only_the_caller_does_not_go_back() -> None:
    told = {
        "annotations": [{"type": "url_citation"}],
        "refusal": None,
        "padding": "x",
        "images": [],
    }
    cut = answer(False, "length", told, {"content": "Half of "})
    turn = played(False, cut, answer(False, "stop", {"content": "half."}))
    assert model_row(turn.sent[-1]) == {"role": "assistant", "content": "Half of"}


# --- providers that take some of it, or none -----------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("url", "name", "held"),
    [
        ("https://api.groq.com/openai/v1/chat/completions", "reasoning", False),
        ("https://api.cerebras.ai/v1/chat/completions", "reasoning", True),
        ("https://api.cerebras.ai/v1/chat/completions", "reasoning_content", False),
        ("https://api.fireworks.ai/inference/v1/chat/completions", "reasoning_content", True),
        ("https://api.fireworks.ai/inference/v1/chat/completions", "reasoning_details", False),
        ("https://openrouter.ai/api/v1/chat/completions", "reasoning_details", True),
        ("https://api.deepseek.com/chat/completions", "reasoning_content", True),
    ],
)
@pytest.mark.behaviour("H5", "H5b")
def test_rows_hold_only_what_the_provider_takes(url, name, held, stream) -> None:
    cut = answer(stream, "length", {name: GIVEN[name]}, {"content": "Half of "})
    turn = played(stream, cut, answer(stream, "stop", {"content": "half."}), url=url)
    assert (name in model_row(turn.sent[-1])) is held


REFUSING = [
    "property 'reasoning_content' is unsupported",
    "messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported",
    "Extra inputs are not permitted, field: 'messages[1].reasoning_content'",
    "Bad request",
]


@BOTH
@pytest.mark.parametrize("message", REFUSING)
@pytest.mark.behaviour("H5", "H5b")
def test_what_the_provider_refuses_is_left_out_once(message, stream) -> None:
    cut = answer(stream, "length", {"reasoning_content": "Hm."}, {"content": "Half of "})
    done = answer(stream, "stop", {"content": "half."})
    turn = played(stream, cut, refused(message), done, model=f"m{stream}{message}")
    assert turn.report.status == "complete"
    assert [("reasoning_content" in model_row(sent)) for sent in turn.sent[1:]] == [True, False]


WANTING = [
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
    "Missing required field: 'reasoning_content'",
]


@BOTH
@pytest.mark.parametrize("given", [{"reasoning": "Hm."}, {}], ids=["another name", "none"])
@pytest.mark.parametrize("message", WANTING)
@pytest.mark.behaviour("H5b")
def test_what_the_provider_wants_back_is_put_in_once(message, given, stream) -> None:
    cut = answer(stream, "length", given, {"tool_calls": [call(CUT)]})
    done = answer(stream, "tool_calls", {"tool_calls": [call(WHOLE)]})
    turn = played(stream, cut, cut, refused(message), done, model=f"m{stream}{message}{given}")
    assert turn.report.status == "complete"
    row = model_row(turn.sent[-1])
    assert row["reasoning_content"].startswith(given.get("reasoning", " "))
    assert "reasoning" not in row


@pytest.mark.behaviour("H5b")
def test_the_words_may_stand_in_the_param() -> None:
    cut = answer(False, "length", {"reasoning": "Hm."}, {"tool_calls": [call(CUT)]})
    done = answer(False, "tool_calls", {"tool_calls": [call(WHOLE)]})
    error = refused("Param Incorrect", param=WANTING[0], code="400")
    turn = played(False, cut, cut, error, done, model="mimo")
    assert model_row(turn.sent[-1])["reasoning_content"].startswith("Hm.")


@pytest.mark.behaviour("H5b", "P8c")
def test_both_are_learned_for_the_turns_to_come() -> None:
    for model, message, name in (
        ("l1", WANTING[0], "reasoning"),
        ("l2", REFUSING[0], "reasoning_content"),
        ("l3", REFUSING[-1], "reasoning_content"),
    ):
        cut = answer(False, "length", {name: "Hm."}, {"content": "Half of "})
        done = answer(False, "stop", {"content": "half."})
        first = played(False, cut, refused(message), done, model=model)
        second = played(False, cut, done, model=model)
        assert model_row(second.sent[-1]) == model_row(first.sent[-1])
        assert len(second.sent) == 2


@pytest.mark.behaviour("H5b")
def test_the_same_error_again_ends_the_turn() -> None:
    cut = answer(False, "length", {"reasoning": "Hm."}, {"content": "Half of "})
    errors = [refused(WANTING[0])] * 4
    turn = played(False, cut, *errors, model="stubborn")
    assert len(turn.sent) == 3
    assert turn.report.status == "partial"
    assert json.loads(turn.got)["choices"][0]["message"]["content"] == "Half of "
