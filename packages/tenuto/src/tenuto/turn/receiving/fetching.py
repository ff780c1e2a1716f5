"""Fetch the rest of a stream whose connection broke, if the provider keeps the answer (C30).

Theory of operation
-------------------
The provider goes on with the answer whether or not anybody reads it, and sends its events again
from any of them on (`wires.cursors`). So the rest of the stream is fetched with the caller's own
credentials from the same host, and is read as if the connection had not broken: it is the same
answer, and not a further attempt. The caller sees the very events of an unbroken stream.

If the provider refuses, the connection stays broken, and the turn goes on as for any other stream.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from tenuto.core.deciding.view import Budget
from tenuto.frames.compression import Decoder, decoder_for
from tenuto.frames.frame import Frame, Framing
from tenuto.frames.sniff import named_by
from tenuto.turn.drivers.commands import Command, Head, Headers, Reply, SendRequest, Sleep
from tenuto.turn.record.turn_record import TurnRecord
from tenuto.wires.cursors import Cursors
from tenuto.wires.json import JsonObject
from tenuto.wires.stream import event_object

Fetched = tuple[Head, Decoder]

_NOT_OURS = (
    *(b"content-length", b"content-type", b"content-encoding", b"transfer-encoding"),
    *(b"idempotency-key", b"expect"),
)
"""Headers of the caller's that belong to its body, or to a request that makes something."""


class Fetching:
    """Follows the stream of one attempt, so that its rest can be fetched.

    Args:
        turn: the turn.
        cursors: how its wire does that.
    """

    def __init__(self, turn: TurnRecord, cursors: Cursors) -> None:
        self._turn = turn
        self._cursors = cursors
        self._answer = ""
        self._last: Frame | None = None
        self._fetched_at = ""

    @property
    def is_hopeless(self) -> bool:
        """Whether the stream can't be fetched, since its first event has no place or no id."""
        return self._last is not None and not self._answer

    def new(self, frames: list[Frame]) -> list[Frame]:
        """Take the events that came. Return them without those that came before the break."""
        if self._fetched_at:
            frames = [frame for frame in frames if self._is_new(frame)]
        last = next((f for f in reversed(frames) if f.terminated and f.data), None)
        if self._last is None and last is not None:
            value = _value(frames[0] if frames[0].data else last)
            self._answer = self._cursors.id_of(value) if self._cursors.place_of(value) else ""
        self._last = last or self._last
        return frames

    def _is_new(self, frame: Frame) -> bool:
        place = self._cursors.place_of(_value(frame))
        return not place or self._cursors.is_behind(place, self._fetched_at)

    def rest(self) -> Generator[Command, Reply, Fetched | None]:
        """Fetch the rest of the stream. Return its head, and what reads its body; None: there is no
        way to it."""
        turn, value = self._turn, _value(self._last)
        # An event without a place would come once more. An error ends a stream, and breaks none.
        place = self._cursors.place_of(value)
        if value.get("error") or self._cursors.fails(value) or not (self._answer and place):
            return None
        while True:
            wait_s = _may_fetch(turn, came=place != self._fetched_at)
            if wait_s is None:
                return None
            self._fetched_at = place
            if wait_s:
                yield Sleep(wait_s * turn.environment.jitter())
            url = self._cursors.url(turn.request.url, self._answer, place)
            reply = yield SendRequest(
                _headers(turn), b"", edited=True, within_s=turn.within_s, url=url
            )
            head = reply if isinstance(reply, Head) else None
            decoder = _decoder_of(turn, head)
            if turn.events is not None:
                status = head.status if head is not None else None
                turn.events.fetched(place, status, continues=decoder is not None)
            if head is not None and decoder is not None:
                turn.framing.read_anew()
                return head, decoder
            if head is not None and head.status < 500 and head.status != 429:
                return None


def _may_fetch(turn: TurnRecord, *, came: bool) -> float | None:
    """Decide whether the rest of a broken stream is fetched (C30): within `pause_resumes`, and
    within `fault_retries` if no event `came` since the last time. Return the seconds to wait first;
    None: it is not fetched."""
    if turn.left_alone not in _MADE_ANYWAY or turn.deadline_passed or turn.loop_deadline_passed():
        return None
    budget = Budget.PAUSE if came else Budget.FAULT_RETRY
    if not turn.state.left(budget, turn.policy):
        return None
    tries = turn.state.spent.get(budget, 0)
    turn.state = replace(turn.state, spent={**turn.state.spent, budget: tries + 1})
    return 0.0 if came else min(turn.policy.backoff_s * 2**tries, turn.policy.backoff_max_s)


_MADE_ANYWAY = ("", "background", "agent", "resumption")
"""Why a turn is left alone although its answer is one of the model's, and its stream can break."""


def _value(frame: Frame | None) -> JsonObject:
    """Return the object of an event; {}: it has none."""
    value = event_object(frame) if frame is not None else None
    return value if isinstance(value, dict) else {}


def _decoder_of(turn: TurnRecord, head: Head | None) -> Decoder | None:
    """Return what reads the rest of a stream; None: this is none."""
    if head is None or not head.is_good:
        return None
    if named_by(head.get(b"content-type")) is not Framing.EVENTS:
        return None
    return decoder_for(head.coding, turn.policy.body_max_bytes)


def _headers(turn: TurnRecord) -> Headers:
    return tuple(
        (key, value)
        for key, value in turn.request.headers
        if key.lower() not in _NOT_OURS and not key.lower().startswith(b"x-tenuto")
    )
