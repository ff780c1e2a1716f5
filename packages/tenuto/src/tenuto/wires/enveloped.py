"""A wire whose bodies and events are those of another wire inside an envelope.

Each object that the other wire reads or writes stands in one member of a larger object. What stands
beside it is kept from the first body or event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from tenuto.core.answer.fault import Fault
from tenuto.core.answer.parts import AnySignal
from tenuto.core.deciding.actions import Content
from tenuto.wires.answer import Answer, AttemptContent
from tenuto.wires.base import Wire
from tenuto.wires.json import JsonObject, decode_object, encode
from tenuto.wires.layout import FlatLayout, GroupLayout, Layout
from tenuto.wires.members import joined

_DATA = re.compile(rb"^data: ?(\{.*\})$", re.MULTILINE)


def enveloped(wire: Wire, name: str, *, member: str, is_request: Callable[[str], bool]) -> Wire:
    """Return a wire like another one, whose responses and events have a member that holds what the
    other wire has as a whole. Requests, and the end mark of a stream, are those of the other wire.

    >>> from tenuto.wires.openai_chat.wire import WIRE
    >>> acme = enveloped(WIRE, "acme", member="answer", is_request="/v1/ask".__eq__)
    >>> acme.looks_like({"answer": {"choices": [{"message": {"content": "Hi"}}]}})
    True
    >>> acme.render_error("dropped", "It broke off.", None).startswith(b'{"answer":{"error":')
    True
    """
    inner = _Inner(wire, member)
    return replace(
        wire,
        name=name,
        is_request=is_request,
        looks_like=lambda value: inner.fits(value) and wire.looks_like(value[member]),
        claims=None,
        signed=None,
        frame_mark=b"",
        opening=b"",
        is_event=lambda value: inner.fits(value) and wire.is_event(value[member]),
        read=inner.read,
        make_incremental=inner.incremental if wire.repeats else wire.make_incremental,
        usage_object=lambda value: wire.usage_object(inner.opened(value)),
        parse_fault=inner.parse_fault,
        layout=inner.layout,
        content=inner.content if wire.wants_content else wire.content,
        as_body=lambda message: {member: wire.as_body(message)},
        render_body=inner.render_body,
        render_error=inner.render_error,
        form=None,
    )


@dataclass(frozen=True, slots=True)
class _Inner:
    """The functions of the wire inside, for what stands in the envelope."""

    wire: Wire
    member: str

    def fits(self, value: object) -> bool:
        """Return whether an object is an envelope."""
        return isinstance(value, dict) and isinstance(value.get(self.member), dict)

    def opened(self, value: JsonObject) -> JsonObject:
        """Return what is in an envelope, or an object without one."""
        return cast("JsonObject", value[self.member]) if self.fits(value) else value

    def answer(self, answer: Answer) -> Answer:
        """Return an answer whose bodies and events are those inside."""
        spoken = [*map(self._spoken, answer.spoken)]
        return replace(answer, ending=self.opened(answer.ending), spoken=spoken)

    def _spoken(self, one: AttemptContent) -> AttemptContent:
        return one if one.value is None else replace(one, value=self.opened(one.value))

    def read(self, value: object, *, event: bool) -> Sequence[AnySignal]:
        inside = self.opened(value) if isinstance(value, dict) and self.fits(value) else None
        return self.wire.read(inside, event=event)

    def incremental(self) -> Callable[[JsonObject], JsonObject]:
        new = self.wire.make_incremental()
        return lambda value: (
            {**value, self.member: new(value[self.member])} if self.fits(value) else value
        )

    def parse_fault(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        value = decode_object(body)
        inside = encode(self.opened(value)) if isinstance(value, dict) else body
        return self.wire.parse_fault(status, headers, inside)

    def content(self, spoken: Sequence[AttemptContent]) -> Content:
        return self.wire.content([*map(self._spoken, spoken)])

    def render_body(self, first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
        body = self.wire.render_body(self.opened(first), self.opened(last), self.answer(answer))
        return self.sealed(body, self.beside(first))

    def render_error(self, code: str, message: str, answer: Answer | None) -> bytes:
        partial = None if answer is None else self.answer(answer)
        return self.sealed(self.wire.render_error(code, message, partial), {})

    def layout(self, model: str) -> Layout | GroupLayout | FlatLayout:
        return cast("FlatLayout", _EnvelopedLayout(self, self.wire.layout(model)))

    def beside(self, value: JsonObject) -> JsonObject:
        """Return the members of an envelope that stand beside what it holds."""
        return {k: item for k, item in value.items() if k != self.member} if value else {}

    def sealed(self, inside: bytes, beside: JsonObject) -> bytes:
        """Return an object, as bytes, in an envelope with these members beside it."""
        return joined({**{k: encode(item) for k, item in beside.items()}, self.member: inside})


class _EnvelopedLayout:
    """Writes what the layout inside writes, each event in an envelope."""

    def __init__(self, inner: _Inner, layout: Layout | GroupLayout | FlatLayout) -> None:
        self._inner = inner
        self._layout = layout
        self._beside: JsonObject = {}

    def begin(self, value: JsonObject) -> None:
        self._beside = self._inner.beside(value)
        self._layout.begin(self._inner.opened(value))

    def follow(self, last: JsonObject | None, *events: Any) -> None:
        layout: Any = self._layout
        layout.follow(None if last is None else self._inner.opened(last), *events)

    def __getattr__(self, name: str) -> Any:
        told = getattr(self._layout, name)
        if not callable(told):
            return told

        def call(*given: Any, **named: Any) -> Any:
            made = told(*map(self._opened, given), **named)
            return _DATA.sub(self._sealed, made) if isinstance(made, bytes) else made

        return call

    def _opened(self, given: Any) -> Any:
        return self._inner.answer(given) if isinstance(given, Answer) else given

    def _sealed(self, data: re.Match[bytes]) -> bytes:
        return b"data: " + self._inner.sealed(data[1], self._beside)
