"""Every kind of event by its name, and a function that reads events back from files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from tenuto.core.answer.signals import Usage
from tenuto.core.events import attempt as attempt_events
from tenuto.core.events import recovery as recovery_events
from tenuto.core.events import turn as turn_events
from tenuto.core.events.event import SHARED, Event

__all__ = ["EVENTS", "UnknownEvent", "event_from_dict"]

_KINDS: tuple[type[Event], ...] = (
    turn_events.TurnStarted,
    turn_events.HistoryRepaired,
    attempt_events.AttemptStarted,
    attempt_events.AttemptEnded,
    attempt_events.StopReasonObserved,
    attempt_events.UnknownStopSeen,
    attempt_events.FaultReported,
    attempt_events.Stalled,
    attempt_events.StreamFetched,
    attempt_events.HoldBackExceeded,
    attempt_events.KeysLeftOut,
    attempt_events.Waited,
    recovery_events.ContinuationStarted,
    recovery_events.ContinuationAttempt,
    recovery_events.ContinuationTerminated,
    recovery_events.ToolRepairStarted,
    recovery_events.ToolPayloadRepair,
    recovery_events.ToolRepairEnded,
    recovery_events.EmptyRecoveryStarted,
    recovery_events.EmptyRecovery,
    recovery_events.EmptyRecoveryEnded,
    recovery_events.PauseStarted,
    recovery_events.PauseEnded,
    recovery_events.RetryStarted,
    recovery_events.RetryEnded,
    recovery_events.RequestRepairStarted,
    recovery_events.RequestRepairEnded,
    turn_events.LeftAlone,
    turn_events.NoEndMarkLearned,
    turn_events.Cancelled,
    turn_events.TurnEnded,
)
"""Every kind of event, in the order in which the documentation shows them."""

EVENTS: dict[str, type[Event]] = {kind.NAME: kind for kind in _KINDS}
"""Every kind of event by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEvent(Event):
    """An event that was read back, with a name that this version of Tenuto does not know.

    Attributes:
        unknown_name: its name, which `name` returns too.
        fields: its own fields, as they were read.
    """

    unknown_name: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name that was read."""
        return self.unknown_name

    @property
    def data(self) -> dict[str, Any]:
        """Its own fields, as they were read."""
        return dict(self.fields)


def event_from_dict(value: Mapping[str, Any]) -> Event:
    """Read an event back from the result of its `as_dict()`, also after a round trip through JSON.

    Events of other versions of Tenuto can be read too. An unknown name gives an `UnknownEvent`,
    which keeps all fields. Unknown fields are left out. The values themselves are not checked.

    Args:
        value: the event as plain values.

    Raises:
        ValueError: the value has no name or lacks a field; the message says which.

    >>> read = {"version": 1, "name": "history_repaired", "time": 0.5, "turn": "t1", "attempt": 0,
    ...         "provider": "openai", "model": "gpt", "repairs": ["empty_row"], "new_field": 7}
    >>> event_from_dict(read).repairs
    ('empty_row',)
    >>> event_from_dict({**read, "name": "from_the_future"}).data
    {'repairs': ['empty_row'], 'new_field': 7}
    """
    name = value.get("name")
    if not isinstance(name, str):
        raise ValueError("an event has a name")
    kind = EVENTS.get(name)
    if kind is None:
        shared = {key: _present(value, key, name) for key in SHARED}
        rest = {key: v for key, v in value.items() if key not in (*SHARED, "name", "version")}
        return UnknownEvent(**shared, unknown_name=name, fields=rest)
    wanted = {f.name: f.default for f in fields(kind)}
    read = {
        key: _FORMS.get(key, _tuples)(_present(value, key, name))
        for key, default in wanted.items()
        if key in value or default is MISSING
    }
    return kind(**read)


def _present(value: Mapping[str, Any], key: str, name: str) -> Any:
    if key not in value:
        raise ValueError(f"the event {name!r} lacks the field {key!r}")
    return value[key]


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _usage(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_usage, value))
    if not isinstance(value, Mapping):
        return value
    known = {f.name for f in fields(Usage)}
    return Usage(**{key: count for key, count in value.items() if key in known})


_FORMS: dict[str, Callable[[Any], Any]] = {"usage": _usage}
"""How to read fields that are not plain values, by their names."""
