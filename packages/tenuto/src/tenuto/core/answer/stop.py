"""Why a model stopped: Tenuto's own words for it, and how reliable they are.

Every wire maps its native values to `StopReason` in a table of its own; nothing in this module
knows a provider. If one response gives several reasons, `GRAVITY` says which counts (N3, S6).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class StopReason(StrEnum):
    """The normalized reason for the end of one model response.

    `REFUSAL`: the model declined, in its own words or with an empty answer. `SAFETY_BLOCKED`: a
    filter stopped the answer or took it back. `PAUSED`: the provider asks for another request to go
    on. `DROPPED`: nothing said why it ended. docs/stops.md explains all of them.

    >>> StopReason("max_tokens") is StopReason.MAX_TOKENS
    True
    """

    END_TURN = "end_turn"
    STOP_SEQUENCE = "stop_sequence"
    TOOL_CALL = "tool_call"
    MAX_TOKENS = "max_tokens"
    CONTEXT_WINDOW_EXCEEDED = "context_window_exceeded"
    SAFETY_BLOCKED = "safety_blocked"
    REFUSAL = "refusal"
    PAUSED = "paused"
    MALFORMED_TOOL_CALL = "malformed_tool_call"
    ERROR = "error"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"
    DROPPED = "dropped"


class Confidence(StrEnum):
    """How reliable a `Stop` is: high for a known value, medium for an unknown or inferred one, low
    for none."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


CLEAN = frozenset({StopReason.END_TURN, StopReason.STOP_SEQUENCE, StopReason.TOOL_CALL})
"""Reasons with which a provider says that the response is complete."""

NO_STOP_BUT_FAULT = "error"
"""The field of a stop that the provider never named, since a fault came instead."""

GRAVITY: tuple[StopReason, ...] = (
    StopReason.ERROR,
    StopReason.SAFETY_BLOCKED,
    StopReason.REFUSAL,
    StopReason.MALFORMED_TOOL_CALL,
    StopReason.CONTEXT_WINDOW_EXCEEDED,
    StopReason.MAX_TOKENS,
    StopReason.CANCELLED,
    StopReason.DROPPED,
    StopReason.PAUSED,
    StopReason.UNKNOWN,
    StopReason.TOOL_CALL,
    StopReason.STOP_SEQUENCE,
    StopReason.END_TURN,
)
"""Gravest first: if one response gives several reasons, the graver one counts (S6)."""

SENTENCES: dict[StopReason, str] = {
    StopReason.END_TURN: "The model finished its answer.",
    StopReason.STOP_SEQUENCE: "The model reached a stop sequence of the request.",
    StopReason.TOOL_CALL: "The model asks for one or more tools to be run.",
    StopReason.MAX_TOKENS: "The output limit cut the answer.",
    StopReason.CONTEXT_WINDOW_EXCEEDED: "The context window is full.",
    StopReason.SAFETY_BLOCKED: "A content filter of the provider stopped the answer.",
    StopReason.REFUSAL: "The model declined to answer.",
    StopReason.PAUSED: "The provider paused the turn and expects it to be resumed.",
    StopReason.MALFORMED_TOOL_CALL: "The model wrote a tool call that the provider cannot read.",
    StopReason.ERROR: "The provider reported an error.",
    StopReason.CANCELLED: "The answer was cancelled.",
    StopReason.UNKNOWN: "The provider gave a reason that is not known.",
    StopReason.DROPPED: "The answer broke off without any end mark.",
}

NO_STOP = "no_stop"
"""The anomaly of an answer to whose end the provider gave no reason."""

CALLS_MISSING = "tool_calls_missing"
"""The anomaly of an answer that holds no call, although its stop says that it does (N3)."""

ERROR_AFTER_END = "error_after_end"
"""The anomaly of an answer behind whose end mark the provider reported an error: it is whole. The
metadata has the kind of the error under this name."""

_SAID_OF: dict[str, str] = {
    # What `detect` was given.
    "no_answer": "This is not an answer in the format of a known API.",
    "several_answers": "These are several answers, each with an end of its own.",
    "nothing_came": "Nothing came, so there is no answer.",
    "broke_off_unread": "This broke off before it showed whether it is an answer.",
    "unread": "This has not been read yet, so nothing shows how it ends.",
    "needs_wire": "This is of an API that Tenuto reads with the package tenuto-wires, which is not "
    "installed.",
    # Answers that are none yet, or never will be.
    "background": "The provider is still working on the answer: fetch it again.",
    "incomplete": "The answer is not complete: it is still arriving, or its stream was left.",
    "load": "The server loaded the model, and no answer was asked for.",
    "unload": "The server unloaded the model, and no answer was asked for.",
    # Faults that the provider did not report itself.
    "garbage": "What came cannot be read.",
    "not_this_api": "What answers is not this API.",
    "redirected": "The answer is a redirect.",
    # A prompt of too many tokens, or a request of too many bytes.
    "context_overflow": "The request is larger than the model's context window or the API allows.",
}
"""Sentences for details that say more than their reason."""

_WITHOUT_ANSWER = {
    "connection": "The connection to the provider failed.",
    "timeout": "The provider did not answer in time.",
}
"""The same for faults of which the provider said nothing."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Why one response ended.

    Attributes:
        reason: the normalized reason.
        raw: the provider's own value, unchanged, or None if it gave none. Of a value that is no
            text and no known number, which may be content, only its type: `<dict>`.
        field: the path of the native field (`choices[0].finish_reason`) in a body of its API, or
            None.
        detail: a finer word (`recitation`, `guardrail`, `time_limit`, …), or None. `detect` uses
            `no_answer`, `several_answers`, `nothing_came`, `broke_off_unread`, `unread` and
            `needs_wire` for what is not one answer.
        confidence: how reliable the reason is: high for a known value, medium for an unknown or
            inferred one, low for none.
        anomalies: what was odd about the end (`no_stop`, `suspected_truncation`, …), often empty.
        terminal: False while a stream may continue.
        broken: "truncated" or "malformed" if a tool call of the response is incomplete, whatever
            the provider says; None otherwise.
        metadata: further fields of the provider about the stop, by name, such as the category of a
            refusal. Each is cut at 80 characters, and characters that cannot be shown are escaped
            (a line break is `\\n`). They hold no text of the answer, but a stop sequence is the
            caller's own text, so `repr` leaves the metadata out.

    Raises:
        TypeError: a field has a value of the wrong type; the message names the field.
        ValueError: `reason` or `confidence` is not a known word.

    >>> Stop(StopReason.MAX_TOKENS, raw="length", confidence=Confidence.HIGH).message
    'The output limit cut the answer.'
    """

    reason: StopReason
    raw: str | None = None
    field: str | None = None
    detail: str | None = None
    confidence: Confidence = Confidence.LOW
    anomalies: tuple[str, ...] = ()
    terminal: bool = True
    broken: str | None = None
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self) -> None:
        # Every response makes one or two. For valid values, this costs only a few comparisons.
        if (
            self.reason.__class__ is not StopReason
            or self.confidence.__class__ is not Confidence
            or not (self.raw is None or self.raw.__class__ is str)
            or self.anomalies.__class__ is not tuple
            or self.anomalies
            or self.metadata.__class__ is not dict
            or self.metadata
        ):
            _check(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the stop as plain values for JSON.

        >>> Stop(StopReason.END_TURN, raw="stop").as_dict()["reason"]
        'end_turn'
        """
        return {
            "reason": self.reason.value,
            "raw": self.raw,
            "field": self.field,
            "detail": None if self.detail is None else str(self.detail),
            "confidence": self.confidence.value,
            "anomalies": list(self.anomalies),
            "terminal": self.terminal,
            "broken": self.broken,
            "metadata": dict(self.metadata),
        }

    @property
    def _gave_no_reason(self) -> bool:
        return self.raw is None and (NO_STOP in self.anomalies or self.reason is StopReason.UNKNOWN)

    @property
    def message(self) -> str:
        """One sentence for a person; it never holds text of the model or of the caller."""
        if not self.terminal:
            return "The answer has not ended yet."
        detail = self.detail or ""
        said = _SAID_OF.get(detail) or (_WITHOUT_ANSWER.get(detail) if self.raw is None else None)
        if said is not None:
            return said
        sentence = _NO_REASON.get(self.reason) if self._gave_no_reason else None
        if self.reason is StopReason.MAX_TOKENS and self.raw == _UNEXPLAINED:
            sentence = _NOT_SAID_WHY
        if self.reason is StopReason.TOOL_CALL and CALLS_MISSING in self.anomalies:
            sentence = _NO_CALL
        sentence = sentence or SENTENCES[self.reason]
        if self.detail:
            sentence = f"{sentence[:-1]} ({printable(self.detail)})."
        if self.broken:
            sentence = f"{sentence} A tool call is broken ({self.broken})."
        if ERROR_AFTER_END in self.anomalies:
            kind = printable(self.metadata.get(ERROR_AFTER_END) or "error")
            sentence = f"{sentence} Behind its end, the provider reported an error ({kind})."
        return sentence


_UNEXPLAINED = "incomplete"
_NOT_SAID_WHY = "The provider calls the answer incomplete, and does not say why."
"""Beside the status of a Response or of one of its items. It is most often the output limit."""

_NO_CALL = "The provider says that the model asks for a tool, but the answer holds no tool call."

_NO_REASON = {
    StopReason.END_TURN: "The provider gave no reason, and nothing shows that the answer was cut.",
    StopReason.UNKNOWN: "The provider gave no reason.",
}
"""Sentences for stops that are inferred, since the provider gave none."""

_ENUMS: tuple[tuple[str, type[StrEnum]], ...] = (("reason", StopReason), ("confidence", Confidence))


def _check(stop: Stop) -> None:
    """Raise for the first field of a stop with a wrong value."""
    for name, kind in _ENUMS:
        value = getattr(stop, name)
        if not isinstance(value, kind):
            error = ValueError if isinstance(value, str) else TypeError
            raise error(f"Stop.{name} is {value!r:.80}, but it must be a {kind.__name__}")
    if not (stop.raw is None or isinstance(stop.raw, str)):
        raise TypeError(
            f"Stop.raw is of type {type(stop.raw).__name__}, but it must be a text or None"
        )
    whole = isinstance(stop.anomalies, tuple)
    if not whole or not all(isinstance(word, str) for word in stop.anomalies):
        raise TypeError("Stop.anomalies must be a tuple of texts")
    words = isinstance(stop.metadata, Mapping)
    if not words or not all(
        isinstance(key, str) and isinstance(value, str) for key, value in stop.metadata.items()
    ):
        raise TypeError("Stop.metadata must be a mapping of texts to texts")


def printable(value: str, limit_chars: int = 80) -> str:
    """Return a native value that is safe in a log line or a label: printable and of limited length
    (P8b).

    >>> printable("bad\\nvalue")
    'bad\\\\nvalue'
    """
    if len(value) <= limit_chars and value.isprintable():
        return value
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)
    return shown if len(shown) <= limit_chars else shown[: limit_chars - 1] + "…"


def graver(one: StopReason, other: StopReason) -> StopReason:
    """Return the one of two reasons that counts if a response gives both.

    >>> graver(StopReason.END_TURN, StopReason.MAX_TOKENS)
    <StopReason.MAX_TOKENS: 'max_tokens'>
    """
    return min(one, other, key=GRAVITY.index)


def gravest(stops: Sequence[Stop]) -> Stop:
    """Return the stop of an answer with several choices, of which each has one. The gravest counts,
    and among equals the least sure. It runs until all have ended.

    >>> gravest([Stop(StopReason.END_TURN), Stop(StopReason.MAX_TOKENS, raw="length")]).raw
    'length'
    """
    running = next((stop for stop in stops if not stop.terminal), None)
    if running is not None or len(stops) == 1:
        return running or stops[0]
    told = min(stops, key=lambda stop: (GRAVITY.index(stop.reason), _LEAST_SURE[stop.confidence]))
    odd = {name: None for stop in stops for name in stop.anomalies}
    if any(stop.reason is not told.reason for stop in stops):
        odd[STOPS_DIFFER] = None
    broken = next((stop.broken for stop in (told, *stops) if stop.broken), None)
    return dataclasses.replace(told, anomalies=tuple(odd), broken=broken)


STOPS_DIFFER = "stops_differ"
"""The anomaly of an answer with several reasons."""

_LEAST_SURE = {Confidence.LOW: 0, Confidence.MEDIUM: 1, Confidence.HIGH: 2}


NO_ANSWER = Stop(StopReason.UNKNOWN, detail="no_answer")
SEVERAL_ANSWERS = Stop(StopReason.UNKNOWN, detail="several_answers")
NOTHING_CAME = Stop(StopReason.DROPPED, detail="nothing_came")
BROKE_OFF_UNREAD = Stop(StopReason.DROPPED, detail="broke_off_unread")
UNREAD = Stop(StopReason.UNKNOWN, detail="unread")
NEEDS_WIRE = Stop(StopReason.UNKNOWN, detail="needs_wire")
"""What `detect` says of things that are not one answer (N14)."""

WITHOUT_END = frozenset(each.detail for each in (NO_ANSWER, SEVERAL_ANSWERS, UNREAD, NEEDS_WIRE))
"""Details of what has no end of its own."""
