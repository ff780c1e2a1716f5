"""`Wire`: everything that the turn needs to know about one provider format.

A wire never opens a connection. It reads bodies and events into signals, applies edits to the bytes
of a request, and writes what the caller sees. Wires are looked up by name. Each is one folder of
this package, whose `wire.py` defines `WIRE`. The types that a wire takes and returns are in
`dialect.py`, `request.py`, `answer.py` and `layout.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tenuto.core.answer.calls import ToolCall
from tenuto.core.answer.fault import Fault
from tenuto.core.answer.parts import AnySignal, Envelope, Message, Place, Said
from tenuto.core.answer.signals import Began, Signal, UsageSeen
from tenuto.core.deciding.actions import Content
from tenuto.core.deciding.outcome import Outcome
from tenuto.frames.frame import is_done
from tenuto.wires.answer import Answer, AttemptContent, Shown, WriteError
from tenuto.wires.cursors import Cursors
from tenuto.wires.dialect import Dialect
from tenuto.wires.errors import ErrorRow
from tenuto.wires.form import Form
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.layout import FlatLayout, GroupLayout, Layout
from tenuto.wires.request import WireRequest
from tenuto.wires.rewriter import Rewriter
from tenuto.wires.short import ShortPath
from tenuto.wires.stops import ReadStop, StopTable, stop_reader


def never(data: bytes) -> bool:
    """Return False: the last event is an object like all others."""
    return False


def unbounded(model: str) -> int | None:
    """Return None: no SDK limits the output of a whole body."""
    return None


def unasked(path: str) -> bool:
    """Return False: no request is known to use this wire, which is only read."""
    return False


def no_request(body: bytes, probe_max_tokens: int, path: str, dialect: Dialect) -> None:
    """Return None: requests of a wire that is only read pass unchanged."""


def nothing(spoken: Sequence[AttemptContent]) -> Content:
    """Return no content: the provider needs only the text back."""
    return ()


def as_asked(parsed: WireRequest, headers: Mapping[str, str]) -> WireRequest:
    """Return the request as its body gives it: on most wires headers add nothing to it."""
    return parsed


def said_beside(message: Message) -> JsonObject:
    """Return the fields of a message beside its parts, which are the fields of a body."""
    return message.said


def own_key(dialect: Dialect) -> str:
    """Return the key of the output limit as the provider's row has it."""
    return dialect.output_key


def as_said(value: JsonObject) -> JsonObject:
    """Return an event as received: it carries only new content."""
    return value


def never_repeated() -> Callable[[JsonObject], JsonObject]:
    """Return a function that leaves events as they are, because they carry only new content."""
    return as_said


_BEGINS: set[type[AnySignal]] = {Began, Envelope, Said, UsageSeen}
"""What an event says that only begins an answer."""


class Read(Protocol):
    """Return the signals of a body, or of one event of a stream. Never raises (N6)."""

    def __call__(self, value: object, *, event: bool) -> Sequence[AnySignal]: ...


class Mender(Protocol):
    """Repairs the events of one stream, in order.

    Attributes:
        odd: what was repaired, each word once.
    """

    odd: list[str]

    def mend(self, event: JsonObject) -> list[JsonObject] | None:
        """Return what the caller gets in place of an event; None: the event as it came."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wire:
    """One provider format: its tables, and the functions that read and write it.

    Attributes:
        name: the key in the table of wires.
        stops, errors: its native stop values, and its errors.
        shown: how each outcome is shown.

        is_request: whether a request to this URL path uses this wire.
        hosts: the hosts of its own provider, as in `tenuto.Provider`, which has the wire's name.
            (): none. They count on wires that are not built in.
        dialect: what its providers allow unless their rows say otherwise, on such wires; None: the
            same as providers of OpenAI Chat of which nothing is known.
        request: reads a request from its body, the policy's `probe_max_tokens`, its path and the
            dialect; None: the bytes are no request of this wire.

        limit_key: the path of the output limit that `request` writes if there is none yet, as
            `tenuto.capabilities` and `tenuto providers` show it. No request depends on it.

        with_headers: adds what the headers say to a request (names in lower case), on wires whose
            headers matter.

        looks_like: whether an object has the shape of this wire's bodies or events.
        claims: recognizes this wire's own objects if it shares its paths and shapes with another
            wire. Such a wire is used if an SDK or a provider's row names it. None: no other wire
            has its shapes.
        signed: recognizes this wire's own objects in another wire's shape, if its paths are its
            own; None: nothing distinguishes them.
        frame_mark: bytes that are in each binary frame of this wire and of no other; b"": none are
            known.
        is_event: whether an object of this shape is one event of a stream rather than a whole body.
        last_is_body: whether the last event of a stream may look like a whole body, so that two
            such objects may be one answer.
        make_incremental: returns a function that reduces each event of one stream to its new
            content, in order, for streams whose events may repeat everything so far
            (`RequestFacts.repeats`). Such a wire uses no templates.
        rewriter: creates what reduces such events for the turn, and extends those for the caller by
            what came before, from `RequestFacts.repeats`; None: events never repeat.
        running_usage: bytes that are in events which report the usage so far beside their text;
            b"": there are none.
        opening: the first bytes of the event that only says that a stream begins; b"": the first
            event may say more.
        parts_close: whether the stream marks the end of each part, so that a part without its end
            was cut.
        mender: makes what repairs the events of one stream on which its SDK crashes, for a model;
            None: it takes them as they come.
        named_events: whether its SDK ignores events without a name, which is the `type` of their
            object.
        streams_lines: whether the stream of a request with these headers (names in lower case) is
            lines of JSON; None: it is server-sent events.
        keep_alive: the type of an event that only keeps the connection alive; "": comments do.
        raises_on_errors: whether its official SDK raises on an event of a stream that holds an
            `error`.
        breaks_on_errors: whether under `on_incomplete="error"` a stream breaks behind such an event
            of ours, since something that reads this wire raises on none.
        is_terminator: whether the data of an event is the stream's end mark.
        listed: whether a whole body is the first element of a list.
        short: the readings for the short path; None: it has none.
        usage_object: the native usage object of a body or event.
        summed_usage: members of it that count what each attempt cost beside its tokens.
        parse_fault: the fault of an HTTP error response, from its status, its headers (names in
            lower case) and its body.

        layout: creates what writes one streamed message. It takes the request's model, for messages
            of which no event arrives.
        plan: where a message says what its calls are for, if that is a place of its own, which
            counts as reasoning; None: there is no such place.
        cursors: how the rest of a broken stream is fetched; None: it can't be.
        content: the content of these attempts in the wire's own form, merged, without the calls.
        content_beside: whether that is only what stands beside the text, which no pause can be
            resumed with.
        clean_stop: the native value of a clean end with these calls, often none.
        forced_stop: the native value, in lower case, that providers give beside a call which the
            request forced; "": the usual one.
        as_body: builds a body from a message, if a caller who asked for a body was answered by a
            stream. `render_body` then replaces the content, the calls and the usage. By default, it
            has the members of `Said`; a wire that uses `Envelope` adds those.
        render_body: a whole body, from the first attempt's identity, the last one's form, and the
            answer.
        render_error: the body of an error in the wire's own shape, from its code, its message and
            the answer so far.
        error_status: the HTTP status of such errors: 424, "failed dependency". The official SDKs
            and the frameworks above them don't retry it, but do retry every 5xx, 408, 409 and 429.
        body_ceiling_tokens: the largest output limit of a whole body, by model; None: no limit
            (C17).

        form: how to write whole requests, for an agent that has no request to edit; None: this wire
            can't.

        read_stop: looks up the stop that a native value means, in `stops`.
    """

    name: str
    stops: StopTable
    errors: Sequence[ErrorRow]
    shown: Mapping[Outcome, Shown]

    is_request: Callable[[str], bool]
    hosts: tuple[str, ...] = ()
    dialect: Dialect | None = None
    request: Callable[[bytes, int, str, Dialect], WireRequest | None]
    limit_key: Callable[[Dialect], str] = own_key
    with_headers: Callable[[WireRequest, Mapping[str, str]], WireRequest] = as_asked

    looks_like: Callable[[JsonObject], bool]
    claims: Callable[[JsonObject], bool] | None = None
    signed: Callable[[JsonObject], bool] | None = None
    frame_mark: bytes = b""
    is_event: Callable[[JsonObject], bool]
    last_is_body: bool = False
    read: Read
    make_incremental: Callable[[], Callable[[JsonObject], JsonObject]] = never_repeated
    rewriter: Callable[[bool | None], Rewriter] | None = None
    running_usage: bytes = b""
    opening: bytes = b""
    parts_close: bool = False
    mender: Callable[[str], Mender] | None = None
    named_events: bool = False
    streams_lines: Callable[[Mapping[str, str]], bool] | None = None
    keep_alive: str = ""
    raises_on_errors: bool = True
    breaks_on_errors: bool = False
    is_terminator: Callable[[bytes], bool] = is_done
    listed: bool = False
    short: ShortPath | None = None
    usage_object: Callable[[JsonObject], JsonObject | None]
    summed_usage: tuple[str, ...] = ()
    parse_fault: Callable[[int, Mapping[str, str], bytes], Fault]

    layout: Callable[[str], Layout | GroupLayout | FlatLayout]
    plan: Place | None = None
    cursors: Cursors | None = None
    content: Callable[[Sequence[AttemptContent]], Content] = nothing
    content_beside: bool = False
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
        """Drop the short path of a wire that `replace` made from another one with other
        readings."""
        short = self.short
        if short is not None and (short.parse_request, short.read) != (self.request, self.read):
            object.__setattr__(self, "short", None)
        object.__setattr__(self, "read_stop", stop_reader(self.stops))

    def parse_object(self, value: object, *, event: bool) -> list[Signal]:
        """Return the signals of a body or event without places, for callers that don't need
        parts."""
        return Message().take(self.read(value, event=event))

    def opens(self, piece: bytes) -> bool:
        """Return whether a piece of a stream is just the event by which it begins, and one that no
        SDK fails on."""
        return (
            bool(self.opening)
            and piece.startswith(self.opening)
            and piece.find(b"\n\n") == len(piece) - 2
            and b"\r" not in piece
            and b"\\" not in piece
            and b'"error"' not in piece
            and piece.isascii()
            and self._only_begins(decode_object(piece[piece.find(b"{") :]))
        )

    def _only_begins(self, value: object) -> bool:
        """Return whether an event has nothing of the answer in it, and no SDK fails on it."""
        if not isinstance(value, dict):
            return False
        if self.mender is not None and self.mender("").mend(value) is not None:
            return False
        kinds = set(map(type, self.read(value, event=True)))
        return Began in kinds and kinds <= _BEGINS

    def asked(
        self,
        body: bytes,
        probe_max_tokens: int,
        path: str,
        dialect: Dialect,
        headers: Sequence[tuple[bytes, bytes]],
    ) -> WireRequest | None:
        """Return a request read from its body and headers; otherwise like `request`."""
        parsed = self.request(body, probe_max_tokens, path, dialect)
        if parsed is None or self.with_headers is as_asked:
            return parsed
        told = {key.lower().decode("latin-1"): value.decode("latin-1") for key, value in headers}
        return self.with_headers(parsed, told)

    @property
    def repeats(self) -> bool:
        """Whether events may repeat earlier content."""
        return self.make_incremental is not never_repeated

    @property
    def only_read(self) -> bool:
        """Whether Tenuto only reads responses of this wire, and sends and writes nothing."""
        return self.is_request is unasked

    @property
    def wants_content(self) -> bool:
        """Whether the wire needs the model's content in its own form, part by part."""
        return self.content is not nothing
