"""What a wire is: the seam between the relay and one provider format.

A wire never opens a connection. It reads bodies and events into signals, applies edits to the bytes
of a request, and renders what the caller sees. Look-up is by name; a wire is one module of this
package with a constant `WIRE`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from tenuto.core.actions import Content, Edit
from tenuto.core.fault import Fault
from tenuto.core.outcome import Outcome
from tenuto.core.response import ToolCall
from tenuto.core.signals import ReasoningDelta, Signal, TextDelta, Usage

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider's form of a wire allows, as data (providers/table.py).

    Attributes:
        name: the provider's name.
        prefill: whether models take a trailing assistant message as the beginning of their answer.
        prefill_models: the models that do where not all of them do, by a pattern that is searched
            for in their names; None: all or none, as `prefill` says.
        prefill_members: top-level members that a request with a prefill carries as well.
        output_key: the request key of the output limit where the request itself uses none.
        reasoning_key: the key under which assistant rows must carry their reasoning back, "" where
            the provider does not want it (C20).
        signed_thinking: whether thinking without a signature is refused in a history, so that it
            must be left out; those who sign nothing may want it back instead.
    """

    name: str = "unknown"
    prefill: bool = False
    prefill_models: re.Pattern[str] | None = None
    output_key: str = "max_tokens"
    prefill_members: tuple[tuple[str, bool], ...] = ()
    reasoning_key: str = ""
    signed_thinking: bool = True

    def takes_prefill(self, model: str) -> bool:
        """Whether a model takes a prefill, as far as the row says."""
        if self.prefill_models is not None:
            return self.prefill_models.search(model.lower()) is not None
        return self.prefill


class RequestFacts(msgspec.Struct, frozen=True):
    """What the relay needs to know of a request; None and "" where it does not say.

    `prefill_barred`: nothing can be appended as the beginning of the model's answer, whatever the
    model takes: the request ends in an assistant row of its own, or uses what excludes it.
    `follows`: the id of the response that the request goes on from, whose history the provider
    keeps. `least_tokens`: the smallest output limit that is accepted. `sent_once`: why nothing may
    be sent after it, "" where it may: what is sent is kept in a history that others read. Such a
    turn ends truthfully; one that is `left_alone` is only watched."""

    model: str = ""
    stream: bool = False
    max_tokens: int | None = None
    least_tokens: int = 1
    tools: bool = False
    after_tool_result: bool = False
    structured: bool = False
    lower_reasoning: bool = False
    prefill_barred: bool = False
    include_usage: bool = False
    left_alone: str = ""
    sent_once: str = ""
    follows: str = ""


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
    spoken: Sequence[Spoken] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """How an ending shows (P1a): `native`, a stop of the wire; `error`, an error of this code;
    `received`, the native stop that came, `native` only where none did."""

    native: str | None = None
    error: str | None = None
    received: bool = False


class WireRequest(Protocol):
    """The caller's request, kept as bytes. An address may stand for formats of several makers: then
    the request has a member `wire` as well, the one that speaks it from there on."""

    @property
    def facts(self) -> RequestFacts:
        """What the relay needs to know of it."""

    @property
    def repairs(self) -> tuple[str, ...]:
        """What had to be put right in its history, in words; often empty."""

    def tool_parameters(self) -> dict[str, JsonObject]:
        """The JSON Schema of each attached tool, by name; {} for one that has none."""

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """The bytes of the request with these edits; without edits and repairs the caller's own."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One attempt of which something is kept.

    Attributes:
        value: its body, None where it was a stream.
        events: the data of its events, () where it was a body.
        text: what of its text is kept; the texts of all attempts, joined, are the message's.
        apart: whether its parts stand for themselves; else its text goes on where the last ended.
        own: all of its text, as it came.
    """

    value: JsonObject | None
    events: Sequence[bytes]
    text: str
    apart: bool = False
    own: str = ""


class Writer(Protocol):
    """The one message that the caller is given of a stream, written in its own name: one id,
    growing indexes, one end. It is told of every event that is handed on as it came, but for those
    that carry one text and no more: of them only where it `follows_text`."""

    follows_text: bool

    @property
    def begun(self) -> bool:
        """Whether the message has an identity: that of the first event."""

    def begin(self, value: JsonObject) -> None:
        """Take the identity of a message from its first event, or from a whole body."""

    def given(self, value: JsonObject) -> None:
        """An event was handed on as it came."""

    def next_attempt(self, *, apart: bool) -> bytes:
        """The events of another attempt follow; `apart`: its text is not joined to the last."""

    def text(self, text: str) -> bytes:
        """Text."""

    def reasoning(self, text: str) -> bytes:
        """Reasoning, where a body is said as events."""

    def parts(self, value: JsonObject) -> bool:
        """Whether an event of a further attempt ends the part that text is written in."""

    def passed(self, value: JsonObject) -> bytes:
        """What an event of a further attempt carries besides text, calls, stop and usage."""

    def end(self, answer: Answer, *, include_usage: bool) -> bytes:
        """The end of the message: its calls, the stop, the usage and the end mark."""

    def error(self, code: str, message: str) -> bytes:
        """An event by which the official SDK raises, and the end mark."""


class Wire(Protocol):
    """One provider format.

    `wants_content`: whether what a model said must be kept in the wire's own form, part by part.
    `running_usage`: what stands in events that tell the usage so far beside their text; b"" where
    none does. `opening`: how the event begins by which a stream says that it begins, and nothing
    more; b"" where the first event may say more. `error_status`: the HTTP status of an error of
    ours, which the official SDK does not retry."""

    name: str
    wants_content: bool
    running_usage: bytes
    opening: bytes
    error_status: int
    shown: Mapping[Outcome, Shown]

    def is_request(self, path: str) -> bool:
        """Whether a request to this URL path speaks this wire."""

    def request(
        self, body: bytes, probe_max_tokens: int, path: str, dialect: Dialect
    ) -> WireRequest | None:
        """The request, or None where the bytes are no request of this wire."""

    def looks_like(self, value: JsonObject) -> bool:
        """Whether an object has the shape of this wire's body or event."""

    def is_event(self, value: JsonObject) -> bool:
        """Whether an object of this shape is one event of a stream rather than a whole body."""

    def parse_object(self, value: object, *, event: bool) -> list[Signal]:
        """The signals of a body, or of one event of a stream. Never raises (N6)."""

    def read_flowing(self, data: bytes) -> TextDelta | ReasoningDelta | None:
        """The one signal of an event that carries text or reasoning and nothing else but the usage
        so far; None where it takes `parse_object` to tell. It only saves time: both must read the
        same."""

    def is_terminator(self, data: bytes) -> bool:
        """Whether the data of an event is the stream's own end mark."""

    def parse_fault(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """The fault of an HTTP error response."""

    def usage_object(self, value: JsonObject) -> JsonObject | None:
        """The native usage object of a body or event."""

    def is_plain(self, body: bytes) -> bool:
        """Whether a whole body is an answer of text that ended by itself, so that nothing is to be
        done about it. It only saves time: False where it takes `parse_object` to tell."""

    def writer(self, model: str) -> Writer:
        """A writer for one streamed message. `model`: for one of which no event is ever seen."""

    def content(self, spoken: Sequence[Spoken]) -> Content:
        """What these attempts said in the wire's own form, merged, without the calls; () on a wire
        that never wants it back."""

    def body_ceiling_tokens(self, model: str) -> int | None:
        """The largest output limit that a whole body may be asked for, None for none (C17)."""

    def clean_stop(self, calls: Sequence[ToolCall]) -> str:
        """The native value of a clean end with these calls, often none."""

    def render_body(self, first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
        """A whole body: the first attempt's identity, the last one's form, the merged answer."""

    def render_error(self, code: str, message: str, partial: Answer | None) -> bytes:
        """The body of an error, in the wire's own shape."""
