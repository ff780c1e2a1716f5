"""The framing of Bedrock's streams: any chunking gives the same events, and every byte is in an event
or behind the last one."""

from __future__ import annotations

from collections.abc import Iterator

from checks.fuzz.drawing import pieces, seed, split
from tenuto.frames.aws_messages import AwsEventDecoder, UnreadableMessage, render_event
from tenuto.frames.frame import Frame, FrameTooLarge


def seeds() -> Iterator[bytes]:
    stream = b"".join(map(render_event, (b"{}", b'{"type":"ping"}', '{"a":"日本"}'.encode())))
    yield from (seed(stream, size, 3, 200) for size in (0, 10, 255))
    yield seed(stream[:-3], 255)


def check(data: bytes) -> None:
    knobs, payload = split(data)
    whole = read([payload])
    assert b"".join(event.raw for event in whole[0]) + whole[1] == payload
    assert read(list(pieces(payload, knobs))) == whole
    assert read(list(pieces(payload, b"\0"))) == whole
    limited = read([payload], 64)[0]
    assert limited == whole[0][: len(limited)]


def read(chunks: list[bytes], limit: int = 0) -> tuple[list[Frame], bytes]:
    """The events, and the bytes that are none: cut or unreadable."""
    decoder = AwsEventDecoder(limit)
    events: list[Frame] = []
    taken = 0
    for chunk in chunks:
        taken += len(chunk)
        piece = chunk
        try:
            while found := decoder.feed(piece):
                events += found
                piece = b""
        except (UnreadableMessage, FrameTooLarge):
            break
    whole = b"".join(chunks)
    return events, whole[sum(len(event.raw) for event in events) :]
