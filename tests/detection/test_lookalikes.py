"""Objects of other programs that have the outline of an answer, and answers in envelopes, in
frameworks' objects and in packed bytes (N14)."""

from __future__ import annotations

import dataclasses
import gzip
import json
import zlib
from types import SimpleNamespace
from typing import Any

import anthropic
import pytest
from openai.types.chat import ChatCompletion

from tenuto import Confidence, StopReason, detect, detect_each
from tenuto.detection import encodings


def chat(finish: str = "length", number: int = 1) -> dict[str, Any]:
    message = {"role": "assistant", "content": "The tide comes in twi"}
    return {
        "id": f"c{number}", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }  # fmt: skip


def claude(stop: str = "max_tokens") -> dict[str, Any]:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
        "content": [{"type": "text", "text": "Hi"}], "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }  # fmt: skip


def gemini(finish: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": "Hi"}]}
    return {"candidates": [{"content": content, "finishReason": finish}]}


LOOKALIKES: dict[str, Any] = {
    "a copy": {"event": "done", "text": "All files copied", "is_finished": True, "copied": 12},
    "a copy of few words": {"text": "All files copied", "is_finished": True},
    "progress": {"event": "progress", "text": "1 of 2", "is_finished": False},
    "an event of a build": {"event_type": "build-end", "text": "step 2", "is_finished": True},
    "a game's reply": {"choices": [{"message": {"title": "x"}, "finish_reason": "stop"}]},
    "a game's piece": {"choices": [{"delta": {"x": 1}, "finish_reason": "stop"}]},
    "an applicant": {"candidates": [{"name": "Ann", "finishReason": "STOP"}]},
    "a moved note": {"type": "message_delta", "delta": {"x": 1, "y": -2}, "usage": "drag"},
    "a moved note without use": {"type": "message_delta", "delta": {"x": 1}},
    "a driver's message": {
        "type": "message", "role": "driver", "stop_reason": "breakdown", "content": "Truck 7 halted",
    },
    "a message of one text": {"type": "message", "stop_reason": "breakdown", "content": "x"},
    "a user's message": {"type": "message", "role": "user", "stop_reason": "end_turn", "content": []},
    "an order": {"output": {"text": "saved", "finish_reason": "shipped"}, "request_id": "r"},
    "an order without a state": {"output": {"text": "order saved"}, "request_id": "r"},
    "a cached content": {"name": "cachedContents/1", "usageMetadata": {"totalTokenCount": 7}},
    "a row of a log": {"usageMetadata": {"promptTokenCount": 3}, "user": "u7"},
    "a turn of the Live API": {"serverContent": {}, "usageMetadata": {"totalTokenCount": 5}},
    "an envelope": {"code": 0, "message": "success", "request_id": "r", "data": {"list": []}},
    "an envelope of words": {"code": "Success", "message": "", "request_id": "r", "data": {}},
    "an error of a shop": {"code": "ORDER_NOT_FOUND", "message": "No order 7", "request_id": "r"},
    "a numbered error": {"code": 3001, "message": "Meeting does not exist.", "request_id": "z"},
    "an embedding": {
        "status_code": 200, "request_id": "r", "code": "", "message": "", "usage": {"total_tokens": 3},
        "output": {"embeddings": [{"embedding": [0.1], "text_index": 0}]},
    },
    "a survey": {"object": "response", "id": "r", "status": "completed", "answers": [{"q": "age"}]},
    "a survey that is not over": {"object": "response", "id": "r", "status": "incomplete", "output": None},
    "a workflow": {"id": "w", "status": "completed", "output": [{"type": "message", "text": "all good"}]},
    "a failed workflow": {
        "id": "w", "status": "failed", "output": [{"type": "message", "text": "uploaded 3"}],
        "error": {"code": "E1", "message": "disk"},
    },
    "a customer's call": {
        "id": "i", "object": "interaction", "status": "completed", "channel": "phone",
        "outputs": [{"type": "note", "text": "Called back"}],
    },
    "a device": {"model": "RX-78", "response": "ACK", "done": True, "created_at": "2026-01-01T00:00:00Z"},
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", LOOKALIKES)
@pytest.mark.parametrize("form", [dict, json.dumps, lambda value: json.dumps(value) + "\n" * 2])
def test_an_object_with_the_outline_of_an_answer_is_none(name: str, form: Any) -> None:
    stop = detect(form(LOOKALIKES[name]))
    assert (stop.reason, stop.detail, stop.raw) == (StopReason.UNKNOWN, "no_answer", None)


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", LOOKALIKES)
def test_it_is_none_among_answers_either(name: str) -> None:
    rows = [chat("stop", 1), LOOKALIKES[name], chat("length", 2)]
    for source in (rows, "\n".join(map(json.dumps, rows))):
        assert [stop.raw for stop in detect_each(source)] == ["stop", None, "length"]


ODD_ANSWERS: dict[str, tuple[Any, str | None, dict[str, str]]] = {
    "an event of Cohere": ({"is_finished": True, "finish_reason": "MAX_TOKENS"}, "MAX_TOKENS", {}),
    "an odd message beside a model": (
        {"model": "m", "choices": [{"message": {"x": 1}, "finish_reason": "length"}]}, "length", {},
    ),
    "a candidate without content": ({"candidates": [{"finishReason": "SAFETY", "index": 0}]}, "SAFETY", {}),
    "a stop of DashScope that is new": (
        {"output": {"text": "x", "finish_reason": "new"}, "usage": {"input_tokens": 1}, "request_id": "r"}, "new", {},
    ),
    "an odd message of a wire that was named": (
        {"choices": [{"message": {"x": 1}, "finish_reason": "length"}]}, "length", {"wire": "openai-chat"},
    ),
    "a content that is a text": (
        {"type": "message", "role": "assistant", "content": "x", "stop_reason": "max_tokens"}, "max_tokens", {},
    ),
    "a response without a model": ({"object": "response", "id": "resp_1", "status": "completed"}, "completed", {}),
    "an event without a stop": ({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 1}}, None, {}),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", ODD_ANSWERS)
def test_an_odd_answer_with_what_only_an_api_has_is_still_one(name: str) -> None:
    source, raw, options = ODD_ANSWERS[name]
    stop = detect(source, **options)
    assert (stop.raw, stop.detail) == (raw, None)


@pytest.mark.behaviour("N14")
def test_an_error_of_dashscope_may_have_members_without_a_value() -> None:
    body = {"code": "InvalidApiKey", "message": "x", "request_id": "r"}
    for more in ({}, {"status_code": 400, "output": None, "usage": None}):
        stop = detect(body | more)
        assert (stop.detail, stop.confidence) == ("authentication", Confidence.HIGH)
    stop = detect(body | {"code": "NotYetKnown"})
    assert (stop.detail, stop.confidence) == (None, Confidence.MEDIUM)


def vertex(finish: str) -> dict[str, Any]:
    request = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    told = {"status": "", "processed_time": "2024-11-01T18:13:16.826+00:00", "request": request}
    return told | {"response": gemini(finish)}


BATCHES: dict[str, tuple[Any, list[str | None]]] = {
    "Vertex": ([vertex("STOP"), vertex("SAFETY")], ["STOP", "SAFETY"]),
    "Vertex without states": (
        [{"request": {}, "response": gemini(f)} for f in ("STOP", "SAFETY")], ["STOP", "SAFETY"],
    ),
    "Claude on Vertex": (
        [{"custom_id": "1", "request": {}, "response": claude(s), "status": ""} for s in ("end_turn", "max_tokens")],
        ["end_turn", "max_tokens"],
    ),
    "Gemini, with one id": (
        [{"key": k, "response": gemini(f) | {"responseId": "r"}} for k, f in ("1S", "2M")], ["S", "M"],
    ),
    "Gemini, with an error": (
        [{"key": "1", "response": gemini("STOP")}, {"key": "2", "error": {"code": 3, "message": "Invalid."}}],
        ["STOP", "3"],
    ),
    "Gemini, with an error that is known": (
        [{"key": "1", "error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}},
         {"key": "2", "response": gemini("STOP")},
         {"key": "3", "error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}}],
        ["RESOURCE_EXHAUSTED", "STOP", "RESOURCE_EXHAUSTED"],
    ),
    "Gemini, without a stop": (
        [{"key": k, "response": gemini(f)} for k, f in (("1", ""), ("2", "STOP"))], [None, "STOP"],
    ),
    "errors among answers": (
        [gemini("STOP"), {"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}}],
        ["STOP", "RESOURCE_EXHAUSTED"],
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", BATCHES)
def test_the_answers_in_lines_of_a_batch_are_read(name: str) -> None:
    rows, raws = BATCHES[name]
    assert [stop.raw for stop in detect_each("\n".join(map(json.dumps, rows)))] == raws
    assert [stop.raw for stop in detect_each(rows)] == raws


@pytest.mark.behaviour("N14")
def test_a_line_of_vertex_without_an_answer_is_an_error() -> None:
    line = vertex("STOP") | {"status": "Bad Request: no such model", "response": {}}
    assert detect(line).reason is StopReason.ERROR


class CompletionResponse:
    """As LlamaIndex has it."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def model_dump(self, **_: Any) -> dict[str, Any]:
        told: dict[str, Any] = {
            "text": "Hi",
            "additional_kwargs": {},
            "logprobs": None,
            "delta": None,
        }
        return told | {"raw": self.raw}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize(
    "raw",
    [
        claude(),
        anthropic.types.Message.model_validate(claude()),
        chat(),
        ChatCompletion.model_validate(chat()),
    ],
    ids=["dict of Claude", "object of Claude", "dict of a chat", "object of a chat"],
)
def test_the_answer_behind_a_text_of_llamaindex_is_read(raw: Any) -> None:
    stop = detect(CompletionResponse(raw))
    assert (stop.reason, stop.confidence) == (StopReason.MAX_TOKENS, Confidence.HIGH)
    assert detect(CompletionResponse(None)).detail == "no_answer"


@dataclasses.dataclass
class ModelResponse:
    """As pydantic-ai has it."""

    state: str
    finish_reason: str | None = None
    parts: Any = dataclasses.field(
        default_factory=lambda: [SimpleNamespace(content="Hi", part_kind="text")]
    )
    kind: str = "response"


STATES = {
    "interrupted": StopReason.DROPPED,
    "incomplete": StopReason.DROPPED,
    "suspended": StopReason.PAUSED,
    "complete": StopReason.END_TURN,
}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("state", STATES)
def test_the_state_of_pydantic_ai_is_told_where_it_has_no_stop(state: str) -> None:
    assert detect(ModelResponse(state)).reason is STATES[state]
    assert detect(ModelResponse(state, "length")).reason is StopReason.MAX_TOKENS
    two = [ModelResponse(state), ModelResponse("complete", "stop")]
    assert [stop.reason for stop in detect_each(two)] == [STATES[state], StopReason.END_TURN]


class ModelHTTPError(Exception):
    """As pydantic-ai has it."""

    __module__ = "pydantic_ai.exceptions"
    status_code = 429

    def __init__(self) -> None:
        self.body = {"error": {"message": "slow", "type": "rate_limit_error"}}


def test_an_error_of_pydantic_ai_is_told() -> None:
    stop = detect(ModelHTTPError())
    assert (stop.reason, stop.detail) == (StopReason.ERROR, "rate_limited")


TEXT = "\n".join(json.dumps(chat(finish, n)) for n, finish in enumerate(("stop", "length"), 1))
PACKED: dict[str, bytes] = {
    "gzip": gzip.compress(TEXT.encode(), mtime=0),
    "gzip of two members": b"".join(gzip.compress(part.encode()) for part in (TEXT[:9], TEXT[9:])),
    "zlib": zlib.compress(TEXT.encode()),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16, the larger byte first": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "UTF-32": TEXT.encode("utf-32"),
    "gzip of UTF-16": gzip.compress(TEXT.encode("utf-16")),
}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", PACKED)
def test_packed_bytes_and_other_encodings_are_read(name: str) -> None:
    data = PACKED[name]
    assert [stop.raw for stop in detect_each(data)] == ["stop", "length"]
    assert [stop.raw for stop in detect_each(bytearray(data))] == ["stop", "length"]


@pytest.mark.behaviour("N14")
def test_packed_bytes_in_a_list_are_read() -> None:
    rows = [gzip.compress(json.dumps(chat(finish, n)).encode()) for n, finish in enumerate("ab")]
    assert [stop.raw for stop in detect_each(rows)] == ["a", "b"]


@pytest.mark.behaviour("N14")
def test_packed_bytes_that_were_cut_are_a_cut_answer() -> None:
    whole = gzip.compress(json.dumps(chat()).encode())
    assert (detect(whole[:-30]).reason, detect(whole[:-30]).detail) == (StopReason.DROPPED, None)
    assert detect(b"x^2 is the square of x").detail == "no_answer"
    assert detect(b"\x1f\x8bno").detail == "no_answer"


@pytest.mark.behaviour("N14")
def test_packed_bytes_that_hold_too_many_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "MOST_BYTES", 1_000)
    many = gzip.compress(json.dumps(chat() | {"x": "x" * 2_000}).encode())
    assert detect(many).detail == "unread"
    assert [stop.detail for stop in detect_each([many, chat()])][1:] in ([None], [])
