"""`judge()`: what is in a stored answer."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.required import lacks_required
from tenuto.core.answer.response import Response
from tenuto.core.answer.stop import CLEAN, Confidence, Stop, StopReason, printable
from tenuto.core.answer.written_call import is_written_call
from tenuto.core.deciding.outcome import (
    Batch,
    Outcome,
    Readable,
    Sign,
    classify,
    outcome_of,
    worst_calls,
)
from tenuto.detection.replies import Failure
from tenuto.judging import signs
from tenuto.judging.answers import Read, read_answer
from tenuto.judging.beside import with_beside
from tenuto.judging.cassettes import exchanges
from tenuto.judging.cells import count_in, without_nulls
from tenuto.judging.days import day_in
from tenuto.judging.flat import flatly
from tenuto.judging.held import Held
from tenuto.judging.kind import Kind
from tenuto.judging.kinds import WITH_STOP, WITHOUT_STOP, kinds_named
from tenuto.judging.messages import are_messages, turns_in
from tenuto.judging.opening import opened
from tenuto.judging.quick import Shapes, quickly, shapes_of
from tenuto.judging.requests import Asked, asked_in, asks, limit_asked
from tenuto.judging.verdict import (
    ERROR_OF_ANYBODY,
    GRAVITY,
    NOT_AN_ANSWER,
    STRUCTURE,
    Verdict,
    is_certain,
)
from tenuto.judging.walk import found_within
from tenuto.schema.documents import Document
from tenuto.wires.json import JsonObject, decode_object

log: logging.Logger = logging.getLogger("tenuto")


def judge(
    row: object,
    *,
    request: object = None,
    limit: int | None = None,
    schema: Mapping[str, Any] | None = None,
    kind: str | None = None,
) -> Verdict:
    """Say what is in a stored answer: whether it is complete, cut, empty or broken. Never raises on
    what a row holds.

    Args:
        row: a row as it was stored: a dict, the bytes or text of a line or of a recorded stream, a
            list of a stream's events, or an object of an SDK. Kinds of rows are known (batch
            results, evaluation logs, traces, training data: `docs/guide/check-stored-answers.md`);
            in others, an answer is looked for.
        request: the request of this row, as a dict or bytes; it tells the limit, the schema and the
            tools. None: the row's own is used, if it has one.
        limit: the output limit in tokens, if the caller knows it; it goes before all others. None:
            that of the request.
        schema: the JSON Schema of the document that was asked for; {}: JSON without a schema. None:
            that of the request. To validate needs `tenuto[schema]`; without it, only what does not
            parse is found.
        kind: the kind of the row; None: it is found. A row that does not fit the kind is read as if
            none was named.

    Returns:
        the verdict. If the row holds several answers, it is that of the worst, and `choice` is its
        number.

    Raises:
        ValueError: there is no kind of this name.

    >>> judge({"custom_id": "a", "error": None, "response": {"status_code": 200, "body": {
    ...     "choices": [{"message": {"content": "Hi th"}, "finish_reason": "length"}]}}}).kind
    'openai_batch'
    >>> verdict = judge({"messages": [{"role": "user", "content": "Print x."},
    ...     {"role": "assistant", "content": "Sure:\\n```python\\nprint("}]})
    >>> verdict.outcome.value, verdict.certain, verdict.evidence
    ('likely_cut', False, ('no_stop', 'fence_open'))
    >>> judge({"name": "Mia"}).outcome.value
    'no_answer'
    """
    if request is None and schema is None and kind is None:  # most calls, which it serves first
        found = quickly(row, limit if limit and limit > 0 else None)
        if found is not None:
            return found
    return judge_by(row, way_of(limit, schema, kind), request)


SAMPLE_ROWS: Final = 100
"""So many rows of a file are tried with every quick reading, before `Way.for_kinds`."""


@dataclass(frozen=True, slots=True)
class Way:
    """How rows are judged.

    Attributes:
        limit, schema: as for `judge`.
        kinds: the kinds that are asked before all others.
        shapes: the quick readings to try; they change how long a row takes, and nothing else.
    """

    limit: int | None = None
    schema: Mapping[str, Any] | None = None
    kinds: Sequence[Kind] = ()
    shapes: Shapes | None = None

    def for_kinds(self, names: Collection[str]) -> Way:
        """Return a way that is quick with rows of these kinds alone, as a file's sample has them.

        >>> [shape.kind for shape in Way().for_kinds({"alpaca"}).shapes]
        ['alpaca']
        """
        return replace(self, shapes=shapes_of(names))


def way_of(limit: int | None, schema: Mapping[str, Any] | None, kind: str | None) -> Way:
    """Return the way that the arguments of `judge` say.

    Raises:
        ValueError: there is no kind of this name.
    """
    way = Way(limit if limit and limit > 0 else None, schema, _named(kind))
    return way if kind is None else way.for_kinds({kind})


def judge_by(row: object, way: Way, request: object = None) -> Verdict:
    """Say what is in a stored answer, as `judge` does."""
    if request is None and way.schema is None:
        found = quickly(row, way.limit, way.shapes)
        if found is not None:
            return found
    try:
        return _judged(row, way.kinds, _Given(request, way.limit, way.schema))
    except Exception as error:  # noqa: BLE001 - a row may be anything, and one must not end a run
        names = printable(type(row).__qualname__), printable(type(error).__qualname__)
        log.warning("judge could not read a row of the class %s: it raised %s", *names)
        return NOT_AN_ANSWER


def _named(kind: str | None) -> Sequence[Kind]:
    if kind is None or kind == "body":
        return ()
    found = kinds_named(kind)
    if not found:
        raise ValueError(f"there is no kind of rows named {printable(kind)!r}")
    return found


class _Given:
    """What is known of a row beside itself."""

    def __init__(
        self, request: object, limit: int | None, schema: Mapping[str, Any] | None
    ) -> None:
        self.request = request
        self.limit = limit
        self.schema = schema
        self.has_any_error = False  # whether the row is an error that any service may have written


def _judged(row: object, first: Sequence[Kind], given: _Given) -> Verdict:
    value = opened(row)
    if type(value) is dict and not first and given.request is None and given.schema is None:
        found = flatly(value, given.limit, lambda: _whole(value, first, given))
        if found is not None:
            return found
    return _whole(value, first, given)


def _whole(value: object, first: Sequence[Kind], given: _Given) -> Verdict:
    for name, found in _ways(value, first):
        held = list(found)
        verdicts = [verdict for one in held for verdict in _verdicts(one, name, given)]
        if verdicts:
            worst = _worst(verdicts)
            return worst if worst.day else replace(worst, day=day_in(value))
    # A table has all of its columns in every row, and a null one may be that of another kind.
    bare = without_nulls(value)
    if bare is not value:
        return _whole(bare, first, given)
    return ERROR_OF_ANYBODY if given.has_any_error else NOT_AN_ANSWER


def _ways(value: object, first: Sequence[Kind]) -> Iterator[tuple[str, Iterator[Held]]]:
    """Return the ways to read a row, in their order, with the kind that each is."""
    if isinstance(value, str):
        yield "cassette", exchanges(value)
        return
    if isinstance(value, dict):
        for kind in (*first, *WITH_STOP):
            if kind.fits(value):
                yield kind.name, _held(kind, value)
    if isinstance(value, dict | list | bytes | Failure) and not _is_of_training(value):
        yield "body", iter((Held(answer=value),))
    if isinstance(value, dict | list):
        bare = without_nulls(value)
        if bare is not value:  # a column of another kind says nothing of this row
            yield "found_within", iter(found_within(bare))
        yield "found_within", iter(found_within(value))
    if isinstance(value, list) and are_messages(value):
        yield "messages", turns_in(value)
    if isinstance(value, dict):
        for kind in WITHOUT_STOP:
            if kind.fits(value):
                yield kind.name, _held(kind, value)


def _is_of_training(value: object) -> bool:
    """Return whether a row keeps a completion beside its prompt, which no API repeats: the stop of
    such a row makes it look like a body of Claude's old completions."""
    return isinstance(value, dict) and "prompt" in value and "completion" in value


def _held(kind: Kind, row: JsonObject) -> Iterator[Held]:
    """Return the answers of a row. A kind that stores no stop says nothing of what stands beside
    them."""
    found = kind.held(row)
    return iter(with_beside(row, found)) if kind in WITHOUT_STOP else found


# --- one answer


def _verdicts(held: Held, kind: str, given: _Given) -> list[Verdict]:
    asked = asked_in(given.request or held.request, held.wire, held.path)
    if held.answer is None and not held.failed:
        return []
    if held.answer is None:
        return [_failed(held, kind, asked)]
    found = read_answer(held.answer, held.wire)
    if _may_be_anybodys(held, kind, given):
        models = [one for one in found if not _is_anybodys(one.response)]
        given.has_any_error |= kind == "body" and len(models) < len(found)
        found = models
    return [_verdict(read, held, kind, asked, given) for read in found]


_ANYWHERE: Final = frozenset({"body", "found_within", "exchange", "har", "cassette"})
"""Kinds that say of a row only where it may have an answer, and not that it has one."""


def _may_be_anybodys(held: Held, kind: str, given: _Given) -> bool:
    """Return whether nothing but an answer itself says that it is a model's: neither the kind of
    its row nor what was asked."""
    return kind in _ANYWHERE and not _is_to_model(held, given.request)


def _is_to_model(held: Held, request: object) -> bool:
    """Return whether what was asked is known, and was asked of a model, so that any error in its
    place is that of a model."""
    told = request if request is not None else held.request
    return bool(held.wire) or (told is not None and asks(told))


def _is_anybodys(response: Response) -> bool:
    """Return whether a response is an error in a form that other services have, too: the errors of
    most look like those of models."""
    return response.fault is not None and response.stop.confidence is not Confidence.HIGH


def _failed(held: Held, kind: str, asked: Asked) -> Verdict:
    stop = Stop(StopReason.ERROR, raw=held.failed, detail="not_stored")
    return Verdict(
        Outcome.FAULT,
        certain=True,
        evidence=("error",),
        stop=stop,
        limit=held.limit or asked.limit,
        model=held.model,
        id=held.id,
        kind=kind,
        wire=held.wire,
        can_be_finished=held.request is not None,
        request_at=held.request_at,
    )


def _verdict(read: Read, held: Held, kind: str, asked: Asked, given: _Given) -> Verdict:
    response, shared = read.response, held.shared or read.shared or asked.choices > 1
    limit = given.limit or held.limit or asked.limit or _echoed(held.answer)
    schema = given.schema if given.schema is not None else asked.schema
    tokens = count_in(response.usage.output_tokens) if response.usage else None
    at_limit = limit is not None and tokens is not None and tokens >= limit and not shared
    response = _with_lacking(response, asked, at_limit=at_limit)
    stored = response.stop.raw is not None or response.fault is not None
    lacks_stop = response.stop.reason is StopReason.UNKNOWN or (
        # What is stored as one object is no stream that broke off.
        response.stop.reason is StopReason.DROPPED and isinstance(held.answer, dict)
    )
    if not stored and lacks_stop:
        response = replace(response, stop=replace(response.stop, reason=StopReason.END_TURN))
    sign, evidence = _sign(response, asked, schema, stored=stored, at_limit=at_limit)
    if stored and not shared and _is_broken_below(response, tokens, limit):
        response, evidence = _with_broken(response), ("below_limit",)
    outcome = _outcome(response, sign)
    first = "error" if response.fault else "stop" if stored else "no_stop"
    words = (first, *STRUCTURE.get(outcome, ()), *evidence)
    request = given.request if given.request is not None else held.request
    return Verdict(
        outcome,
        certain=is_certain(outcome, stored=stored),
        evidence=words,
        stop=response.stop,
        text=response.text,
        limit=limit,
        output_tokens=None if shared else tokens,
        model=held.model or read.model,
        id=held.id or response.id,
        kind=kind,
        wire=read.wire or held.wire,
        can_be_finished=outcome in CAN_BE_FINISHED and request is not None and asked.choices == 1,
        request_at=held.request_at if given.request is None else "",
        day=day_in(held.answer),
    )


def _echoed(answer: object) -> int | None:
    """Return the limit that a body repeats, as those of Responses do."""
    return (
        limit_asked(answer)
        if isinstance(answer, dict) and answer.get("object") == "response"
        else None
    )


def _outcome(response: Response, sign: Sign) -> Outcome:
    found = classify(response, sign)
    if found in (Outcome.THINKING_ONLY, Outcome.THINKING_CUT) and signs.names_tag(response.text):
        return outcome_of(response.stop.reason, worst_calls(response), Readable.SEEN, sign)
    return found


def _is_broken_below(response: Response, tokens: int | None, limit: int | None) -> bool:
    """Return whether a call breaks off under a clean stop, with so few tokens that the limit cannot
    have cut it, however they are counted."""
    if tokens is None or limit is None or tokens >= _FAR_BELOW * limit:
        return False
    return response.stop.reason in CLEAN and worst_calls(response) is Batch.CUT


_FAR_BELOW: Final = 0.5
"""Cut answers are stored with 64 to 99 % of the limit where reasoning is counted apart, or tokens
are rounded."""


def _with_broken(response: Response) -> Response:
    """Return a response whose calls that break off are broken, as no limit cut them."""
    calls = tuple(
        replace(call, finding=Finding.MALFORMED) if call.finding is Finding.TRUNCATED else call
        for call in response.calls
    )
    return replace(response, calls=calls)


def _with_lacking(response: Response, asked: Asked, *, at_limit: bool) -> Response:
    """Return a response whose calls are cut where they lack a required member and something else
    says that the answer was cut (T12b)."""
    if not response.calls or not asked.tools:
        return response
    if response.stop.reason in CLEAN and not at_limit:
        return response
    calls = tuple(
        replace(call, finding=Finding.TRUNCATED, detail="lacks_required")
        if call.finding is Finding.WHOLE
        and not call.free
        and lacks_required(asked.tools.get(call.name), decode_object(call.arguments.encode()))
        else call
        for call in response.calls
    )
    return replace(response, calls=calls)


def _sign(
    response: Response,
    asked: Asked,
    schema: Mapping[str, Any] | None,
    *,
    stored: bool,
    at_limit: bool,
) -> tuple[Sign, tuple[str, ...]]:
    """Return the sign that counts, and words for what was seen."""
    text = response.text
    if signs.runs_away(text or response.reasoning):
        return Sign.RUNAWAY, ("runaway",)
    seen = ("tokens_at_limit",) if at_limit else ()
    if response.calls:
        return (Sign.LIKELY_CUT, seen) if seen and not stored else (Sign.NONE, seen)
    if text and _is_call(text, asked):
        return Sign.CALL_WRITTEN, ("call_in_text",)
    if schema is not None and Document(schema, asked.begun).fits(text) is False:
        return Sign.DOCUMENT_INVALID, (*seen, "document_invalid")
    return signs.at_end(text, stored=stored, at_limit=at_limit)


def _is_call(text: str, asked: Asked) -> bool:
    if asked.tools:
        return is_written_call(text, asked.tools)
    # Without the tools, only a notation at the very beginning is more than a text about one.
    return signs.starts_call(text)


CAN_BE_FINISHED: Final = frozenset(
    {Outcome.TEXT_CUT, Outcome.ARGUMENTS_CUT, Outcome.ARGUMENTS_MALFORMED, Outcome.CALLS_MISSING}
    | {Outcome.THINKING_CUT, Outcome.THINKING_ONLY, Outcome.EMPTY, Outcome.PAUSED, Outcome.DROPPED}
    | {Outcome.FAULT, Outcome.DOCUMENT_INVALID, Outcome.CALL_WRITTEN, Outcome.LIKELY_CUT}
)
"""Outcomes that another request may put right. More of a runaway, of a refused or a blocked answer
is no more of the answer."""


# --- several answers


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    numbered = range(len(verdicts))
    number = min(numbered, key=lambda each: GRAVITY[verdicts[each].outcome])
    return replace(verdicts[number], choice=number, choices=len(verdicts))
