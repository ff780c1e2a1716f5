"""`Event`, the base class of everything that a turn reports to its listeners.

The kinds of events are in the modules `turn_events`, `attempt_events` and `recovery_events`. They
are imported when somebody first listens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar, dataclass_transform

VERSION = 1
"""The version of the schema. It increases when a field changes its meaning or is removed. New
events and new fields don't change it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a turn. Each kind of event is a class with further fields.

    Events hold names, numbers and reasons, never content or secrets (N10). Text from the provider,
    such as a stop value or an error code, is made printable and shortened.

    Attributes:
        time: when it happened, in seconds since the epoch; it never goes back within a turn.
        turn: an id that all events of the turn share.
        provider: the provider's name, if Tenuto knows it.
        model: the model's name in the request; "" if it has none.
        attempt: the number of the latest request of the turn, 1 for the first; 0 before the first.
    """

    NAME: ClassVar[str] = ""

    time: float
    turn: str
    provider: str
    model: str
    attempt: int

    @property
    def name(self) -> str:
        """The event's stable name, `turn_ended` for a `TurnEnded`."""
        return self.NAME

    @property
    def data(self) -> dict[str, Any]:
        """The event's own fields as plain JSON values, without those that all events have."""
        return {name: plain_value(getattr(self, name)) for name in own_fields(type(self))}

    def as_dict(self) -> dict[str, Any]:
        """The whole event as plain JSON values, with its `name` and the `version` of the schema.
        `tenuto.events.event_from_dict` reads it back."""
        shared = {name: getattr(self, name) for name in SHARED}
        return {"version": VERSION, "name": self.name, **shared, **self.data}


SHARED = tuple(field.name for field in fields(Event))
"""The fields that all events have."""

OnEvent = Callable[[Event], None]


_Kind = TypeVar("_Kind", bound=Event)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def event_kind(name: str) -> Callable[[type[_Kind]], type[_Kind]]:
    """Return a decorator that makes a class a kind of event, with this name."""

    def made(kind: type[_Kind]) -> type[_Kind]:
        kind.NAME = name
        return dataclass(frozen=True, slots=True, kw_only=True)(kind)

    return made


def own_fields(kind: type[Event]) -> tuple[str, ...]:
    """Return the names of the fields that a kind of event has besides the shared ones."""
    return tuple(field.name for field in fields(kind) if field.name not in SHARED)


def plain_value(value: Any) -> Any:
    """Return a field's value as JSON has it: a tuple as a list, and usage as an object."""
    if isinstance(value, tuple):
        return [plain_value(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value
