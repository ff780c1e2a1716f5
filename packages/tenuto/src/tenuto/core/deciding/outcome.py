"""What a response means for the turn: one table over stop, calls and text.

The first row that matches decides. The last row matches everything, so every response has an
outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import worst_of
from tenuto.core.answer.response import Response, is_visible
from tenuto.core.answer.stop import CALLS_MISSING, CLEAN, StopReason


class Outcome(StrEnum):
    """What one response means for the turn, or what a stored answer is.

    A turn uses those up to `unknown`. Only `judge` says the others, of an answer that was stored.
    """

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
    RUNAWAY = "runaway"
    """Its text has become one passage, repeated many times."""
    CALL_WRITTEN = "call_written"
    """It is a tool call that was written as text."""
    DOCUMENT_INVALID = "document_invalid"
    """It is not the JSON document that was asked for."""
    LIKELY_CUT = "likely_cut"
    """No stop is stored, and its tokens or its form say that it was cut."""
    OPEN_END = "open_end"
    """No stop is stored, and its text does not end like a finished one. This is no verdict."""
    NO_ANSWER = "no_answer"
    """It is not an answer of a model, as far as can be seen."""


class Sign(StrEnum):
    """What a stored answer shows beside its stop, its calls and its text. A turn sees none."""

    NONE = "none"
    NO_ANSWER = "no_answer"
    RUNAWAY = "runaway"
    CALL_WRITTEN = "call_written"
    DOCUMENT_INVALID = "document_invalid"
    LIKELY_CUT = "likely_cut"
    OPEN_END = "open_end"


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
    sign: Sign | None = None

    def fits(self, stop: StopReason, calls: Batch, text: Readable, sign: Sign) -> bool:
        """Return whether the row matches a response."""
        return (
            (self.stops is None or stop in self.stops)
            and (self.calls is None or calls in self.calls)
            and (self.text is None or text in self.text)
            and (self.sign is None or sign is self.sign)
        )


def _rule(
    outcome: Outcome,
    *stops: StopReason,
    calls: tuple[Batch, ...] = (),
    text: tuple[Readable, ...] = (),
    sign: Sign | None = None,
) -> OutcomeRule:
    return OutcomeRule(
        frozenset(stops) or None, frozenset(calls) or None, frozenset(text) or None, outcome, sign
    )


_R = StopReason
_CLEAN_STOPS = tuple(sorted(CLEAN))
_OPEN = (*_CLEAN_STOPS, _R.UNKNOWN)

_NO_CALLS = (Batch.NONE,)
_SEEN = (Readable.SEEN,)
_READ = (Readable.SEEN, Readable.THOUGHT)

OUTCOMES: tuple[OutcomeRule, ...] = (
    _rule(Outcome.NO_ANSWER, sign=Sign.NO_ANSWER),
    # A stop that speaks against the response outweighs the response's content (N3).
    _rule(Outcome.FAULT, _R.ERROR),
    _rule(Outcome.BLOCKED, _R.SAFETY_BLOCKED),
    _rule(Outcome.REFUSED, _R.REFUSAL),
    _rule(Outcome.OVERFLOW, _R.CONTEXT_WINDOW_EXCEEDED),
    _rule(Outcome.DROPPED, _R.DROPPED),
    _rule(Outcome.ARGUMENTS_MALFORMED, _R.MALFORMED_TOOL_CALL),
    # More of the same is no more of the answer, whoever ended it (C13).
    _rule(Outcome.RUNAWAY, *_OPEN, _R.MAX_TOKENS, calls=_NO_CALLS, sign=Sign.RUNAWAY),
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
    # What a stored answer shows outweighs a clean stop only where the stop says nothing of it.
    _rule(Outcome.CALL_WRITTEN, *_OPEN, calls=_NO_CALLS, text=_SEEN, sign=Sign.CALL_WRITTEN),
    _rule(
        Outcome.DOCUMENT_INVALID, *_OPEN, calls=_NO_CALLS, text=_SEEN, sign=Sign.DOCUMENT_INVALID
    ),
    # Thinking in tags that has no end was cut before the answer began.
    _rule(Outcome.LIKELY_CUT, *_OPEN, text=_READ, sign=Sign.LIKELY_CUT),
    _rule(Outcome.OPEN_END, *_OPEN, calls=_NO_CALLS, text=_SEEN, sign=Sign.OPEN_END),
    # A value that is in no table may mean a cut or a filter, and calls that look whole may be the
    # first of a batch (N1, N7a).
    _rule(Outcome.UNKNOWN, _R.UNKNOWN, calls=(Batch.WHOLE, Batch.FOLLOWED)),
    _rule(Outcome.UNKNOWN, _R.UNKNOWN, text=_READ),
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


OF_TURNS: frozenset[Outcome] = frozenset(Outcome) - {row.outcome for row in OUTCOMES if row.sign}
"""What a response can mean for a turn: without a sign, no other outcome is reached."""


def classify(response: Response, sign: Sign = Sign.NONE) -> Outcome:
    """Return what the response means for the turn. Every response has an outcome. `sign`: what a
    stored answer shows beside it.

    >>> from tenuto.core.answer.builder import Builder
    >>> from tenuto.core.answer.signals import Ended, StopSeen, TextDelta
    >>> builder = Builder()
    >>> builder.feed(TextDelta("Half a sen"))
    >>> builder.feed(StopSeen("length", "finish_reason", StopReason.MAX_TOKENS))
    >>> classify(builder.build()).value
    'text_cut'
    """
    if CALLS_MISSING in response.stop.anomalies:
        return Outcome.CALLS_MISSING
    return outcome_of(response.stop.reason, worst_calls(response), seen_text(response), sign)


@cache
def outcome_of(stop: StopReason, calls: Batch, text: Readable, sign: Sign) -> Outcome:
    """Return what the table says of these four."""
    return next(row.outcome for row in OUTCOMES if row.fits(stop, calls, text, sign))
