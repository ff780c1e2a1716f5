"""How most wires read: a body as a whole, an event by its name, and the error in either."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from tenuto.core.answer.fault import Fault
from tenuto.core.answer.parts import AnySignal
from tenuto.core.answer.signals import Began, CallDelta, FaultSeen, RefusalDelta, StopSeen
from tenuto.core.answer.stop import StopReason
from tenuto.wires.json import JsonObject, arguments_of, as_text, is_no_piece

ReadOne = Callable[[JsonObject], Iterable[AnySignal]]


class ReadAny(Protocol):
    """Return the signals of a body, or of one event of a stream."""

    def __call__(self, value: object, *, event: bool) -> list[AnySignal]: ...


def reader(
    read_body: ReadOne,
    read_event: ReadOne,
    error_of: Callable[[JsonObject], object | None],
    read_fault: Callable[[object], Fault],
) -> ReadAny:
    """Return a wire's `read`. An object of another shape has no signals, and an error in the object
    gives the last one."""

    def read(value: object, *, event: bool) -> list[AnySignal]:
        """Return the signals of a body, or of one event."""
        if not isinstance(value, dict):
            return []
        signals = [*(read_event(value) if event else read_body(value))]
        error = error_of(value)
        if error is not None:
            signals.append(FaultSeen(read_fault(error)))
        return signals

    return read


def by_name(events: Mapping[str, ReadOne], member: str = "type") -> ReadOne:
    """Return a function that reads an event by the name in this member. Unknown names have no
    signals.

    >>> by_name({"ping": lambda event: []})({"type": ["ping"]})
    []
    """

    def read_event(event: JsonObject) -> Iterable[AnySignal]:
        name = event.get(member)
        read_one = events.get(name) if isinstance(name, str) else None
        return read_one(event) if read_one is not None else []

    return read_event


def began(message: object) -> Began:
    """Return the signal that a message began, with its id.

    >>> began({"id": "resp_1"}), began(None)
    (Began(id='resp_1'), Began(id=''))
    """
    name = message.get("id") if isinstance(message, dict) else None
    return Began(name if isinstance(name, str) else "")


def explained(stop: StopSeen, reason: StopReason, words: object) -> list[StopSeen | RefusalDelta]:
    """Return a stop, with the words beside it if they explain this reason."""
    told = stop.reason is reason and isinstance(words, str) and words
    return [stop, RefusalDelta(words)] if told and isinstance(words, str) else [stop]


# --- calls


def numbered(index: int | None, odd: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return what is odd about a call, including a missing number.

    >>> numbered(0), numbered(None)
    ((), ('call_index_missing',))
    """
    return odd if index is not None else (*odd, "call_index_missing")


def call_piece(index: int | None, given: object, *, whole: bool = False) -> CallDelta:
    """Return more of a call's arguments, or all of them (`whole`), on wires that send them as
    text."""
    arguments, odd = arguments_of(given)
    if whole:
        return CallDelta(index, None, None, arguments, odd, whole=True)
    unreadable = is_no_piece(given)
    return CallDelta(index, None, None, arguments, numbered(index, odd), unreadable=unreadable)


def decoded_arguments(
    given: object, neither: str = "arguments_no_object"
) -> tuple[str | None, tuple[str, ...], bool]:
    """Return arguments that the wire writes as an object: their text, what was odd about them, and
    whether they came decoded. `neither`: what is odd if they are not even text.
    >>> decoded_arguments({"a": 1}), decoded_arguments("{}"), decoded_arguments(None)
    (('{"a":1}', (), True), ('{}', ('arguments_text',), False), (None, (), False))
    """
    if given is None or isinstance(given, str):
        return given, ("arguments_text",) if given else (), False
    is_object = isinstance(given, dict)
    return as_text(given), () if is_object else (neither,), is_object
