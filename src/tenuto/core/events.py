"""What a turn tells those who watch it: a class for each event, and events read back from files.

A recovery is a run of requests of one kind, and has exactly one end, of its own kind. A retry, or a
repair of the request, may happen within another recovery, which goes on behind it; beside that no
two recoveries overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, TypeVar, dataclass_transform

from tenuto.core.event import SHARED, Event
from tenuto.core.signals import Usage

__all__ = [
    "EVENTS",
    "AttemptEnded",
    "AttemptStarted",
    "Cancelled",
    "ContinuationAttempt",
    "ContinuationStarted",
    "ContinuationTerminated",
    "EmptyRecovery",
    "EmptyRecoveryEnded",
    "EmptyRecoveryStarted",
    "FaultReported",
    "HistoryRepaired",
    "HoldBackExceeded",
    "KeysLeftOut",
    "LeftAlone",
    "NoEndMarkLearned",
    "PauseEnded",
    "PauseStarted",
    "RecoveryEnded",
    "RecoveryStarted",
    "RequestRepairEnded",
    "RequestRepairStarted",
    "RetryEnded",
    "RetryStarted",
    "Stalled",
    "StopReasonObserved",
    "ToolPayloadRepair",
    "ToolRepairEnded",
    "ToolRepairStarted",
    "TurnEnded",
    "TurnStarted",
    "UnknownEvent",
    "UnknownStopSeen",
    "Waited",
    "event_from_dict",
]

EVENTS: dict[str, type[Event]] = {}
"""Every kind of event by its name, in the order of this module. The documentation is made from
it."""

_Kind = TypeVar("_Kind", bound=Event)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def _event(name: str) -> Callable[[type[_Kind]], type[_Kind]]:
    """Make a kind of event of a class, and name it."""

    def made(kind: type[_Kind]) -> type[_Kind]:
        kind.NAME = name
        event = dataclass(frozen=True, slots=True, kw_only=True)(kind)
        EVENTS[name] = event
        return event

    return made


@_event("turn_started")
class TurnStarted(Event):
    """A turn begins; this is its first event.

    Attributes:
        wire: the format of its requests, such as `openai-chat`.
        stream: whether the caller wants a stream.
        host: the host that the turn is sent to.
        port: its port, even if the URL leaves it out; None for a scheme that is not HTTP.
        url: the URL of its requests. "[removed]" replaces secrets, and query values that are not
            known to be harmless.
    """

    wire: str
    stream: bool
    host: str
    port: int | None = None  # events of the first version lack it, and the URL
    url: str = ""


@_event("history_repaired")
class HistoryRepaired(Event):
    """Tenuto repaired the history in the caller's request, so that the provider accepts it.

    Attributes:
        repairs: what Tenuto changed, a word for each repair.
    """

    repairs: tuple[str, ...]


@_event("attempt_started")
class AttemptStarted(Event):
    """Tenuto is about to send a request.

    Attributes:
        recovery: the kind of recovery that the request belongs to ("continuation", "tool_repair",
            "empty", "pause", "retry" or "request_repair"); None for the first request of a turn.
        rung: the id of the rung that decided to send it; "" for the first.
        prefill: whether the request ends in the beginning of the model's own answer.
        max_tokens: the output limit of the request; None if it sets none.
        output_chars: characters of text that Tenuto keeps from earlier attempts.
    """

    recovery: str | None
    rung: str
    prefill: bool
    max_tokens: int | None
    output_chars: int


@_event("attempt_ended")
class AttemptEnded(Event):
    """Tenuto read the answer to a request to its end, or the request failed. Each
    `attempt_started` is followed by one `attempt_ended`.

    Attributes:
        duration_s: seconds from the request to the end of its answer. For a stream, this includes
            the time that the caller took to read it.
        first_byte_s: seconds until the head of the response; None without a response.
        first_piece_s: seconds until the first piece of a streamed answer; None without streaming,
            and if no piece arrived.
        status: the HTTP status; None if no response came.
        lost: how the connection failed, "timeout" or "connection" for instance; None if it did
            not.
        stop: why the answer ended, a value of `StopReason`; None if Tenuto did not read it.
        outcome: what the answer means for the turn, a word of docs/ladders.md; "cancelled" where
            the caller left meanwhile; None if Tenuto passed the answer on unread.
        usage: the tokens that the attempt used; None if the provider did not count them.
    """

    duration_s: float
    first_byte_s: float | None
    first_piece_s: float | None
    status: int | None
    lost: str | None
    stop: str | None
    outcome: str | None
    usage: Usage | None


@_event("stop_reason_observed")
class StopReasonObserved(Event):
    """Tenuto read an answer and decided what follows.

    Attributes:
        iteration: the number of this answer in the turn, 1 for the first.
        reason: why the answer ended, a value of `StopReason`.
        raw: the provider's own stop value; None if it gave none.
        detail: a more specific word (`recitation`, `guardrail`, …); None if there is none.
        confidence: how sure the reason is: "high", "medium" or "low".
        anomalies: what was odd about the end (`no_stop`, `suspected_truncation`, …).
        outcome: what the answer means for the turn, a word of docs/ladders.md.
        rung: the id of the rung that decided what follows; "" if no rung was left or needed.
    """

    iteration: int
    reason: str
    raw: str | None
    detail: str | None
    confidence: str
    anomalies: tuple[str, ...]
    outcome: str
    rung: str


@_event("unknown_stop_seen")
class UnknownStopSeen(Event):
    """The provider gave a stop value that Tenuto does not know.

    Attributes:
        raw: the stop value.
        logged: whether Tenuto logged it. A process logs each value once for a provider and model.
    """

    raw: str
    logged: bool


@_event("fault")
class FaultReported(Event):
    """The provider answered with an error, or the request could not be answered.

    Attributes:
        kind: the kind of fault, a value of `FaultKind`.
        code: the provider's own code for it, or the name of the exception; "" if there is none.
        status: the HTTP status; None if the error did not come in a response.
        retryable: whether trying again may help.
        wait_s: seconds that Tenuto waits before the next request; 0 if it does not wait, or
            sends no other request.
        keys: the members of the request that the error names.
        setting: the policy setting that would let Tenuto leave those keys out, if it may not now;
            None otherwise.
    """

    kind: str
    code: str
    status: int | None
    retryable: bool
    wait_s: float
    keys: tuple[str, ...]
    setting: str | None


@_event("stalled")
class Stalled(Event):
    """The provider sent nothing for longer than Tenuto may wait, so the attempt ended.

    Attributes:
        answered: whether the head of the response had come before.
        output_chars: characters of text that Tenuto keeps.
    """

    answered: bool
    output_chars: int


@_event("hold_back_exceeded")
class HoldBackExceeded(Event):
    """Tenuto would have had to hold back more of a stream than `hold_max_bytes` allows, so the
    attempt ended.

    Attributes:
        held_bytes: the bytes that Tenuto held back.
        limit_bytes: the limit that the policy sets.
    """

    held_bytes: int
    limit_bytes: int


@_event("keys_left_out")
class KeysLeftOut(Event):
    """The provider rejected members of the caller's request by name, and Tenuto leaves them out of
    the next request.

    Attributes:
        keys: the paths of these members.
    """

    keys: tuple[str, ...]


@_event("waited")
class Waited(Event):
    """A wait before the next request ended, or the caller broke it off.

    Attributes:
        duration_s: seconds that Tenuto waited.
        planned_s: seconds that Tenuto meant to wait.
        asked: whether the provider asked for this wait; False if Tenuto backs off by itself.
    """

    duration_s: float
    planned_s: float
    asked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryStarted(Event):
    """A recovery begins: Tenuto is about to send its first request.

    `KIND` is the kind's name, as `attempt_started` gives it.

    Attributes:
        outcome: what was wrong with the answer that it recovers, a word of docs/ladders.md.
        rung: the id of the rung that decided on its first request.
    """

    KIND: ClassVar[str] = ""

    outcome: str
    rung: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryEnded(Event):
    """A recovery is over. `KIND` is the kind's name, as `attempt_started` gives it.

    Attributes:
        result: "recovered" if the recovery put right what was wrong; "gave_up" if the turn
            ended before that; "superseded" if another kind of recovery took over before that;
            "cancelled" if the caller left.
        reason: why the recovery ended. Where the turn ended with it, this is the reason of the turn
            (`completed`, `retry_limit`, `cancelled`, …). In all other cases it is a word of
            docs/ladders.md, and says what the answer that ended the recovery means.
        attempts: requests that this recovery sent.
        duration_s: seconds since the recovery began, waits included.
        output_chars: characters of text that the turn has at that time.
    """

    KIND: ClassVar[str] = ""

    result: str
    reason: str
    attempts: int
    duration_s: float
    output_chars: int = 0


@_event("continuation_started")
class ContinuationStarted(RecoveryStarted):
    """A continuation begins: the text was cut or broke off, and Tenuto asks for the rest."""

    KIND: ClassVar[str] = "continuation"


@_event("continuation_attempt")
class ContinuationAttempt(Event):
    """A continuation is about to ask for the rest of the text. Each of its requests has one such
    event.

    Attributes:
        index: the number of this request among those of all continuations of the turn.
        output_tokens: output tokens of the turn so far, measured or estimated.
        output_chars: characters of text so far.
        tokens_left: output tokens that the turn may still use; None: no limit.
        attempts_left: further continuations that the policy allows after this one.
        prefill: whether the request sends the text back as the beginning of the model's answer.
    """

    index: int
    output_tokens: int
    output_chars: int
    tokens_left: int | None
    attempts_left: int
    prefill: bool


@_event("continuation_terminated")
class ContinuationTerminated(RecoveryEnded):
    """A continuation ended."""

    KIND: ClassVar[str] = "continuation"


@_event("tool_repair_started")
class ToolRepairStarted(RecoveryStarted):
    """A repair of tool calls begins: a call was broken or missing."""

    KIND: ClassVar[str] = "tool_repair"


@_event("tool_payload_repair")
class ToolPayloadRepair(Event):
    """Tenuto decided what to do about a tool call that is broken or missing.

    Attributes:
        issue: what was wrong, a word of docs/ladders.md.
        attempted: whether Tenuto sent another request to get the call.
        outcome: "sent" if such a request follows, "repaired" if the turn ended with all its
            calls whole, "given_up" if it ends without them.
        rung: the id of the rung that decided.
    """

    issue: str
    attempted: bool
    outcome: str
    rung: str


@_event("tool_repair_ended")
class ToolRepairEnded(RecoveryEnded):
    """A repair of tool calls ended."""

    KIND: ClassVar[str] = "tool_repair"


@_event("empty_recovery_started")
class EmptyRecoveryStarted(RecoveryStarted):
    """The recovery of an empty answer begins."""

    KIND: ClassVar[str] = "empty"


@_event("empty_recovery")
class EmptyRecovery(Event):
    """An answer was empty. The event says how, and what Tenuto does about it.

    Attributes:
        rung: the id of the rung that decided what follows; "" if no rung was left.
        outcome: in which way the answer was empty, a word of docs/ladders.md.
        keys: the parts of the answer that held anything: `text`, `reasoning`, `refusal`, `calls`,
            `usage`.
        text_chars: characters of text, white space for instance.
        reasoning_chars: characters of reasoning.
        stop: why the answer ended, a value of `StopReason`.
        tools: whether the request offers tools.
        after_tool_result: whether the request ended in a tool result.
    """

    rung: str
    outcome: str
    keys: tuple[str, ...]
    text_chars: int
    reasoning_chars: int
    stop: str
    tools: bool
    after_tool_result: bool


@_event("empty_recovery_ended")
class EmptyRecoveryEnded(RecoveryEnded):
    """The recovery of an empty answer ended."""

    KIND: ClassVar[str] = "empty"


@_event("pause_started")
class PauseStarted(RecoveryStarted):
    """The provider paused the turn. Tenuto sends the answer back, for the model to continue."""

    KIND: ClassVar[str] = "pause"


@_event("pause_ended")
class PauseEnded(RecoveryEnded):
    """The recovery of a paused turn ended: the model continued, or did not."""

    KIND: ClassVar[str] = "pause"


@_event("retry_started")
class RetryStarted(RecoveryStarted):
    """A fault came before any part of the answer, and Tenuto sends the same request again."""

    KIND: ClassVar[str] = "retry"


@_event("retry_ended")
class RetryEnded(RecoveryEnded):
    """The provider answered a retry, or Tenuto gave up."""

    KIND: ClassVar[str] = "retry"


@_event("request_repair_started")
class RequestRepairStarted(RecoveryStarted):
    """The provider refused a request. Tenuto sends it again without what was refused: with a
    smaller output limit, without a key, or without a prefill."""

    KIND: ClassVar[str] = "request_repair"


@_event("request_repair_ended")
class RequestRepairEnded(RecoveryEnded):
    """The provider answered a repaired request, or Tenuto gave up."""

    KIND: ClassVar[str] = "request_repair"


@_event("left_alone")
class LeftAlone(Event):
    """Tenuto does not recover the turn, or passes its answer on unread.

    Attributes:
        why: the reason (`logprobs`, `switched_off`, `body_too_large`, …).
        outcome: what the answer means, a word of docs/ladders.md; None if Tenuto did not read
            it.
    """

    why: str
    outcome: str | None


@_event("no_end_mark_learned")
class NoEndMarkLearned(Event):
    """Tenuto learned that this provider does not mark the end of its streams.

    Attributes:
        turns: how many turns showed this.
    """

    turns: int


@_event("cancelled")
class Cancelled(Event):
    """The caller left before the end; `turn_ended` follows.

    Attributes:
        output_chars: characters of text that the caller had, or that Tenuto kept for it.
        attempts: requests that the provider had answered by then.
    """

    output_chars: int
    attempts: int


@_event("turn_ended")
class TurnEnded(Event):
    """A turn ended; this is its last event. The caller of a stream may still receive bytes that are
    already decided.

    Attributes:
        status: "complete", "partial" or "failed"; None if Tenuto passed the answer on unread and
            does not know.
        reason: why the turn ended, in one word; "completed" for a whole turn.
        stop: why the last answer ended, a value of `StopReason`; None if Tenuto read none.
        attempts: requests that the provider answered, or that failed.
        suggestion: what may help: "retry", "modify_prompt", "increase_budget", "stop", or "none"
            for a complete turn.
        advice: one sentence on what the caller can do; "" if there is nothing to do.
        usage: the tokens of each attempt, in order; None for one that the provider did not count.
        recovery_input_tokens: input tokens of all attempts after the first that the provider
            counted.
        recovery_output_tokens: output tokens of all attempts after the first that the provider
            counted.
        rungs: the ids of the rungs that the turn took, in order.
        left_out: what Tenuto left out of the caller's request because the provider rejected it by
            name.
        held_bytes: the most bytes of a stream that Tenuto held back at once.
        duration_s: seconds since the turn began.
        wire: the format of its requests, as in `turn_started`.
        stream: whether the caller wanted a stream.
        stop_raw: the provider's own value for why the last answer ended; None if it gave none,
            and where Tenuto read no answer.
        recoveries: the kinds of the recoveries that began, in order, as `attempt_started` names
            them.
        overridden: what the policy's `decide` last chose instead; "" if it always agreed.
        error: the error that Tenuto raises instead of an answer: the code of an unfinished turn's
            error (`retry_limit`, `empty_output`, …), or the name of an exception's class if a
            setting of the policy was at fault. None otherwise, and for errors of the provider or
            its connection.
    """

    status: str | None
    reason: str
    stop: str | None
    attempts: int
    suggestion: str
    advice: str
    usage: tuple[Usage | None, ...]
    recovery_input_tokens: int
    recovery_output_tokens: int
    rungs: tuple[str, ...]
    left_out: tuple[str, ...]
    held_bytes: int
    duration_s: float
    wire: str = ""  # events of the first version lack it, and those below
    stream: bool = False
    stop_raw: str | None = None
    recoveries: tuple[str, ...] = ()
    overridden: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEvent(Event):
    """An event that was read back and whose name this version does not know.

    Attributes:
        unknown_name: its name, which `name` gives too.
        fields: its own fields, as they were read.
    """

    unknown_name: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name that was read."""
        return self.unknown_name

    @property
    def data(self) -> dict[str, Any]:
        """Its own fields, as they were read."""
        return dict(self.fields)


def event_from_dict(value: Mapping[str, Any]) -> Event:
    """Read an event back from what its `as_dict()` gave, also by way of JSON.

    Events of other versions of Tenuto are read too. A name that is not known gives an
    `UnknownEvent`, which keeps all fields; a field that is not known is left out. The values
    themselves are not checked.

    Args:
        value: the event as plain values.

    Raises:
        ValueError: the value has no name, or lacks a field; the message names it.

    >>> read = {"version": 1, "name": "history_repaired", "time": 0.5, "turn": "t1", "attempt": 0,
    ...         "provider": "openai", "model": "gpt", "repairs": ["empty_row"], "new_field": 7}
    >>> event_from_dict(read).repairs
    ('empty_row',)
    >>> event_from_dict({**read, "name": "from_the_future"}).data
    {'repairs': ['empty_row'], 'new_field': 7}
    """
    name = value.get("name")
    if not isinstance(name, str):
        raise ValueError("an event has a name")
    kind = EVENTS.get(name)
    if kind is None:
        shared = {key: _present(value, key, name) for key in SHARED}
        rest = {key: v for key, v in value.items() if key not in (*SHARED, "name", "version")}
        return UnknownEvent(**shared, unknown_name=name, fields=rest)
    wanted = {f.name: f.default for f in fields(kind)}
    read = {
        key: _FORMS.get(key, _tuples)(_present(value, key, name))
        for key, default in wanted.items()
        if key in value or default is MISSING
    }
    return kind(**read)


def _present(value: Mapping[str, Any], key: str, name: str) -> Any:
    if key not in value:
        raise ValueError(f"the event {name!r} lacks the field {key!r}")
    return value[key]


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _usage(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_usage, value))
    if not isinstance(value, Mapping):
        return value
    known = {f.name for f in fields(Usage)}
    return Usage(**{key: count for key, count in value.items() if key in known})


_FORMS: dict[str, Callable[[Any], Any]] = {"usage": _usage}
"""How fields are read that are no plain values, by their names."""
