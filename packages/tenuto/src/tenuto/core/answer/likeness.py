"""Which call of a broken batch a call is that came later.

Its arguments are compared with those of each call of the batch: they may be the same, or those that
a cut call had begun, or have the same first one, such as a path. A call stands for the one that it
is most like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall, parsed
from tenuto.core.answer.resent import grows


class Likeness(IntEnum):
    """How much a call is like one of a broken batch, of the same tool."""

    OTHER = 0
    """That one was complete, and has another first argument."""
    OTHER_CUT = 1
    """The same of one that was cut."""
    BEGINS_ALIKE = 2
    """It was complete, and has the same first argument."""
    UNKNOWN = 3
    """It was cut before its first argument."""
    CUT_ALIKE = 4
    """It was cut behind its first argument, or within it, and that is the same."""
    MORE = 5
    """All that came of its arguments is the same."""
    SAME = 6
    """Its arguments are the same."""


class Pair(NamedTuple):
    """A call, by its number, and the one of the batch that it is."""

    likeness: Likeness
    slot: int
    call: int


def pairs_of(batch: Sequence[ReadCall], calls: Sequence[ReadCall]) -> list[Pair]:
    """Return which call of a batch each call is: the likest first, and each only once."""
    found = [
        Pair(likeness, slot, call)
        for slot, one in enumerate(batch)
        for call, other in enumerate(calls)
        if (likeness := one.likeness(other)) is not None
    ]
    pairs: list[Pair] = []
    slots, taken = set[int](), set[int]()
    for pair in sorted(found, key=lambda pair: (-pair.likeness, pair.call, pair.slot)):
        if pair.slot not in slots and pair.call not in taken:
            pairs.append(pair)
            slots.add(pair.slot)
            taken.add(pair.call)
    return pairs


@dataclass(frozen=True, slots=True, eq=False)
class ReadCall:
    """A call whose arguments were read.

    Attributes:
        value: its arguments; None if they can't be parsed.
        text: the same as JSON text in one form; the text that came if they can't be parsed.
        given: its arguments that tell it from other calls, as far as they came.
    """

    call: ToolCall
    value: object
    text: str
    given: tuple[_Argument, ...]

    def is_same(self, other: ReadCall) -> bool:
        """Return whether two calls are of one tool and have the same arguments."""
        return self.call.name == other.call.name and self.text == other.text

    def begins_alike(self, other: ReadCall) -> bool:
        """Return whether two calls of one tool have the same first argument. Those behind it, such
        as a unit, are often the same in calls that have nothing to do with each other."""
        if self.call.name != other.call.name or not self.given:
            return False
        first = self.given[0]
        same = next((one for one in other.given if one.name == first.name), None)
        return same is not None and first.begins(same)

    def likeness(self, other: ReadCall) -> Likeness | None:
        """Return how much a call is like this one of a batch; None: it is of another tool."""
        if self.call.name != other.call.name:
            return None
        if self.text == other.text:
            return Likeness.SAME
        cut = self.call.finding is not Finding.WHOLE
        if not self.given:
            return Likeness.UNKNOWN if cut else Likeness.OTHER
        if (cut and other.call.arguments.startswith(self.call.arguments)) or (
            isinstance(self.value, dict) and grows(self.value, other.value)
        ):
            return Likeness.MORE
        alike = self.begins_alike(other)
        if cut:
            return Likeness.CUT_ALIKE if alike else Likeness.OTHER_CUT
        return Likeness.BEGINS_ALIKE if alike else Likeness.OTHER


def read_calls(calls: Sequence[ToolCall]) -> list[ReadCall]:
    """Read the arguments of some calls."""
    made = []
    for call in calls:
        value = parsed(call.arguments)
        made.append(ReadCall(call, value, _text(call, value), tuple(_arguments(call.arguments))))
    return made


def _text(call: ToolCall, value: object) -> str:
    if value is None:
        return call.arguments
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:
        return call.arguments


class _Argument(NamedTuple):
    """An argument of a call. `value`: its JSON text, as far as it came."""

    name: str
    value: str
    is_whole: bool

    def begins(self, other: _Argument) -> bool:
        """Return whether this argument is another one, or its beginning."""
        if self.value == other.value:
            return True
        return not self.is_whole and other.value.startswith(self.value)


def _arguments(text: str) -> Iterator[_Argument]:
    """Yield the arguments that tell a call from others, of a text that may be cut.

    >>> list(_arguments('{"all": true, "path": "a.tx'))
    [_Argument(name='path', value='"a.tx', is_whole=False)]
    """
    at = 0
    while (member := _member(text, at)) is not None:
        begin = member.end()
        try:
            value, at = _decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            if text[begin : begin + 1] in _OPENING and len(text) > begin + 1:
                yield _Argument(member[1], text[begin:], is_whole=False)
            return
        if value not in _SAYS_NOTHING and not isinstance(value, bool):
            is_whole = at < len(text) or text[at - 1] in '"]}'
            yield _Argument(member[1], text[begin:at], is_whole)


_member = re.compile(r'\s*[{,]\s*"((?:[^"\\]|\\.)*)"\s*:\s*').match
_OPENING: Final = ('"', "[", "{")
_decoder = json.JSONDecoder()
_SAYS_NOTHING: Final[tuple[object, ...]] = (None, "", [], {})
