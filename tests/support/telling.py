"""What is so of the events of every turn, however it went."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import tenuto
from tenuto.core.events.attempt import AttemptEnded, AttemptStarted, StopReasonObserved
from tenuto.core.events.kinds import EVENTS, event_from_dict
from tenuto.core.events.recovery import (
    ContinuationAttempt,
    ContinuationTerminated,
    RecoveryEnded,
    RecoveryStarted,
)
from tenuto.core.events.turn import TurnEnded, TurnStarted
from tenuto.turn.record.event_sender import RECOVERIES

END_OF: dict[type[tenuto.Event], type[tenuto.Event]] = dict(RECOVERIES.values())
"""The class of a recovery's end, by that of its beginning."""

RESULTS = {"recovered", "gave_up", "superseded", "cancelled"}


def check_each_turn(events: Iterable[tenuto.Event], contents: Iterable[str] = ()) -> None:
    """Check what is so of the events of every turn.

    Args:
        events: those of any number of turns.
        contents: texts of requests and answers, which no event may hold.
    """
    turns: dict[str, list[tenuto.Event]] = {}
    for event in events:
        turns.setdefault(event.turn, []).append(event)
    for told in turns.values():
        _check_ends(told)
        _check_attempts(told)
        _check_recoveries(told)
        _check_values(told, contents)


def _check_ends(told: list[tenuto.Event]) -> None:
    names = Counter(event.name for event in told)
    assert isinstance(told[0], TurnStarted)
    assert isinstance(told[-1], TurnEnded)
    assert names["turn_started"] == names["turn_ended"] == 1
    assert (told[-1].wire, told[-1].stream) == (told[0].wire, told[0].stream)
    stops = [event.raw for event in told if isinstance(event, StopReasonObserved)]
    assert told[-1].stop_raw == (stops[-1] if stops else None)
    # A provider may break an answer off as well, and says so by its stop.
    assert names["cancelled"] == (told[-1].reason == "cancelled" and not _aborted(told))


def _aborted(told: list[tenuto.Event]) -> bool:
    seen = [event for event in told if isinstance(event, StopReasonObserved)]
    return bool(seen) and seen[-1].outcome == "cancelled"


def _check_attempts(told: list[tenuto.Event]) -> None:
    ended = told[-1]
    assert isinstance(ended, TurnEnded)
    started = [event.attempt for event in told if isinstance(event, AttemptStarted)]
    over = [event for event in told if isinstance(event, AttemptEnded)]
    assert started == [event.attempt for event in over] == [*range(1, len(started) + 1)]
    assert all(one.attempt <= other.attempt for one, other in pairwise(told))
    assert all(one.time <= other.time for one, other in pairwise(told))
    answered = [event for event in over if event.stop or event.outcome != "cancelled"]
    assert ended.attempts == len(ended.usage) == len(answered)
    assert [event.usage for event in answered] == [*ended.usage]
    further = [event for event in told if isinstance(event, AttemptStarted) and event.attempt > 1]
    assert [event.rung for event in further] == [*ended.rungs][: len(further)]
    assert all(event.recovery for event in further)
    for event in over:
        times = [event.first_byte_s, event.first_piece_s, event.duration_s]
        known = [time for time in times if time is not None]
        assert known == sorted(known)


def _check_recoveries(told: list[tenuto.Event]) -> None:
    """Each that begins has one end of its own kind, before that of the turn; those that overlap lie
    within each other."""
    is_open: list[RecoveryStarted] = []
    kinds: list[str] = []
    for event in told:
        if isinstance(event, RecoveryStarted):
            assert END_OF[type(event)] not in [END_OF[type(other)] for other in is_open]
            is_open.append(event)
            kinds.append(event.KIND)
            assert len(is_open) < 3
        elif isinstance(event, RecoveryEnded):
            begun = is_open.pop()
            assert type(event) is END_OF[type(begun)]
            assert event.KIND == begun.KIND
            assert event.result in RESULTS
            assert event.attempts > 0
            assert event.duration_s >= 0
        elif isinstance(event, TurnEnded):
            assert not is_open
            assert [*event.recoveries] == kinds
    ends = [event for event in told if isinstance(event, ContinuationTerminated)]
    asked = [event for event in told if isinstance(event, ContinuationAttempt)]
    assert sum(event.attempts for event in ends) == len(asked)
    assert [event.index for event in asked] == [*range(1, len(asked) + 1)]
    ended = told[-1]
    assert isinstance(ended, TurnEnded)
    if ended.status == "complete":
        results = [event.result for event in told if isinstance(event, RecoveryEnded)]
        assert not {"gave_up", "cancelled"} & {*results}


def _check_values(told: list[tenuto.Event], contents: Iterable[str]) -> None:
    texts = [text for text in contents if text]
    for event in told:
        assert isinstance(event, EVENTS[event.name])
        said = json.dumps(event.as_dict(), allow_nan=False)
        assert event_from_dict(json.loads(said)) == event
        assert not [text for text in texts if json.dumps(text)[1:-1] in said], event
