"""Whole bodies behind one another and around recorded streams: each is an answer of its own, with
or without content, whatever stands before it (N14)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anthropic
import pytest
from openai.types.chat import ChatCompletion

from tenuto import StreamDetector, detect, detect_each


def chat(number: int, text: str | None, stop: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": stop}
    return {
        "id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [choice],
    }  # fmt: skip


def claude(number: int, text: str, stop: str) -> dict[str, Any]:
    return {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 2},
    }  # fmt: skip


def gemini(number: int, text: str, stop: str) -> dict[str, Any]:
    content = {"content": {"role": "model", "parts": [{"text": text}]}} if text else {}
    return {"candidates": [content | {"finishReason": stop}], "responseId": f"r{number}"}


def responses(number: int, text: str, status: str) -> dict[str, Any]:
    said = {"type": "message", "content": [{"type": "output_text", "text": text}]}
    failed = {"code": "server_error", "message": "x"} if status == "failed" else None
    return {
        "id": f"resp_{number}", "object": "response", "status": status, "error": failed,
        "model": "m", "output": [said] if text else [],
    }  # fmt: skip


def batch(number: int, text: str, stop: str) -> dict[str, Any]:
    body = {"status_code": 200, "request_id": "x", "body": chat(number, text, stop)}
    return {"id": f"b{number}", "custom_id": f"r{number}", "response": body, "error": None}


def ollama(number: int, text: str, stop: str) -> dict[str, Any]:
    told = {"model": "m", "created_at": f"t{number}", "done": True, "done_reason": stop}
    return told | {"message": {"role": "assistant", "content": text}}


def lines(*rows: Any) -> str:
    return "\n".join(map(json.dumps, rows))


def chat_stream(number: int, stop: str | None) -> str:
    rows: list[tuple[dict[str, str], str | None]] = [
        ({"role": "assistant", "content": ""}, None),
        ({"content": "Hi"}, None),
        *([({}, stop)] if stop else []),
    ]
    chunks = [
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }
        for delta, finish in rows
    ]
    done = "data: [DONE]\n\n" if stop else ""
    return "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + done


def claude_stream(number: int, stop: str) -> str:
    begun = claude(number, "", stop) | {"stop_reason": None}
    delta = {"type": "text_delta", "text": "Hi"}
    rows: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {row['type']}\ndata: {json.dumps(row)}\n\n" for row in rows)


Make = Callable[[int, str, str], dict[str, Any]]

WIRES: dict[str, tuple[Make, str, str]] = {
    "chat": (chat, "length", "stop"),
    "Claude": (claude, "max_tokens", "refusal"),
    "Gemini": (gemini, "MAX_TOKENS", "SAFETY"),
    "Responses": (responses, "completed", "failed"),
    "OpenAI's batch": (batch, "length", "content_filter"),
    "Ollama": (ollama, "length", "stop"),
}

FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "dicts": lambda rows: rows,
    "an array": json.dumps,
    "lines": lambda rows: lines(*rows),
    "joined": lambda rows: "".join(map(json.dumps, rows)),
    "texts": lambda rows: list(map(json.dumps, rows)),
    "bytes": lambda rows: [json.dumps(row).encode() for row in rows],
}


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("form", FORMS)
def test_an_answer_without_content_is_one_of_its_own(wire: str, form: str) -> None:
    make, first, second = WIRES[wire]
    rows = [make(1, "Hi", first), make(2, "", second), make(3, "Ho", first), make(4, "", second)]
    source = FORMS[form](rows)
    each = detect_each(source)
    assert [stop.raw for stop in each] == [first, second, first, second]
    assert not any("stops_differ" in stop.anomalies for stop in each)
    assert detect(source).metadata["answers"] == "4"


@pytest.mark.behaviour("N14")
def test_two_hundred_answers_are_two_hundred_stops() -> None:
    rows = [chat(n, "" if n % 10 == 5 else "Hi", "stop") for n in range(200)]
    assert len(detect_each(rows)) == 200
    assert len(detect_each(lines(*rows))) == 200


@pytest.mark.behaviour("N14")
def test_an_empty_object_of_an_sdk_is_an_answer_of_its_own() -> None:
    said = anthropic.types.Message.model_validate(claude(1, "Hi", "max_tokens"))
    refused = anthropic.types.Message.model_validate(claude(2, "", "refusal"))
    filtered = ChatCompletion.model_validate(chat(3, "", "content_filter"))
    raws = [stop.raw for stop in detect_each([said, refused, filtered])]
    assert raws == ["max_tokens", "refusal", "content_filter"]


CHAT, CLAUDE = chat_stream(1, "stop"), claude_stream(1, "end_turn")

AROUND_STREAMS: dict[str, tuple[Any, list[str | None]]] = {
    "a stream, a body": ([CHAT, lines(claude(2, "Hi", "max_tokens"))], ["stop", "max_tokens"]),
    "a stream, a body of its wire": ([CHAT, lines(chat(2, "Hi", "length"))], ["stop", "length"]),
    "a stream, a dict": ([CHAT, gemini(2, "Hi", "MAX_TOKENS")], ["stop", "MAX_TOKENS"]),
    "a body, a stream, a body": (
        [lines(claude(2, "Hi", "max_tokens")), CHAT, lines(chat(3, "", "length"))],
        ["max_tokens", "stop", "length"],
    ),
    "two streams, a body": (
        [CLAUDE, chat_stream(2, "length"), lines(gemini(3, "Hi", "STOP"))],
        ["end_turn", "length", "STOP"],
    ),
    "bytes": ([CLAUDE.encode(), lines(chat(2, "", "length")).encode()], ["end_turn", "length"]),
    "a body behind a stream": (CHAT + lines(claude(2, "Hi", "max_tokens")), ["stop", "max_tokens"]),
    "lines behind a stream": (
        CLAUDE + lines(chat(2, "Hi", "length"), chat(3, "", "stop")) + "\n",
        ["end_turn", "length", "stop"],
    ),
    "a body on several lines behind a stream": (
        CHAT + json.dumps(claude(2, "Hi", "max_tokens"), indent=2), ["stop", "max_tokens"],
    ),
    "a stream, a body, a stream": (
        CHAT + lines(claude(2, "Hi", "max_tokens")) + "\n\n" + chat_stream(3, "length"),
        ["stop", "max_tokens", "length"],
    ),
    "the same without a blank line": (
        CHAT + lines(claude(2, "Hi", "max_tokens")) + "\n" + chat_stream(3, "length"),
        ["stop", "max_tokens", "length"],
    ),
    "lines, a stream": (
        lines(chat(1, "Hi", "length"), claude(2, "", "refusal")) + "\n" + chat_stream(3, "stop"),
        ["length", "refusal", "stop"],
    ),
    "lines, a stream, lines": (
        lines(chat(1, "Hi", "length"), chat(2, "Hi", "stop")) + "\n" + chat_stream(3, "length")
        + lines(chat(4, "", "stop"), claude(5, "Hi", "max_tokens")),
        ["length", "stop", "length", "stop", "max_tokens"],
    ),
    "a cut stream, a body": (
        chat_stream(1, None) + lines(claude(2, "Hi", "max_tokens")), [None, "max_tokens"],
    ),
    "a list with a cut stream": (
        [chat_stream(1, None), lines(chat(2, "Hi", "length"))], [None, "length"],
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", AROUND_STREAMS)
def test_a_body_around_a_recorded_stream_is_an_answer_of_its_own(name: str) -> None:
    source, raws = AROUND_STREAMS[name]
    assert [stop.raw for stop in detect_each(source)] == raws
    stop = detect(source)
    assert (stop.detail, stop.metadata) == ("several_answers", {"answers": str(len(raws))})


@pytest.mark.behaviour("N14", "S8")
@pytest.mark.parametrize(
    "name", [name for name, (source, _) in AROUND_STREAMS.items() if isinstance(source, str)]
)
def test_it_is_so_in_pieces_of_any_size(name: str) -> None:
    source, _ = AROUND_STREAMS[name]
    for size in (1, 7):
        detector = StreamDetector()
        for at in range(0, len(source), size):
            detector.feed(source[at : at + size])
        assert detector.finalize() == detect(source)


ONE: dict[str, tuple[Any, str]] = {
    "a stream and the SDK's final object of it": (
        [json.loads(event[6:]) for event in CHAT.split("\n\n")[:-2]] + [chat(1, "Hi", "stop")],
        "stop",
    ),
    "chunks each with an id of its own": (
        chat_stream(1, "length").replace("chatcmpl-1", "chatcmpl-9", 1), "length",
    ),
    "an error that names its request amid a stream": (
        [
            {"type": "message_start", "message": claude(1, "", "") | {"stop_reason": None}},
            {"type": "error", "error": {"type": "overloaded_error"}, "request_id": "req_1"},
        ], "overloaded_error",
    ),
    "a stream in pieces that begin with an object": (
        ["data: ", json.dumps(json.loads(chat_stream(1, "length").split("\n\n")[2][6:])), "\n\n"],
        "length",
    ),
}  # fmt: skip


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize("name", ONE)
def test_one_answer_stays_one(name: str) -> None:
    source, raw = ONE[name]
    assert [stop.raw for stop in detect_each(source)] == [raw]
