"""What a wire is: all that the turn has to know of one provider format.

A wire never opens a connection. It reads bodies and events into signals, applies edits to the bytes
of a request, and renders what the caller sees. Look-up is by name; a wire is one folder of this
package, whose `wire.py` has a constant `WIRE`. What passes in and out of it stands beside it:
`dialect.py`, `request.py`, `answer.py` and `layout.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tenuto.core.actions import Content
from tenuto.core.calls import ToolCall
from tenuto.core.fault import Fault
from tenuto.core.outcome import Outcome
from tenuto.core.parts import AnySignal, Message
from tenuto.core.signals import Signal
from tenuto.frames.frame import is_done
from tenuto.wires.answer import Answer, AttemptContent, Shown, WriteError
from tenuto.wires.dialect import Dialect
from tenuto.wires.errors import ErrorRow
from tenuto.wires.form import Form
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.layout import FlatLayout, GroupLayout, Layout
from tenuto.wires.request import WireRequest
from tenuto.wires.short import ShortPath
from tenuto.wires.stops import ReadStop, StopTable, stop_reader


def never(data: bytes) -> bool:
    """Never: the last event is an object like all others."""
    return False


def unbounded(model: str) -> int | None:
    """None: no SDK bounds what a whole body may ask for."""
    return None


def unasked(path: str) -> bool:
    """No request is known to speak it: such a wire is read, and that is all."""
    return False


def no_request(body: bytes, probe_max_tokens: int, path: str, dialect: Dialect) -> None:
    """Nothing: requests of a wire that is only read pass untouched."""


def nothing(spoken: Sequence[AttemptContent]) -> Content:
    """Nothing: text is all that is wanted back."""
    return ()


def as_asked(parsed: WireRequest, headers: Mapping[str, str]) -> WireRequest:
    """The request as its body says it: on nearly all wires no header adds to it."""
    return parsed


def said_beside(message: Message) -> JsonObject:
    """What a message says beside its parts: that is what bodies say there."""
    return message.said


def as_said(value: JsonObject) -> JsonObject:
    """An event as it came: what it says is new."""
    return value


def never_repeated() -> Callable[[JsonObject], JsonObject]:
    """What makes the events of a stream say only what is new, where they do anyhow."""
    return as_said


class Read(Protocol):
    """The signals of a body, or of one event of a stream. Never raises (N6)."""

    def __call__(self, value: object, *, event: bool) -> Sequence[AnySignal]: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wire:
    """One provider format: its tables, and what reads and writes it.

    Attributes:
        name: by which it is found.
        stops, errors: its own stop values, and its errors.
        shown: how each outcome shows.

        is_request: whether a request to this URL path speaks this wire.
        request: a request, of its body, the policy's `probe_max_tokens`, its path and the dialect;
            None where the bytes are no request of this wire.

        with_headers: a request with what its headers say as well (their names in small letters), on
            wires where they do.

        looks_like: whether an object has the shape of this wire's body or event.
        claims: of a wire whose paths and shapes are those of another one as well: what shows that
            an object is its own nevertheless. It is spoken where an SDK or a provider's row says
            so; None: it is like no other.
        signed: what shows that an object in the shape of another wire is its own nevertheless, of a
            wire whose paths are its own; None: nothing does.
        frame_mark: what the binary frame of each of its events holds, and that of no other wire's;
            b"" where none is known.
        is_event: whether an object of this shape is one event of a stream rather than a whole body.
        make_incremental: what makes the events of one stream say only what is new, one after the
            other, where each may say all that was said before it as well (`RequestFacts.repeats`).
            No two events of such a wire are taken for alike.
        running_usage: what stands in events that tell the usage so far beside their text; b"" where
            none does.
        opening: how the event begins by which a stream says that it begins, and nothing more; b""
            where the first event may say more.
        parts_close: whether the stream says where each part of an answer ends, so that a part
            without its end was cut.
        named_events: whether its SDK passes over events without a name, which is the `type` of
            their object.
        is_terminator: whether the data of an event is the stream's own end mark.
        listed: whether a whole body stands in a list, of which it is the first.
        short: the readings by which a healthy turn needs no machine; None: it has none.
        usage_object: the native usage object of a body or event.
        parse_fault: the fault of an HTTP error response, of its status, its headers (their names
            in small letters) and its body.

        layout: how one streamed message is written; it is told the request's model, for a message
            of which no event is ever seen.
        content: what these attempts said in the wire's own form, merged, without the calls.
        clean_stop: the native value of a clean end with these calls, often none.
        forced_stop: the native value, in small letters, that providers give beside a call which the
            request forced, where that is another one; "" where it is not.
        as_body: what a message says as a body does, but for what `render_body` adds: the content,
            the calls, the usage.
        render_body: a whole body: the first attempt's identity, the last one's form, the answer.
        render_error: the body of an error, in the wire's own shape, of its code and message, and
            what there is of an answer.
        error_status: its HTTP status: 424, "what we depend on failed". Neither the official SDK nor
            the frameworks above it retry that; they do every 5xx, 408, 409 and 429.
        body_ceiling_tokens: the largest output limit that a whole body may be asked for by model,
            None for none (C17).

        form: how whole requests are written, for who has none that could be edited; None: such
            requests are not written.

        read_stop: the stop that a native value means, made of `stops`.
    """

    name: str
    stops: StopTable
    errors: Sequence[ErrorRow]
    shown: Mapping[Outcome, Shown]

    is_request: Callable[[str], bool]
    request: Callable[[bytes, int, str, Dialect], WireRequest | None]
    with_headers: Callable[[WireRequest, Mapping[str, str]], WireRequest] = as_asked

    looks_like: Callable[[JsonObject], bool]
    claims: Callable[[JsonObject], bool] | None = None
    signed: Callable[[JsonObject], bool] | None = None
    frame_mark: bytes = b""
    is_event: Callable[[JsonObject], bool]
    read: Read
    make_incremental: Callable[[], Callable[[JsonObject], JsonObject]] = never_repeated
    running_usage: bytes = b""
    opening: bytes = b""
    parts_close: bool = False
    named_events: bool = False
    is_terminator: Callable[[bytes], bool] = is_done
    listed: bool = False
    short: ShortPath | None = None
    usage_object: Callable[[JsonObject], JsonObject | None]
    parse_fault: Callable[[int, Mapping[str, str], bytes], Fault]

    layout: Callable[[str], Layout | GroupLayout | FlatLayout]
    content: Callable[[Sequence[AttemptContent]], Content] = nothing
    clean_stop: Callable[[Sequence[ToolCall]], str]
    forced_stop: str = ""
    as_body: Callable[[Message], JsonObject] = said_beside
    render_body: Callable[[JsonObject, JsonObject, Answer], bytes]
    render_error: WriteError
    error_status: int = 424
    body_ceiling_tokens: Callable[[str], int | None] = unbounded

    form: Form | None = None

    read_stop: ReadStop = field(init=False)

    def __post_init__(self) -> None:
        """A wire that is made from another one by `replace`, and reads otherwise, has not its short
        path."""
        short = self.short
        if short is not None and (short.parse_request, short.read) != (self.request, self.read):
            object.__setattr__(self, "short", None)
        object.__setattr__(self, "read_stop", stop_reader(self.stops))

    def parse_object(self, value: object, *, event: bool) -> list[Signal]:
        """The signals of a body or event without places, for who wants no parts."""
        return Message().take(self.read(value, event=event))

    def opens(self, piece: bytes) -> bool:
        """Whether a piece of a stream is just the event by which it says that it begins, and no SDK
        fails on it."""
        return (
            bool(self.opening)
            and piece.startswith(self.opening)
            and piece.find(b"\n\n") == len(piece) - 2
            and b"\r" not in piece
            and b"\\" not in piece
            and b'"error"' not in piece
            and piece.isascii()
            and decode_object(piece[piece.find(b"{") :]) is not None
        )

    def asked(
        self,
        body: bytes,
        probe_max_tokens: int,
        path: str,
        dialect: Dialect,
        headers: Sequence[tuple[bytes, bytes]],
    ) -> WireRequest | None:
        """A request of its body and its headers; else as `request`."""
        parsed = self.request(body, probe_max_tokens, path, dialect)
        if parsed is None or self.with_headers is as_asked:
            return parsed
        told = {key.lower().decode("latin-1"): value.decode("latin-1") for key, value in headers}
        return self.with_headers(parsed, told)

    @property
    def repeats(self) -> bool:
        """Whether events may say once more what was said before."""
        return self.make_incremental is not never_repeated

    @property
    def only_read(self) -> bool:
        """Whether responses are read, and nothing is ever sent or written."""
        return self.is_request is unasked

    @property
    def wants_content(self) -> bool:
        """Whether what a model said must be kept in the wire's own form, part by part."""
        return self.content is not nothing
