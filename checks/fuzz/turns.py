"""Whole turns against a far side that sends anything, in any pieces: a turn ends, with no more
requests than the policy allows, and what its caller gets is what the official SDK can read, an
error of its own, or the very bytes of the far side."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

from checks.fuzz.asked import Asked, asked, body_of
from checks.fuzz.drawing import fixtures, is_stream, pieces, seed, split
from tenuto.core.deciding.view import LIMITS
from tenuto.core.events.event import Event
from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Head, Headers, Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, lost
from tenuto.turn.pipeline.engine import Engine
from tenuto.wires.base import Wire

BETWEEN = b"\n--answer--\n"
TYPES = ("text/event-stream", "application/json", "text/plain", "")
STATUSES = (200, 200, 200, 200, 400, 429, 500, 204)
CODINGS = ("", "", "", "", "", "gzip", "br", "x-own")
POLICIES = tuple(
    Policy(on_incomplete=shown, backoff_s=0, retry_after_max_s=0, hold_max_bytes=held,
           event_max_bytes=held, body_max_bytes=held)
    for shown in ("stop", "notice", "error") for held in (16_777_216, 300)
)  # fmt: skip
MOST = 1 + sum(getattr(POLICIES[0], key) for key in LIMITS.values())


@cache
def engine(number: int, speaks: str) -> Engine:
    made = Engine(POLICIES[number], EVENTS.append)
    made.speaks = speaks
    return made


EVENTS: list[Event] = []


def seeds(wire: Wire) -> Iterator[bytes]:
    found = list(fixtures(wire.name))
    for number, data in enumerate(found):
        behind = found[(number * 7 + 1) % len(found)]
        streams = is_stream(data)
        yield seed(data + BETWEEN + behind, 90, 7, 200, streams, 1 - streams, 0, 0, number)
        yield seed(data, 255, 255, 255, streams, 1 - streams)


def check(wire: Wire, data: bytes) -> None:
    knobs, payload = split(data)
    row, stream = asked(wire), bool(knobs[3] & 1)
    answers = [answer(knobs, part) for part in payload.split(BETWEEN)[:8]]
    script = Script(*answers)
    url = f"https://host{row.path_of(stream=stream)}"
    headers = row.headers if stream else ()
    request = Request("POST", url, headers, body_of(row, stream=stream), 60.0)
    EVENTS.clear()
    run = engine(knobs[7] % len(POLICIES), row.speaks).begin(request)
    assert run is not None
    out: list[Head | bytes] = []
    broken = False
    try:
        out.extend(Drive(run, script.connect).pieces())
    except ConnectionError:  # the transport's own, handed on
        broken = True
    assert len(script.transmitted) <= MOST
    for command in script.transmitted:
        json.loads(command.body)
    assert all(upstream.closed for upstream in script.opened) or broken
    ended = [event for event in EVENTS if event.name == "turn_ended"]
    alone = [event for event in EVENTS if event.name == "left_alone"]
    assert len(ended) == 1
    if broken and not out:
        return
    head, *rest = out
    assert isinstance(head, Head)
    raw = b"".join(piece for piece in rest if isinstance(piece, bytes))
    sent = [b"".join(p for p in a.pieces if isinstance(p, bytes)) for a in answers]
    if not alone and not broken and raw not in sent:
        events = "event-stream" in head.get(b"content-type") or (stream and head.status < 400)
        check_output(row, raw, sent[0], events=events)


def answer(knobs: bytes, part: bytes) -> Scripted:
    headers: Headers = ()
    if kind := TYPES[knobs[4] % len(TYPES)]:
        headers += ((b"content-type", kind.encode()),)
    if coding := CODINGS[knobs[5] % len(CODINGS)]:
        headers += ((b"content-encoding", coding.encode()),)
    behind = (lost(),) if knobs[6] & 8 else ()
    head = Head(STATUSES[knobs[6] % len(STATUSES)], headers)
    return Scripted(head, (*pieces(part, knobs[:3]), *behind))


def check_output(row: Asked, raw: bytes, first: bytes, *, events: bool) -> None:
    """What was written or mended here is something that the caller's SDK reads. Only what it cannot
    read of an event without Tenuto (it takes one without data for JSON) it cannot read with it."""
    if not events:
        json.loads(raw)
        return
    if not is_utf8(first):  # what no SDK reads, and passes as it came
        raw = as_utf8(raw)
    try:
        row.read(raw)
    except row.error:
        pass
    except json.JSONDecodeError:
        try:
            row.read(as_utf8(first))
        except json.JSONDecodeError:
            return
        raise


def is_utf8(data: bytes) -> bool:
    return as_utf8(data) == data


def as_utf8(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()
