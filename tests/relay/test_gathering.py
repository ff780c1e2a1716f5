"""A stream that is said as a body means what the stream meant: its text, its calls, its stop."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tenuto.core.arguments import Finding
from tenuto.core.response import Builder, Response, ToolCall
from tenuto.core.signals import Ended
from tenuto.relay.gathering import gathered
from tenuto.wire.base import JsonObject
from tenuto.wire.json import decode_object, encode
from tenuto.wire.registry import wires

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
STREAMS = sorted(FIXTURES.glob("*/*/stream.sse"))


STREAMED_BY_MEMBER = {"q42-streamed-arguments"}
"""Arguments that are not put together, so that nobody may be given them as a body."""


def both(wire_name: str, stream: bytes) -> tuple[Response, Response, JsonObject | None]:
    """What a stream says, and what the body says that is made of it."""
    wire = wires()[wire_name]
    of_stream, of_body = Builder(), Builder()
    body = gathered(wire, stream, of_stream)
    for signal in wire.parse_object(body, event=False):
        of_body.feed(signal)
    of_body.feed(Ended())
    return of_stream.build(), of_body.build(), body


def calls_of(calls: Iterable[ToolCall]) -> list[tuple[str, Any]]:
    """The calls that are whole, by name; white space between members is no matter."""
    whole = [call for call in calls if call.finding is Finding.WHOLE]
    return [(c.name, c.arguments if c.free else json.loads(c.arguments)) for c in whole]


@pytest.mark.behaviour("N6", "N7", "N4")
@pytest.mark.parametrize("path", STREAMS, ids=lambda p: f"{p.parts[-3]}-{p.parts[-2]}")
def test_every_stream_means_the_same_as_the_body_that_is_made_of_it(path):
    stream, body, made = both(path.parts[-3], path.read_bytes())
    if path.parts[-2] in STREAMED_BY_MEMBER:
        assert made is None
        return
    assert body.text == stream.text
    assert body.refusal == stream.refusal
    assert calls_of(body.calls) == calls_of(stream.calls)
    if stream.fault is None and stream.stop.raw:
        assert body.stop.raw == stream.stop.raw
    if stream.usage is not None:
        assert body.usage is not None
        assert body.usage.output_tokens == stream.usage.output_tokens
    assert made is None or decode_object(encode(made)) == made


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("wire", sorted(wires()))
def test_events_of_odd_shapes_make_a_body_or_none_and_never_raise(wire):
    odd = [b"{}", b'{"type":[]}', b'{"choices":[{"delta":3}]}', b'{"response":[]}', b"[1]", b"3"]
    odd += [b'{"type":"message_start","message":3}', b'{"candidates":[3]}', b'{"messageStop":"x"}']
    odd += [b'{"interaction":"x"}', b'{"choices":[{"delta":{"a":1,"content":{}}}]}', b"nothing"]
    for data in odd:
        gathered(wires()[wire], b"data: %b\n\n" % data, Builder())
    assert gathered(wires()[wire], b": nothing\n\n", Builder()) is None
