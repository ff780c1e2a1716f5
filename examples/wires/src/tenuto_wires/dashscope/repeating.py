"""Streams of DashScope whose events repeat all text so far.

Theory of operation
-------------------
DashScope writes such streams unless a request asks for increments. An event that is handed on keeps
its bytes: they wait in the order of arrival, keyed by what the turn sees of them, until the turn
writes an event that did not come. Whether a stream repeats is detected from its events (`events`);
until then, the request decides.
"""

from __future__ import annotations

from collections import deque

from tenuto.wire_kit import (
    Frame,
    JsonObject,
    decode_object,
    encode,
)
from tenuto_wires.dashscope.events import SoFar, Unrepeated


class Repeating:
    """Reduces events to what is new, and extends others by what came before (`Rewriter`).

    Args:
        repeats: whether they are expected to repeat; None if it is unknown.
    """

    def __init__(self, repeats: bool | None) -> None:
        self._expected = repeats
        self._new = Unrepeated(repeats)
        self._so_far = SoFar()
        self._kept: deque[tuple[bytes, bytes]] = deque()

    def begin(self) -> None:
        """Begin with the events of a further attempt."""
        self._new = Unrepeated(self._expected if self._new.repeats is None else self._new.repeats)
        self._kept.clear()

    def received(self, event: Frame) -> bytes:
        """Return what is new in an event, and keep its bytes."""
        value = _output_of(event)
        if value is None:
            return event.raw
        new = self._new(value)
        raw = event.raw if new is value else _with_data(event, new)
        self._kept.append((raw, event.raw))
        return raw

    def written(self, event: Frame) -> bytes:
        """Return an event with everything that came before it."""
        value = _output_of(event)
        if value is None:
            return event.raw
        so_far = self._so_far(value)
        for told, raw in self._kept:
            if told == event.raw:
                while self._kept.popleft()[0] != told:
                    pass
                return raw
        self._kept.clear()  # from here on, no received event has the same text
        return _with_data(event, so_far) if self._repeats else event.raw

    @property
    def _repeats(self) -> bool:
        told = self._new.repeats
        return bool(self._expected if told is None else told)


def _output_of(event: Frame) -> JsonObject | None:
    """Return the object of an event that carries part of the answer; otherwise None."""
    value = decode_object(event.data) if event.data and event.name != "error" else None
    return value if isinstance(value, dict) and isinstance(value.get("output"), dict) else None


def _with_data(event: Frame, value: JsonObject) -> bytes:
    """Return an event with another object; the lines before its data stay."""
    lines = [
        line
        for line in event.raw.removeprefix(b"\xef\xbb\xbf").splitlines()
        if line and not line.startswith(b"data:")
    ]
    return b"".join(line + b"\n" for line in (*lines, b"data:" + encode(value))) + b"\n"
