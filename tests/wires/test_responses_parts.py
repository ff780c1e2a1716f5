"""The parts of an answer on OpenAI Responses are the same, however it comes: as a body, as a stream
with or without its closing events, in whatever pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recorded import place, recorded

from tenuto.core.answer.builder import Builder
from tenuto.core.answer.parts import Kind, Message
from tenuto.core.answer.signals import TextDelta
from tenuto.frames.frame import Frame
from tenuto.frames.sse import SseDecoder
from tenuto.wires.answer import AttemptContent
from tenuto.wires.json import decode_object
from tenuto.wires.openai_responses.wire import WIRE, read
from tenuto.wires.stream import EventReader

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "openai-responses"


@cache
def streams() -> list[bytes]:
    """Streams of which every item and part is announced, and whose last event holds all items."""
    found = [path.read_bytes() for path in sorted(FIXTURES.glob("*/stream.sse"))]
    found += [raw for _, raw, _ in recorded(WIRE.name)] if place() else []
    return [raw for raw in found if said_in_the_end(raw) is not None]


def said_in_the_end(raw: bytes) -> list[Any] | None:
    """The items in the last event, if the items that were closed are the same."""
    told = [v for e in events_of([raw]) if isinstance(v := decode_object(e.data or b""), dict)]
    last = told[-1].get("response") if told else None
    output = last.get("output") if isinstance(last, dict) else None
    done = [e.get("item") for e in told if e.get("type") == "response.output_item.done"]
    return output if output and output == done else None


def events_of(pieces: Iterable[bytes]) -> list[Frame]:
    decoder = SseDecoder()
    found = [event for piece in pieces for event in decoder.feed(piece)]
    return [*found, *decoder.flush()]


def content_of(message: Message, builder: Builder, body: Any = None) -> Any:
    text = builder.build().text
    return WIRE.content([AttemptContent(body, text, own=text, message=message)])


def of_body(output: list[Any]) -> Any:
    """What a body with these items says."""
    body, message, builder = {"output": output}, Message(), Builder()
    for signal in message.take(read(body, event=False)):
        builder.feed(signal)
    return content_of(message, builder, body)


def of_stream(events: Iterable[Frame], *, flowing: bool = False) -> Any:
    """What a stream says. `flowing`: text takes the quick way, as it does behind a first event."""
    reader, builder = EventReader(WIRE), Builder()
    for event in events:
        quick = reader.read_plain(event) if flowing else None
        if quick is not None:
            builder.feed(quick)
            kind = Kind.TEXT if isinstance(quick, TextDelta) else Kind.REASONING
            reader.message.flow(kind, quick.text)
            continue
        for signal in reader.read(event)[0]:
            builder.feed(signal)
    return content_of(reader.message, builder)


@pytest.mark.behaviour("C26")
def test_a_stream_and_a_body_of_the_same_answer_have_the_same_parts():
    assert len(streams()) > 5
    for raw in streams():
        assert of_stream(events_of([raw])) == of_body(said_in_the_end(raw) or [])


def words_of(content: Any) -> list[tuple[str, list[Any]]]:
    """The kind and the words of each item that was said or thought."""
    found = []
    for item in content:
        if item["type"] in ("message", "reasoning"):
            parts = [*(item.get("content") or ()), *(item.get("summary") or ())]
            found.append((item["type"], [p.get("text", p.get("refusal")) for p in parts]))
    return found


@pytest.mark.behaviour("C26")
@pytest.mark.parametrize("flowing", [False, True])
def test_a_stream_without_its_closing_events_says_all_words_in_the_same_parts(flowing):
    for raw in streams():
        events = [e for e in events_of([raw]) if b'.done"' not in (e.data or b"")[:60]]
        opened = of_stream(events, flowing=flowing)
        assert words_of(opened) == words_of(of_body(said_in_the_end(raw) or []))


@pytest.mark.behaviour("S8")
@given(data=st.data())
def test_parts_do_not_depend_on_the_pieces_that_a_stream_comes_in(data):
    raw = data.draw(st.sampled_from(streams()))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=8)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert of_stream(events_of(pieces), flowing=True) == of_stream(events_of([raw]))


def event(kind: str, **members: Any) -> Frame:
    data = json.dumps({"type": f"response.{kind}", **members}).encode()
    return Frame(b"data: %b\n\n" % data, data)


SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "in_progress"}
HALF = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
TEXT = {"type": "output_text", "text": "", "annotations": []}
BEGUN = [
    event("output_item.added", output_index=0, item=HALF),
    event("content_part.added", output_index=0, content_index=0, part=TEXT),
    event("output_text.delta", output_index=0, content_index=0, delta="The tide"),
]


@pytest.mark.behaviour("N3")
def test_arguments_of_a_tool_that_the_provider_runs_are_no_call_and_stay_out_of_its_item():
    piece = {"output_index": 1, "delta": '{"q": 1}'}
    events = [
        *BEGUN,
        event("output_item.added", output_index=1, item=SEARCH),
        event("function_call_arguments.delta", **piece),
    ]
    assert of_stream(events)[1] == SEARCH
    reader, builder = EventReader(WIRE), Builder()
    for each in events:
        for signal in reader.read(each)[0]:
            builder.feed(signal)
    assert builder.build().calls == ()
    assert "".join(reader.message.parts[1].arguments) == '{"q": 1}'


def test_annotations_of_a_part_that_was_cut_stay_with_it():
    note = {"type": "url_citation", "start_index": 4, "end_index": 8, "url": "u", "title": "t"}
    noted = event("output_text.annotation.added", output_index=0, content_index=0, annotation=note)
    (item,) = of_stream([*BEGUN, noted])
    assert item["content"] == [TEXT | {"text": "The tide", "annotations": [note]}]


@pytest.mark.behaviour("C26")
def test_a_closing_event_without_text_leaves_the_text_that_came():
    closed = event("content_part.done", output_index=0, content_index=0, part=TEXT)
    done = event("output_item.done", output_index=0, item=HALF | {"content": [TEXT]})
    for ends in ([closed], [done], [closed, done]):
        (item,) = of_stream([*BEGUN, *ends])
        assert [part["text"] for part in item["content"]] == ["The tide"]


@pytest.mark.behaviour("C26")
def test_a_closed_item_that_was_never_announced_is_kept_where_its_number_says():
    done = SEARCH | {"status": "completed"}
    items = of_stream([
        event("output_item.done", output_index=1, item=done),
        *BEGUN,
        event("output_item.done", output_index=2, item={"type": "function_call", "name": "f"}),
    ])  # fmt: skip
    assert [item["id"] for item in items] == ["msg_1", "ws_1"]
