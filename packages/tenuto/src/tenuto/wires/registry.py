"""The wires, by name. A wire is a folder of this package whose `wire.py` defines `WIRE`, so adding
one needs no change here. `tenuto.register_wire` adds further ones at run time. What several wires
share is in folders whose names end in `_like`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from tenuto import wires as package
from tenuto.wires.base import Wire
from tenuto.wires.json import JsonObject
from tenuto.wires.moved import sign_of
from tenuto.wires.names import Names
from tenuto.wires.outside import OutsideWires


@cache
def shipped() -> dict[str, Wire]:
    """Return the wires that are part of Tenuto, by name."""
    found: dict[str, Wire] = {}
    folders = [each.name for each in pkgutil.iter_modules(package.__path__) if each.ispkg]
    for folder in folders:
        if not folder.endswith("_like"):
            wire = importlib.import_module(f"{package.__name__}.{folder}.wire").WIRE
            found[wire.name] = wire
    for path in _overlooked(package.__path__, folders):
        raise ImportError(f"{path} has a wire.py but no __init__.py; add one, which may be empty")
    # Wires that look like another one come last.
    return dict(sorted(found.items(), key=lambda item: item[1].claims is not None))


def _overlooked(places: Iterable[str], packages: list[str]) -> Iterator[Path]:
    """Return the folders of wires that are no packages, which Python would pass over in
    silence."""
    for place in map(Path, places):
        if place.is_dir():  # it may be in an archive
            others = (each for each in place.iterdir() if each.name not in packages)
            yield from (each for each in others if (each / "wire.py").is_file())


def is_built_in(name: str) -> bool:
    """Return whether a wire of this name is part of Tenuto."""
    return name in shipped()


class _Wires(Names[Wire]):
    """The wires that are built in or registered. By its name, a wire of another package is found
    too."""

    def find(self, name: str) -> Wire | None:
        """Return the wire of a name; None: the name is unknown."""
        return super().find(name) or OUTSIDE.find(name)


WIRES = _Wires(shipped)

OUTSIDE = OutsideWires(is_built_in)
"""The wires of other packages, which are asked where none of `WIRES` fits."""


def wires() -> dict[str, Wire]:
    """Return every wire by its name.

    >>> "openai-chat" in wires()
    True
    """
    return WIRES.all()


def in_order() -> Iterator[dict[str, Wire]]:
    """Return the wires that are asked first, and then those of other packages, which are read only
    if it comes to that."""
    yield wires()
    yield OUTSIDE.all()


def wires_for_path(path: str) -> list[Wire]:
    """Return the wires that requests to a URL path may use, often none. The first one is used
    unless the host or the SDK says otherwise; wires that look like another one come last."""
    for known in in_order():
        if here := [wire for wire in known.values() if wire.is_request(path)]:
            return sorted(here, key=_like_another)
    return []


def wire_for_frame(raw: bytes) -> Wire | None:
    """Return the wire that one event's bytes, with their frame, belong to, or None."""
    for known in in_order():
        for wire in known.values():
            if wire.frame_mark and wire.frame_mark in raw:
                return wire
    return None


def wire_for_shape(value: JsonObject, *, ours: bool = False) -> Wire | None:
    """Return the wire whose bodies or events look like this object, or None. `ours`: don't ask
    those of other packages."""
    if ours:
        return _shaped(wires(), value)
    if (name := sign_of(value)) and (moved := WIRES.find(name)) is not None:
        return moved
    return _shaped(wires(), value) or _shaped(OUTSIDE.all(), value)


def _shaped(known: Mapping[str, Wire], value: JsonObject) -> Wire | None:
    for wire in known.values():
        shows = wire.claims or wire.signed
        if shows is not None and shows(value):
            return wire
    for wire in known.values():
        if wire.looks_like(value):
            return wire
    return None


def _like_another(wire: Wire) -> bool:
    return wire.claims is not None
