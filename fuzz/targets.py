"""Every target by its name. One that reads a wire stands once for each wire of the registry."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from tenuto.wires.registry import wires

PLAIN = ("sse", "framing", "arguments", "seam", "codings", "policies")
READ = ("alike", "detecting", "faults")
ASKED = ("edits", "turns")
"""Those that send a request; some wires are only read."""
SHORT = ("short",)
"""Those of wires with a short path."""
WITHOUT_ROWS = ("tgi",)
"""Their requests are one text, which edits make longer; `turns` does so as well."""


class Target(NamedTuple):
    """`seeds()` gives inputs to begin with, `check(data)` raises where something does not hold."""

    seeds: Callable[[], Iterable[bytes]]
    check: Callable[[bytes], None]


def names() -> list[str]:
    """All targets, those of the wires as `detecting-openai-chat`."""
    of_wires = (
        f"{name}-{wire.name}"
        for name in (*READ, *ASKED, *SHORT)
        for wire in wires().values()
        if name in READ or not wire.only_read
        if name not in SHORT or wire.short is not None
        if name != "edits" or wire.name not in WITHOUT_ROWS
    )
    return [*PLAIN, *of_wires]


def target(name: str) -> Target:
    """The target of a name."""
    module_name, _, wire = name.partition("-")
    module = importlib.import_module(f"fuzz.{module_name}")
    if wire:
        return Target(partial(module.seeds, wires()[wire]), partial(module.check, wires()[wire]))
    return Target(module.seeds, module.check)
