"""The parts of an answer of OpenAI Chat: bodies and streams alike, in whatever pieces they come."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.parts import Kind, Message
from tenuto.frames.sse import SseDecoder
from tenuto.turn.stream.client_stream import ClientStream
from tenuto.wires.base import Wire
from tenuto.wires.chat_like import chat as chat_like
from tenuto.wires.json import JsonObject, encode
from tenuto.wires.mistral import wire as mistral
from tenuto.wires.openai_chat import wire as openai_chat
from tenuto.wires.openai_completions import wire as openai_completions
from tenuto.wires.stream import EventReader

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
WIRES = {w.name: w for w in (openai_chat.WIRE, mistral.WIRE, openai_completions.WIRE)}
STREAMS = [path for name in WIRES for path in sorted(FIXTURES.glob(f"{name}/*/stream.sse"))]

Told = list[tuple[Any, Kind, JsonObject]]


def told(message: Message, *kinds: Kind) -> Told:
    """What the parts say, those of some kinds alone; whether an empty text began is no matter."""
    parts = [(part.place, part.kind, part.whole()) for part in message.parts]
    return [one for one in parts if any(one[2].values()) and (not kinds or one[1] in kinds)]


def of_body(message: JsonObject) -> Message:
    body = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    made = Message()
    made.take(chat_like.read(body, event=False))
    return made


def of_deltas(deltas: Iterable[JsonObject]) -> Message:
    made = Message()
    for delta in deltas:
        event = {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        made.take(chat_like.read(event, event=True))
    return made


WORDS = st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=4)
NOTE = {"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 1}}


@pytest.mark.behaviour("N7")
@given(st.data())
def test_a_body_and_a_stream_of_one_answer_have_the_same_parts(data):
    names = (
        "content",
        "reasoning_content",
        "refusal",
        "annotations",
        "images",
        "reasoning_details",
    )
    pieces: list[tuple[str, Any]] = []
    whole: JsonObject = {"role": "assistant", "content": None}
    for name in data.draw(st.lists(st.sampled_from(names), unique=True)):
        words = data.draw(WORDS)
        if name in chat_like.TEXTS:
            whole[name] = "".join(words)
            pieces += [(name, word) for word in words]
        else:
            items = [{**NOTE, "title": word} for word in words]
            whole[name] = items
            pieces += [(name, [item]) for item in items]
    deltas = [{"role": "assistant", "content": ""}, *({name: piece} for name, piece in pieces)]

    def by_place(message: Message) -> Told:
        return sorted(told(message), key=lambda one: one[0])

    assert by_place(of_deltas(deltas)) == by_place(of_body(whole))


@pytest.mark.behaviour("N7")
def test_what_stands_between_texts_of_a_content_parts_them_in_bodies_and_streams():
    reference = {"type": "reference", "reference_ids": [1]}
    image = {"type": "image_url", "image_url": "https://host/a.png"}
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    paris, it_is, so = ({"type": "text", "text": text} for text in ("Paris", " it is", " so."))
    content = [thinking, paris, reference, it_is, image, so]
    body = of_body({"content": content})
    stream = of_deltas([{"content": [thinking]}, {"content": "Par"}, {"content": "is"},
                        {"content": [reference]}, {"content": [it_is, image]}, {"content": " so."}])  # fmt: skip
    assert told(stream) == told(body) == [
        (("thinking", "content"), Kind.REASONING, {"content": "Hm."}),
        (("content",), Kind.TEXT, {"content": "Paris"}),
        (("content",), Kind.NOTE, {"content": [reference]}),
        (("content",), Kind.TEXT, {"content": " it is"}),
        (("content",), Kind.OTHER, {"content": [image]}),
        (("content",), Kind.TEXT, {"content": " so."}),
    ]  # fmt: skip


@pytest.mark.behaviour("N7")
def test_calls_stand_at_their_number_and_a_name_begins_another_one():
    first = {"index": 0, "id": "a", "type": "function", "function": {"name": "read"}}
    more = {"index": 0, "function": {"arguments": "{}"}}
    calls = [first, more, {**first, "index": 1, "id": "b"}, {"function": {"arguments": "{}"}}]
    message = of_deltas({"tool_calls": [call]} for call in calls)
    places = [part.place for part in message.parts if part.kind is Kind.CALL]
    assert places == [("tool_calls", 0), ("tool_calls", 1), ("tool_calls", None)]


def handed_on(wire: Wire, pieces: Iterable[bytes]) -> Message:
    """The message of a stream that is handed on as it comes, its texts in as few steps as may be."""
    client_stream, builder, decoder = ClientStream(wire, "m", 0, False), Builder(), SseDecoder()
    client_stream.begin(None)
    take = client_stream.fast_path(builder, 0)
    for piece in pieces:
        if decoder.idle and client_stream.may_forward and take(piece) is not None:
            continue
        for event in decoder.feed(piece):
            client_stream.event(event, builder)
    for event in decoder.flush():
        client_stream.event(event, builder)
    return client_stream.message


CONTENT = (Kind.TEXT, Kind.REASONING, Kind.REFUSAL, Kind.CALL, Kind.OTHER)


def read_whole(wire: Wire, stream: bytes) -> Told:
    reader, decoder = EventReader(wire), SseDecoder()
    for event in [*decoder.feed(stream), *decoder.flush()]:
        reader.read(event)
    return told(reader.message, *CONTENT)


@pytest.mark.behaviour("N7")
@pytest.mark.parametrize("path", STREAMS, ids=lambda p: f"{p.parts[-3]}-{p.parts[-2]}")
def test_a_stream_has_the_same_parts_by_event_by_byte_and_whole(path):
    wire, stream = WIRES[path.parts[-3]], path.read_bytes()
    events = [event.raw for event in SseDecoder().feed(stream)]
    rest = stream.removeprefix(b"".join(events))
    single = [stream[n : n + 1] for n in range(len(stream))]
    for pieces in ([stream], [*events, rest], single):
        assert told(handed_on(wire, pieces), *CONTENT) == read_whole(wire, stream)


@pytest.mark.behaviour("N7")
@given(st.lists(st.sampled_from(["T", "R", "A", "B"]), max_size=12), st.data())
def test_a_drawn_stream_has_the_same_parts_in_whatever_pieces_it_comes(kinds, data):
    deltas: dict[str, JsonObject] = {
        "T": {"content": "text "},
        "R": {"reasoning": "thought "},
        "A": {"content": "cited", "annotations": [NOTE]},
        "B": {"content": [{"type": "reference", "reference_ids": [1]}]},
    }
    events = [
        b"data: %b\n\n" % encode({"id": "c", "choices": [{"index": 0, "delta": deltas[kind]}]})
        for kind in kinds
    ]
    stream = b"".join(events)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    for cut in (pieces, events):
        assert told(handed_on(openai_chat.WIRE, cut), *CONTENT) == read_whole(
            openai_chat.WIRE, stream
        )
