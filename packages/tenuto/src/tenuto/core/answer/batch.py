"""The calls of a broken batch, and those of them that came again (T4a).

If a batch of calls was cut, malformed or broken off, the model is asked for all of them again. If
fewer come, the rest is asked for once more. These functions say which calls came, and which didn't.

A call that comes is set against the calls of the batch (`_Likeness`): the same arguments, those
that a cut call had begun, or the same first argument, such as a path. It stands for the one that it
is most like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final, NamedTuple

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall, fresh_id, parsed
from tenuto.core.answer.resent import grows
from tenuto.core.answer.response import Response
from tenuto.core.answer.stop import CLEAN

Calls = tuple[ToolCall, ...]


def broken_batch(response: Response) -> Calls:
    """Return the calls of an answer that was cut, as far as they came. One that is not certain to
    be complete counts as cut."""
    certain = surely_whole(response)
    return tuple(
        replace(call, finding=Finding.TRUNCATED)
        if call.finding is Finding.WHOLE and call not in certain
        else call
        for call in response.calls
    )


def surely_whole(response: Response) -> Calls:
    """Return the calls of an answer that are complete for certain: the last one may have been cut
    without a trace, unless text or a clean stop follows it."""
    ended = response.text_behind_calls or response.stop.reason in CLEAN
    certain = response.calls if ended else response.calls[:-1]
    return tuple(call for call in certain if call.finding is Finding.WHOLE)


def all_that_came(begun: Calls, before: Calls, calls: Calls) -> Calls:
    """Return the complete calls so far. A call that waits for others is never lost, unless this
    answer holds it again.

    Args:
        begun: the largest broken batch; () if there was none.
        before: the complete calls of earlier answers, which wait for the others of the batch.
        calls: those of this answer.
    """
    if not before:
        return calls
    batch, waited, came = _read(begun), _read(before), _read(calls)
    waiting: list[_Read] = []
    for one in waited:
        again = sum(one.is_same(other) for other in came)
        if not again or again + sum(map(one.is_same, waiting)) < max(
            _times(batch, one), sum(map(one.is_same, waited))
        ):
            waiting.append(one)
    others = [one for one in came if not any(map(one.is_same, waited))]
    here = {pair.slot for pair in _pairs(batch, waited)}
    due = [slot for number, slot in enumerate(batch) if number not in here]
    for one in _beside(due, others, waiting):
        anew = next((other for other in waiting if other.begins_alike(one)), None)
        if anew is not None:
            waiting.remove(anew)
    return with_ids_of_their_own([*(one.call for one in waiting), *calls])


def _times(batch: Sequence[_Read], one: _Read) -> int:
    """Return how many calls with the same arguments a batch may hold. Only a model that made
    several in it means more than one."""
    times = sum(map(one.is_same, batch))
    if times > 1:
        times += sum(slot.likeness(one) is _Likeness.UNKNOWN for slot in batch)
    return max(1, times)


def _beside(due: Sequence[_Read], calls: Sequence[_Read], waiting: Sequence[_Read]) -> list[_Read]:
    """Return those of some calls that are none of a batch that are still due. Where several may be
    one of them, it is rather one that is like none of those that wait."""
    ordered = sorted(calls, key=lambda one: any(call.begins_alike(one) for call in waiting))
    pairs = _pairs(due, ordered)
    found = {pair.call for pair in pairs if pair.likeness >= _Likeness.UNKNOWN}
    return [one for number, one in enumerate(ordered) if number not in found]


def never_came(begun: Calls, came: Calls) -> Calls:
    """Return the calls of a broken batch that did not come again. As many calls as the batch had
    take its place, whichever they are.

    >>> from tenuto.core.answer.calls import ToolCall as Call
    >>> begun = Call("1", "read", "{}", Finding.WHOLE), Call("2", "write", "{", Finding.TRUNCATED)
    >>> [call.name for call in never_came(begun, (Call("3", "read", "{}", Finding.WHOLE),))]
    ['write']
    """
    left = _left(begun, came)
    pending = max(0, len(begun) - len(came))
    return tuple(begun[number] for number in left[len(left) - pending :])


def filled_up(begun: Calls, came: Calls) -> Calls:
    """Return the complete calls, with those that were complete in the broken batch and did not come
    again, in the order of the batch. As many calls as the batch had take its place."""
    if len(came) >= len(begun):
        return came
    slots = {pair.call: pair.slot for pair in _pairs(_read(begun), _read(came))}
    made = [(slots.get(number, len(begun)), call) for number, call in enumerate(came)]
    for number in _left(begun, came):
        if begun[number].finding is Finding.WHOLE:
            at = next((at for at, (slot, _) in enumerate(made) if slot > number), len(made))
            made.insert(at, (number, begun[number]))
    return with_ids_of_their_own([call for _, call in made]) if len(made) > len(came) else came


def lost_calls(begun: Calls, came: Calls) -> Calls:
    """Return the calls of a broken batch that came whole neither there nor again."""
    return never_came(begun, filled_up(begun, came))


def with_ids_of_their_own(calls: Sequence[ToolCall]) -> Calls:
    """Return calls of several answers, none of which has the id of another."""
    made: list[ToolCall] = []
    taken: set[str] = set()
    for number, call in enumerate(calls):
        call_id = call.id if call.id not in taken else fresh_id("", number, taken)
        taken.add(call_id)
        made.append(replace(call, id=call_id))
    return tuple(made)


# --- which call of a batch a call is


class _Likeness(IntEnum):
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


class _Pair(NamedTuple):
    likeness: _Likeness
    slot: int
    call: int


def _pairs(batch: Sequence[_Read], calls: Sequence[_Read]) -> list[_Pair]:
    """Return which call of a batch each call is: the likest first, and each only once."""
    found = [
        _Pair(likeness, slot, call)
        for slot, one in enumerate(batch)
        for call, other in enumerate(calls)
        if (likeness := one.likeness(other)) is not None
    ]
    pairs: list[_Pair] = []
    slots, taken = set[int](), set[int]()
    for pair in sorted(found, key=lambda pair: (-pair.likeness, pair.call, pair.slot)):
        if pair.slot not in slots and pair.call not in taken:
            pairs.append(pair)
            slots.add(pair.slot)
            taken.add(pair.call)
    return pairs


def _left(begun: Calls, came: Calls) -> list[int]:
    """Return the numbers of the calls of a batch that are none of those that came."""
    slots = {pair.slot for pair in _pairs(_read(begun), _read(came))}
    return [number for number in range(len(begun)) if number not in slots]


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
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

    def is_same(self, other: _Read) -> bool:
        """Return whether two calls are of one tool and have the same arguments."""
        return self.call.name == other.call.name and self.text == other.text

    def begins_alike(self, other: _Read) -> bool:
        """Return whether two calls of one tool have the same first argument. Those behind it, such
        as a unit, are often the same in calls that have nothing to do with each other."""
        if self.call.name != other.call.name or not self.given:
            return False
        first = self.given[0]
        same = next((one for one in other.given if one.name == first.name), None)
        return same is not None and first.begins(same)

    def likeness(self, other: _Read) -> _Likeness | None:
        """Return how much a call is like this one of a batch; None: it is of another tool."""
        if self.call.name != other.call.name:
            return None
        if self.text == other.text:
            return _Likeness.SAME
        cut = self.call.finding is not Finding.WHOLE
        if not self.given:
            return _Likeness.UNKNOWN if cut else _Likeness.OTHER
        if (cut and other.call.arguments.startswith(self.call.arguments)) or (
            isinstance(self.value, dict) and grows(self.value, other.value)
        ):
            return _Likeness.MORE
        alike = self.begins_alike(other)
        if cut:
            return _Likeness.CUT_ALIKE if alike else _Likeness.OTHER_CUT
        return _Likeness.BEGINS_ALIKE if alike else _Likeness.OTHER


def _read(calls: Sequence[ToolCall]) -> list[_Read]:
    made = []
    for call in calls:
        value = parsed(call.arguments)
        made.append(_Read(call, value, _text(call, value), tuple(_arguments(call.arguments))))
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
