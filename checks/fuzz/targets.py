"""Every target by its name.

A target that reads a wire draws it: the first byte of its input chooses one of the registry's. With a
wire's name behind it, as `turns-openai-chat`, it reads that wire alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import ModuleType
from typing import NamedTuple

from examples.wires.tests import at_hand
from examples.wires.tests.at_hand import every_wire as wires
from tenuto.wires.base import Wire

at_hand.install()

PLAIN = ("sse", "framing", "arguments", "seam", "codings", "policies")
READ = ("alike", "detecting", "faults")
ASKED = ("edits", "turns")
"""Those that send a request; some wires are only read."""
SHORT = ("short",)
"""Those of wires with a short path."""


class Target(NamedTuple):
    """`seeds()` gives inputs to begin with, `check(data)` raises where something does not hold."""

    seeds: Callable[[], Iterable[bytes]]
    check: Callable[[bytes], None]


def names() -> list[str]:
    """All targets that `make fuzz` runs."""
    return [*PLAIN, *READ, *ASKED, *SHORT]


def wires_of(name: str) -> list[Wire]:
    """The wires that a target reads, in the registry's order; [] where it reads none."""
    if name in PLAIN:
        return []
    return [
        wire
        for wire in wires().values()
        if name in READ or not wire.only_read
        if name not in SHORT or wire.short is not None
    ]


def target(name: str) -> Target:
    """The target of a name."""
    kind, _, wire = name.partition("-")
    module = importlib.import_module(f"checks.fuzz.{kind}")
    if wire:
        return Target(partial(module.seeds, wires()[wire]), partial(module.check, wires()[wire]))
    if drawn := wires_of(kind):
        return Target(partial(_seeds, module, drawn), partial(_check, module, drawn))
    return Target(module.seeds, module.check)


def _seeds(module: ModuleType, drawn: list[Wire]) -> Iterator[bytes]:
    for number, wire in enumerate(drawn):
        yield from (bytes([number]) + data for data in module.seeds(wire))


def _check(module: ModuleType, drawn: list[Wire], data: bytes) -> None:
    if data:
        module.check(drawn[data[0] % len(drawn)], data[1:])
