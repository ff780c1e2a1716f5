"""The only file here that reaches behind the public names of Tenuto: whoever rebuilds the inside
changes this one file, and the recording stays what it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tenuto.sansio
from tenuto.sim import CASES_ON
from tenuto.sim.case import Ending, Writes
from tenuto.sim.exchange import Exchange
from tenuto.sim.gemini_generate.seals import signature
from tenuto.sim.reply import Settings
from tenuto.turn import watch

__all__ = ["CASES_ON", "Ending", "Writes", "forget", "signature", "simulated"]


def forget() -> None:
    """Forget what turns of this process have learned of providers, and which stop values were
    logged, so that no case changes the next one."""
    learned: Any = tenuto.sansio._learned
    tenuto.sansio._learned = type(learned)()
    watch._seen_unknown.clear()


def simulated(prefill: Any = "restart", dialect: str = "") -> Simulated:
    """Return a simulator without a socket that has seen no request yet."""
    return Simulated(Exchange(Settings(prefill=prefill), dialect=dialect))


class Simulated:
    """Answers one request at a time."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> Any:
        """Return the answer, whose attributes are those of `tenuto.sim.exchange.Answer`."""
        return self._exchange.answer("POST", path, headers, body)
