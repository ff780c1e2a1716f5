"""Guards: small named conditions over a `View`. A rung is taken when all of its guards hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenuto.core.answer.arguments import is_document
from tenuto.core.answer.batch import lost_calls
from tenuto.core.answer.closing import ends_closed
from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.response import is_visible
from tenuto.core.answer.stop import CLEAN, StopReason
from tenuto.core.deciding.actions import (
    AppendAssistant,
    AppendCalls,
    SetOutputLimit,
    holds_prefill,
    reasoning_in,
)
from tenuto.core.deciding.edits import asked_tokens, asks_for_call, document_limit
from tenuto.core.deciding.outcome import Batch, worst_calls
from tenuto.core.deciding.view import View, call_chars
from tenuto.core.seam.announcements import without_announcement
from tenuto.core.seam.evidence import COLONS


@dataclass(frozen=True, slots=True)
class Guard:
    """A named condition. `ends_as`: the reason for the turn's end if this guard failed;
    "" if the rung is then simply for another case."""

    name: str
    holds: Callable[[View], bool]
    ends_as: str = ""


def _time_left(view: View) -> bool:
    limits = (
        (view.state.answered_s, view.policy.turn_timeout_s or None),
        (view.state.started_s, view.facts.timeout_s),
    )
    return all(limit is None or view.now_s - since_s < limit for since_s, limit in limits)


def _tokens_left(view: View) -> bool:
    least = view.facts.least_tokens
    return view.bounded(least) >= least


def _broken_document(view: View) -> bool:
    """Return whether the text should be a document and is none, although the model itself didn't
    say that it is complete: it was joined from several answers, or a further answer named no
    stop."""
    kept_text, new_chars, state = view.facts.kept_text, view.facts.new_chars, view.state
    wanted = view.is_document and not view.response.calls and state.attempts > 1
    if not wanted or not is_visible(kept_text) or view.holds_document:
        return False
    if len(kept_text) == new_chars and not (state.cut or state.broke):
        return "no_stop" in view.response.stop.anomalies
    # After a pause, the last part alone may be the document.
    last = kept_text[len(kept_text) - new_chars :].lstrip()
    return not (state.apart and last[:1] in ("{", "[") and is_document(last))


def _wants_document(view: View) -> bool:
    """Return whether the answer should be a document, and not a call."""
    no_document = view.response.calls or view.state.call_pending or view.facts.call_forced
    return view.is_document and not no_document


def _limit_rises(view: View) -> bool:
    if view.state.continuing:
        return False
    asked = asked_tokens(view.state.last_edits, view.facts.max_tokens)
    return (document_limit(view) or 0) > (asked or view.facts.output_tokens)


def _stop_sequence_at_cut(view: View) -> bool:
    """Return whether the limit cut the text exactly before one of the request's stop sequences. A
    model that answers a hint may begin with any of them, whatever is missing."""
    state = view.state
    asked = state.cut and _prefilled(view) and not asks_for_call(state.last_edits)
    met = view.response.stop.reason is StopReason.STOP_SEQUENCE and view.facts.adds_nothing
    return asked and met and not (state.broke or _broken_document(view))


def _room(view: View) -> bool:
    window = view.policy.context_window_tokens or view.facts.window_tokens
    if window is None or view.facts.input_tokens is None:
        return True
    used = view.facts.input_tokens + view.facts.output_tokens
    return window - used >= view.policy.context_min_free_tokens


def _under_output_cap(view: View) -> bool:
    cap = view.policy.continuation_max_output_chars
    return cap == 0 or len(view.facts.kept_text) <= cap


def _fault(view: View, *kinds: FaultKind) -> bool:
    return view.response.fault is not None and view.response.fault.kind in kinds


def _prefilled(view: View) -> bool:
    return holds_prefill(view.state.last_edits)


def _newly_thought(view: View) -> bool:
    """Return whether there is reasoning that the last request did not continue from (E4)."""
    return view.facts.reasoning.strip() not in ("", reasoning_in(view.state.last_edits))


_UNDECIDED_CHARS = 24
"""A continuation that was cut within so many characters, behind an announcement, may have shown
nothing yet of what it adds."""

_HEAD_CHARS = 12
"""So many first characters tell whether it repeats what is kept."""


def _progress(view: View) -> bool:
    before = (e.text for e in view.state.last_edits if isinstance(e, AppendAssistant))
    text = view.response.text.strip()
    bare = without_announcement(text).lstrip()
    # A longer one may have been put aside while it could still become a repetition.
    put_aside = view.facts.new_chars == 0 and bare[:_HEAD_CHARS] not in view.facts.kept_text
    undecided = bool(text) and (len(bare) < _UNDECIDED_CHARS or put_aside)
    return not view.facts.runaway and (view.kept_text not in before or undecided)


def _shrinking(view: View) -> bool:
    before, now = view.state.call_chars, call_chars(view.response)
    return before is not None and now is not None and now < before


NOT_LEFT_ALONE = Guard("the turn may be recovered", lambda v: not v.facts.left_alone, "left_alone")
TIME_LEFT = Guard("time is left", _time_left, "time_limit")
TOKENS_LEFT = Guard("output tokens are left", _tokens_left, "budget_exhausted")
UNDER_OUTPUT_CAP = Guard("the text is within the character limit", _under_output_cap, "output_cap")
ROOM = Guard("the context window has room", _room, "context_window")
PROGRESS = Guard("the text makes progress", _progress, "runaway")
RUNAWAY = Guard("the text ends in a repetition", lambda v: v.facts.runaway)
NO_RUNAWAY = Guard(
    "the text does not end in a repetition", lambda v: not v.facts.runaway, "runaway"
)
LOOPED = Guard(
    "the provider stopped the model because it repeated itself",
    lambda v: v.response.fault is None and v.response.stop.detail == "repetition",
)
NO_CUT_REFUSAL = Guard(
    "there is text so far, or no refusal",
    lambda v: bool(v.kept_text) or not v.response.refusal,
    "refused",
)
NO_CUT_RUN = Guard(
    "there is text so far, or nothing that the provider ran",
    lambda v: bool(v.kept_text) or not v.response.other,
    "tool_call_truncated",
)
HAS_TEXT = Guard("there is text so far", lambda v: bool(v.kept_text))
NO_TEXT = Guard("there is no text so far", lambda v: not v.kept_text)
NOTHING_CAME = Guard(
    "there is no text so far, or nothing came since a pause",
    lambda v: not v.kept_text or (v.state.paused and not v.refused_to_go_on),
)
NOTHING_RUN = Guard(
    "the answer holds nothing that the provider ran", lambda v: not v.response.other
)
PREFILL = Guard("the model accepts a prefill", lambda v: v.facts.prefill)
PREFILLED = Guard("the last request used a prefill", _prefilled)
PREFILL_REJECTED = Guard(
    "the provider rejected the prefill", lambda v: _fault(v, FaultKind.PREFILL_REJECTED)
)
NOT_IN_BACKGROUND = Guard(
    "the provider waits for the paused turn to come back",  # a background turn goes on by itself
    lambda v: v.response.stop.detail != "background",
    "background",
)
CAN_BE_RESUMED = Guard(
    # If the pause added nothing else, the text that is kept is sent back; it must not end in white
    # space.
    "the paused answer added something, or the text does not end in white space",
    lambda v: bool(v.facts.new_chars or v.response.other) or not v.facts.kept_text[-1:].isspace(),
)
CALL_ASKED_FOR = Guard(
    "the last request asked for a tool call", lambda v: asks_for_call(v.state.last_edits)
)
TEXT_WHOLE = Guard("the text so far was not cut at its end", lambda v: not v.torn)
TEXT_TORN = Guard("the text so far was cut at its end", lambda v: v.torn)
TEXT_LEFT_HALF = Guard(
    # Models introduce a call with a colon. If the caller demanded a call, it is the answer.
    "the text so far was cut inside a sentence, and the answer adds none",
    lambda v: (
        v.torn
        and not v.facts.call_forced
        and v.facts.adds_nothing
        and not ends_closed(v.facts.kept_text)
        and not v.facts.kept_text.rstrip().endswith(COLONS)
    ),
)
TEXT_ASKED_FOR = Guard(
    "the last request asked for text", lambda v: not asks_for_call(v.state.last_edits)
)
HAS_CONTENT = Guard(
    "there is content to send back",
    lambda v: bool(v.facts.content) and not v.facts.content_beside,
)
GOES_ON_BY_ITSELF = Guard(
    "the provider gave what it needs to go on from here by itself", lambda v: v.facts.checkpoint
)
NO_BROKEN_CALL = Guard(
    "no tool call of the answer is broken",
    lambda v: worst_calls(v.response) in (Batch.NONE, Batch.WHOLE, Batch.FOLLOWED),
)
HAS_CALLS = Guard("the answer holds tool calls", lambda v: bool(v.response.calls))
NO_CALLS = Guard("the answer holds no tool calls", lambda v: not v.response.calls)
WHOLE_CALLS = Guard(
    "the answer holds tool calls, and all are complete",
    lambda v: worst_calls(v.response) in (Batch.WHOLE, Batch.FOLLOWED),
)
NEEDS_CALL_RESULTS = Guard(
    # Anthropic's `pause_turn`. Other pauses have a detail: the provider may still add calls.
    "the provider takes the paused turn back only with the results of its calls",
    lambda v: v.response.stop.detail is None,
)
CALL_BROKE_OFF = Guard(
    "the answer ends in tool calls",
    lambda v: bool(v.response.calls) and worst_calls(v.response) is not Batch.FOLLOWED,
)
SHRINKING = Guard("the broken tool call is smaller than the one before", _shrinking)
SOME_MADE = Guard(
    "the last two answers were not both counted as zero tokens", lambda v: v.state.nothing_made < 2
)
RUN_COMPLETE = Guard(
    "the policy allows complete tool calls of a cut answer",
    lambda v: v.policy.truncated_calls == "execute_complete",
)
SOME_RUNNABLE = Guard("some tool calls are complete and valid", lambda v: bool(v.facts.runnable))
REASONING_PREFILL = Guard(
    "the model can continue from its reasoning, and there is new reasoning",
    lambda v: v.facts.reasoning_prefill and _newly_thought(v),
)
PREFILLED_REASONING = Guard(
    "the last request used reasoning as a prefill",
    lambda v: bool(reasoning_in(v.state.last_edits)),
)
LOWER_REASONING = Guard(
    "the request has a setting for less reasoning", lambda v: v.facts.lower_reasoning
)
EMPTY_RECOVERY = Guard(
    "the policy recovers empty answers, and the model can be told so",
    lambda v: v.policy.empty_recovery and not v.facts.goes_on,
    "empty_output",
)
AFTER_TOOL_RESULT = Guard("the request ends in a tool result", lambda v: v.facts.after_tool_result)
TOOLS = Guard("the request offers tools", lambda v: v.facts.tools)
TOOLS_MAY_GO = Guard(
    "the request demands no call, and the provider accepts it without the tools that it offers",
    lambda v: v.facts.tools_may_go,
)
CLEAN_END = Guard("the answer ended cleanly", lambda v: v.response.stop.reason in CLEAN)
WITHIN_LIMITS = Guard(
    "no limit of the policy was exceeded", lambda v: not _fault(v, FaultKind.LIMIT), "limit_passed"
)
RETRYABLE = Guard(
    "a retry can help",
    lambda v: v.response.fault is None or v.response.fault.retryable or v.refused_to_go_on,
    "provider_error",
)
NOT_RETRYABLE = Guard("a retry cannot help", lambda v: not RETRYABLE.holds(v))
SDK_RETRIES = Guard(
    "the first attempt failed with an HTTP status",
    lambda v: v.facts.http_error and v.state.attempts == 1,
)
BUDGET_TOO_LARGE = Guard(
    "the provider names an output limit that was not tried yet",
    lambda v: (
        _fault(v, FaultKind.OUTPUT_BUDGET_TOO_LARGE)
        and v.response.fault is not None
        and bool(v.response.fault.allowed_tokens)
        and SetOutputLimit(v.response.fault.allowed_tokens or 0) not in v.state.last_edits
    ),
)
KEYS_REJECTED = Guard(
    "all keys that the provider rejected may be left out",
    lambda v: _fault(v, FaultKind.UNKNOWN_KEY) and bool(v.facts.droppable),
)
ROWS_REJECTED = Guard(
    "the error says what the added rows must or must not hold",
    lambda v: v.facts.rows_differ,
)
NOTHING_NEW = Guard(
    "the continuation added nothing",
    lambda v: (
        v.state.continuing
        and bool(v.facts.kept_text)
        and not asks_for_call(v.state.last_edits)  # its text was complete already
        and v.facts.new_chars == 0
        and not v.response.calls
    ),
)
NOTHING_THOUGHT = Guard(
    "there is no reasoning", lambda v: not (v.response.reasoning + v.response.text).strip()
)
BROKEN_DOCUMENT = Guard("the text is not the document that the request asks for", _broken_document)
DOCUMENT = Guard("the request wants a document", _wants_document)
WHOLE_DOCUMENT = Guard(
    "the request wants a document, and the text is a whole one",
    lambda v: v.is_whole_document and _wants_document(v),
)
INVALID_DOCUMENT = Guard(
    "the policy does not pass on documents that do not match their schema, and this one doesn't",
    lambda v: v.policy.invalid_documents != "pass" and _wants_document(v) and v.facts.fits is False,
)
ASK_AGAIN = Guard(
    "the policy asks for such documents again, and the caller has none of it yet",
    lambda v: v.policy.invalid_documents == "ask_again" and not v.facts.shown,
)
LIMIT_RISES = Guard(
    "the output limit can be raised, and was not raised for a continuation", _limit_rises
)
NOT_ANEW = Guard(
    "the document was not requested again just now",
    lambda v: v.state.attempts == 1 or not v.state.anew,
)
MAY_JOIN = Guard(
    "the answer is no document, or one that can be checked",
    lambda v: v.facts.checkable or not v.is_document,
)
REFUTED = Guard("what completed the document does not match the schema", lambda v: v.facts.refuted)
STOP_SEQUENCE_AT_CUT = Guard(
    "the answer to a request for more of a cut text is only a stop sequence",
    _stop_sequence_at_cut,
)
AFTER_BREAK = Guard("the text broke off earlier", lambda v: v.state.broke)
STOP_CAME_FIRST = Guard("a stop came before the answer broke off", lambda v: v.state.stopped)


def _answered_calls(view: View) -> bool:
    """Return whether the request gave the model a failed result for each of its calls. What it says
    to that is its answer."""
    return any(isinstance(edit, AppendCalls) for edit in view.state.last_edits)


SOME_CAME = Guard(
    "some of several tool calls that were owed came", lambda v: bool(v.state.came_calls)
)
ALL_CAME = Guard(
    "the tool calls that were owed came in several answers",
    lambda v: SOME_CAME.holds(v) and not lost_calls(v.state.begun_calls, v.state.came_calls),
)
CALL_PENDING = Guard(
    "a tool call was begun earlier and never arrived",
    lambda v: v.state.call_pending and not v.response.calls and not _answered_calls(v),
)


# --- ends without a mark (S3a) ------------------------------------------------------------------
#
# An answer may end in order, with neither a stop nor the wire's end mark. If it is unknown whether
# this provider sends end marks, such an answer may be complete. Tenuto then asks the model once
# more, and takes the kept text as complete if the further answer confirms its end.


def _may_be_whole(view: View) -> bool:
    """Return whether nothing shows that the text was cut, and it is unknown whether this provider
    marks the end of an answer."""
    state = view.state
    cut = state.cut_off or state.cut or view.is_half_document
    return view.facts.marks_ends is None and not cut


def _ended_unmarked(view: View) -> bool:
    return _may_be_whole(view) and bool(view.state.unmarked) and not view.state.call_pending


def _ended_unmarked_again(view: View) -> bool:
    if not (_may_be_whole(view) and view.response.unmarked):
        return False
    if view.response.calls:
        return view.state.unmarked > 1 and view.state.calls == len(view.response.calls)
    # A stream without a word may have broken off as well (S3c), and some servers begin their
    # answer with the prefill: that word is not the model's.
    said = is_visible(view.response.text) and not holds_prefill(view.state.last_edits)
    confirms = view.facts.adds_nothing and said
    return _ended_unmarked(view) and bool(view.kept_text) and confirms


def _certain_enough(view: View) -> bool:
    if view.policy.on_incomplete == "stop" or view.response.calls:
        return True
    return ends_closed(view.kept_text)


CERTAIN_ENOUGH = Guard(
    "the text ends with a closing mark, or the policy does not ask for certainty", _certain_enough
)
ENDED_UNMARKED = Guard(
    "an answer ended without an end mark, and it is not known whether this provider sends one",
    _ended_unmarked,
)
ENDED_UNMARKED_AGAIN = Guard(
    "another answer ended without an end mark and added nothing",
    _ended_unmarked_again,
)

# --- what several rungs need --------------------------------------------------------------------

# The fault is what ended such a turn; that nothing is left for a retry is only its consequence
# (C5).
TIME_TO_RETRY = Guard("time is left to try again", _time_left)
TOKENS_TO_RETRY = Guard("output tokens are left to try again", _tokens_left)
NO_CALL_MISSING = Guard("nothing is known to be missing", lambda v: not v.state.call_missing)
MAY_SEND = (NOT_LEFT_ALONE, TIME_LEFT, TOKENS_LEFT)
MAY_RETRY = (NOT_LEFT_ALONE, TIME_TO_RETRY, TOKENS_TO_RETRY)
_TEXT = (NO_CUT_REFUSAL, NO_CUT_RUN, HAS_TEXT)
HAS_ROOM = (UNDER_OUTPUT_CAP, ROOM)
MAY_CONTINUE = (NOT_LEFT_ALONE, *_TEXT, TIME_LEFT, PROGRESS, *HAS_ROOM, TOKENS_LEFT)
MAY_GO_ON_BY_ITSELF = (GOES_ON_BY_ITSELF, NO_BROKEN_CALL, NO_RUNAWAY, UNDER_OUTPUT_CAP)
MAY_RESUME = (WITHIN_LIMITS, RETRYABLE, *MAY_RETRY, HAS_TEXT, NO_RUNAWAY, *HAS_ROOM)
