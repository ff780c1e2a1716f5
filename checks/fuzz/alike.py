"""What is read without decoding is what decoding gives: an event that is taken for one like one
before it carries just that text, and so does a piece of a stream that is taken for one event."""

from __future__ import annotations

from collections.abc import Iterator

from checks.fuzz.drawing import fixtures, pieces, seed, split
from tenuto.frames.sse import SseDecoder
from tenuto.wires.base import Wire
from tenuto.wires.stream import EventReader, plain_delta_in


def seeds(wire: Wire) -> Iterator[bytes]:
    for data in fixtures(wire.name):
        yield seed(data, 255, 255, 255)
        yield seed(data.replace(b"}\n\n", b"  }\n\n"), 255)
        yield seed(data.replace(b"}\n\n", b',"obfuscation":"k3f"}\n\n'), 255)


def check(wire: Wire, data: bytes) -> None:
    knobs, payload = split(data)
    reader, decoder = EventReader(wire), SseDecoder()
    for event in [*decoder.feed(payload), *decoder.flush()]:
        # Each event as it is, and with its end cut or grown.
        for raw in (event.raw, *pieces(event.raw, knobs), event.raw + b"\n", event.raw * 2):
            text = reader.matcher.text(raw)
            if text is None:
                continue
            lone = SseDecoder()
            events = lone.feed(raw)
            assert len(events) == 1
            assert lone.idle
            assert events[0].raw == raw
            assert events[0].name != "error"
            assert plain_delta_in(
                reader.wire, events[0].data or b""
            ) == reader.matcher.template.kind(text)
            assert raw[reader.matcher.template.data_at] == events[0].data
        expected = (
            plain_delta_in(reader.wire, event.data)
            if event.data and event.name != "error"
            else None
        )
        assert reader.read_plain(event) == expected
