"""Wires of other packages, which entry points of the group `tenuto.wires` name.

Theory of operation
-------------------
An entry point names a `Wire` (docs/guide/write-a-wire.md):

    [project.entry-points."tenuto.wires"]
    brook = "brook:WIRE"

Reading entry points takes some 60 ms and runs other people's modules. So Tenuto reads them once,
when none of its own wires fits for the first time. What comes of it does not depend on when that
is: where a wire of Tenuto's fits, these are not asked.

A wire that can't be loaded is not used, and a function of one that raises is taken to know nothing
of what it was asked about. One log line says so. The request or the object is then treated as if
the wire were not installed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from tenuto.core.answer.stop import printable
from tenuto.wires.base import Wire
from tenuto.wires.usable import why_unusable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

log: logging.Logger = logging.getLogger("tenuto")

GROUP = "tenuto.wires"

_DEFAULTS = {each.name: each.default for each in fields(Wire)}

_IF_IT_RAISES: dict[str, object] = {
    "is_request": False,
    "request": None,
    "with_headers": None,
    "looks_like": False,
    "claims": False,
    "signed": False,
    "is_event": False,
}
"""The functions of a wire that are asked about anything there is, and what they say if they raise:
that it is nothing of theirs. If another one raises, the turn passes on what came
(`turn.pipeline.spared`)."""


class OutsideWires:
    """The wires that other packages bring, by name.

    Args:
        is_taken: returns whether a name is that of a wire of Tenuto's.
    """

    def __init__(self, is_taken: Callable[[str], bool]) -> None:
        self._is_taken = is_taken
        self._lock = threading.RLock()
        self._all: dict[str, Wire] | None = None
        self._reading = False

    def all(self) -> dict[str, Wire]:
        """Return all of them. The first call reads them. Don't change the mapping."""
        if self._all is not None:
            return self._all
        with self._lock:
            if self._all is None:
                if self._reading:  # a module that is loaded as a wire asks for wires itself
                    return {}
                self._reading = True
                try:
                    self._all = _read(self._is_taken)
                finally:
                    self._reading = False
            return self._all

    def brings(self, wire: Wire) -> bool:
        """Return whether a wire is one of them."""
        return self._all is not None and self._all.get(wire.name) is wire

    def find(self, name: str) -> Wire | None:
        """Return the wire of a name, with or without a version; None: there is none."""
        return self.all().get(name.partition("@")[0])


def _read(is_taken: Callable[[str], bool]) -> dict[str, Wire]:
    found: dict[str, tuple[Wire, str]] = {}
    for point in _entry_points():
        package = _package_of(point)
        wire, wrong = _loaded(point)
        if wire is not None and is_taken(wire.name):
            wrong = f"{wire.name} is a wire of Tenuto's; tenuto.register_wire replaces it"
        elif wire is not None and wire.name in found:
            wrong = f"the package {found[wire.name][1]} has a wire of that name too"
        if wire is None or wrong:
            _tell_unused(point.name, package, wrong)
        else:
            found[wire.name] = (_guarded(wire, package), package)
    return {name: wire for name, (wire, _) in found.items()}


def _entry_points() -> Iterable[EntryPoint]:
    # It takes 40 ms to import, and few programs have such wires.
    from importlib.metadata import entry_points

    try:
        return sorted(entry_points(group=GROUP), key=lambda one: (one.name, _package_of(one)))
    except Exception as error:  # noqa: BLE001 - what installers leave behind may be broken
        log.warning("no wire of another package is used: %s", printable(_shown(error), 200))
        return ()


def _package_of(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "unknown"


def _loaded(point: EntryPoint) -> tuple[Wire | None, str]:
    """Return the wire of an entry point; None, and why it can't be used."""
    try:
        wire = point.load()
        wrong = why_unusable(wire)
    except Exception as error:  # noqa: BLE001 - somebody else's module: whatever it raises
        return None, f"{point.value} raised {_shown(error)}"
    return (None, f"{point.value}: {wrong}") if wrong else (wire, "")


def _guarded(wire: Wire, package: str) -> Wire:
    """Return the same wire; a function of it that raises knows nothing of what it was asked."""
    changes: dict[str, Any] = {}
    for member, otherwise in _IF_IT_RAISES.items():
        function = getattr(wire, member)
        # That a wire leaves something out shows in its default, which raises nothing.
        if function is not None and function is not _DEFAULTS[member]:
            changes[member] = _asking(function, otherwise, (wire.name, package, member))
    if wire.only_read:
        changes.pop("is_request")
    return replace(wire, **changes)


def _asking(function: Any, otherwise: object, named: tuple[str, str, str]) -> Callable[..., Any]:
    def ask(*given: object, **more: object) -> Any:
        try:
            return function(*given, **more)
        except Exception as error:  # noqa: BLE001 - somebody else's function
            _tell_raised(*named, error)
            return otherwise

    return ask


def _shown(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _tell_unused(name: str, package: str, why: str) -> None:
    log.warning("the wire %s of the package %s is not used: %s", name, package, printable(why, 300))


def _tell_raised(wire: str, package: str, member: str, error: Exception) -> None:
    tell_once(
        f"{wire} {package} {member}",
        "the wire %s of the package %s: its %s raised %s; where it raises, the wire is not used "
        "(this is said once)",
        *(wire, package, member, error),
    )


def tell_shared(path: str, first: str, other: str) -> None:
    """Say once that two wires of other packages have requests to the same path."""
    tell_once(
        f"{first} {other}",
        "the wires %s and %s both have requests to %s: %s is used, since its name comes first; to "
        "choose, name the wire that a host speaks with tenuto.register_provider",
        *(first, other, path, first),
    )


_told: set[str] = set()


def tell_once(key: str, message: str, *said: object) -> None:
    """Log a warning, the first time with this key. (Two threads may both be first.) Exceptions are
    shown with their class."""
    if key not in _told:
        _told.add(key)
        words = (_shown(one) if isinstance(one, Exception) else str(one) for one in said)
        log.warning(message, *(printable(word, 200) for word in words))
