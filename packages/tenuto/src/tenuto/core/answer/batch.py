"""The calls of a broken batch, and those of them that came again (T4a).

If a batch of calls was cut, malformed or broken off, the model is asked for all of them again. If
fewer come, the rest is asked for once more. These functions say which calls came, and which didn't.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall, fresh_id, parsed
from tenuto.core.answer.resent import grows
from tenuto.core.answer.response import Response
from tenuto.core.answer.stop import CLEAN

Calls = tuple[ToolCall, ...]


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
    whole_batch = len(calls) >= len(begun)
    waiting = []
    left = list(calls)
    for call in before:
        again = next((one for one in left if _same(call, one)), None)
        if again is None and whole_batch:
            again = next((one for one in left if _made_anew(call, one, [*before, *calls])), None)
        if again is None:
            waiting.append(call)
        else:
            left.remove(again)
    return with_ids_of_their_own([*waiting, *calls])


def _same(call: ToolCall, other: ToolCall) -> bool:
    if call.name != other.name:
        return False
    return call.arguments == other.arguments or parsed(call.arguments) == parsed(other.arguments)


def _made_anew(call: ToolCall, other: ToolCall, calls: Sequence[ToolCall]) -> bool:
    """Return whether a model that made a batch anew made this call with other arguments. They have
    one in common then, such as a path, that no other call has: a unit that all have says nothing.

    Args:
        calls: all calls that either could be, these two among them.
    """
    if call.name != other.name:
        return False
    arguments = [parsed(one.arguments) for one in calls if one.name == call.name]
    said = Counter(item for one in arguments for item in _told(one))
    return any(
        said[item] == 2 for item in _told(parsed(call.arguments)) & _told(parsed(other.arguments))
    )


def _told(arguments: object) -> set[tuple[str, str]]:
    """Return the arguments that tell one call from another, as names and values."""
    if not isinstance(arguments, dict):
        return set()
    told = ((name, value) for name, value in arguments.items() if not isinstance(value, bool))
    return {
        (name, json.dumps(value, sort_keys=True)) for name, value in told if value not in _NOTHING
    }


_NOTHING: tuple[object, ...] = (None, "", [], {})


def never_came(begun: Calls, came: Calls) -> Calls:
    """Return the calls of a broken batch that did not come again.

    >>> from tenuto.core.answer.calls import ToolCall as Call
    >>> begun = Call("1", "read", "{}", Finding.WHOLE), Call("2", "write", "{", Finding.TRUNCATED)
    >>> [call.name for call in never_came(begun, (Call("3", "read", "{}", Finding.WHOLE),))]
    ['write']
    """
    left = list(begun)
    for call in came:
        same = [one for one in left if one.name == call.name]
        if same:  # of several calls of one tool, the one that this one may be again
            left.remove(min(same, key=lambda one: not _may_be(one, call)))
    pending = max(0, len(begun) - len(came))
    return tuple(left[len(left) - pending :])


def _may_be(one: ToolCall, again: ToolCall) -> bool:
    """Return whether a call says all that an earlier one said, as far as that came."""
    if one.finding is not Finding.WHOLE and again.arguments.startswith(one.arguments):
        return True
    before, after = parsed(one.arguments), parsed(again.arguments)
    return isinstance(before, dict) and grows(before, after)


def filled_up(begun: Calls, came: Calls) -> Calls:
    """Return the complete calls, with those that were complete in the broken batch and did not come
    again. The last one of that batch may have been cut without a trace."""
    missing = never_came(begun, came)
    whole = [call for call in begun[:-1] if call in missing and call.finding is Finding.WHOLE]
    return with_ids_of_their_own([*whole, *came]) if whole else came


def surely_whole(response: Response) -> Calls:
    """Return the calls of an answer that are complete for certain: the last one may have been cut
    without a trace, unless text or a clean stop follows it."""
    ended = response.text_behind_calls or response.stop.reason in CLEAN
    certain = response.calls if ended else response.calls[:-1]
    return tuple(call for call in certain if call.finding is Finding.WHOLE)


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
