"""The parts of an answer on Gemini are the same, however it comes: as a body, as a stream, in
whatever pieces, read by the quick way or the slow one."""

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
from tenuto.core.answer.signals import CallDelta, TextDelta
from tenuto.frames.frame import Frame
from tenuto.frames.sse import SseDecoder
from tenuto.wires.answer import AttemptContent
from tenuto.wires.gemini_generate.content import candidates_of, parts_of
from tenuto.wires.gemini_generate.wire import WIRE, read
from tenuto.wires.json import decode_object
from tenuto.wires.stream import EventReader

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / WIRE.name


@cache
def streams() -> list[bytes]:
    found = [path.read_bytes() for path in sorted(FIXTURES.glob("*/stream.sse"))]
    return found + [raw for _, raw, _ in recorded(WIRE.name)] if place() else found


def events_of(pieces: Iterable[bytes]) -> list[Frame]:
    decoder = SseDecoder()
    found = [event for piece in pieces for event in decoder.feed(piece)]
    return [*found, *decoder.flush()]


def said(message: Message, builder: Builder) -> Any:
    """What an answer says, part by part, and what it says beside its parts."""
    text = builder.build().text
    content = WIRE.content([AttemptContent(None, text, own=text, message=message)])
    return content, WIRE.as_body(message)


def of_body(*parts: Any, **beside: Any) -> Any:
    body = {"candidates": [{"content": {"parts": list(parts)}, **beside}]}
    message, builder = Message(), Builder()
    for signal in message.take(read(body, event=False)):
        builder.feed(signal)
    return said(message, builder)


def of_stream(events: Iterable[Frame], *, flowing: bool = True) -> Any:
    """What a stream says. `flowing`: text takes the quick way, as it does behind a first event."""
    reader, builder = EventReader(WIRE), Builder()
    for event in events:
        quick = reader.read_plain(event) if flowing else None
        if quick is not None:
            kind = Kind.TEXT if isinstance(quick, TextDelta) else Kind.REASONING
            if reader.message.flow(kind, quick.text):
                builder.feed(quick)
                continue
        for signal in reader.read(event)[0]:
            builder.feed(signal)
    return said(reader.message, builder)


def as_events(*events: Any) -> list[Frame]:
    return events_of(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


def candidate(*parts: Any, **beside: Any) -> Any:
    return {"candidates": [{"content": {"parts": list(parts)}, **beside}]}


_words = st.sampled_from(["Hi", " there", "", "\n", "ü"])
_parts = st.one_of(
    st.builds(lambda text: {"text": text}, _words),
    st.builds(lambda text: {"text": text, "thought": True}, _words),
    st.builds(lambda text: {"text": text, "thoughtSignature": "c2ln"}, _words),
    st.sampled_from(
        [
            {"thoughtSignature": "c2ln"},
            {"functionCall": {"name": "f", "args": {}}},
            {"executableCode": {"code": "1"}},
        ]
    ),
)


@pytest.mark.behaviour("C20", "C26")
@given(st.lists(_parts, max_size=8), st.data())
def test_a_stream_and_a_body_of_the_same_answer_have_the_same_parts(parts: Any, data: Any) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(parts)))))
    split = [parts[a:b] for a, b in zip([0, *cuts], [*cuts, len(parts)], strict=True)]
    events = as_events(*(candidate(*some) for some in split), candidate(finishReason="STOP"))
    for flowing in (True, False):
        assert of_stream(events, flowing=flowing) == of_body(*parts, finishReason="STOP")


@pytest.mark.behaviour("S8")
def test_the_quick_way_and_the_slow_one_say_the_same_of_every_stream() -> None:
    assert len(streams()) > 15
    for raw in streams():
        events = events_of([raw])
        assert of_stream(events) == of_stream(events, flowing=False)


@pytest.mark.behaviour("S8")
@given(data=st.data())
def test_parts_do_not_depend_on_the_pieces_that_a_stream_comes_in(data: Any) -> None:
    raw = data.draw(st.sampled_from(streams()))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=8)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert of_stream(events_of(pieces)) == of_stream(events_of([raw]))


@pytest.mark.behaviour("C26")
def test_recorded_streams_say_in_parts_what_their_events_say() -> None:
    for raw in streams():
        content, _ = of_stream(events_of([raw]))
        values = [decode_object(event.data or b"") for event in events_of([raw])]
        came = [
            part["text"]
            for value in values
            if isinstance(value, dict)
            for one in candidates_of(value)[:1]
            for part in parts_of(one)
            if isinstance(part.get("text"), str)
        ]
        assert "".join(part.get("text", "") for part in content) == "".join(came)


@pytest.mark.behaviour("C20", "S8")
def test_text_behind_a_signed_part_begins_a_part_of_its_own() -> None:
    signed = {"text": "b", "thoughtSignature": "c2ln"}
    events = as_events(*map(candidate, [{"text": "a"}, signed, {"text": "c"}, {"text": "d"}]))
    content, _ = of_stream(events)
    assert content == ({"text": "a"}, signed, {"text": "cd"})


@pytest.mark.behaviour("C26")
def test_members_of_which_each_event_says_a_piece_are_whole_in_the_end() -> None:
    first = candidate(logprobsResult={"chosenCandidates": [1]}, safetyRatings=["low"])
    last = candidate(logprobsResult={"chosenCandidates": [2]}, safetyRatings=["high"])
    _, body = of_stream(as_events({"responseId": "a", **first}, {"responseId": "b", **last}))
    said = {"safetyRatings": ["high"], "logprobsResult": {"chosenCandidates": [1, 2]}}
    assert body == {"candidates": [said], "responseId": "a"}


@pytest.mark.behaviour("C28")
def test_another_choice_adds_nothing_to_the_parts_of_the_first() -> None:
    other = candidate({"inlineData": {"data": "eA=="}}, index=1, safetyRatings=["low"])
    content, body = of_stream(as_events(candidate({"text": "Hi"}, index=0), other))
    assert content == ({"text": "Hi"},)
    assert body == {"candidates": [{"index": 0}]}


@pytest.mark.behaviour("T1")
def test_a_piece_of_a_call_behind_code_that_the_provider_ran_is_no_piece_of_the_code() -> None:
    more = {"functionCall": {"willContinue": True}}
    for signals in (
        read(candidate({"executableCode": {"code": "1"}}, more), event=True),
        read(candidate({"text": "Hi"}, more), event=True),
    ):
        assert [type(signal) for signal in Message().take(signals)][1:] == [CallDelta]
