"""Events of each request of a turn and its answer."""

from __future__ import annotations

from tenuto.core.answer.signals import Usage
from tenuto.core.events.event import Event, event_kind

__all__ = [
    "AttemptEnded",
    "AttemptStarted",
    "FaultReported",
    "HoldBackExceeded",
    "KeysLeftOut",
    "Stalled",
    "StopReasonObserved",
    "StreamFetched",
    "UnknownStopSeen",
    "Waited",
]


@event_kind("attempt_started")
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


@event_kind("attempt_ended")
class AttemptEnded(Event):
    """Tenuto read the answer to a request to its end, or the request failed. Each
    `attempt_started` is followed by one `attempt_ended`.

    Attributes:
        duration_s: seconds from the request to the end of its answer. For a stream, this includes
            the time that the caller took to read it.
        first_byte_s: seconds until the head of the response; None without a response.
        first_piece_s: seconds until the first piece of a streamed answer; None without streaming,
            or if no piece arrived.
        status: the HTTP status; None if no response came.
        lost: how the connection failed, such as "timeout" or "connection"; None if it did not.
        stop: why the answer ended, a value of `StopReason`; None if Tenuto did not read it.
        outcome: what the answer means for the turn, a word of docs/ladders.md; "cancelled" if the
            caller left meanwhile; None if Tenuto passed the answer on unread.
        usage: the tokens that the attempt used; None if the provider did not count them.
        detection_s: the seconds that Tenuto took to read the body, or the longest of the sampled
            pieces of a stream: the first reply and every 64th. None if none was sampled.
    """

    duration_s: float
    first_byte_s: float | None
    first_piece_s: float | None
    status: int | None
    lost: str | None
    stop: str | None
    outcome: str | None
    usage: Usage | None
    detection_s: float | None = None


@event_kind("stop_reason_observed")
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


@event_kind("unknown_stop_seen")
class UnknownStopSeen(Event):
    """The provider gave a stop value that Tenuto does not know.

    Attributes:
        raw: the stop value.
        logged: whether Tenuto logged it. A process logs each value once for a provider and model.
    """

    raw: str
    logged: bool


@event_kind("fault")
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


@event_kind("stalled")
class Stalled(Event):
    """The provider sent nothing for longer than Tenuto may wait, so the attempt ended.

    Attributes:
        answered: whether the head of the response had come before.
        output_chars: characters of text that Tenuto keeps.
    """

    answered: bool
    output_chars: int


@event_kind("stream_fetched")
class StreamFetched(Event):
    """The connection of a stream broke, and Tenuto requested the rest of it from the provider,
    which keeps the answer. It is no further attempt.

    Attributes:
        place: the place of the last event that came, in the provider's own form.
        status: the HTTP status of the answer; None if there was none.
        continues: whether the stream continues from there.
    """

    place: str
    status: int | None
    continues: bool


@event_kind("hold_back_exceeded")
class HoldBackExceeded(Event):
    """Tenuto would have had to hold back more of a stream than `hold_max_bytes` allows, so the
    attempt ended.

    Attributes:
        held_bytes: the bytes that Tenuto held back, counted as what the events carry.
        limit_bytes: the limit that the policy sets.
    """

    held_bytes: int
    limit_bytes: int


@event_kind("keys_left_out")
class KeysLeftOut(Event):
    """The provider rejected members of the caller's request by name, and Tenuto leaves them out of
    the next request.

    Attributes:
        keys: the paths of these members.
    """

    keys: tuple[str, ...]


@event_kind("waited")
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
