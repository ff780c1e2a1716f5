"""Events that are read by being like one before them: what is taken for alike, and what is not."""

from __future__ import annotations

import json

import pytest

from tenuto.core.signals import ReasoningDelta, TextDelta
from tenuto.wire.alike import LESSONS
from tenuto.wire.anthropic_messages import WIRE as ANTHROPIC
from tenuto.wire.openai_chat import WIRE as CHAT
from tenuto.wire.sse import SseDecoder
from tenuto.wire.stream import EventReader


def chat(delta: dict[str, object], **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    value = {"id": "c1", "object": "chat.completion.chunk", "choices": [choice], **more}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def anthropic(delta: dict[str, object], index: int = 0, padding: str = "") -> bytes:
    value = json.dumps({"type": "content_block_delta", "index": index, "delta": delta})
    return f"event: content_block_delta\ndata: {value[:-1]}{padding}}}\n\n".encode()


def text(said: str) -> dict[str, object]:
    return {"type": "text_delta", "text": said}


def reader_of(first: bytes, wire=CHAT) -> EventReader:
    reader = EventReader(wire)
    for event in SseDecoder().feed(first):
        reader.flowing(event)
    return reader


LIKE = [
    (CHAT, chat({"content": "Hello"}), chat({"content": " the river"}), " the river"),
    (CHAT, chat({"content": "Hello"}), chat({"content": 'a "b" \\ \n'}), 'a "b" \\ \n'),
    (CHAT, chat({"content": "Hello"}), chat({"content": "a\n\té 🌊"}), "a\n\té 🌊"),
    (CHAT, chat({"content": "Hello"}, obfuscation="kR3f"), chat({"content": "x"}, obfuscation="Q"), "x"),
    (ANTHROPIC, anthropic(text("Hello")), anthropic(text("x"), padding="    "), "x"),
    (ANTHROPIC, anthropic(text("Hello"), padding="  "), anthropic(text("x")), "x"),
]  # fmt: skip
UNLIKE = [
    chat({"content": ""}),
    chat({"content": "x"}, error={"message": "no"}),
    chat({"content": "x", "refusal": "no"}),
    chat({"content": "x"}).replace(b"null", b'"stop"'),
    chat({"content": "x"}).replace(b"\n\n", b"\r\n\r\n"),
    chat({"content": "x"}) * 2,
    chat({"content": "x"})[:-1],
    b"event: error\n" + chat({"content": "x"}),
    chat({"content": "x"}).replace(b'"x"', b'"\xff"'),
    chat({"content": "x"}).replace(b'"x"', b'"\\ud800"'),
    chat({"content": "x"}).replace(b'"x"', b'"\\x"'),
    chat({"content": "x"}).replace(b'"x"', b'"\n"'),
    b"",
]


@pytest.mark.behaviour("S8")
@pytest.mark.parametrize(("wire", "first", "second", "said"), LIKE)
def test_an_event_that_differs_in_its_text_and_padding_alone_is_read_without_decoding(
    wire, first, second, said
):
    assert reader_of(first, wire).alike.text(second) == said


@pytest.mark.behaviour("S8")
@pytest.mark.parametrize("second", UNLIKE, ids=range(len(UNLIKE)))
def test_an_event_that_differs_in_anything_else_is_not_taken_for_alike(second):
    assert reader_of(chat({"content": "Hello"})).alike.text(second) is None


def test_reasoning_stays_reasoning():
    alike = reader_of(chat({"reasoning_content": "hm hm"})).alike
    assert alike.text(chat({"reasoning_content": "so"})) == "so"
    assert alike.kind is ReasoningDelta


def test_a_text_that_stands_there_twice_teaches_nothing():
    alike = reader_of(chat({"content": "c1"})).alike  # the same as the id
    assert alike.text(chat({"content": "xy"})) is None


def test_another_part_is_learned_anew():
    reader = reader_of(anthropic(text("Hello")), ANTHROPIC)
    assert reader.alike.text(anthropic(text("x"), index=1)) is None
    (event,) = SseDecoder().feed(anthropic(text("Hello"), index=1))
    assert reader.flowing(event) == TextDelta("Hello")
    assert reader.alike.text(anthropic(text("x"), index=1)) == "x"


def test_a_stream_without_events_that_are_alike_is_not_learned_from_for_ever():
    reader = EventReader(CHAT)
    for number in range(LESSONS + 9):
        (event,) = SseDecoder().feed(chat({"content": "Hello"}, created=number))
        assert reader.flowing(event) == TextDelta("Hello")
    assert reader.alike.text(chat({"content": "x"}, created=LESSONS - 1)) == "x"
    assert reader.alike.text(chat({"content": "x"}, created=LESSONS + 8)) is None
