"""Whether a wire from outside the library can be used, in words for its author."""

from __future__ import annotations

from tenuto.core.answer.signals import FaultSeen
from tenuto.core.deciding.outcome import OF_TURNS, Outcome
from tenuto.frames.sse import SseDecoder
from tenuto.wires.base import Wire
from tenuto.wires.json import decode_object
from tenuto.wires.names import wrong_name


def why_unusable(wire: object) -> str:
    """Return what is wrong with a wire; "": nothing that shows before it is used.

    >>> from tenuto.wires.openai_chat.wire import WIRE
    >>> why_unusable(WIRE), why_unusable("openai-chat")
    ('', 'wire is of type str, but it must be a tenuto.wire_kit.Wire')
    """
    if not isinstance(wire, Wire):
        given = type(wire).__name__
        return f"wire is of type {given}, but it must be a tenuto.wire_kit.Wire"
    if wrong := wrong_name("the wire's name", wire.name):
        return wrong
    if not isinstance(wire.hosts, tuple) or not all(isinstance(host, str) for host in wire.hosts):
        return f"the wire's `hosts` is {wire.hosts!r:.80}, but it must be a tuple of host names"
    unshown = [outcome.value for outcome in Outcome if outcome in OF_TURNS - wire.shown.keys()]
    if unshown:
        return f"the wire's table `shown` lacks {', '.join(unshown)}"
    if unread := unread_of(wire):
        return (
            f"the wire's `read` finds no error in what its `{unread}` writes; a wire must write "
            "the shape that it reads (see tenuto.wire_kit.enveloped), or only be read "
            "(is_request=unasked)"
        )
    return ""


def unread_of(wire: Wire) -> str:
    """Return the name of the member that writes errors in a shape that the wire doesn't read; "":
    none does, or the wire writes nothing.

    >>> from dataclasses import replace
    >>> from tenuto.wires.openai_chat.wire import WIRE
    >>> unread_of(WIRE), unread_of(replace(WIRE, read=lambda value, *, event: []))
    ('', 'render_error')
    """
    if wire.only_read:
        return ""
    body = decode_object(wire.render_error("dropped", "It broke off.", None))
    if not _has_error(wire, body, event=False):
        return "render_error"
    sse = SseDecoder()
    events = [*sse.feed(wire.layout("").error("dropped", "It broke off.")), *sse.flush()]
    values = [decode_object(event.data) for event in events if event.data]
    return "" if any(_has_error(wire, value, event=True) for value in values) else "layout"


def _has_error(wire: Wire, value: object, *, event: bool) -> bool:
    return any(isinstance(signal, FaultSeen) for signal in wire.parse_object(value, event=event))
