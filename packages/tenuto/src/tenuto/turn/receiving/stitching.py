"""Join an attempt's text to the text that the turn keeps.

Only this module changes what is kept (`kept_text` and `kept` of the turn): in `stitcher_for`,
before an attempt is read, and in `keep`, after it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tenuto.core.answer.arguments import (
    ArgumentTracker,
    Finding,
    ends_in_string,
    is_document,
    without_cut_number,
)
from tenuto.core.answer.response import (
    broke_off,
    is_at_limit,
    leading_thought,
    think_closing,
    visible,
)
from tenuto.core.deciding.actions import AppendAssistant, DropConstraint, holds_prefill
from tenuto.core.deciding.edits import asks_for_call
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.seam.caller_prefix import CallerPrefix
from tenuto.core.seam.seam import Seam, join, trailing_space
from tenuto.core.seam.small_talk import SmallTalkFilter
from tenuto.core.seam.stitcher import Stitcher, ThinkBlockCloser
from tenuto.core.seam.stopping import Found, StopSequenceStitcher
from tenuto.core.seam.unwrapper import Unwrapper
from tenuto.turn.record.attempt import Attempt
from tenuto.turn.record.turn_record import Kept, TurnRecord
from tenuto.wires.stop_sequences import stop_of


def stitcher_for(turn: TurnRecord) -> StopSequenceStitcher | None:
    """Return where this attempt's text joins the kept text; None if there is none, or if the
    attempt is separate from it, or belongs to a document."""
    if turn.apart or turn.puts_together:
        return None
    _undo_empty(turn)
    base = trailing_space(turn.kept_text)[0]
    given = turn.client_stream.delivered_text if turn.open else base
    return _stitcher_between(turn, turn.kept_text, given) if base else None


def _stitcher_between(turn: TurnRecord, kept_text: str, given: str) -> StopSequenceStitcher:
    """Return where this attempt's text joins `kept_text`, of which the caller has
    `given`."""
    base, space = trailing_space(kept_text)
    if not visible(base):
        return StopSequenceStitcher(
            ThinkBlockCloser(kept_text[len(given) :] + think_closing(base)), "", 0, ()
        )
    edits = turn.state.last_edits
    exact = holds_prefill(edits)
    given_space = given[len(base) :]
    given_space = given_space if space.startswith(given_space) else ""
    # A repetition repeats the answer, not the reasoning before it; an echo has both.
    thought = 0 if exact else leading_thought(base)
    begins = {0, *(max(kept.begins - thought, 0) for kept in turn.kept)}
    # The text before a call that broke off was complete already; text after a whole call was not.
    last = turn.kept[-1].attempt.response if turn.kept else None
    broke_in_call = last is not None and bool(last.calls) and not last.text_behind_calls
    make = partial(
        Seam,
        trimmed=space,
        delivered_trimmed=given_space,
        exact=exact,
        echoed=turn.provider.dialect.prefill_echoed,
        aside="" if exact else _set_aside(turn),
    )
    anew = asks_for_call(edits) or (not exact and broke_in_call)
    again = begins if anew and not turn.state.torn else ()
    if since := turn.text_after_checkpoint:
        again = {len(base) - thought - len(since.rstrip())}
    alone = make(base[thought:], again=again)
    # The caller's own first words. After reasoning, the text does not follow them.
    begun = "" if exact or thought else turn.facts.begun
    again_too = {0} if again else ()
    seam = CallerPrefix(alone, make(begun + base, again=again_too)) if begun else alone
    lifted = any(isinstance(edit, DropConstraint) for edit in edits)
    document = lifted and not turn.facts.one_of_words
    # After a break it is unknown whether more was to come: the model may say that there is nothing.
    whole = base[thought:] if turn.state.unmarked else ""
    met: Stitcher = SmallTalkFilter(seam, before=whole) if turn.state.broke and not exact else seam
    stitcher = Unwrapper(met, base, thinks=not exact, document=document)
    return StopSequenceStitcher(stitcher, given, len(space) - len(given_space), turn.stop_sequences)


def _set_aside(turn: TurnRecord) -> str:
    """Return the text behind white space of an attempt that broke off, if no attempt since added
    anything. A model that is asked again may leave that white space out (S4a)."""
    for kept in reversed(turn.kept):
        if kept.attempt.new_chars or not broke_off(kept.attempt.response):
            break
        if kept.attempt.response.text[:1].isspace():
            return kept.attempt.response.text
    return ""


def _undo_empty(turn: TurnRecord) -> None:
    """Drop white space that came as an empty answer (E1). After a prefill it counts as text,
    unless the turn is requested again. Then no request contains it, and the next answer doesn't
    continue it."""
    last = next((kept for kept in reversed(turn.kept) if kept.attempt.new_chars), None)
    if last is None or last.attempt.response.text.strip():
        return
    if last.attempt.outcome in (Outcome.EMPTY, Outcome.THINKING_ONLY):
        turn.kept_text = turn.kept_text[: -last.attempt.new_chars]
        last.attempt.new_chars = 0


def stitch_body(turn: TurnRecord, attempt: Attempt) -> str:
    """Join a whole body's text to the kept text. Return what is new and may be shown."""
    if turn.puts_together:
        put_together(turn, attempt)
        return ""
    apart, stitcher = turn.apart, stitcher_for(turn)
    text, kept_text = attempt.response.text, turn.kept_text
    if stitcher is None:
        attempt.new_chars = len(text)
        keep(turn, attempt, kept_text + text if apart else text, len(kept_text) if apart else 0)
        return text
    response = attempt.response
    new = stitcher.feed(text) + stitcher.finish(
        broke_off=broke_off(response), at_limit=is_at_limit(response)
    )
    base = trailing_space(kept_text)[0]
    if stitcher.found is not None:  # nothing of it was forwarded yet
        base = kept_text = base[: len(base) - stitcher.found.before_chars]
    attempt.new_chars = stitcher.new_chars
    stopped(turn, attempt, stitcher.found)
    keep(turn, attempt, base + new if new else kept_text, len(base) if new else len(kept_text))
    return new


def put_together(turn: TurnRecord, attempt: Attempt) -> None:
    """Keep what an attempt brings of a document that is kept in part (C27a): all of it, if the
    attempt is or completes the document and begins with what the caller has; a further part, if it
    was cut as well; otherwise nothing, since the next attempt would continue something wrong."""
    document, response, kept_text = turn.document, attempt.response, turn.kept_text
    assert document is not None
    text, given = response.text, turn.given
    cut = broke_off(response)
    if turn.state.anew:
        whole = document.fits(text)
        unchecked = whole is None and not cut
        if text.startswith(given) and (whole or unchecked or (cut and len(text) > len(kept_text))):
            return _keep_document(turn, attempt, text, 0)
        turn.refuted = turn.refuted or (whole is False and not cut and is_document(text))
        return _keep_document(turn, attempt, kept_text, len(kept_text))
    shown = [edit.text for edit in turn.state.last_edits if isinstance(edit, AppendAssistant)]
    part = without_cut_number(kept_text)
    part = part if trailing_space(part)[0] in shown else kept_text
    base = trailing_space(part)[0]
    stitcher = _stitcher_between(turn, part, base)
    new = stitcher.feed(text) + stitcher.finish(broke_off=cut, at_limit=is_at_limit(response))
    together = base + new
    plain = join(base, text, trimmed=trailing_space(part)[1], exact=True)
    doubtful = together != plain and _may_be_elements(base, together, plain)
    readings = [one for one in dict.fromkeys((together, plain)) if one.startswith(given)]
    fitting = [one for one in readings if document.fits_together(one)]
    if len(fitting) == 1 or (fitting and not doubtful):
        return _keep_document(turn, attempt, fitting[0], len(base))
    for alone in (text, _unwrapped(text)):
        if alone.startswith(given) and document.fits_alone(alone, base):
            return _keep_document(turn, attempt, alone, 0)
    doubtful = doubtful and _begins_document(turn.facts.begun + plain)
    if new and cut and not doubtful and _begins_document(turn.facts.begun + together):
        turn.proven = turn.proven or (kept_text, turn.kept)
        return _keep_document(turn, attempt, together, len(base))
    unchecked = document.fits(together) is None
    turn.refuted = turn.refuted or bool(new and not cut and not unchecked and not fitting)
    return _keep_document(turn, attempt, kept_text, len(kept_text))


def _may_be_elements(base: str, together: str, plain: str) -> bool:
    """Return whether what was taken for a repetition may be elements of their own: two rows of a
    list may well be equal. Within a string it is text, as in any answer."""
    came, new = plain[len(base) :], together[len(base) :].lstrip()
    removed = came[: len(came) - len(new)] if new and came.endswith(new) else came
    return not ends_in_string(base) or '"' in removed


def _keep_document(turn: TurnRecord, attempt: Attempt, kept_text: str, begins: int) -> None:
    attempt.new_chars = len(kept_text) - begins
    keep(turn, attempt, kept_text, begins)


def _begins_document(text: str) -> bool:
    """Return whether a text may be the beginning of a document."""
    tracker = ArgumentTracker()
    tracker.feed(text[leading_thought(text) :].lstrip())
    return tracker.finding is not Finding.MALFORMED


def _unwrapped(text: str) -> str:
    """Return the part of a text from its first bracket to its last: models announce what they
    write, and put it into code fences."""
    begins = min((at for at in map(text.find, "{[") if at >= 0), default=0)
    return text[begins : max(map(text.rfind, "}]")) + 1]


def undo_unproven(turn: TurnRecord) -> None:
    """Drop what was added to a document that stayed unfinished. What answers with the schema
    brought is kept (C27a)."""
    if turn.proven is not None:
        turn.kept_text, turn.kept = turn.proven
        turn.proven = None


def keep(turn: TurnRecord, attempt: Attempt, kept_text: str, begins: int) -> None:
    """Keep an attempt: all text is now `kept_text`, and that of the attempt begins at index
    `begins`."""
    apart, turn.kept_text = turn.apart, kept_text
    if not begins and not apart:
        turn.kept = []
    # A cut character at the end of the kept text is written anew, so an attempt in between that
    # added nothing must not begin later than this one.
    turn.kept = [
        replace(kept, begins=begins) if kept.begins > begins else kept for kept in turn.kept
    ]
    turn.kept.append(Kept(attempt, begins, apart))


def stopped(turn: TurnRecord, attempt: Attempt, found: Found | None) -> None:
    """End an attempt at a stop sequence that spans the cut, if one was found."""
    if found is not None:
        stop = stop_of(turn.wire)
        attempt.response = replace(attempt.response, stop=stop, calls=(), refusal="", fault=None)
        attempt.stopped_at = found.sequence
