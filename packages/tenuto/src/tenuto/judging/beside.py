"""What a row says beside an answer: its stop, its tokens and its limit.

Theory of operation
-------------------
Whoever keeps answers in rows of their own writes these next to the text, or into an object such as
`metadata`. In a row with several answers, such as the turns of a conversation, what stands in the
row is said of the last one, and its tokens may be the sum of all. So they are read only where they
don't exceed the limit of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tenuto.core.answer.stop import StopReason
from tenuto.judging.answers import read_stop
from tenuto.judging.cells import count_in
from tenuto.judging.held import Held, Told
from tenuto.judging.names import HOLDERS, LIMITS, SETTINGS, STOPS, TOKENS, USAGES
from tenuto.judging.opening import opened_text


def word_in(value: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first of some members that is a word or a number; "": none is."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
            return str(found)
    return ""


def limit_in(value: Mapping[str, Any]) -> int | None:
    """Return the limit that stands beside an answer; None: none does.

    >>> limit_in({"max_tokens": 512}), limit_in({"sampling_params": '{"max_tokens": 9}'})
    (512, 9)
    """
    return next((n for n in _counts(value, SETTINGS, LIMITS) if n), None)


def tokens_in(value: Mapping[str, Any]) -> int | None:
    """Return the tokens of an answer, beside it or in the usage beside it; None: not stored.

    >>> tokens_in({"completion_tokens": 9}), tokens_in({"usage": '{"output_tokens": 9}'})
    (9, 9)
    """
    return next((n for n in _counts(value, USAGES, TOKENS) if n is not None), None)


def _counts(
    value: Mapping[str, Any], within: Sequence[str], names: Sequence[str]
) -> Iterator[int | None]:
    for _, place in places_in(value):
        for held in _with_held(place, within):
            for name in names:
                if name in held:
                    yield count_in(held[name])


def with_settings(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return an object, and the settings that it holds, of which each may be JSON in a text.

    >>> with_settings({"model": "m", "options": {"num_predict": 9}})[1:]
    [{'num_predict': 9}]
    """
    return _with_held(value, SETTINGS)


def _with_held(value: Mapping[str, Any], names: Sequence[str]) -> list[Mapping[str, Any]]:
    found = [value]
    for name in names:
        if name in value:
            held = value[name]
            held = opened_text(held) if isinstance(held, str) else held
            if isinstance(held, dict):
                found.append(held)
    return found


def places_in(value: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return an object and those in it that say more of an answer, each with its path.

    >>> [path for path, _ in places_in({"text": "Hi", "metadata": '{"seed": 1}'})]
    ['', 'metadata.']
    """
    yield "", value
    for name in HOLDERS:
        if name in value:
            held = value[name]
            held = opened_text(held) if isinstance(held, str) else held
            if isinstance(held, dict):
                yield f"{name}.", held


def stop_beside(value: Mapping[str, Any]) -> tuple[object, str]:
    """Return the stop that stands beside an answer, in any spelling, and where; None: none does.

    >>> stop_beside({"metadata": {"finish_reason": "length"}}), stop_beside({"stop_reason": None})
    (('length', 'metadata.finish_reason'), (None, ''))
    """
    for at, place in places_in(value):
        for name in STOPS:
            if name in place:
                stored = place[name]
                seen = read_stop(stored, name)
                if seen is not None and (seen.known or isinstance(stored, str)):
                    return stored, f"{at}{name}"
    return None, ""


def with_beside(row: Mapping[str, Any], answers: Iterable[Held]) -> list[Held]:
    """Return answers with what their row says beside them, where they say nothing themselves.

    >>> turns = [Held(answer=Told("Hi.")), Held(answer=Told("Hi th"))]
    >>> [one.answer.stop for one in with_beside({"finish_reason": "length"}, turns)]
    [None, 'length']
    """
    found = list(answers)
    stop, stop_at = stop_beside(row)
    tokens, limit = tokens_in(row), limit_in(row)
    if stop is None and tokens is None and limit is None:
        return found
    stops = _shared_out(stop, len(found))
    last = len(found) - 1
    if last > 0:
        tokens = tokens_of_last(tokens, limit)
    return [
        _with(one, stops[number], stop_at, tokens if number == last else None, limit)
        for number, one in enumerate(found)
    ]


def tokens_of_last(tokens: int | None, limit: int | None) -> int | None:
    """Return the tokens of the last of several answers, where their row has one number; None: it
    may be the sum of all.

    >>> tokens_of_last(512, 512), tokens_of_last(600, 512), tokens_of_last(512, None)
    (512, None, None)
    """
    return tokens if tokens is not None and limit is not None and tokens <= limit else None


def _with(one: Held, stop: object, stop_at: str, tokens: int | None, limit: int | None) -> Held:
    answer = one.answer
    if not isinstance(answer, Told):
        return one
    if answer.stop is None and stop is not None:
        answer = replace(answer, stop=stop, stop_at=stop_at)
    if answer.tokens is None and tokens is not None:
        answer = replace(answer, tokens=tokens)
    return replace(one, answer=answer, limit=one.limit or limit)


def _shared_out(stop: object, answers: int) -> list[object]:
    """Return the stop of each of some answers. A list may have one for each."""
    if isinstance(stop, list) and len(stop) == answers:
        return stop
    return [None] * (answers - 1) + [worst_stop(stop)]


def worst_stop(stop: object) -> object:
    """Return that of several stops which says that an answer was cut, if one does; another value as
    it is.

    >>> worst_stop(["stop", "length"]), worst_stop(["stop"]), worst_stop("stop")
    ('length', ['stop'], 'stop')
    """
    if not isinstance(stop, list):
        return stop
    return next((one for one in stop if _cuts(one)), stop)


def _cuts(stop: object) -> bool:
    seen = read_stop(stop, "")
    return seen is not None and seen.reason is StopReason.MAX_TOKENS
