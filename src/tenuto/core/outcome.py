"""What a response means for the turn: one table over stop, calls and text.

The first row that matches decides. The last row matches everything, so every response has an
outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from tenuto.core.arguments import Finding
from tenuto.core.calls import worst_of
from tenuto.core.response import Response, is_visible
from tenuto.core.stop import CALLS_MISSING, CLEAN, StopReason


class Outcome(StrEnum):
    """What one response means for the turn."""

    DONE = "done"
    TEXT_CUT = "text_cut"
    ARGUMENTS_CUT = "arguments_cut"
    ARGUMENTS_MALFORMED = "arguments_malformed"
    CALLS_MISSING = "calls_missing"
    THINKING_CUT = "thinking_cut"
    THINKING_ONLY = "thinking_only"
    EMPTY = "empty"
    PAUSED = "paused"
    OVERFLOW = "overflow"
    BLOCKED = "blocked"
    REFUSED = "refused"
    DROPPED = "dropped"
    FAULT = "fault"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Batch(StrEnum):
    """The worst finding among the calls of a response."""

    NONE = "none"
    WHOLE = "whole"
    FOLLOWED = "followed"
    """Whole, and text follows them."""
    CUT = "cut"
    MALFORMED = "malformed"


class Readable(StrEnum):
    """What there is to read: an answer, reasoning alone, or nothing."""

    SEEN = "seen"
    THOUGHT = "thought"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class OutcomeRule:
    """One row of the table; None matches everything."""

    stops: frozenset[StopReason] | None
    calls: frozenset[Batch] | None
    text: frozenset[Readable] | None
    outcome: Outcome


def _rule(
    outcome: Outcome,
    *stops: StopReason,
    calls: tuple[Batch, ...] = (),
    text: tuple[Readable, ...] = (),
) -> OutcomeRule:
    return OutcomeRule(
        frozenset(stops) or None, frozenset(calls) or None, frozenset(text) or None, outcome
    )


_R = StopReason
_CLEAN_STOPS = tuple(sorted(CLEAN))
_OPEN = (*_CLEAN_STOPS, _R.UNKNOWN)

OUTCOMES: tuple[OutcomeRule, ...] = (
    # A stop that speaks against the response outweighs the response's content (N3).
    _rule(Outcome.FAULT, _R.ERROR),
    _rule(Outcome.BLOCKED, _R.SAFETY_BLOCKED),
    _rule(Outcome.REFUSED, _R.REFUSAL),
    _rule(Outcome.OVERFLOW, _R.CONTEXT_WINDOW_EXCEEDED),
    _rule(Outcome.DROPPED, _R.DROPPED),
    _rule(Outcome.ARGUMENTS_MALFORMED, _R.MALFORMED_TOOL_CALL),
    # Text came after the whole calls, so the limit cut the text. The calls still don't run (T3).
    _rule(Outcome.TEXT_CUT, _R.MAX_TOKENS, calls=(Batch.FOLLOWED,)),
    # No call of a batch that the limit cut runs, even if its arguments look whole (T3).
    _rule(Outcome.ARGUMENTS_CUT, _R.MAX_TOKENS, calls=(Batch.WHOLE, Batch.CUT, Batch.MALFORMED)),
    _rule(Outcome.TEXT_CUT, _R.MAX_TOKENS, text=(Readable.SEEN,)),
    _rule(Outcome.THINKING_CUT, _R.MAX_TOKENS),
    # Raw arguments outweigh a clean stop: a cut call never runs, whatever the stop says (T1).
    _rule(Outcome.ARGUMENTS_MALFORMED, *_OPEN, calls=(Batch.MALFORMED,)),
    _rule(Outcome.ARGUMENTS_CUT, *_OPEN, calls=(Batch.CUT,)),
    _rule(Outcome.CANCELLED, _R.CANCELLED),
    _rule(Outcome.PAUSED, _R.PAUSED),
    _rule(Outcome.DONE, *_CLEAN_STOPS, calls=(Batch.WHOLE, Batch.FOLLOWED)),
    # A value that is in no table may mean a cut or a filter, and calls that look whole may be the
    # first of a batch (N1, N7a).
    _rule(Outcome.UNKNOWN, _R.UNKNOWN, calls=(Batch.WHOLE, Batch.FOLLOWED)),
    _rule(Outcome.UNKNOWN, _R.UNKNOWN, text=(Readable.SEEN, Readable.THOUGHT)),
    _rule(Outcome.DONE, text=(Readable.SEEN,)),
    _rule(Outcome.THINKING_ONLY, text=(Readable.THOUGHT,)),
    _rule(Outcome.EMPTY),
)
"""The first match decides. `calls_missing` has no row: it is an anomaly of the stop (see
`classify`)."""


_FOUND = {
    Finding.WHOLE: Batch.WHOLE,
    Finding.TRUNCATED: Batch.CUT,
    Finding.MALFORMED: Batch.MALFORMED,
}


def worst_calls(response: Response) -> Batch:
    """Return the worst finding among the calls."""
    if not response.calls:
        return Batch.NONE
    found = _FOUND[worst_of(response.calls)]
    return Batch.FOLLOWED if found is Batch.WHOLE and response.text_behind_calls else found


def seen_text(response: Response) -> Readable:
    """Return what a person could read of the response."""
    if is_visible(response.text) or response.refusal or response.other:
        return Readable.SEEN
    return (
        Readable.THOUGHT if response.reasoning.strip() or response.text.strip() else Readable.BLANK
    )


def classify(response: Response) -> Outcome:
    """Return what the response means for the turn. Every response has an outcome.

    >>> from tenuto.core.builder import Builder
    >>> from tenuto.core.signals import Ended, StopSeen, TextDelta
    >>> builder = Builder()
    >>> builder.feed(TextDelta("Half a sen"))
    >>> builder.feed(StopSeen("length", "finish_reason", StopReason.MAX_TOKENS))
    >>> classify(builder.build()).value
    'text_cut'
    """
    if CALLS_MISSING in response.stop.anomalies:
        return Outcome.CALLS_MISSING
    return _look_up(response.stop.reason, worst_calls(response), seen_text(response))


@cache
def _look_up(stop: StopReason, calls: Batch, text: Readable) -> Outcome:
    for row in OUTCOMES:
        if (
            (row.stops is None or stop in row.stops)
            and (row.calls is None or calls in row.calls)
            and (row.text is None or text in row.text)
        ):
            return row.outcome
    raise AssertionError("the last row of OUTCOMES fits everything")
