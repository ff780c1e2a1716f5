"""Stop values that stand where a wire's own table does not look first: in other spellings, under
other names, and in items that the caller executes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.aws_messages import chunk, message

from examples.wires.tests.at_hand import every_wire as wires
from tenuto import StopReason, detect

METRICS = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 1, "outputTokenCount": 2}}


def lines(*values: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def events(*values: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


def chat(event: bool, **choice: Any) -> dict[str, Any]:
    part: dict[str, Any] = {
        "delta" if event else "message": {"role": "assistant", "content": "Half"}
    }
    kind = "chat.completion.chunk" if event else "chat.completion"
    return {"object": kind, "choices": [{"index": 0, **part, **choice}]}


@pytest.mark.behaviour("N1", "N2")
@pytest.mark.parametrize("word", ["canceled", "Canceled", "cancelled"])
@pytest.mark.parametrize("wire", sorted(wires()))
def test_a_cancelled_answer_is_known_in_both_spellings_on_every_wire(wire, word):
    stop = wires()[wire].read_stop(word, "stop")
    assert stop is not None
    assert (stop.reason, stop.known) == (StopReason.CANCELLED, True)


@pytest.mark.behaviour("N1", "N2")
@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("tool-calls", StopReason.TOOL_CALL),
        ("toolUse", StopReason.TOOL_CALL),
        ("functionCalls", StopReason.TOOL_CALL),
        ("Max Tokens", StopReason.MAX_TOKENS),
        ("maxTokens", StopReason.MAX_TOKENS),
        ("endTurn", StopReason.END_TURN),
        ("contentFilter", StopReason.SAFETY_BLOCKED),
    ],
)
@pytest.mark.parametrize("wire", sorted(wires()))
def test_a_stop_is_known_however_its_words_are_joined(wire, word, reason):
    stop = wires()[wire].read_stop(word, "stop")
    assert stop is not None
    assert (stop.reason, stop.known, stop.raw) == (reason, True, word)


BODIES: dict[str, Any] = {
    "anthropic-messages": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Half"}],
        "stop_reason": "canceled",
    },
    "bedrock-converse": {
        "output": {"message": {"role": "assistant", "content": [{"text": "Half"}]}},
        "stopReason": "canceled",
    },
    "cohere": {
        "finish_reason": "canceled",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Half"}]},
    },
    "cohere-v1": {"text": "Half", "generation_id": "1", "finish_reason": "canceled"},
    "gemini-interactions": {
        "object": "interaction",
        "status": "canceled",
        "steps": [{"type": "model_output", "content": [{"type": "text", "text": "Half"}]}],
    },
    "ollama": {
        "model": "m",
        "created_at": "2026-11-23T00:00:00Z",
        "message": {"role": "assistant", "content": "Half"},
        "done": True,
        "done_reason": "canceled",
    },
    "openai-chat": chat(False, finish_reason="canceled"),
    "openai-responses": {
        "object": "response",
        "status": "canceled",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Half"}]}],
    },
}


@pytest.mark.behaviour("N1", "N2", "N7")
@pytest.mark.parametrize("wire", BODIES)
def test_a_body_that_says_canceled_was_cancelled(wire):
    for source in (BODIES[wire], json.dumps(BODIES[wire]).encode()):
        assert detect(source).reason is StopReason.CANCELLED


@pytest.mark.behaviour("N1", "N3")
@pytest.mark.parametrize("kind", ["tool_search_call", "brand_new_call"])
def test_a_call_that_says_that_the_client_executes_it_is_a_call_to_answer(kind):
    item = {"type": kind, "id": "i", "call_id": "c", "arguments": {"query": "x"}}
    item |= {"status": "completed"}
    for execution, reason in (("client", StopReason.TOOL_CALL), ("server", StopReason.END_TURN)):
        said = {"type": "message", "content": [{"type": "output_text", "text": "Let me look."}]}
        output = [said, item | {"execution": execution}]
        response = {"object": "response", "status": "completed", "output": output}
        added = {"type": "response.output_item.added", "output_index": 1}
        stream = events(
            {"type": "response.created", "response": {"id": "r", "object": "response"}},
            {"type": "response.output_text.delta", "output_index": 0, "delta": "Let me look."},
            {**added, "item": output[1] | {"status": "in_progress", "arguments": {}}},
            {**added, "type": "response.output_item.done", "item": output[1]},
            {"type": "response.completed", "response": response},
        )
        assert detect(response).reason is reason
        assert detect(stream).reason is reason


ENDS = [
    ("COMPLETE", StopReason.END_TURN),
    ("MAX_TOKENS", StopReason.MAX_TOKENS),
    ("ERROR", StopReason.ERROR),
    ("ERROR_TOXIC", StopReason.SAFETY_BLOCKED),
]


@pytest.mark.behaviour("N1", "S5")
@pytest.mark.parametrize(("raw", "reason"), ENDS)
def test_the_stop_beside_is_finished_is_read_on_bedrock(raw, reason):
    begin = {"index": 0, "is_finished": False, "text": "Half"}
    end = {"index": 0, "is_finished": True, "finish_reason": raw, **METRICS}
    stream = b"".join(chunk(json.dumps(value).encode()) for value in (begin, end))
    for source in (stream, [begin, end]):
        stop = detect(source, wire="bedrock-invoke")
        assert (stop.reason, stop.raw, stop.field) == (reason, raw, "finish_reason")


@pytest.mark.behaviour("N1", "S5")
@pytest.mark.parametrize("wire", [None, "cohere-v1"])
@pytest.mark.parametrize(("raw", "reason"), ENDS)
@pytest.mark.parametrize("within", [False, True], ids=["beside", "in its response"])
def test_the_stop_of_coheres_old_streams_of_text_is_read(raw, reason, wire, within):
    begin = {"text": "Half", "is_finished": False}
    whole = {"id": "2", "text": "Half", "finish_reason": raw}
    end: dict[str, Any] = {"is_finished": True, "response": {"id": "1", "generations": [whole]}}
    end |= {} if within else {"finish_reason": raw}
    for source in (lines(begin, end), [begin, end]):
        stop = detect(source, wire=wire)
        assert (stop.reason, stop.raw) == (reason, raw)


@pytest.mark.behaviour("N1", "N2")
@pytest.mark.parametrize(
    ("raw", "reason"),
    [("max_tokens", StopReason.MAX_TOKENS), ("stop", StopReason.END_TURN)],
)
@pytest.mark.parametrize("beside", [{}, {"finish_reason": None}, {"finish_reason": "stop"}])
def test_the_details_that_stood_in_place_of_chats_reason_are_read(raw, reason, beside):
    told = {"finish_details": {"type": raw, "stop": "<|end|>"}, **beside}
    whole: dict[str, Any] = {"object": "text_completion"}
    whole |= {"choices": [{"index": 0, "text": "Half", "finish_reason": None, **told}]}
    streamed = [chat(True, finish_reason=None), chat(True, **told)]
    for source in (chat(False, **told), streamed, events(*streamed), whole):
        stop = detect(source)
        assert stop.reason is reason
        assert "no_stop" not in stop.anomalies
    text = json.dumps(chat(False, **told)).encode()
    short = wires()["openai-chat"].short
    assert short is not None
    assert not short.ids_if_whole(text, None)


@pytest.mark.behaviour("N3", "S9")
@pytest.mark.parametrize(
    "name", ["internalServerException", "modelStreamErrorException", "throttlingException"]
)
def test_an_exception_that_an_sdk_hands_on_as_an_event_is_an_error(name):
    begin = {"contentBlockDelta": {"delta": {"text": "Half"}, "contentBlockIndex": 0}}
    stop = detect([{"messageStart": {"role": "assistant"}}, begin, {name: {"message": "Oh."}}])
    assert stop.reason is StopReason.ERROR
    # As it stands on the wire it says so in a header.
    raw = message(b'{"message":"Oh."}', message_type="exception", exception_type=name)
    assert detect(message(json.dumps({"role": "assistant"}).encode(), event_type="messageStart",
                          message_type="event") + raw).reason is StopReason.ERROR  # fmt: skip
