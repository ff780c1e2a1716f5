"""The only file here that reaches behind the public names of Tenuto: whoever rebuilds the inside
changes this one file, and the cases stay what they are."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import EnumType
from pathlib import Path
from typing import Any, get_type_hints

import tenuto.sansio
from tenuto.turn.record import turn_log
from tenuto_sim import CASES_ON, Case, Simulator
from tenuto_sim.case import Ending, Kind, Odd, Step, Writes
from tenuto_sim.exchange import Exchange
from tenuto_sim.gemini_generate.seals import signature
from tenuto_sim.reply import Settings
from tenuto_sim.wires import WIRES

__all__ = [
    "CASES_ON",
    "Case",
    "Ending",
    "Simulator",
    "Writes",
    "forget",
    "signature",
    "simulated",
    "steps_on",
]

# The wires of examples/wires, of the tree that this file is in.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
importlib.import_module("examples.wires.tests.at_hand").install()

FINISHES = (
    "stop",
    "length",
    "LENGTH",
    "tool_calls",
    "content_filter",
    "pause_turn",
    "odd",
    "",
    None,
)


def forget() -> None:
    """Forget what turns of this process have learned of providers, and which stop values were
    logged, so that no case changes the next one."""
    learned: Any = tenuto.sansio._learned
    tenuto.sansio._learned = type(learned)()
    turn_log._seen_unknown.clear()


def simulated(
    prefill: Any = "restart", dialect: str = "", *, strict: bool = True, script: Iterable[Step] = ()
) -> Simulated:
    """Return a simulator without a socket that has seen no request yet; `script` is what its first
    answers do."""
    exchange = Exchange(Settings(prefill=prefill), strict=strict, dialect=dialect)
    exchange.conversations.script.extend(script)
    return Simulated(exchange)


class Simulated:
    """Answers one request at a time."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> Any:
        """Return the answer, whose attributes are those of `tenuto_sim.exchange.Answer`."""
        return self._exchange.answer("POST", path, headers, body)


def steps_on(wire: str) -> dict[str, dict[str, Step]]:
    """Return steps by the field that each of them sets, and by its value: every word of the
    simulator, and every error of a wire."""
    calls = ((Kind.CALLS, False), (Kind.TEXT_CALL, True))
    kinds = calls if "tool" in CASES_ON[wire] else ((Kind.TEXT, False), (Kind.CJK, True))
    values: dict[str, Iterable[Any]] = {
        "error": [*WIRES[wire].errors, "unknown_key", "nowhere"],
        "finish": FINISHES,
        **{
            name: words
            for name, words in get_type_hints(Step).items()
            if isinstance(words, EnumType)
        },
        "odd": Odd,
    }
    return {
        f"{name}:{kind}": {
            str(value): replace(Step(kind=kind, think=think), **{name: value}) for value in found
        }
        for name, found in values.items()
        for kind, think in kinds
    }
