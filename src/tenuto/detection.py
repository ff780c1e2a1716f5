"""`detect()`: why a response ended, from whatever form it is at hand in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tenuto.core.response import Builder, Response
from tenuto.core.signals import Ended
from tenuto.core.stop import Stop, StopReason
from tenuto.wire.base import Wire
from tenuto.wire.json import decode_object
from tenuto.wire.registry import wire_for_shape, wires
from tenuto.wire.sse import SseDecoder


def detect(source: object, *, wire: str | None = None) -> Stop:
    """Why a response ended. Never raises.

    Args:
        source: an object of an official SDK, a dict, the bytes or text of a body or of a recorded
            stream, or a list of a stream's events in any of these forms.
        wire: the wire's name; None: found from the shape.

    Returns:
        the stop; UNKNOWN with low confidence where the source is nothing that is known, DROPPED
        with low confidence where it breaks off.

    >>> detect({"object": "chat.completion", "choices": [
    ...     {"index": 0, "message": {"content": "Hi"}, "finish_reason": "length"}]}).reason.value
    'max_tokens'
    >>> detect(b'{"choices": [{"mess').reason.value
    'dropped'
    >>> detect(42).reason.value
    'unknown'
    """
    return read(source, wire=wire).stop


def read(source: object, *, wire: str | None = None) -> Response:
    """The whole response that a source holds; the arguments are those of `detect`."""
    known = wires().get(wire) if wire is not None else None
    builder = Builder()
    if isinstance(source, str):
        source = source.encode("utf-8", "surrogatepass")
    if isinstance(source, bytes | bytearray | memoryview):
        _read_bytes(bytes(source), known, builder)
    elif isinstance(source, list | tuple):
        _read_events([_plain(item) for item in source], known, builder)
    else:
        value = _plain(source)
        if not isinstance(value, dict):
            return _nothing(StopReason.UNKNOWN)
        _read_object(value, known, builder)
    return builder.build()


def _nothing(reason: StopReason) -> Response:
    return Response("", "", "", (), None, Stop(reason))


def _plain(item: object) -> object:
    """An SDK's object as plain values; anything else as it is."""
    for name in ("model_dump", "to_dict", "dict"):
        dump: Callable[[], Any] | None = getattr(item, name, None)
        if callable(dump) and not isinstance(item, type):
            try:
                return dump()
            except Exception:  # somebody else's object: whatever it raises, detect() must not
                continue
    return item


def _read_bytes(data: bytes, wire: Wire | None, builder: Builder) -> None:
    value = decode_object(data)
    if isinstance(value, dict):
        _read_object(value, wire, builder)
        return
    if isinstance(value, list):
        _read_events(value, wire, builder)
        return
    decoder = SseDecoder()
    ended = False
    events: list[object] = []
    for event in (*decoder.feed(data), *decoder.flush()):
        if event.data is None:
            continue
        found = decode_object(event.data)
        if found is not None:
            events.append(found)
        else:
            names = (wire,) if wire else wires().values()
            ended = ended or any(w.is_terminator(event.data) for w in names)
    _read_events(events, wire, builder)
    if ended:
        builder.feed(Ended())


def _read_events(events: Iterable[object], wire: Wire | None, builder: Builder) -> None:
    for event in events:
        if isinstance(event, dict):
            wire = wire or wire_for_shape(event)
            if wire is not None:
                for signal in wire.parse_object(event, event=True):
                    builder.feed(signal)


def _read_object(value: dict[str, Any], wire: Wire | None, builder: Builder) -> None:
    found = wire or wire_for_shape(value) or (_error_wire() if "error" in value else None)
    if found is None:
        builder.feed(Ended())
        return
    event = "chunk" in str(value.get("object"))
    for signal in found.parse_object(value, event=event):
        builder.feed(signal)
    if not event:
        builder.feed(Ended())


def _error_wire() -> Wire:
    """An error body looks alike on most wires; OpenAI's form is read by all who imitate it."""
    return wires()["openai-chat"]
