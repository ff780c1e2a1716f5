"""How nearly all wires read: a body as a whole, an event by its name, and the error in either."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from tenuto.core.fault import Fault
from tenuto.core.parts import AnySignal
from tenuto.core.signals import Began, CallDelta, FaultSeen, RefusalDelta, StopSeen
from tenuto.core.stop import StopReason
from tenuto.wires.json import JsonObject, arguments_of, as_text, is_no_piece

ReadOne = Callable[[JsonObject], Iterable[AnySignal]]


class ReadAny(Protocol):
    """The signals of a body, or of one event of a stream."""

    def __call__(self, value: object, *, event: bool) -> list[AnySignal]: ...


def reader(
    read_body: ReadOne,
    read_event: ReadOne,
    error_of: Callable[[JsonObject], object | None],
    read_fault: Callable[[object], Fault],
) -> ReadAny:
    """Return a wire's `read`: an object of another shape has no signals, and the error that an
    object carries is its last one."""

    def read(value: object, *, event: bool) -> list[AnySignal]:
        """The signals of a body, or of one event."""
        if not isinstance(value, dict):
            return []
        signals = [*(read_event(value) if event else read_body(value))]
        error = error_of(value)
        if error is not None:
            signals.append(FaultSeen(read_fault(error)))
        return signals

    return read


def by_name(events: Mapping[str, ReadOne], member: str = "type") -> ReadOne:
    """Return what reads an event by the name in this member; what the table has not says nothing.

    >>> by_name({"ping": lambda event: []})({"type": ["ping"]})
    []
    """

    def read_event(event: JsonObject) -> Iterable[AnySignal]:
        name = event.get(member)
        read_one = events.get(name) if isinstance(name, str) else None
        return read_one(event) if read_one is not None else []

    return read_event


def began(message: object) -> Began:
    """Return that a message began, with its id.

    >>> began({"id": "resp_1"}), began(None)
    (Began(id='resp_1'), Began(id=''))
    """
    name = message.get("id") if isinstance(message, dict) else None
    return Began(name if isinstance(name, str) else "")


def explained(stop: StopSeen, reason: StopReason, words: object) -> list[StopSeen | RefusalDelta]:
    """Return a stop with the words beside it, if it is for this reason and they are some."""
    told = stop.reason is reason and isinstance(words, str) and words
    return [stop, RefusalDelta(words)] if told and isinstance(words, str) else [stop]


# --- calls


def numbered(index: int | None, odd: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return what is odd about a call, and that its number is missing, if it is.

    >>> numbered(0), numbered(None)
    ((), ('call_index_missing',))
    """
    return odd if index is not None else (*odd, "call_index_missing")


def call_piece(index: int | None, given: object, *, whole: bool = False) -> CallDelta:
    """Return more of a call's arguments, or all of them (`whole`), on wires where they are text."""
    arguments, odd = arguments_of(given)
    if whole:
        return CallDelta(index, None, None, arguments, odd, whole=True)
    unreadable = is_no_piece(given)
    return CallDelta(index, None, None, arguments, numbered(index, odd), unreadable=unreadable)


def decoded_arguments(
    given: object, neither: str = "arguments_no_object"
) -> tuple[str | None, tuple[str, ...], bool]:
    """Return the text of arguments that the wire writes as an object, what was odd about them, and
    whether they were decoded before they came. `neither`: what is odd where they are not even text.

    >>> decoded_arguments({"a": 1}), decoded_arguments("{}"), decoded_arguments(None)
    (('{"a":1}', (), True), ('{}', ('arguments_text',), False), (None, (), False))
    """
    if given is None or isinstance(given, str):
        return given, ("arguments_text",) if given else (), False
    is_object = isinstance(given, dict)
    return as_text(given), () if is_object else (neither,), is_object
