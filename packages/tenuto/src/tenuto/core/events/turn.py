"""Events of a turn as a whole."""

from __future__ import annotations

from tenuto.core.answer.signals import Usage
from tenuto.core.events.event import Event, event_kind

__all__ = [
    "Cancelled",
    "HistoryRepaired",
    "LeftAlone",
    "NoEndMarkLearned",
    "TurnEnded",
    "TurnStarted",
]


@event_kind("turn_started")
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


@event_kind("history_repaired")
class HistoryRepaired(Event):
    """Tenuto repaired the history in the caller's request, so that the provider accepts it.

    Attributes:
        repairs: what Tenuto changed, a word for each repair.
    """

    repairs: tuple[str, ...]


@event_kind("left_alone")
class LeftAlone(Event):
    """Tenuto does not recover the turn, or passes its answer on unread.

    Attributes:
        why: the reason (`logprobs`, `switched_off`, `body_too_large`, …).
        outcome: what the answer means, a word of docs/ladders.md; None if Tenuto did not read
            it.
    """

    why: str
    outcome: str | None


@event_kind("no_end_mark_learned")
class NoEndMarkLearned(Event):
    """Tenuto learned that this provider does not mark the end of its streams.

    Attributes:
        turns: how many turns showed this.
        setting: how to say it for good: with this argument of `Provider`.
    """

    turns: int
    setting: str


@event_kind("cancelled")
class Cancelled(Event):
    """The caller left before the end; `turn_ended` follows.

    Attributes:
        output_chars: characters of text that the caller had, or that Tenuto kept for it.
        attempts: requests that had ended by then. The one that the caller left, which has its
            `attempt_ended`, is not among them.
    """

    output_chars: int
    attempts: int


@event_kind("turn_ended")
class TurnEnded(Event):
    """A turn ended; this is its last event. The caller of a stream may still receive bytes that are
    already decided.

    Attributes:
        status: "complete", "partial" or "failed"; None if Tenuto passed the answer on unread and
            does not know.
        reason: why the turn ended, in one word; "completed" for a whole turn.
        stop: why the last answer ended, a value of `StopReason`; None if Tenuto read none.
        attempts: requests that the provider answered, or that failed. One that the caller left
            before its end does not count, so this is 0 if the caller left the first.
        suggestion: what may help: "retry", "modify_prompt", "increase_budget", "stop", or "none"
            for a complete turn. "stop": another request can't help until a person has changed
            something, such as a key or a base URL.
        advice: one sentence on what the caller can do; "" if there is nothing to do.
        usage: the tokens of each attempt, in order; None for one that the provider did not count.
        recovery_input_tokens: input tokens of all attempts after the first that the provider
            counted. It is also 0 if the provider counted none; `usage` then has None for them.
        recovery_output_tokens: their output tokens, counted alike.
        rungs: the ids of the rungs that the turn took, in order.
        left_out: what Tenuto left out of the caller's request because the provider rejected it by
            name.
        held_bytes: the most bytes of a stream that Tenuto held back at once, counted as what the
            events carry.
        duration_s: seconds since the turn began.
        wire: the format of its requests, as in `turn_started`.
        stream: whether the caller wanted a stream.
        stop_raw: the provider's own value for why the last answer ended; None if it gave none, or
            if Tenuto read no answer.
        recoveries: the kinds of the recoveries that began, in order, as `attempt_started` names
            them.
        overridden: what the policy's `decide` last chose instead; "" if it always agreed.
        error: the error that Tenuto raises instead of an answer: the code of an unfinished turn's
            error (`retry_limit`, `empty_output`, …), or the name of an exception's class if a
            setting of the policy was at fault. None otherwise, and for errors of the provider or
            its connection.
        never_came: the names of the tools that the model began to call, and whose calls never
            came.
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
    never_came: tuple[str, ...] = ()
