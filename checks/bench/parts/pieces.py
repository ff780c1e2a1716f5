"""The pieces that work on every event or body, each by itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from botocore.eventstream import EventStreamBuffer
from openai import _streaming as sdk
from parts.figures import Figure, each_us
from parts.recorded import EVENTS, words
from parts.recorded_bedrock import CONVERSE_EVENTS
from parts.shapes import SHAPES, Shape

import tenuto
from tenuto.core.answer.arguments import ArgumentTracker, judge
from tenuto.frames.aws_messages import AwsEventDecoder
from tenuto.frames.sse import SseDecoder
from tenuto.wires.json import decode_object

DELTA_CHARS = 10
TIMES_SDK = 5.0
_SIZES = (("10 KB", 10_000), ("100 KB", 100_000), ("1 MB", 1_000_000))


def figures() -> Iterator[Figure]:
    """Microseconds for one event, body, delta or kilobyte."""
    yield from _arguments()
    yield from _events()
    yield from _messages()
    for shape in SHAPES:
        yield from _detection(shape)


def _document(chars: int) -> str:
    """Tool-call arguments of this length: a file to be written, with a few smaller members."""
    frame = {"path": "src/town.md", "mode": 420, "tags": ["a", "b"], "content": ""}
    text = "".join(words(chars // 3))
    cut = json.dumps({**frame, "content": text}, ensure_ascii=False)[: chars - 2]
    return cut.rstrip("\\") + '"}'


def _arguments() -> Iterator[Figure]:
    def track(deltas: list[str]) -> Callable[[], object]:
        def work() -> None:
            tracker = ArgumentTracker()
            for delta in deltas:
                tracker.feed(delta)

        return work

    texts = [_document(chars) for _, chars in _SIZES]
    cut = [[t[at : at + DELTA_CHARS] for at in range(0, len(t), DELTA_CHARS)] for t in texts]
    delta_us = each_us(*((track(deltas), len(deltas)) for deltas in cut))
    for (name, _), us in zip(_SIZES, delta_us, strict=True):
        title = f"argument tracker, {name} in deltas of {DELTA_CHARS} characters"
        yield Figure(title, us, "µs per delta", 3.0, f"{us / delta_us[0]:.2f} × that of 10 KB")
    yield Figure("argument tracker, 1 MB against 10 KB", delta_us[-1] / delta_us[0], "×", 1.5)
    kilobyte_us = each_us(*((partial(judge, text), len(text) // 1_000) for text in texts))
    for (name, _), us in zip(_SIZES, kilobyte_us, strict=True):
        yield Figure(f"judge(), {name} at once", us, "µs per KB")


def _ways(events: list[bytes]) -> list[tuple[str, list[bytes]]]:
    """How a stream may come."""
    whole = b"".join(events)
    at_once = [whole[at : at + 65_536] for at in range(0, len(whole), 65_536)]
    return [("an event at a time", events), ("64 KB at a time", at_once)]


def _events() -> Iterator[Figure]:
    def ours(chunks: list[bytes]) -> Callable[[], object]:
        def work() -> None:
            decoder = SseDecoder()
            for chunk in chunks:
                decoder.feed(chunk)

        return work

    def theirs(chunks: list[bytes]) -> Callable[[], object]:
        def work() -> None:
            for _ in sdk.SSEDecoder().iter_bytes(iter(chunks)):
                pass

        return work

    for name, chunks in _ways(EVENTS):
        ours_us, theirs_us = each_us(*((way(chunks), len(EVENTS)) for way in (ours, theirs)))
        beside = f"the SDK's own takes {theirs_us:.2f}; the target is a fifth of it"
        target = theirs_us / TIMES_SDK
        yield Figure(f"SSE decoder, {name}", ours_us, "µs per event", target, beside)


def _messages() -> Iterator[Figure]:
    def ours(chunks: list[bytes]) -> Callable[[], object]:
        def work() -> None:
            decoder = AwsEventDecoder()
            for chunk in chunks:
                decoder.feed(chunk)

        return work

    def theirs(chunks: list[bytes]) -> Callable[[], object]:
        def work() -> None:
            buffer = EventStreamBuffer()
            for chunk in chunks:
                buffer.add_data(chunk)
                for _ in buffer:
                    pass

        return work

    events = CONVERSE_EVENTS
    for name, chunks in _ways(events):
        ours_us, theirs_us = each_us(*((way(chunks), len(events)) for way in (ours, theirs)))
        beside = f"{ours_us:.2f} µs per event; botocore's takes {theirs_us:.2f}"
        yield Figure(f"AWS event streams, {name}", ours_us / theirs_us, "×", 1.0, beside)


def _detection(shape: Shape) -> Iterator[Figure]:
    """What `StreamDetector` takes for each event, and `detect` for a body."""
    chunks = shape.events
    parsed: list[Any] = [decode_object(data) for data in shape.data if data != b"[DONE]"]

    def stream() -> None:
        detector = tenuto.StreamDetector(shape.wire.name)
        for chunk in chunks:
            detector.feed(chunk)
        assert detector.finalize().terminal

    def parse() -> None:
        for value in parsed:
            shape.wire.parse_object(value, event=True)

    chunk_us, parse_us = each_us((stream, len(chunks)), (parse, len(parsed)))
    yield Figure(f"{shape.name}: StreamDetector, an event at a time", chunk_us, "µs per chunk", 5.0)
    yield Figure(f"{shape.name}: parse_object() alone", parse_us, "µs per chunk")
    (body_us,) = each_us((lambda: tenuto.detect(shape.whole), 1))
    yield Figure(
        f"{shape.name}: detect() on a body of {len(shape.whole):,} bytes", body_us, "µs", 50.0
    )
