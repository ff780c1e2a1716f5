"""The wires, by name. A wire is a folder of this package whose `wire.py` defines `WIRE`, so adding
one needs no change here. `tenuto.register_wire` adds further ones at run time. What several wires
share is in folders whose names end in `_like`."""

from __future__ import annotations

import importlib
import pkgutil

from tenuto import wires as package
from tenuto.wires.base import Wire
from tenuto.wires.json import JsonObject
from tenuto.wires.names import Names


def _shipped() -> dict[str, Wire]:
    found: dict[str, Wire] = {}
    for folder in pkgutil.iter_modules(package.__path__):
        if folder.ispkg and not folder.name.endswith("_like"):
            wire = importlib.import_module(f"{package.__name__}.{folder.name}.wire").WIRE
            found[wire.name] = wire
    # Wires that look like another one come last.
    return dict(sorted(found.items(), key=lambda item: item[1].claims is not None))


WIRES: Names[Wire] = Names(_shipped)


def wires() -> dict[str, Wire]:
    """Return every wire by its name.

    >>> "openai-chat" in wires()
    True
    """
    return WIRES.all()


def wires_for_path(path: str) -> list[Wire]:
    """Return the wires that requests to a URL path may use, often none. The first one is used
    unless the host or the SDK says otherwise; wires that look like another one come last."""
    here = (wire for wire in wires().values() if wire.is_request(path))
    return sorted(here, key=_like_another)


def wire_for_frame(raw: bytes) -> Wire | None:
    """Return the wire that one event's bytes, with their frame, belong to, or None."""
    marked = (wire for wire in wires().values() if wire.frame_mark and wire.frame_mark in raw)
    return next(marked, None)


def wire_for_shape(value: JsonObject) -> Wire | None:
    """Return the wire whose bodies or events look like this object, or None."""
    for wire in wires().values():
        shows = wire.claims or wire.signed
        if shows is not None and shows(value):
            return wire
    for wire in wires().values():
        if wire.looks_like(value):
            return wire
    return None


def _like_another(wire: Wire) -> bool:
    return wire.claims is not None
