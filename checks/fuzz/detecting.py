"""Bodies and streams through `detect`: nothing raises, how they were cut does not matter, and a
response that was cut short is a clean end of high confidence only where its stop was in it."""

from __future__ import annotations

from collections.abc import Iterator

from checks.fuzz.drawing import fixtures, pieces, seed, split
from tenuto.core.answer.stop import CLEAN, Confidence
from tenuto.detection import StreamDetector, detect, read
from tenuto.wires.base import Wire


def seeds(wire: Wire) -> Iterator[bytes]:
    yield seed(b"", 0, 0, 0, 0, 0, 0, 1)
    for data in fixtures(wire.name):
        yield seed(data, 200, 40, 3)
        yield seed(data, 255, 255, 9, 0, 0, 0, 1, 128)


def check(wire: Wire, data: bytes) -> None:
    knobs, payload = split(data)
    name = wire.name if knobs[6] & 1 else None
    # `detect` swallows whatever is raised; what it stands on must not raise in the first place.
    read(payload, wire=name)
    detector = StreamDetector(name)
    for piece in pieces(payload, knobs[:6]):
        stop = detector.feed(piece)
        assert stop.terminal or stop.confidence is Confidence.LOW
    assert detector.finalize() == detector.finalize() == detect(payload, wire=name)
    cut = payload[: len(payload) * knobs[7] // 256]
    stop = read(cut, wire=name).stop
    if stop.reason in CLEAN and stop.confidence is Confidence.HIGH:
        assert stop.field is not None
        key = stop.field.rpartition(".")[2].encode()
        assert key in cut or b"\\u" in cut, "the stop was in what came"
