"""Events: what a turn tells those who watch it, and the report at its end.

Events hold names, numbers and reasons, never content or secrets (N10); a text that comes from the
far side (a stop value, an error code) is made printable and bounded before it enters one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from tenuto.core.advice import advice_on
from tenuto.core.signals import Usage
from tenuto.core.stop import Stop


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a turn.

    Attributes:
        name: a key of `EVENTS`.
        turn: an id that all events of the turn share.
        provider: the provider's name, as far as it is known.
        model: the model's name as the request says it, "" where it says none.
        data: the event's own fields, plain values only, as `EVENTS` lists them.

    >>> Event("continuation_attempt", "t1", "openai", "gpt", {"index": 1}).data["index"]
    1
    """

    name: str
    turn: str
    provider: str
    model: str
    data: dict[str, object] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """The event as plain values, ready for JSON."""
        return asdict(self)


EVENTS: dict[str, tuple[str, ...]] = {
    "stop_reason_observed": (
        "iteration",
        "reason",
        "raw",
        "detail",
        "confidence",
        "anomalies",
        "outcome",
        "rung",
    ),
    "continuation_attempt": (
        "index",
        "output_tokens",
        "output_chars",
        "tokens_left",
        "attempts_left",
        "prefill",
    ),
    "continuation_terminated": ("reason", "attempts", "output_chars"),
    "tool_payload_repair": ("issue", "attempted", "outcome", "rung"),
    "empty_recovery": (
        "rung",
        "outcome",
        "keys",
        "text_chars",
        "reasoning_chars",
        "stop",
        "tools",
        "after_tool_result",
    ),
    "history_repaired": ("repairs",),
    "fault": ("kind", "code", "status", "retryable", "wait_s", "keys", "setting"),
    "keys_left_out": ("keys",),
    "no_end_mark_learned": ("turns",),
    "left_alone": ("why", "outcome"),
    "cancelled": ("output_chars", "attempts"),
    "turn_ended": ("status", "reason", "stop", "attempts", "suggestion", "advice", "usage"),
}
"""Every event by name, with the fields of its data. The documentation's table is made from it."""

OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Report:
    """How a turn ended (P1).

    Attributes:
        status: "complete", "partial" or "failed".
        reason: one word why, "completed" for a whole turn.
        stop: the last response's stop, None where there was no response.
        usage: the tokens of each attempt, in order; None for one that the provider did not count.
        suggestion: what may help: "retry", "modify_prompt", "increase_budget", "stop", or "none"
            for a complete turn.
        rungs: the names of the rungs that were taken, in order.
        left_out: what went of the caller's own request because the provider rejected it by name.
    """

    status: str
    reason: str
    stop: Stop | None
    usage: tuple[Usage | None, ...]
    suggestion: str
    rungs: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def attempts(self) -> int:
        """Requests that were answered."""
        return len(self.usage)

    @property
    def advice(self) -> str:
        """One sentence on what can be done, "" where nothing is."""
        return advice_on(self.reason, self.stop.detail if self.stop is not None else None)
