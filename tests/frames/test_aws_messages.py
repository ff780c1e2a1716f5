"""The framing of Bedrock's streams, against botocore's reader and messages that were put together
without ours: any chunking, any cut, any wrong byte."""

from __future__ import annotations

import json
import struct
from binascii import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.aws import as_botocore_reads, events_of, failure
from support.aws_messages import chunk, message

from tenuto.core.answer.signals import FaultSeen
from tenuto.frames.aws_messages import (
    MOST_BYTES,
    AwsEventDecoder,
    UnreadableMessage,
    render_event,
    render_message,
    render_named,
)
from tenuto.frames.frame import Frame, FrameTooLarge
from tenuto.wires.anthropic_messages.wire import WIRE
from tenuto.wires.stream import EventReader

DATA = [
    b'{"type":"ping"}',
    '{"type":"x","text":"日本 🌊"}'.encode(),
    b"{}",
    b"",
    b"\xff\x00 no JSON",
]
STREAM = b"".join(map(chunk, DATA)) + message(
    b"{}", event_type="initial-response", message_type="event"
)

pieces_of_data = st.lists(st.binary(max_size=20), max_size=4)
sizes_of_chunks = st.lists(st.integers(0, 50), max_size=30)


def whole(data: bytes, limit: int = 0) -> list[Frame]:
    return AwsEventDecoder(limit).feed(data)


@pytest.mark.behaviour("S8")
@given(pieces_of_data, sizes_of_chunks)
def test_any_chunking_gives_the_same_events_and_loses_no_byte(data, sizes):
    stream = b"".join(map(chunk, data))
    for cuts in (sizes, [1] * len(stream)):
        decoder, at, events = AwsEventDecoder(), 0, []
        for size in cuts:
            events += decoder.feed(stream[at : at + size])
            at += size
        events += decoder.feed(stream[at:])
        assert b"".join(event.raw for event in events) == stream
        assert [event.data for event in events] == data
        assert decoder.pending == b""


@pytest.mark.behaviour("S8")
def test_a_stream_that_is_cut_anywhere_gives_the_messages_before_the_cut():
    all_events = whole(STREAM)
    assert [event.data for event in all_events] == [*DATA, None]
    for cut in range(len(STREAM)):
        decoder = AwsEventDecoder()
        events = decoder.feed(STREAM[:cut])
        assert events == all_events[: len(events)]
        assert b"".join(event.raw for event in events) + decoder.pending == STREAM[:cut]
        assert len(events) < len(all_events)


@given(pieces_of_data)
def test_botocore_reads_what_is_written(data):
    read = as_botocore_reads(b"".join(map(render_event, data)))
    assert [event.data for event in whole(b"".join(map(render_event, data)))] == data
    for headers, _ in read:
        assert headers == {
            ":event-type": "chunk",
            ":content-type": "application/json",
            ":message-type": "event",
        }
    assert events_of(render_event(DATA[1])) == [json.loads(DATA[1])]


@given(st.dictionaries(st.text(min_size=1, max_size=20), st.text(max_size=50)), st.binary())
def test_botocore_reads_any_headers_that_are_written(headers, payload):
    headers = {key: value for key, value in headers.items() if len(key.encode()) < 256}
    assert as_botocore_reads(render_message(headers, payload)) == [(headers, payload)]


@pytest.mark.behaviour("S9")
def test_no_wrong_byte_passes():
    for at in range(len(chunk(DATA[0])), len(STREAM)):
        wrong = STREAM[:at] + bytes([STREAM[at] ^ 0x10]) + STREAM[at + 1 :]
        decoder = AwsEventDecoder()
        events = decoder.feed(wrong)
        before = b"".join(event.raw for event in events)
        assert wrong.startswith(before)
        assert len(before) <= at
        assert [event.data for event in events] == DATA[: len(events)]
        with pytest.raises(UnreadableMessage):
            decoder.feed(b"")


def test_a_wrong_byte_in_the_first_message_raises_at_once():
    made = bytearray(chunk(DATA[0]))
    made[30] ^= 1
    with pytest.raises(UnreadableMessage, match="checksum"):
        whole(bytes(made))


def prelude(size: int, headers: int) -> bytes:
    sizes = struct.pack(">II", size, headers)
    return sizes + struct.pack(">I", crc32(sizes))


@pytest.mark.parametrize("sizes", [(15, 0), (40, 25), (0, 0), (200_000, 131_073)])
def test_lengths_that_contradict_each_other_are_unreadable(sizes):
    with pytest.raises(UnreadableMessage, match="lengths"):
        whole(prelude(*sizes))


@pytest.mark.parametrize(
    "raw",
    [
        message(b'{"bytes":"?"}', event_type="chunk", message_type="event"),
        message(b"no JSON", event_type="chunk", message_type="event"),
        message(b"\xff", exception_type="x", message_type="exception"),
        render_message({}, b"")[:-4] + b"0000",
    ],
)
def test_a_message_whose_payload_is_none_is_unreadable(raw):
    with pytest.raises(UnreadableMessage):
        whole(raw)


@pytest.mark.parametrize("header", [b"\x01a", b"\x01a\x09", b"\x01a\x07\x00\x09abc", b"\x05a"])
def test_headers_that_break_off_or_are_of_no_type_are_unreadable(header):
    body = prelude(16 + len(header), len(header)) + header
    with pytest.raises(UnreadableMessage, match="cannot be read"):
        whole(body + struct.pack(">I", crc32(body)))


def test_headers_of_every_type_are_passed_over():
    kinds = [(0, b""), (1, b""), (2, b"a"), (3, b"ab"), (4, b"abcd"), (5, b"a" * 8), (8, b"a" * 8)]
    kinds += [(9, b"a" * 16), (6, b"\x00\x03abc")]
    header = b"".join(
        b"\x02k%c" % n + bytes([kind]) + value for n, (kind, value) in enumerate(kinds)
    )
    text = message(b"", message_type="exception", exception_type="x")[12:-4]
    header += text
    body = prelude(16 + len(header), len(header)) + header
    raw = body + struct.pack(">I", crc32(body))
    assert as_botocore_reads(raw)[0][0][":exception-type"] == "x"
    assert whole(raw)[0].name == "error"


def test_a_message_beyond_the_limit_is_refused_by_its_first_bytes():
    small, large = chunk(b"{}"), chunk(b"x" * 300)
    decoder = AwsEventDecoder(200)
    assert [event.data for event in decoder.feed(small + large[:12])] == [b"{}"]
    with pytest.raises(FrameTooLarge):
        decoder.feed(b"")
    with pytest.raises(FrameTooLarge):
        whole(prelude(MOST_BYTES + 1, 0))
    assert whole(prelude(MOST_BYTES, 0)) == []


@pytest.mark.behaviour("S9")
@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("throttlingException", "rate_limited"),
        ("serviceUnavailableException", "overloaded"),
        ("modelTimeoutException", "timeout"),
        ("modelStreamErrorException", "server"),
        ("internalServerException", "server"),
        ("validationException", "invalid_request"),
        ("anotherException", "server"),
    ],
)
def test_each_exception_of_a_stream_is_a_fault_of_its_own_class(kind, fault):
    (event,) = whole(failure(kind, "Words.", originalStatusCode=500))
    signals, _ = EventReader(WIRE).read(event)
    (seen,) = signals
    assert isinstance(seen, FaultSeen)
    found = (seen.fault.kind.value, seen.fault.code, seen.fault.message)
    assert found == (fault, kind, "Words.")


@pytest.mark.behaviour("S9")
def test_an_error_message_without_payload_is_a_fault_too():
    raw = message(
        b"", message_type="error", error_code="ThrottlingException", error_message="Slow."
    )
    (event,) = whole(raw)
    assert (event.name, json.loads(event.data or b"")) == (
        "error",
        {"type": "ThrottlingException", "message": "Slow."},
    )


@pytest.mark.behaviour("N6", "S2")
def test_half_a_surrogate_pair_in_an_event_is_written_all_the_same():
    raw = render_named(b'{"metadata":{"metrics":"\\ud800x"}}')
    (event,) = whole(raw)
    assert json.loads(event.data or b"") == {"metadata": {"metrics": "\ud800x"}}
