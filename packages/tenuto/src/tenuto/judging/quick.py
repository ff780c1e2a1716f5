"""Typed readings of the commonest rows, which say in microseconds what the whole reading would.

Theory of operation
-------------------
A row that fits none of the shapes (`shapes.py`) is left to the whole reading (`judgement.py`). A
test compares both readings over all recorded answers and over rows with anything in any place.

The shape that fitted the last row is tried first, since files hold rows of one kind. That changes
how long a row takes, and never what is said of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec

from tenuto.core.answer.stop import NO_STOP, Confidence, Stop, StopReason
from tenuto.core.deciding.outcome import Batch, Readable, Sign, outcome_of
from tenuto.judging import shapes as of
from tenuto.judging.beside import tokens_of_last
from tenuto.judging.shapes import Found
from tenuto.judging.signs import at_end, runs_away
from tenuto.judging.verdict import GRAVITY, STRUCTURE, Verdict, is_certain
from tenuto.wires.registry import WIRES


class _Shape(NamedTuple):
    kind: str
    shape: type[Any]
    decode: Callable[[bytes | str], Any]


def _shape(kind: str, shape: type[Any]) -> _Shape:
    return _Shape(kind, shape, msgspec.json.Decoder(shape).decode)


_SHAPES: Final = [
    _shape("openai_batch", of.OpenaiBatch),
    _shape("anthropic_batch", of.AnthropicBatch),
    _shape("gemini_batch", of.GeminiBatch),
    _shape("openai_batch", of.ResponsesBatch),
    _shape("inspect_sample", of.InspectSample),
    _shape("body", of.Chat),
    _shape("body", of.Response),
    _shape("body", of.Message),
    _shape("body", of.Gemini),
    _shape("messages", of.Messages),
    _shape("ray_data_llm", of.Ray),
    _shape("prompt_completion", of.Completion),
    _shape("alpaca", of.Alpaca),
]
"""The shape that fitted last is the first."""

Shapes = list[_Shape]


def shapes_of(kinds: Collection[str]) -> Shapes:
    """Return the shapes of some kinds.

    >>> len(shapes_of(["openai_batch"])), shapes_of(["vertex_batch"])
    (2, [])
    """
    return [shape for shape in _SHAPES if shape.kind in kinds]


_REFUSED = (msgspec.DecodeError, UnicodeError, RecursionError)
_REFUSED_OR_NOT_TEXT = (*_REFUSED, TypeError)


def quickly(row: object, limit: int | None, shapes: Shapes | None = None) -> Verdict | None:
    """Return the verdict on a row of a common shape; None: the whole reading has to take it.
    `limit`: as for `judge`. `shapes`: those that are tried; None: all."""
    read = _read(row, shapes)
    if read is None:
        return None
    kind, found = read
    if type(found) is of.Messages:
        return _conversation(found, limit)
    told = found.found()
    return verdict_on(told, kind, limit) if told is not None else None


def _read(row: object, shapes: Shapes | None) -> tuple[str, Any] | None:
    """Return the kind of a row and the row as the shape that it fits; None: it fits none."""
    kind = type(row)
    if WIRES.changes:  # a wire that was registered may claim a row
        return None
    tried = _SHAPES if shapes is None else shapes
    for number, shape in enumerate(tried):
        try:
            if kind is dict:
                found = msgspec.convert(row, shape.shape)
            elif kind is bytes or kind is str:
                found = shape.decode(row)  # type: ignore[arg-type]
            else:
                return None
        except _REFUSED:
            continue
        if number:
            tried.insert(0, tried.pop(number))
        return shape.kind, found
    return None


Alike = tuple[Any, ...]
"""What rows have in common that are counted alike: the kind, the length of the text where no
tokens are stored, and what `Found` has beside the text and the id."""


class _Row(Protocol):
    """A row of a file. `data`: what `judge` is given."""

    data: object


AnyRow = TypeVar("AnyRow", bound=_Row)


def uncounted(
    rows: Iterable[AnyRow], limit: int | None, shapes: Shapes, counts: dict[Alike, int]
) -> Iterator[tuple[AnyRow, Verdict | None]]:
    """Count the rows with a stop whose texts say no more, and return the others: each with its
    verdict, or None, if the whole reading has to take it.

    Args:
        rows: rows, with what `judge` is given.
        limit, shapes: those of `quickly`.
        counts: how many rows are alike, to which is added.
    """
    if WIRES.changes or not shapes:
        yield from ((row, None) for row in rows)
        return
    get = counts.get
    for row in rows:
        try:  # the shape of the last row, as `_read` would, which takes half as long again
            kind, _, decode = shapes[0]
            found = decode(row.data)  # type: ignore[arg-type]
        except _REFUSED_OR_NOT_TEXT:
            if (read := _read(row.data, shapes)) is None:
                yield row, None
                continue
            kind, found = read
        if type(found) is of.Messages:
            yield row, _conversation(found, limit)
            continue
        told = found.found()
        if told is None:
            yield row, None
            continue
        text = told.text
        if not told.stop or not _is_plain(text):
            yield row, verdict_on(told, kind, limit)
            continue
        if away(text):
            yield row, verdict_on(told, kind, limit, is_away=True)
            continue
        tokens = told.tokens
        chars = 1 if tokens else len(text)
        asked = tokens, told.model, told.wire, told.limit, told.day
        key = kind, chars, told.stop, told.stop_at, *asked
        counts[key] = get(key, 0) + 1


def away(text: str) -> bool:
    """Return what `runs_away` does. A text that runs away holds four of a passage in its last 8,000
    characters, so its last characters come before, no further than a passage is long. The nearest
    place is the shortest passage that it may be; with letters enough, no longer one changes that.

    >>> away("Let me see. " + "I will now fix that bug, too. " * 20), away("ha " * 200)
    (True, False)
    """
    size = len(text)
    if size < _RUNAWAY_CHARS:
        return False
    if text[-1].isspace():
        return runs_away(text)
    most = size // _LEAST_PERIODS if size < _LONG else _MOST_PERIOD
    last = text[-_LAST_CHARS:]
    if text.find(last, -most - _LAST_CHARS, -1) < 0:
        return False
    period = size - _LAST_CHARS - text.rfind(last, 0, -1)
    least = max(_RUNAWAY_CHARS, _LEAST_PERIODS * period)
    if least <= size and text[-least:-period] == text[period - least :]:
        letters = sum(map(str.isalpha, text[-period:]))
        if letters >= _SENTENCE_LETTERS:
            return True
    return runs_away(text)


_RUNAWAY_CHARS: Final = 400
_LEAST_PERIODS: Final = 4
_MOST_PERIOD: Final = 2_000
_LONG: Final = _LEAST_PERIODS * _MOST_PERIOD
_LAST_CHARS: Final = 48
_SENTENCE_LETTERS: Final = 20
"""As `is_runaway` has them."""


def verdict_of(key: Alike, limit: int | None) -> Verdict | None:
    """Return the verdict on all rows that are alike, with dots for a text. `limit`: as for
    `judge`."""
    kind, chars, stop, stop_at, tokens, *others = key
    # That no text runs away is known of each row, while thousands of dots would.
    verdict = verdict_on(Found(".", stop, stop_at, tokens, "", *others), kind, limit)
    return None if verdict is None else dataclasses.replace(verdict, text="." * chars)


STOPS: Final = {
    "": StopReason.END_TURN,
    "stop": StopReason.END_TURN,
    "end_turn": StopReason.END_TURN,
    "completed": StopReason.END_TURN,
    "STOP": StopReason.END_TURN,
    "length": StopReason.MAX_TOKENS,
    "max_tokens": StopReason.MAX_TOKENS,
    "MAX_TOKENS": StopReason.MAX_TOKENS,
}
"""What the values in the shapes mean, as in the tables of their wires."""


@cache
def _stop(raw: str, at: str, has_text: bool) -> Stop:
    """Return the stop as the builder makes it."""
    if not raw:
        sure = Confidence.MEDIUM if has_text else Confidence.LOW
        return Stop(StopReason.END_TURN, confidence=sure, anomalies=(NO_STOP,))
    return Stop(STOPS[raw], raw, at, confidence=Confidence.HIGH)


_RUNAWAY: Final[tuple[Sign, tuple[str, ...]]] = (Sign.RUNAWAY, ("runaway",))


@cache
def _words(first: str, others: tuple[str, ...]) -> tuple[str, ...]:
    return (first, *others)


def verdict_on(
    found: Found, kind: str, limit: int | None, stop: Stop | None = None, *, is_away: bool = False
) -> Verdict | None:
    """Return the verdict on what a shape found; None: its text needs the whole reading. `stop`:
    what its stop is; None: one of those in the shapes. `is_away`: it is known that the text
    runs away."""
    text, stored = found.text, found.stop != ""
    if text and not _is_plain(text):
        return None
    limit = limit or found.limit
    at_limit = limit is not None and found.tokens is not None and found.tokens >= limit
    sign, evidence = (
        _RUNAWAY if is_away or away(text) else at_end(text, stored=stored, at_limit=at_limit)
    )
    stop = stop or _stop(found.stop, found.stop_at, bool(text))
    outcome = outcome_of(stop.reason, Batch.NONE, Readable.SEEN if text else Readable.BLANK, sign)
    evidence = (*STRUCTURE.get(outcome, ()), *evidence)
    return Verdict(
        outcome,
        is_certain(outcome, stored=stored),
        _words("stop" if stored else "no_stop", evidence),
        stop,
        text,
        limit,
        found.tokens,
        found.model,
        found.id,
        kind,
        found.wire,
        0,
        1,
        False,
        "",
        found.day,
    )


def _is_plain(text: str) -> bool:
    """Return whether a text begins with what a person sees, and shows no call and no thinking."""
    return not (
        not text
        or text[0] in "<[ "
        or not text[0].isprintable()
        or ("<" in text and "<think" in text)
    )


def _conversation(row: of.Messages, limit: int | None) -> Verdict | None:
    """Return the verdict on the worst of the model's messages; the first of those as bad."""
    last = row.last()
    if last is None or not row.messages or row.messages[-1].role != "assistant":
        return None
    texts = [message.content for message in row.messages if message.role == "assistant"]
    if len(texts) > 1:
        last.tokens = tokens_of_last(last.tokens, last.limit)
    worst: Verdict | None = None
    choice = 0
    for number, text in enumerate(texts, 1):
        found = last if number == len(texts) else Found("", limit=last.limit)
        found.text = text
        verdict = verdict_on(found, "messages", limit)
        if verdict is None:
            return None
        if worst is None or GRAVITY[verdict.outcome] < GRAVITY[worst.outcome]:
            worst, choice = verdict, number - 1
    if worst is not None and len(texts) > 1:
        return dataclasses.replace(worst, choice=choice, choices=len(texts))
    return worst
