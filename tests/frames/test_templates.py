"""Events that are read by being like one before them: what is taken for alike, and what is not."""

from __future__ import annotations

import json

import pytest

from tenuto.core.answer.signals import ReasoningDelta, TextDelta, Usage, UsageSeen
from tenuto.frames.frame import Frame
from tenuto.frames.sse import SseDecoder
from tenuto.frames.templates import TemplateMatcher
from tenuto.wires.anthropic_messages.wire import WIRE as ANTHROPIC
from tenuto.wires.gemini_generate.wire import WIRE as GEMINI
from tenuto.wires.openai_chat.wire import WIRE as CHAT
from tenuto.wires.openai_responses.wire import WIRE as RESPONSES
from tenuto.wires.stream import EventReader


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
        reader.read_plain(event)
    return reader


LIKE = [
    (CHAT, chat({"content": "Hello"}), chat({"content": " the river"}), " the river"),
    (CHAT, chat({"content": "Hello"}), chat({"content": 'a "b" \\ \n'}), 'a "b" \\ \n'),
    (CHAT, chat({"content": "Hello"}), chat({"content": "a\n\té 🌊"}), "a\n\té 🌊"),
    (CHAT, chat({"content": "Hello"}, obfuscation="kR3f"), chat({"content": "x"}, obfuscation="Q"), "x"),
    (CHAT, chat({"content": "Hello"}, obfuscation="k"), chat({"content": '"'}, obfuscation="Q"), '"'),
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
    assert reader_of(first, wire).matcher.text(second) == said


@pytest.mark.behaviour("S8")
@pytest.mark.parametrize("second", UNLIKE, ids=range(len(UNLIKE)))
def test_an_event_that_differs_in_anything_else_is_not_taken_for_alike(second):
    assert reader_of(chat({"content": "Hello"})).matcher.text(second) is None


def test_reasoning_stays_reasoning():
    alike = reader_of(chat({"reasoning_content": "hm hm"})).matcher
    assert alike.text(chat({"reasoning_content": "so"})) == "so"
    assert alike.template.kind is ReasoningDelta


def test_a_text_that_stands_there_twice_teaches_nothing():
    alike = reader_of(chat({"content": "c1"})).matcher  # the same as the id
    assert alike.text(chat({"content": "xy"})) is None


def test_another_part_is_learned_anew():
    reader = reader_of(anthropic(text("Hello")), ANTHROPIC)
    assert reader.matcher.text(anthropic(text("x"), index=1)) is None
    (event,) = SseDecoder().feed(anthropic(text("Hello"), index=1))
    assert reader.read_plain(event) == TextDelta("Hello")
    assert reader.matcher.text(anthropic(text("x"), index=1)) == "x"


def test_a_stream_without_events_that_are_alike_is_learned_from_ever_less_often():
    reader = EventReader(CHAT)
    for number in range(1, 41):
        (event,) = SseDecoder().feed(chat({"content": "Hello"}, id=f"c{number}"))
        assert reader.read_plain(event) == TextDelta("Hello")

    def teaches(number: int) -> bool:
        return reader.matcher.text(chat({"content": "x"}, id=f"c{number}")) == "x"

    assert [number for number in range(1, 41) if teaches(number)] == [4, 8, 16, 32]


def test_events_whose_text_stands_there_twice_do_not_keep_a_stream_from_learning():
    reader = EventReader(CHAT)
    for said in ("c1", "c1", "c1", "Hello"):
        (event,) = SseDecoder().feed(chat({"content": said}))
        assert reader.read_plain(event) == TextDelta(said)
    assert reader.matcher.text(chat({"content": "x"})) == "x"


def responses(said: str, number: object, padding: str = "Tq0a") -> bytes:
    value = {"type": "response.output_text.delta", "sequence_number": number, "item_id": "msg_1"}
    value |= {"output_index": 0, "content_index": 0, "delta": said, "obfuscation": padding}
    return b"event: response.output_text.delta\ndata: " + json.dumps(value).encode() + b"\n\n"


def gemini(said: str, tokens: object) -> bytes:
    candidate = {"content": {"parts": [{"text": said}], "role": "model"}, "index": 0}
    usage = {"promptTokenCount": 4, "candidatesTokenCount": tokens, "totalTokenCount": tokens}
    value = {"candidates": [candidate], "usageMetadata": usage}
    return b"data: " + json.dumps(value).encode() + b"\r\n\r\n"


@pytest.mark.behaviour("S8")
def test_numbers_that_count_on_may_be_any_once_two_events_have_shown_it():
    reader = reader_of(responses("Hello", 4), RESPONSES)
    assert reader.matcher.text(responses(" the", 5)) is None
    (event,) = SseDecoder().feed(responses("river", 5, "z"))
    assert reader.read_plain(event) == TextDelta("river")
    assert reader.matcher.text(responses(' "the', 1006, "Lm9xPe")) == ' "the'
    assert reader.matcher.text(responses(" the", 6, "no word")) is None
    assert reader.matcher.text(responses(" the", "6")) is None
    assert reader.matcher.text(responses(" the", -6)) is None
    assert reader.matcher.text(responses(" the", 6).replace(b" 6,", b" 06,")) is None
    assert reader.matcher.text(responses(" the", 10**16)) is None
    assert reader.matcher.text(responses(" the", 6) + responses(" the", 7)) is None
    assert reader.matcher.text(responses(" the", 6).replace(b"_index", b"_indeks")) is None


@pytest.mark.behaviour("S8", "C19")
def test_the_usage_that_an_event_tells_beside_its_text_is_kept_however_it_was_read():
    reader = reader_of(gemini("Hello", 1) + gemini("there", 2), GEMINI)
    assert reader.counted()[0] == [UsageSeen(Usage(4, 2), running=True)]
    assert reader.match_template(gemini("x", 3)) == TextDelta("x")
    assert reader.match_template(gemini("é", 31)) == TextDelta("é")
    assert reader.counted()[0] == [UsageSeen(Usage(4, 31), running=True)]
    assert reader.counted()[0] == []


def test_a_number_that_the_wire_looks_at_is_no_hole():
    def read(data: bytes) -> TextDelta | None:
        value = json.loads(data)
        return TextDelta(value["say"]) if value["index"] < 2 else None

    alike = TemplateMatcher(read)
    for index in (0, 1):
        data = b'{"index":%d,"say":"Hello"}' % index
        alike.learn(Frame(b"data: %s\n\n" % data, data), TextDelta("Hello"))
    assert alike.text(b'data: {"index":1,"say":"x"}\n\n') == "x"
    assert alike.text(b'data: {"index":0,"say":"x"}\n\n') == "x"
    assert alike.text(b'data: {"index":2,"say":"x"}\n\n') is None
