"""What a wire is: the seam between the relay and one provider format.

A wire never opens a connection. It reads bodies and events into signals, applies edits to the bytes
of a request, and renders what the caller sees. Look-up is by name; a wire is one module of this
package with a constant `WIRE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tenuto.core.actions import Edit
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
        prefill_members: top-level members that a request with a prefill carries as well.
        output_key: the request key of the output limit where the request itself uses none.
        reasoning_key: the key under which assistant rows must carry their reasoning back, "" where
            the provider does not want it (C20).
    """

    name: str = "unknown"
    prefill: bool = False
    output_key: str = "max_tokens"
    prefill_members: tuple[tuple[str, bool], ...] = ()
    reasoning_key: str = ""


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """What the relay needs to know of a request; None and "" where it does not say.

    `prefill_barred`: the request itself rules a prefill out, whatever its model can do.
    """

    model: str = ""
    stream: bool = False
    max_tokens: int | None = None
    tools: bool = False
    after_tool_result: bool = False
    structured: bool = False
    lower_reasoning: bool = False
    ends_in_assistant: bool = False
    include_usage: bool = False
    left_alone: str = ""
    prefill_barred: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The turn's answer as the caller is to see it: merged over all attempts.

    Attributes:
        text, reasoning: as merged.
        calls: the calls that are handed on, all whole.
        native_stop: the native stop value; None: none was given.
        usage: input of the first attempt, output summed; None where no attempt reported any.
        raw_usage: the first usage object that came, whose other fields are kept.
    """

    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    native_stop: str | None = None
    usage: Usage | None = None
    raw_usage: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """How an ending shows (P1a): `native`, a stop of the wire; `error`, an error of this code;
    `received`, the native stop that came, `native` only where none did."""

    native: str | None = None
    error: str | None = None
    received: bool = False


class WireRequest(Protocol):
    """The caller's request, kept as bytes."""

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


class Wire(Protocol):
    """One provider format."""

    name: str
    shown: Mapping[Outcome, Shown]

    def is_request(self, path: str) -> bool:
        """Whether a request to this URL path speaks this wire."""

    def looks_like(self, value: JsonObject) -> bool:
        """Whether an object has the shape of this wire's body or event."""

    def is_event(self, value: JsonObject) -> bool:
        """Whether an object of this shape is one event of a stream rather than a whole body."""

    def request(self, body: bytes, probe_max_tokens: int) -> WireRequest | None:
        """The request, or None where the bytes are no request of this wire."""

    def parse_object(self, value: object, *, event: bool) -> list[Signal]:
        """The signals of a body, or of one event of a stream. Never raises (N6)."""

    def read_flowing(self, data: bytes) -> TextDelta | ReasoningDelta | None:
        """The one signal of an event that carries text or reasoning and nothing else; None where
        it takes `parse_object` to tell. It only saves time: both must read the same."""

    def is_terminator(self, data: bytes) -> bool:
        """Whether the data of an event is the stream's own end mark."""

    def parse_fault(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        """The fault of an HTTP error response."""

    def envelope(self, value: JsonObject) -> JsonObject:
        """What all events of one message share: ids, model, and the like."""

    def bare_envelope(self, model: str) -> JsonObject:
        """An envelope for a message of which no event was seen."""

    def clean_stop(self, calls: Sequence[ToolCall]) -> str:
        """The native value of a clean end with these calls, often none."""

    def usage_object(self, value: JsonObject) -> JsonObject | None:
        """The native usage object of a body or event."""

    def render_text(self, envelope: JsonObject, text: str) -> bytes:
        """An event that carries text."""

    def render_reasoning(self, envelope: JsonObject, text: str) -> bytes:
        """An event that carries reasoning."""

    def render_refusal(self, envelope: JsonObject, text: str) -> bytes:
        """An event that carries the words of a refusal."""

    def render_end(self, envelope: JsonObject, answer: Answer, *, include_usage: bool) -> bytes:
        """The events that end a message: its calls, the stop, the usage and the end mark."""

    def render_body(self, first: JsonObject, last: JsonObject, answer: Answer) -> bytes:
        """A whole body: the first attempt's identity, the last one's form, the merged answer."""

    def render_error(self, code: str, message: str, partial: Answer | None) -> bytes:
        """The body of an error, in the wire's own shape."""

    def render_error_event(self, code: str, message: str) -> bytes:
        """An event by which the official SDK raises, and the end mark."""
