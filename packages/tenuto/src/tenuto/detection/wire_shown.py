"""Which wire an object shows, where no wire is named."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.core.answer.fault import FaultKind
from tenuto.core.answer.signals import (
    CallDelta,
    FaultSeen,
    ReasoningDelta,
    Signal,
    StopSeen,
    TextDelta,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.wires.base import Wire
from tenuto.wires.json import JsonObject
from tenuto.wires.registry import in_order, is_built_in

_GENERAL = (FaultKind.SERVER, FaultKind.INVALID_REQUEST)
"""What an error table says of an error of which it knows no more."""

_BUDGET = FaultKind.OUTPUT_BUDGET_TOO_LARGE


def shows(wire: Wire, value: JsonObject) -> bool:
    """Return whether an object has the shape of a wire."""
    claims = wire.claims or wire.signed
    return wire.looks_like(value) or (claims is not None and claims(value))


def wires_of_error(value: JsonObject) -> tuple[Wire | None, bool]:
    """Return the wire that reads an error best, and whether it is the only one that reads it.
    Errors look alike on most wires: one that knows what it means is better than others."""
    readers: dict[Wire, FaultKind] = {}
    for known in in_order():
        for wire in known.values():
            if (kind := _kind_of_error(wire, value)) is not None:
                readers[wire] = kind
        knowing = [wire for wire, kind in readers.items() if kind not in _GENERAL]
        if knowing:
            # Words about the output limit name the context window, too, so they say more.
            budget = (wire for wire in knowing if readers[wire] is _BUDGET)
            return next(budget, knowing[0]), len(readers) == 1
    return next(iter(readers), None), len(readers) == 1


def _kind_of_error(wire: Wire, value: JsonObject) -> FaultKind | None:
    """Return what kind of error a wire reads in an object; None: it reads none, or it is another
    package's and can't read the object."""
    try:
        signals = wire.parse_object(value, event=True)
    except Exception:
        if is_built_in(wire.name):
            raise
        return None
    kinds = [one.fault.kind for one in signals if isinstance(one, FaultSeen)]
    return kinds[-1] if kinds else None


def names_itself(value: JsonObject) -> bool:
    """Return whether an object has an id or a model, as most answers do."""
    return not _NAMES.isdisjoint(value)


_NAMES = frozenset({"id", "model", "object", "modelVersion", "model_version"})


def has_only_a_strange_stop(signals: Sequence[Signal]) -> bool:
    """Return whether all that a wire reads in an object is a stop that no table knows."""
    stops = [one for one in signals if isinstance(one, StopSeen)]
    unknown = [one.reason is StopReason.UNKNOWN and one.readable for one in stops]
    if not stops or not all(unknown):
        return False
    more = (isinstance(one, ReasoningDelta | CallDelta | UsageSeen | FaultSeen) for one in signals)
    return not any(more) and not any(map(has_content, signals))


def holds_content(wire: Wire | None, value: JsonObject) -> bool:
    """Return whether a wire reads a piece of an answer in an event."""
    return wire is not None and any(map(has_content, wire.parse_object(value, event=True)))


def has_content(signal: Signal) -> bool:
    """Return whether a signal is a piece of an answer."""
    return (isinstance(signal, TextDelta) and bool(signal.text)) or isinstance(signal, CallDelta)
