"""A kind of rows that the user describes by JSON pointers, beside those of the table.

What no pointer names is read where all kinds have it: beside the answer, and in the row
(`beside.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Final

from tenuto.judging.answers import read_answer, text_in
from tenuto.judging.beside import with_beside
from tenuto.judging.cells import count_in
from tenuto.judging.held import Held, Told
from tenuto.judging.kind import Kind, Source
from tenuto.judging.opening import opened_text
from tenuto.judging.tools import answer_in
from tenuto.wires.json import JsonObject

NAME: Final = "own"
"""The kind of the rows that pointers describe."""

_MISSING: Final = object()
_MOST_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class Pointers:
    """Where rows keep their answers.

    Attributes:
        answer: the pointer (RFC 6901) to the text of an answer, or to the body that a provider
            sent.
        stop, limit, tokens: those to its stop, its output limit and its own tokens; "": not named.
    """

    answer: str
    stop: str = ""
    limit: str = ""
    tokens: str = ""

    def named(self) -> dict[str, str]:
        """Return the pointers that are named.

        >>> Pointers("/a", limit="/max").named()
        {'answer': '/a', 'limit': '/max'}
        """
        all_of_them = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: pointer for name, pointer in all_of_them.items() if pointer}


def steps_of(pointer: str) -> tuple[str, ...]:
    """Return the steps of a JSON pointer: https://www.rfc-editor.org/rfc/rfc6901

    Raises:
        ValueError: it is none.

    >>> steps_of("/result/a~1b/0"), steps_of("")
    (('result', 'a/b', '0'), ())
    """
    if pointer and not pointer.startswith("/"):
        raise ValueError("a JSON pointer begins with a slash, such as /result/text")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def pointed(value: object, pointer: str) -> Any:
    """Return what a pointer leads to. JSON in a string on the way is opened. None: it leads
    nowhere, or to null.

    >>> pointed({"a": [{"b": 1}]}, "/a/0/b"), pointed({"a": '{"b": 2}'}, "/a/b"), pointed({}, "/a")
    (1, 2, None)
    """
    found = _pointed(value, pointer)
    return None if found is _MISSING else found


def leads_somewhere(value: object, pointer: str) -> bool:
    """Return whether a pointer leads to a value, or to null.

    >>> leads_somewhere({"a": None}, "/a"), leads_somewhere({"a": 1}, "/b")
    (True, False)
    """
    return _pointed(value, pointer) is not _MISSING


def _pointed(value: object, pointer: str) -> object:
    for step in steps_of(pointer):
        if isinstance(value, str):
            value = opened_text(value)
        if isinstance(value, dict):
            value = value.get(step, _MISSING)
        elif isinstance(value, list) and step.isascii() and step.isdecimal():
            value = value[int(step)] if int(step) < len(value) else _MISSING
        else:
            return _MISSING
    return value


def own_kind(pointers: Pointers) -> Kind:
    """Return the kind of the rows in which the pointer to the answer leads somewhere.

    >>> [held.answer.text for held in own_kind(Pointers("/a")).held({"a": "Hi"})]
    ['Hi']
    """
    return Kind(
        name=NAME,
        needs=(),
        only=lambda row: leads_somewhere(row, pointers.answer),
        source=Source.TOLD,
        read=partial(_read, pointers),
        id=("custom_id", "id", "key"),
        model=("model", "model_name", "model_id"),
    )


def _read(pointers: Pointers, row: JsonObject) -> Iterator[Held]:
    limit = _number(row, pointers.limit)
    holder, _, _ = pointers.answer.rpartition("/")
    beside = pointed(row, holder)
    beside = opened_text(beside) if isinstance(beside, str) else beside
    places = [place for place in (beside, row) if isinstance(place, dict)]
    for one in _answers(pointers, row):
        held = replace(one, limit=limit)
        for place in places:
            held = _filled(held, place, pointers)
        yield held


def _filled(one: Held, place: JsonObject, pointers: Pointers) -> Held:
    """Return an answer with what an object says beside it, where no pointer names it."""
    (found,) = with_beside(place, [one])
    answer, told = found.answer, one.answer
    if isinstance(answer, Told) and isinstance(told, Told):
        if pointers.stop:
            answer = replace(answer, stop=told.stop, stop_at=told.stop_at)
        if pointers.tokens:
            answer = replace(answer, tokens=told.tokens)
    return replace(found, answer=answer, limit=one.limit if pointers.limit else found.limit)


def _answers(pointers: Pointers, row: JsonObject) -> Iterator[Held]:
    value = pointed(row, pointers.answer)
    stop = pointed(row, pointers.stop) if pointers.stop else None
    # Beside the place of a stop, a text is one, whatever it quotes, also where there is no stop.
    body = value if pointers.stop and isinstance(value, str) else answer_in(value)
    if stop is None and isinstance(body, dict | list | bytes) and read_answer(body):
        yield Held(answer=body)
        return
    told = Told(
        text=text_in(value),
        calls=None,
        stop=stop,
        stop_at=pointers.stop if stop is not None else "",
        tokens=_number(row, pointers.tokens),
    )
    yield Held(answer=told)


def _number(row: JsonObject, pointer: str) -> int | None:
    found = pointed(row, pointer) if pointer else None
    if isinstance(found, str) and found.isascii() and found.isdecimal():
        found = int(found[:_MOST_DIGITS])
    return count_in(found)
