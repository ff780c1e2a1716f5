"""Turn the events of a stream into the whole body that was requested.

Gateways that force every answer into a stream send one even if nobody asked for it. SDKs then
return it as text, or fail on it. The wire writes a body from the events or lines, and from then on
it is treated as a body.
"""

from __future__ import annotations

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.builder import Builder
from tenuto.core.answer.parts import Message
from tenuto.frames.frame import Frame, Framing
from tenuto.frames.json_lines import LineDecoder
from tenuto.frames.sniff import begins
from tenuto.frames.sse import SseDecoder
from tenuto.wires.answer import Answer, AttemptContent
from tenuto.wires.base import Wire
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.stream import EventReader


def gathered(
    wire: Wire, stream: bytes, builder: Builder, message: Message | None = None
) -> JsonObject | None:
    """Return the body that events make; None if they make none. The builder and the message receive
    the signals of the events, with an end only if one came."""
    message = Message() if message is None else message
    reader = EventReader(wire, wire.make_incremental(), message=message)
    found = False
    usage: JsonObject = {}
    for event in _events(wire, stream):
        signals, value = reader.read(event)
        for signal in signals:
            builder.feed(signal)
        if value is not None and event.data is not None:
            found = True
            told = wire.usage_object(value) or {}
            usage |= {key: item for key, item in told.items() if item is not None}
    if not found:
        return None
    response = builder.build()
    body = wire.as_body(message)
    spoken = [AttemptContent(None, response.text, own=response.text, message=message)]
    answer = Answer(
        text=response.text,
        reasoning=response.reasoning,
        calls=tuple(call for call in response.calls if call.finding is Finding.WHOLE),
        content=wire.content(spoken),
        native_stop=response.stop.raw if response.fault is None else None,
        ending=body,
        usage=response.usage,
        raw_usage=usage,
        spoken=spoken,
    )
    made = decode_object(wire.render_body(body, body, answer))
    if wire.listed and isinstance(made, list):
        (made,) = made
    return {**body, **made} if isinstance(made, dict) and _calls_are_whole(wire, made) else None


def _events(wire: Wire, stream: bytes) -> list[Frame]:
    """Return the events of a stream, often none, since a body has none."""
    if begins(stream) is Framing.EVENTS:
        sse = SseDecoder()
        return [*sse.feed(stream), *sse.flush()]
    decoder = LineDecoder()
    lines = [line for line in (*decoder.feed(stream), *decoder.flush()) if line.data]
    first = decode_object(lines[0].data or b"") if lines else None
    return lines if isinstance(first, dict) and wire.is_event(first) else []


def _calls_are_whole(wire: Wire, body: JsonObject) -> bool:
    """Return whether all calls of a body can be read there. If Gemini streams arguments member by
    member, only their end is known (T1)."""
    reread = Builder()
    for signal in wire.parse_object(body, event=False):
        reread.feed(signal)
    return all(call.finding is Finding.WHOLE for call in reread.build().calls)
