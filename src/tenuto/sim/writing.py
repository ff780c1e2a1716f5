"""What the writers of all wires share: how a text is cut, how calls stand in a stream, what a body
holds of broken arguments, and oddities that look alike everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import Any, Final, TypeVar

from tenuto.sim.case import Ending, Shape

CUT_SHORT: Final = frozenset({Ending.DROP, Ending.EOF, Ending.CUT_OFF, Ending.RESET})
"""Endings behind which neither a stop nor an end mark comes."""

Made = TypeVar("Made")


def pieces(text: str, size: int) -> list[str]:
    """Return a text in pieces of so many characters.

    >>> pieces("Hello", 2)
    ['He', 'll', 'o']
    """
    return [text[at : at + size] for at in range(0, len(text), size)]


def together(written: Iterable[list[Made]], shape: Shape) -> Iterator[Made]:
    """Yield the events of each part behind those of the one before, or in turn.

    >>> list(together([[1, 2], [3]], Shape.INTERLEAVED))
    [1, 3, 2]
    """
    if shape is not Shape.INTERLEAVED:
        return chain.from_iterable(written)
    return (made for row in zip_longest(*written) for made in row if made is not None)


def place(name: str, index: int, shape: Shape) -> dict[str, Any]:
    """Return the member that says which part an event belongs to.

    >>> place("index", 2, Shape.NORMAL), place("index", 2, Shape.NO_INDEX)
    ({'index': 2}, {})
    """
    if shape is Shape.NO_INDEX:
        return {}
    return {name: 0 if shape is Shape.WRONG_INDEX else index}


def in_the_middle(events: list[Made], odd: Made) -> list[Made]:
    """Return events with one more between them.

    >>> in_the_middle(["a", "b"], "?")
    ['a', '?', 'b']
    """
    at = len(events) // 2
    return [*events[:at], odd, *events[at:]]


def decoded(arguments: Any) -> Any:
    """Return what a body holds of a call's arguments, which are decoded there: of cut ones, the
    pairs that came whole.

    >>> decoded('{"path": "a", "content": "b'), decoded('{"pa'), decoded('[1]')
    ({'path': 'a'}, {}, [1])
    """
    if not isinstance(arguments, str):
        return arguments
    commas = (at for at in range(len(arguments) - 1, 0, -1) if arguments[at] == ",")
    for whole in (arguments, *(arguments[:at] + "}" for at in commas)):
        try:
            return json.loads(whole)
        except ValueError:
            continue
    return {}
