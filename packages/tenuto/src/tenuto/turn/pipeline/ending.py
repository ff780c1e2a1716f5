"""The end of a turn: what the caller sees (P1a).

`finish_turn` ends every turn whose answer was read; `turn.receiving.unread` ends the others. One
table of the wire says what each outcome looks like. An answer that needs no change is passed on as
it came. This module changes nothing in the turn except what the caller has seen.
"""

from __future__ import annotations

from dataclasses import replace

from tenuto.core.answer.response import is_visible
from tenuto.core.answer.stop import CLEAN, StopReason
from tenuto.core.deciding.actions import Finish, Status
from tenuto.core.deciding.outcome import Outcome
from tenuto.core.deciding.view import Facts
from tenuto.core.events.report import Report
from tenuto.core.hints import NOTICE
from tenuto.core.settings.policy import Policy
from tenuto.frames.compression import UndecodableBytes
from tenuto.frames.frame import FrameTooLarge
from tenuto.turn.decision import FINISHED_UPSTREAM
from tenuto.turn.drivers.call_context import CallContext
from tenuto.turn.drivers.commands import (
    ConnectionLost,
    Head,
    Headers,
    RaiseError,
    Run,
    SendData,
    Sleep,
    StartResponse,
    Unfinished,
)
from tenuto.turn.drivers.mark import has_ours, without_ours
from tenuto.turn.pipeline.error_end import (
    LOST,
    MESSAGE_CHARS,
    message_of,
    unmarked,
    with_message,
    with_note,
)
from tenuto.turn.pipeline.quota import quota_of
from tenuto.turn.receiving.stitching import undo_unproven
from tenuto.turn.receiving.streams import open_as_events
from tenuto.turn.receiving.unread import rest_of_response, rest_of_stream
from tenuto.turn.receiving.unrecognized import with_default_message
from tenuto.turn.record.attempt import Attempt
from tenuto.turn.record.recent import RecentTurn, recent, text_hash
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.turn.record.usage import counted, summed, usage_comment, usage_line
from tenuto.wires.answer import Answer, Shown
from tenuto.wires.json import JsonObject
from tenuto.wires.usage import of_turn


def ends_in_error(finish: Finish, shown: Shown, policy: Policy) -> bool:
    """Return whether the caller gets an error: the policy says so, or the wire has no stop for
    it."""
    if finish.status is Status.COMPLETE:
        return False
    bare = finish.status is Status.FAILED and not shown.received
    no_stop = (shown.error is not None or bare) and not finish.as_received
    invalid = finish.reason == "document_invalid" and policy.invalid_documents == "error"
    return policy.on_incomplete == "error" or no_stop or invalid


_MISREAD = frozenset({"no_stop", "content_after_stop"})
"""Anomalies of whole answers with which some readers lose the text: Strands needs a stop, and
ignores everything after it. With `on_incomplete="error"`, these are corrected, since it asks for
certainty."""


_BROKEN_OFF = frozenset({StopReason.DROPPED, StopReason.ERROR, StopReason.MAX_TOKENS})
"""Stops of answers that may be complete all the same, such as a document that parses. The caller
gets a clean stop instead, since an SDK's own `parse` refuses a document with another one."""

_TOLD_BY_THE_PROVIDER = frozenset(
    {Outcome.FAULT, Outcome.DROPPED, Outcome.ARGUMENTS_MALFORMED, Outcome.EMPTY}
    | {Outcome.THINKING_ONLY}
)
"""Outcomes that most wires have no stop for. If the provider wrote one all the same, the caller
knows it, since the bare SDK shows it."""

_WHOLE_AS_IT_CAME = frozenset({Outcome.BLOCKED, Outcome.REFUSED})
"""Outcomes of answers that nothing is added to, since no more of them was to come (P10)."""

_ASKS_TO_WAIT = (b"retry-after", b"retry-after-ms")
"""Headers with which a provider asks to wait. An error that replaces its own has them too (P5)."""


def finish_turn(
    turn: TurnRecord, finish: Finish, outcome: Outcome, facts: Facts, attempt: Attempt
) -> Run:
    """Finish a turn: complete its report, give the whole answer to an agent's loop, and return the
    commands that show the caller the rest."""
    if finish.status is not Status.COMPLETE:
        undo_unproven(turn)
    if turn.document is not None and turn.open and turn.client_stream.writing:
        turn.client_stream.set_text(turn.kept_text)
    if finish.status is Status.COMPLETE and turn.first is not None:
        turn.environment.replaced_ids.add(turn.first.response.id, attempt.response.id)
    ending = _Ending(turn, finish, facts, attempt)
    report = turn.log.finished(finish, outcome, facts, turn.held_bytes, ending.error)
    recent.add(report.turn, turn.log.ids, RecentTurn(report, text_hash(ending.text)))
    if turn.context is not None:
        ending.tell(turn.context, report)
    return ending.show(report)


class _Ending:
    """How one turn ended, and what the caller has still to see.

    Attributes:
        error: the code of the error that the caller gets instead of an answer; None if it gets an
            answer, or an error that is not Tenuto's.
    """

    def __init__(self, turn: TurnRecord, finish: Finish, facts: Facts, attempt: Attempt) -> None:
        self._turn = turn
        self._finish = finish
        self._facts = facts
        self._attempt = attempt
        row = turn.wire.shown[finish.shown]
        self._shown = self._as_told(row)
        self._is_first = attempt is turn.first
        self._is_complete = finish.status is Status.COMPLETE
        nothing_came = finish.status is Status.FAILED and not turn.headed
        # The caller has received nothing from Tenuto either. So the SDK retries by itself, and its
        # users know its own exception (P1b).
        # An error response to a further attempt says more, and is what the SDK's own retry meets.
        self._reraised = self._lost() if nothing_came and not attempt.http_error else None
        self._unchanged = self._reraised is None and self._as_it_came()
        ours = self._reraised is None and not self._unchanged
        raises = ours and (ends_in_error(finish, self._shown, turn.policy) or self._raises_bare())
        self.error = (row.error or finish.reason) if raises else None

    def _as_told(self, shown: Shown) -> Shown:
        """Return how the end is shown: with the provider's own stop in the place of an error, if
        text came with one (P1c)."""
        turn, finish = self._turn, self._finish
        if finish.beside_cut:
            return Shown(native=self._cut_stop)
        if finish.status is Status.COMPLETE or finish.shown not in _TOLD_BY_THE_PROVIDER:
            return shown
        named = turn.stopped or turn.first
        if (
            named is None
            or not named.names_stop
            or (shown.error and not is_visible(turn.kept_text))
        ):
            return shown
        response, clean = named.response, turn.stopped is None
        if response.fault is not None and (clean or self._raised_by_bare()):
            return shown
        if clean and not turn.kept_text:
            return shown  # without a call and without a text, it would say nothing
        native = response.stop.raw
        invalid = "document_invalid" in response.stop.anomalies
        # A stop without a text tells nothing of one that came later.
        if clean and (invalid or not is_visible(response.text)):
            native = turn.wire.shown[Outcome.TEXT_CUT].native
        return replace(shown, native=native, error=None)

    def _lost(self) -> ConnectionLost | None:
        """Return how the connection broke, if that is what the bare SDK would raise for this turn:
        it sees only the first attempt (P1c)."""
        first, loops = self._turn.first, self._turn.context is not None
        lost = first.lost if first is not None else None
        if lost is None or (loops and self._attempt is not first):
            return None
        if isinstance(lost.error, (FrameTooLarge, UndecodableBytes)):
            return None  # found while reading for the turn: the transport raises nothing like it
        return lost if lost.kind in LOST or self._attempt is first else None

    def _raises_bare(self) -> bool:
        """Return whether nothing came but an error on which the bare SDK raises, such as that of a
        filter."""
        nothing = self._finish.status is Status.FAILED and not self._turn.kept_text
        return nothing and self._raised_by_bare()

    def _raised_by_bare(self) -> bool:
        """Return whether the bare SDK would raise on an event with the provider's error."""
        turn = self._turn
        told = turn.client_stream.provider_error if turn.facts.stream and turn.open else None
        if told is None or not turn.wire.raises_on_errors:
            return False
        return turn.client_stream.in_messages or self._is_the_wires(told)

    def _is_the_wires(self, told: JsonObject) -> bool:
        named = self._turn.wire.named_events
        return told.get("type") == "error" if named else not self._turn.client_stream.in_messages

    def _repeatable(self) -> JsonObject | None:
        """Return the event on which the bare SDK would raise, if it is one of the wire's. Bedrock's
        exceptions are not: the wire writes them."""
        told = self._turn.client_stream.provider_error if self._raised_by_bare() else None
        return told if told is not None and self._is_the_wires(told) else None

    def tell(self, context: CallContext, report: Report) -> None:
        """Give the whole answer to a loop, whether or not its caller has seen some of it."""
        fault = self._attempt.response.fault
        if fault is not None:  # some messages repeat the key that the provider rejects
            fault = with_default_message(fault, self._attempt)
            fault = replace(fault, message=self._turn.redactor.brief(fault.message, MESSAGE_CHARS))
        context.refusal = self._attempt.response.refusal
        if self._attempt.head is not None:
            context.quota = quota_of(self._attempt.head.headers)
        context.ended(report, self._answer(whole=True), fault, self._turn.state.spent)

    @property
    def text(self) -> str:
        """The text of the answer that the caller gets."""
        text = self._turn.kept_text or self._attempt.response.text
        return text + self._notice if self._adds_notice else text

    @property
    def _notice(self) -> str:
        return NOTICE.format(reason=self._finish.reason.replace("_", " "))

    def show(self, report: Report) -> Run:
        """Yield the head and the bytes that are still to come."""
        turn, attempt = self._turn, self._attempt
        if self._reraised is not None:
            lost = self._reraised.error
            alone = self._is_first  # then nothing was tried that a note could tell of
            yield RaiseError(lost if alone else with_note(lost, message_of(turn, attempt, report)))
            return
        if self._unchanged:
            yield from self._untouched(report)
            return
        answer = self._answer()
        if self.error is not None:
            yield from self._error_end(answer, report, self.error)
            return
        if turn.facts.stream and not turn.open:
            yield from open_as_events(turn, attempt)
        if self._adds_notice:
            notice = self._notice
            text = answer.text + notice
            spoken = turn.contributions(text)
            content = () if turn.facts.stream else turn.content(spoken)
            answer = replace(answer, text=text, content=content, spoken=spoken)
            if turn.open:
                client_stream = turn.client_stream
                yield SendData(
                    client_stream.flush_text()
                    + client_stream.framed(client_stream.writer.text(notice))
                )
        if turn.open:
            yield SendData(self._stream_end(answer, report), last=True)
            return
        # The last attempt may have no head at all, if its connection was lost.
        shape = turn.answered or attempt
        first, head = shape.value or {}, shape.head
        assert head is not None
        body = turn.wire.render_body(first, attempt.value or first, answer)
        usage = (b"x-tenuto-usage", usage_line(report).encode())
        head = without_ours(head) if has_ours(head.headers) else head
        yield StartResponse(turn.shown(counted(head, answer.usage).of(body).plus(usage)))
        yield SendData(body, last=True)

    @property
    def _adds_notice(self) -> bool:
        """Return whether a line of text says that the answer is unfinished. What was refused or
        blocked is whole as it came; behind a text that was cut before, it is not (C21, P10). A
        program reads what a constraint shaped, and would fail on the line before it sees the
        stop."""
        turn, finish = self._turn, self._finish
        as_it_came = self._is_first and finish.shown in _WHOLE_AS_IT_CAME
        unfinished = finish.status is Status.PARTIAL and not as_it_came
        return unfinished and turn.policy.on_incomplete == "notice" and not turn.facts.structured

    def _as_it_came(self) -> bool:
        """Return whether the caller gets the bytes of this attempt unchanged."""
        turn, finish, response = self._turn, self._finish, self._attempt.response
        if turn.left_alone:
            return True
        bare = finish.status is Status.FAILED and not turn.kept_text.strip()
        if self._attempt.http_error and not turn.headed and bare:
            return True  # the provider's own error is the most precise
        passes_unchanged = self._facts.left_alone == FINISHED_UPSTREAM and self._is_first
        if passes_unchanged and turn.policy.on_incomplete != "error" and not self._adds_notice:
            return not turn.client_stream.writing if turn.open else not turn.facts.stream
        if turn.facts.stream and not turn.open:
            return False  # a body came, and an SDK that expects events would see none
        if not self._is_first or response.repaired or (turn.open and turn.client_stream.writing):
            return False
        if response.contradicted:
            return False  # readers would see different ends (S2a)
        if self._is_complete:
            if response.stop.reason in _BROKEN_OFF:
                return False  # half an event may be at its end
            if turn.policy.on_incomplete != "error" or self._has_no_stop:
                return True
            if response.calls and not self._says_that_it_calls():
                return False  # a reader that goes by the stop would ignore them
            if response.calls_alternate:
                return False  # some readers assign each piece to the newest call
            if not turn.open:
                return True
            only_text = turn.client_stream.only_text
            return not only_text or not _MISREAD.intersection(response.stop.anomalies)
        if turn.policy.on_incomplete == "error" or self._adds_notice or finish.whole_calls_only:
            return False
        if finish.as_received:
            return not response.calls
        if self._shown.error or response.fault is not None or response.calls:
            return False
        return self._shown.received or self._shown.native == response.stop.raw

    @property
    def _has_no_stop(self) -> bool:
        """Whether the caller sees no stop, since none came and Tenuto only learned that none comes
        from this provider (S3c)."""
        response = self._attempt.response
        return response.unmarked and response.stop.raw is None and self._turn.learned_unmarked

    def _says_that_it_calls(self) -> bool:
        """Return whether the native stop is the usual one of this wire beside calls, in any
        spelling."""
        wire, response = self._turn.wire, self._attempt.response
        raw = response.stop.raw or ""
        usual = {wire.clean_stop(response.calls).lower()}
        if self._turn.facts.call_forced:
            usual.add(wire.forced_stop)
        seen = wire.read_stop(raw, "")
        called = seen is not None and seen.reason is StopReason.TOOL_CALL
        return called or raw.strip().lower() in usual

    def _untouched(self, report: Report) -> Run:
        turn, attempt = self._turn, self._attempt
        if turn.open:
            alone = bool(turn.left_alone)
            yield from rest_of_stream(attempt, turn.client_stream.flush(), left_alone=alone)
            return
        if attempt.lost is not None and not turn.headed:  # as without Tenuto
            yield RaiseError(attempt.lost.error)
            return
        assert attempt.head is not None
        head = attempt.head
        if report.attempts > 1:  # retries did not fix this error, so the SDK need not retry either
            line = usage_line(report).encode()
            head = head.plus((b"x-should-retry", b"false"), (b"x-tenuto-usage", line))
        if not turn.headed:
            yield StartResponse(turn.shown(head))
        yield SendData(attempt.raw, last=not attempt.more)
        if attempt.more:
            yield from rest_of_response()

    def _answer(self, *, whole: bool = False) -> Answer:
        """Return what is still to be sent. `whole`: with the content of a stream, of which the
        caller already has everything but the end."""
        turn, finish, attempt = self._turn, self._finish, self._attempt
        response, shown = attempt.response, self._shown
        calls = response.calls if self._is_complete else ()
        if finish.whole_calls_only:
            calls = self._facts.runnable
        calls = finish.calls or calls
        native = shown.native
        # For a fault, `raw` is an error code, which is no stop of the wire.
        received = shown.received or finish.as_received or self._is_complete
        replaced = self._is_complete and response.stop.reason in _BROKEN_OFF
        if response.fault is None and received and not replaced:
            native = response.stop.raw or native
            if finish.status is Status.PARTIAL and not self._is_first:
                native = self._not_clean(native)
        if finish.without_stop or (self._is_complete and self._has_no_stop):
            native = None
        elif native is None or (calls and not finish.beside_cut):
            # Calls beside another stop would not be noticed (E8).
            native = turn.wire.clean_stop(calls)
        if turn.open:
            ending, raw_usage = turn.client_stream.ending, turn.client_stream.raw_usage
        else:
            ending = attempt.value or {}
            raw_usage = self._raw_usage()
        if finish.beside_cut and not self._is_first:  # the stop is not that of the last attempt
            ending = {}
        if attempt.stopped_at:  # as wires that name the sequence write it
            ending = {"stop_reason": native, "stop_sequence": attempt.stopped_at}
        spoken = turn.contributions(turn.kept_text)
        return Answer(
            text=turn.kept_text,
            reasoning="".join(turn.reasoning),
            calls=calls,
            content=turn.content(spoken) if whole or not turn.facts.stream else (),
            native_stop=native,
            ending=ending,
            usage=summed(turn.log.usage, turn.log.untold_tokens, turn.state.went_on),
            raw_usage=raw_usage,
            spoken=spoken,
        )

    def _raw_usage(self) -> JsonObject | None:
        """Return the native usage object of the turn, from the bodies of its attempts."""
        turn = self._turn
        attempts = [turn.answered, *(kept.attempt for kept in turn.kept), self._attempt]
        found = {id(a): a.value for a in attempts if a is not None and a.value}
        usages = [turn.wire.usage_object(value) or None for value in found.values()]
        return of_turn(usages, turn.wire.summed_usage)

    def _not_clean(self, native: str | None) -> str | None:
        """Return the stop of a text that was cut and not finished. A clean stop, such as that of a
        refusal to continue, would make it look complete."""
        wire, shown = self._turn.wire, self._shown
        clean = wire.clean_stop(())
        if native != clean or not self._turn.kept_text:
            return native
        return shown.native if shown.native != clean else wire.shown[Outcome.TEXT_CUT].native

    @property
    def _must_break(self) -> bool:
        """Whether the stream must break for the caller to notice, as it may raise on no event."""
        turn = self._turn
        certain = turn.policy.on_incomplete == "error" and turn.context is None
        return certain and turn.wire.breaks_on_errors

    @property
    def _unclean_stop(self) -> str | None:
        """The provider's own stop, if it is not a clean one."""
        named = self._turn.stopped or self._turn.first
        if named is None or not named.names_stop or named.response.stop.reason in CLEAN:
            return None
        return named.response.stop.raw

    @property
    def _cut_stop(self) -> str | None:
        """The stop of a first answer that was cut, or the wire's own where that is a clean one."""
        first = self._turn.first
        assert first is not None
        stop, cut = first.response.stop, self._turn.wire.shown[Outcome.TEXT_CUT]
        return stop.raw if first.names_stop and stop.reason not in CLEAN else cut.native

    def _stream_end(self, answer: Answer, report: Report) -> bytes:
        client_stream = self._turn.client_stream
        # What came beside the stop, a wire writes beside its stop.
        apart = client_stream.raw_usage is not None and not self._turn.wire.usage_object(
            answer.ending
        )
        include_usage = self._turn.facts.include_usage or apart
        rest = client_stream.stop_forwarding() + client_stream.flush_text()
        end = client_stream.writer.end(answer, include_usage=include_usage)
        return rest + client_stream.framed(usage_comment(usage_line(report)) + end)

    def _error_end(self, answer: Answer, report: Report, code: str) -> Run:
        turn, attempt = self._turn, self._attempt
        message = message_of(turn, attempt, report)
        line = usage_line(report)
        if turn.headed:
            client_stream = turn.client_stream
            rest = client_stream.stop_forwarding() + client_stream.flush_text()
            lost = self._lost() if turn.context is None else None
            if lost is not None:
                if rest:
                    yield SendData(rest)
                yield RaiseError(with_note(lost.error, message))
                return
            own = self._repeatable()
            so_far = replace(answer, native_stop=self._unclean_stop)
            ours = (
                client_stream.writer.failed(code, message, so_far)
                if own is None
                else with_message(turn, own, message)
            )
            breaks = self._must_break
            event = client_stream.framed(usage_comment(line) + (unmarked(ours) if breaks else ours))
            # An SDK raises at this event and reads no further, so upstream is released before it.
            yield Sleep(0.0)
            yield SendData(rest + event, last=not breaks)
            if breaks:
                yield RaiseError(Unfinished(message))
            return
        body = turn.wire.render_error(code, message, answer)
        pairs: Headers = ((b"content-type", b"application/json"), (b"x-should-retry", b"false"))
        told = (b"x-tenuto-usage", line.encode())
        last = attempt.head.headers if attempt.http_error and attempt.head else ()
        asked = [pair for pair in last if pair[0].lower() in _ASKS_TO_WAIT]
        head = Head(turn.wire.error_status, pairs)
        head = head.plus((b"content-length", b"%d" % len(body)), told, *asked)
        yield StartResponse(turn.shown(head))
        yield SendData(body, last=True)
