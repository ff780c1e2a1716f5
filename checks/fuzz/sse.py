"""The decoder of server-sent events: any chunking gives the same events, their raw bytes joined are
the input, and its reading is that of the official SDK."""

from __future__ import annotations

from collections.abc import Iterator

from openai._streaming import SSEDecoder

from checks.fuzz.drawing import fixtures, pieces, seed, split
from tenuto.frames.frame import Frame, FrameTooLarge
from tenuto.frames.sniff import begins
from tenuto.frames.sse import SseDecoder
from tenuto.wires.registry import wires


def seeds() -> Iterator[bytes]:
    for wire in wires():
        yield from (seed(data, 200, 3, 90, 1) for data in fixtures(wire))
    yield seed(b"\xef\xbb\xbfdata: a\r\rid: 7\r\n: c\ndata: b\n\nerror: {}\n\nevent: x\ndata\n\n")


def check(data: bytes) -> None:
    knobs, payload = split(data)
    events, limited = read([payload]), read([payload], limit=64)
    assert b"".join(event.raw for event in events) == payload
    assert all(event.terminated for event in events[:-1])
    for chunks in (pieces(payload, knobs), pieces(payload, b"\0")):
        cut = list(chunks)
        assert read(cut) == events
        assert read(cut, limit=64) == limited
    assert limited == events[: len(limited)]
    assert all(len(event.raw) <= 64 for event in limited)
    begins(payload)
    if b"error" not in payload and not payload.startswith(b"\xef\xbb\xbf"):
        ours = [e.data.decode() for e in events if e.data] if is_text(payload) else []
        theirs = as_the_sdk_reads(payload) if is_text(payload) else []
        assert ours == theirs


def read(chunks: list[bytes], limit: int = 0) -> list[Frame]:
    decoder = SseDecoder(limit)
    events: list[Frame] = []
    try:
        for chunk in chunks:
            events += decoder.feed(chunk)
        events += decoder.flush()
    except FrameTooLarge:
        assert limit
    return events


def is_text(payload: bytes) -> bool:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True


def as_the_sdk_reads(payload: bytes) -> list[str]:
    """The data of each event; what the end left open is handed out too, as ours is."""
    found = SSEDecoder().iter_bytes(iter([payload + b"\n\n"]))
    return [event.data for event in found if event.data]
