"""Wires by name. A wire is a module of this package with a constant `WIRE`; adding one touches
nothing here. Further ones come in at run time (`tenuto.register`)."""

from __future__ import annotations

import importlib
import pkgutil

from tenuto import wire as package
from tenuto.wire.base import JsonObject, Wire
from tenuto.wire.names import Names


def _shipped() -> dict[str, Wire]:
    found: dict[str, Wire] = {}
    for module in pkgutil.iter_modules(package.__path__):
        wire = getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "WIRE", None)
        if wire is not None:
            found[wire.name] = wire
    return found


WIRES: Names[Wire] = Names(_shipped)


def wires() -> dict[str, Wire]:
    """Every wire by its name.

    >>> "openai-chat" in wires()
    True
    """
    return WIRES.all()


def wire_for_path(path: str) -> Wire | None:
    """The wire that requests to a URL path speak, or None."""
    return next((wire for wire in wires().values() if wire.is_request(path)), None)


def wire_for_shape(value: JsonObject) -> Wire | None:
    """The wire whose bodies or events look like this object, or None."""
    for wire in wires().values():
        if wire.looks_like(value):
            return wire
    return None
