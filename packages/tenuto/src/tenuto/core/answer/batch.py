"""The calls of a broken batch, and those of them that came again (T4a).

If a batch of calls was cut, malformed or broken off, the model is asked for all of them again. If
fewer come, the rest is asked for once more. These functions say which calls came, and which didn't.

Which call of the batch one stands for, `likeness.py` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall, fresh_id
from tenuto.core.answer.likeness import Likeness, ReadCall, pairs_of, read_calls
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
    batch, waited, came = read_calls(begun), read_calls(before), read_calls(calls)
    waiting: list[ReadCall] = []
    for one in waited:
        again = sum(one.is_same(other) for other in came)
        if not again or again + sum(map(one.is_same, waiting)) < max(
            _times(batch, one), sum(map(one.is_same, waited))
        ):
            waiting.append(one)
    others = [one for one in came if not any(map(one.is_same, waited))]
    here = {pair.slot for pair in pairs_of(batch, waited)}
    due = [slot for number, slot in enumerate(batch) if number not in here]
    for one in _beside(due, others, waiting):
        anew = next((other for other in waiting if other.begins_alike(one)), None)
        if anew is not None:
            waiting.remove(anew)
    return with_ids_of_their_own([*(one.call for one in waiting), *calls])


def _times(batch: Sequence[ReadCall], one: ReadCall) -> int:
    """Return how many calls with the same arguments a batch may hold. Only a model that made
    several in it means more than one."""
    times = sum(map(one.is_same, batch))
    if times > 1:
        times += sum(slot.likeness(one) is Likeness.UNKNOWN for slot in batch)
    return max(1, times)


def _beside(
    due: Sequence[ReadCall], calls: Sequence[ReadCall], waiting: Sequence[ReadCall]
) -> list[ReadCall]:
    """Return those of some calls that are none of a batch that are still due. Where several may be
    one of them, it is rather one that is like none of those that wait."""
    ordered = sorted(calls, key=lambda one: any(call.begins_alike(one) for call in waiting))
    pairs = pairs_of(due, ordered)
    found = {pair.call for pair in pairs if pair.likeness >= Likeness.UNKNOWN}
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
    slots = {pair.call: pair.slot for pair in pairs_of(read_calls(begun), read_calls(came))}
    made = [(slots.get(number, len(begun)), call) for number, call in enumerate(came)]
    for number in _left(begun, came):
        if begun[number].finding is Finding.WHOLE:
            at = next((at for at, (slot, _) in enumerate(made) if slot > number), len(made))
            made.insert(at, (number, begun[number]))
    return with_ids_of_their_own([call for _, call in made]) if len(made) > len(came) else came


def lost_calls(begun: Calls, came: Calls) -> Calls:
    """Return the calls of a broken batch that came whole neither there nor again."""
    return never_came(begun, filled_up(begun, came))


def _left(begun: Calls, came: Calls) -> list[int]:
    """Return the numbers of the calls of a batch that are none of those that came."""
    slots = {pair.slot for pair in pairs_of(read_calls(begun), read_calls(came))}
    return [number for number in range(len(begun)) if number not in slots]


def with_ids_of_their_own(calls: Sequence[ToolCall]) -> Calls:
    """Return calls of several answers, none of which has the id of another."""
    made: list[ToolCall] = []
    taken: set[str] = set()
    for number, call in enumerate(calls):
        call_id = call.id if call.id not in taken else fresh_id("", number, taken)
        taken.add(call_id)
        made.append(replace(call, id=call_id))
    return tuple(made)
