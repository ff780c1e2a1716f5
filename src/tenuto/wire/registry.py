"""Wires by name. A wire is a module of this package with a constant `WIRE`; adding one touches
nothing here."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from tenuto import wire as package
from tenuto.wire.base import JsonObject, ReadingWire, Wire


@cache
def wires() -> dict[str, ReadingWire]:
    """Every wire by its name, those that can only be read among them.

    >>> "openai-chat" in wires()
    True
    """
    found: dict[str, ReadingWire] = {}
    for module in pkgutil.iter_modules(package.__path__):
        wire = getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "WIRE", None)
        if wire is not None:
            found[wire.name] = wire
    return found


@cache
def answering_wires() -> dict[str, Wire]:
    """The wires by which a turn can be finished: they edit requests and write answers.

    >>> "openai-chat" in answering_wires()
    True
    """
    return {name: wire for name, wire in wires().items() if isinstance(wire, Wire)}


def wire_for_path(path: str) -> Wire | None:
    """The wire that requests to a URL path speak, or None where none can answer them."""
    return next((wire for wire in answering_wires().values() if wire.is_request(path)), None)


def wire_for_shape(value: JsonObject) -> ReadingWire | None:
    """The wire whose bodies or events look like this object, or None."""
    return next((wire for wire in wires().values() if wire.looks_like(value)), None)
