"""What a wire is: all that the turn has to know of one provider format.

A wire never opens a connection. It reads bodies and events into signals, applies edits to the bytes
of a request, and renders what the caller sees. Look-up is by name; a wire is one folder of this
package, whose `wire.py` has a constant `WIRE`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import msgspec

from tenuto.core.actions import Content, Edit
from tenuto.core.calls import ToolCall
from tenuto.core.fault import Fault
from tenuto.core.outcome import Outcome
from tenuto.core.parts import AnySignal, Kind, Message, Native, Part
from tenuto.core.signals import Signal, Usage
from tenuto.frames.frame import is_done
from tenuto.wires.errors import ErrorRow
from tenuto.wires.form import Form
from tenuto.wires.json import decode_object, encode
from tenuto.wires.short import ShortPath
from tenuto.wires.stops import ReadStop, StopTable, stop_reader

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider's form of a wire allows, as data (providers/table.py).

    Attributes:
        name: the provider's name.
        prefill: whether models continue a trailing assistant message as the beginning of their
            answer.
        prefill_models: the models that do where not all of them do, by a pattern that is searched
            for in their names; None: all or none, as `prefill` says.
        prefill_row: further members of the message with the prefill.
        prefill_members: further top-level members of a request with a prefill.
        prefill_echoed: whether every answer to a prefill begins with it, however short it is.
        output_key: the key of the output limit, for requests that don't set one.
        reasoning_prefill: whether those that take one go on behind reasoning as well.
        reasoning_members: top-level members that a request with reasoning as its prefill carries
            as well: those that make the model go on from it, and those that turn reasoning off. The
            caller's own members of an object stay.
        reasoning_echoed: whether answers without streaming repeat the reasoning that they continue
            from.
        reasoning_key: the key under which assistant rows must carry their reasoning back, "" where
            the provider does not want it (C20).
        signed_thinking: whether thinking without a signature is refused in a history, so that it
            must be left out; those who sign nothing may want it back instead.
        less_reasoning: top-level members by which any request asks for less reasoning, or none;
            () where that depends on the model, and only a request that has the knob can turn it.
        output_tokens: the largest output limit that is taken, whatever the model; 0: the model's
            own (providers/models.py).
        window_tokens: the context window; 0: not known.
    """

    name: str = "unknown"
    prefill: bool = False
    prefill_models: re.Pattern[str] | None = None
    output_key: str = "max_tokens"
    prefill_row: tuple[tuple[str, bool], ...] = ()
    prefill_members: tuple[tuple[str, bool], ...] = ()
    prefill_echoed: bool = False
    reasoning_prefill: bool = False
    reasoning_members: tuple[tuple[str, Any], ...] = ()
    reasoning_echoed: bool = False
    reasoning_key: str = ""
    signed_thinking: bool = True
    less_reasoning: tuple[tuple[str, Any], ...] = ()
    output_tokens: int = 0
    window_tokens: int = 0

    def takes_prefill(self, model: str) -> bool:
        """Whether a model takes a prefill, as far as the row says."""
        if self.prefill_models is not None:
            return self.prefill_models.search(model.lower()) is not None
        return self.prefill


class RequestFacts(msgspec.Struct, frozen=True):
    """What the turn needs to know of a request; None and "" where it does not say.

    `prefill_barred`: nothing can be appended as the beginning of the model's answer, whatever the
    model takes: the request ends in an assistant row of its own, or uses what excludes it.
    `goes_on`: the model goes on at the end of the request by itself, whatever its name.
    `structured`: the output is constrained, to a document or, where `one_of_words`, to one of some
    words, which is none. `follows`: the id of the response that the request goes on from, whose
    history the provider keeps. `least_tokens`: the smallest output limit that is accepted.
    `call_forced`: the model must call a tool, one that is named or any.
    `sent_once`: why nothing may be sent after it, "" where it may: what is sent is kept in a
    history that others read. Such a turn ends truthfully; one that is `left_alone` is only
    watched. `repeats`: each event of its stream says all that was said before it as well; None:
    the model decides."""

    model: str = ""
    stream: bool = False
    max_tokens: int | None = None
    least_tokens: int = 1
    tools: bool = False
    call_forced: bool = False
    after_tool_result: bool = False
    structured: bool = False
    one_of_words: bool = False
    lower_reasoning: bool = False
    prefill_barred: bool = False
    goes_on: bool = False
    include_usage: bool = False
    left_alone: str = ""
    sent_once: str = ""
    follows: str = ""
    repeats: bool | None = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The turn's answer as the caller is to see it: merged over all attempts.

    Attributes:
        text, reasoning: as merged.
        calls: the calls that are handed on, all whole.
        content: the same in the wire's own form, part by part; () where it keeps none.
        native_stop: the native stop value; None: none was given.
        ending: the body or event that the last attempt's stop came in, {} where none did.
        usage: input of the first attempt, output summed; None where no attempt reported any.
        raw_usage: the first usage object that came, whose other fields are kept.
        spoken: the attempts that the text is joined from.
    """

    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    content: Content = ()
    native_stop: str | None = None
    ending: JsonObject = field(default_factory=dict)
    usage: Usage | None = None
    raw_usage: JsonObject | None = None
    spoken: Sequence[AttemptContent] = ()


def kept_of(partial: Answer | None) -> JsonObject:
    """The member of an error of ours that holds what was received: nothing is lost.

    >>> kept_of(Answer("Half")), kept_of(Answer("")), kept_of(None)
    ({'partial': {'text': 'Half'}}, {}, {})
    """
    if partial is None or not (partial.text or partial.reasoning):
        return {}
    kept = {"text": partial.text, "reasoning": partial.reasoning}
    return {"partial": {key: text for key, text in kept.items() if text}}


WriteError = Callable[[str, str, Answer | None], bytes]
"""Writes the body of an error from its code, its message and what there is of an answer."""


def error_body(error: Callable[[str, str], JsonObject], within: str = "") -> WriteError:
    """What writes the body of an error of ours, in a wire's own shape, of its code and message and
    what there is of an answer. `within`: the member of the body that the error is, "" where it is
    the body itself.

    >>> write = error_body(lambda code, message: {"error": message})
    >>> write("dropped", "It broke off.", Answer("Half"))
    b'{"error":"It broke off.","partial":{"text":"Half"}}'
    >>> error_body(lambda code, message: {"code": code}, within="error")("dropped", "", None)
    b'{"error":{"code":"dropped"}}'
    """

    def write(code: str, message: str, partial: Answer | None) -> bytes:
        made = error(code, message) | kept_of(partial)
        return encode({within: made} if within else made)

    return write


@dataclass(frozen=True, slots=True)
class Shown:
    """How an ending shows (P1a): `native`, a stop of the wire; `error`, an error of this code;
    `received`, the native stop that came, `native` only where none did."""

    native: str | None = None
    error: str | None = None
    received: bool = False


def shown_alike(*, done: str, cut: str, blocked: str) -> dict[Outcome, Shown]:
    """How outcomes show, by the native values of a clean end, of an answer that the output limit
    cut, and of one that a filter stopped; a wire that has more words says which."""
    return {
        Outcome.DONE: Shown(native=done, received=True),
        Outcome.TEXT_CUT: Shown(native=cut),
        Outcome.ARGUMENTS_CUT: Shown(native=cut),
        Outcome.THINKING_CUT: Shown(native=cut),
        Outcome.CALLS_MISSING: Shown(native=done),
        # Hardly a wire has a stop for these; an SDK would end silently.
        Outcome.ARGUMENTS_MALFORMED: Shown(error="malformed_tool_call"),
        Outcome.THINKING_ONLY: Shown(error="empty_output"),
        Outcome.EMPTY: Shown(error="empty_output"),
        Outcome.DROPPED: Shown(error="dropped"),
        Outcome.FAULT: Shown(error="provider_error"),
        # What came is truthful as it stands.
        Outcome.PAUSED: Shown(native=cut, received=True),
        Outcome.OVERFLOW: Shown(native=cut, received=True),
        Outcome.BLOCKED: Shown(native=blocked, received=True),
        Outcome.REFUSED: Shown(native=blocked, received=True),
        Outcome.CANCELLED: Shown(native=cut, received=True),
        Outcome.UNKNOWN: Shown(native=cut, received=True),
    }


class WireRequest(Protocol):
    """The caller's request, kept as bytes. An address may stand for formats of several makers: then
    the request has a member `wire` as well, the one that speaks it from there on."""

    @property
    def facts(self) -> RequestFacts:
        """What the turn needs to know of it."""
        ...

    @property
    def repairs(self) -> tuple[str, ...]:
        """What had to be put right in its history, in words; often empty."""
        ...

    def tool_parameters(self) -> dict[str, JsonObject]:
        """The JSON Schema of each attached tool, by name; {} for one that has none."""
        ...

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without edits and repairs the caller's own."""
        ...


@dataclass(frozen=True, slots=True)
class AttemptContent:
    """One attempt of which something is kept.

    Attributes:
        value: its body, None where it was a stream.
        text: what of its text is kept; the texts of all attempts, joined, are the message's.
        apart: whether its parts stand for themselves; else its text goes on where the last ended.
        own: all of its text, as it came.
        message: its parts.
    """

    value: JsonObject | None
    text: str
    apart: bool = False
    own: str = ""
    message: Message | None = None


class PartLayout(Protocol):
    """How a wire writes the parts of one streamed message; the merger decides on them.

    The first number in the place of a part is the merger's: it counts up over all attempts of a
    turn. Each method returns the bytes of zero or more events.

    Attributes:
        ahead: parts of a body that is said as events; they are said before all else.
        words_begin_text: whether a further attempt's part of text begins with its first words.
        error_follows_start: whether `start` stands before an error as well."""

    ahead: Sequence[Native] = ()
    words_begin_text: bool = False
    error_follows_start: bool = False

    def begin(self, value: JsonObject) -> None:
        """Take the identity of the message from its first event, or from a whole body."""

    def goes_on(self, part: Part) -> bool:
        """Return whether text of a further attempt can go on in an open part of text."""
        ...

    def native(self, kind: Kind) -> JsonObject:
        """Return what a part of text or of reasoning begins with."""
        ...

    def holds(self, native: Native) -> Kind:
        """Return what a part is that is said ahead, or what the parts of an item are; OTHER for all
        but text and reasoning."""
        return Kind.OTHER

    def thought(self, text: str) -> JsonObject | None:
        """Return reasoning as a part that is said at once, None where it grows like a text."""
        return None

    def empty(self, native: Native) -> JsonObject:
        """Return a part that is said at once as it begins."""
        return dict(native)

    def start(self) -> bytes:
        """Write what stands before all parts."""
        ...

    def opened(self, part: Part) -> bytes:
        """Begin a part."""
        ...

    def said(self, part: Part, text: str) -> bytes:
        """Write text of a part."""
        ...

    def passed(self, part: Part, raw: Native) -> bytes:
        """Write a piece as another attempt's provider wrote it."""
        ...

    def closed(self, part: Part, answer: Answer | None = None) -> bytes:
        """End a part. `answer`: the message ends with it."""
        ...

    def called(self, call: ToolCall, unled: bool) -> JsonObject:
        """Return what a call is written as. `unled`: the reasoning that led to it was left out."""
        ...

    def call(self, part: Part, call: ToolCall) -> bytes:
        """Write a whole call."""
        ...

    def end(self, answer: Answer, items: Sequence[Part], *, include_usage: bool) -> bytes:
        """Write the stop, the usage and the end mark. `items`: all parts that were given."""
        ...

    def beside(self, raw: Native) -> bytes:
        """Write what stands beside the parts, such as what keeps the connection alive."""
        return b""

    def error(self, code: str, message: str) -> bytes:
        """Write an event on which the official SDK raises, and the end mark."""
        ...


class Layout(PartLayout, Protocol):
    """The same of a wire whose parts stand for themselves."""

    numbered: Literal[True] = True


class GroupLayout(PartLayout, Protocol):
    """The same of a wire that puts parts into items, and says all items at the end."""

    numbered: Literal["groups"] = "groups"

    def follow(self, last: JsonObject | None, events: int) -> None:
        """Count on behind the last of the events that the caller was given."""

    def group(self, native: Native | None, taken: Sequence[Native], number: int) -> JsonObject:
        """Return the item that a text stands in: the provider's, None where it announced none,
        under an id that none of the others has."""
        ...

    def unannounced(self, native: Native | None) -> JsonObject:
        """Return the item of a text that came without one, or in one that can't be read."""
        ...

    def cited(self, part: Part, said: str, raw: Native, by: int) -> bytes:
        """Write what points at words of a part, which stand so many characters further on."""
        ...


class FlatLayout(Protocol):
    """How a wire writes a streamed message whose parts neither begin nor end: each event stands for
    itself. Each method returns the bytes of zero or more events."""

    numbered: Literal[False] = False

    def begin(self, value: JsonObject) -> None:
        """Take the identity of the message from its first event, or from a whole body."""

    def said(self, kind: Kind, text: str) -> bytes:
        """Write text of the answer, or reasoning."""
        ...

    def text(self, text: str) -> bytes:
        """Write text of the answer."""
        return self.said(Kind.TEXT, text)

    def reasoning(self, text: str) -> bytes:
        """Write reasoning, where a body is said as events."""
        return self.said(Kind.REASONING, text)

    def given(self, signals: Sequence[AnySignal]) -> None:
        """Follow an event that was handed on as it came; not all are told that hold text alone."""
        return

    def follow(self, last: JsonObject | None) -> None:
        """Write from here on, behind the last of the events that the caller was given."""
        return

    def next_attempt(self, *, apart: bool) -> bytes:
        """Write what stands between attempts. `apart`: the next one's text is not joined to the
        last."""
        return b""

    def parts(self, signals: Sequence[AnySignal]) -> bool:
        """Return whether an event of a further attempt ends the part that text is written in."""
        return False

    def passed(self, signals: Sequence[AnySignal]) -> bytes:
        """Write what one event of another attempt carries besides text, calls, stop and usage."""
        ...

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """Write the calls, the stop, the usage and the end mark."""
        ...

    def error(self, code: str, message: str) -> bytes:
        """Write an event on which the official SDK raises, and the end mark."""
        ...


# --- the wire itself --------------------------------------------------------------------------


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
