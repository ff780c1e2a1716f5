"""What a turn is about, drawn from its key alone: the schema, the document, and what goes wrong.

A key is "seed.number.wire.mode.on_incomplete"; seed and number alone draw the document, so that the
columns of the figures are about the same documents. Nothing is known of Tenuto here.
"""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import Final

from checks.documents.checking import why_not
from checks.documents.schemas import SCHEMAS, Schema
from checks.documents.wording import KEYWORDS, Document, worded

WIRES: Final = ("openai-chat", "openai-responses", "anthropic", "gemini")
MODES: Final = ("body", "flow", "hold")
ENDINGS: Final = ("stop", "error")
DOCUMENTS: Final = 300

FAULTS: Final[dict[str, int]] = {
    "cut": 55,
    "cut_early": 6,
    "ceiling_refused": 9,
    "ceiling_lowered": 9,
    "drop": 12,
    "cut_then_drop": 9,
}
"""What goes wrong, in percent. `cut_early` leaves a document that is longer than all the tokens that a
turn has by default; with a ceiling the model never writes more than that in one answer, and a limit
above it is refused or silently lowered."""
TIMES: Final = 4
"""A turn has so many times its limit by default."""
LEAST_LIMIT: Final = 20
GROWS: Final = 1.2
"""How much longer than the first wording another one may be."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One turn."""

    key: str
    number: int
    wire: str
    mode: str
    on_incomplete: str
    name: str
    document: Document
    fault: str
    keyword: str
    limit: int
    """Output tokens that the program allows."""
    cut: int
    """How many characters of the document come first."""
    ceiling: int
    """The most output tokens of one answer; 0: no limit."""

    @property
    def schema(self) -> Schema:
        return SCHEMAS[self.name]

    @property
    def raisable(self) -> bool:
        """Whether the limit may be raised so far that the document comes whole in the tokens of a
        turn, although it is worded anew, and although one further answer of it breaks off."""
        if self.ceiling or self.fault == "drop":
            return not self.ceiling
        answers = 2 if self.fault == "cut_then_drop" else 1
        return self.limit + answers * GROWS * self.document.tokens <= TIMES * self.limit


def plan_of(key: str) -> Plan:
    """The turn with this key."""
    seed, number, wire, mode, on_incomplete = key.split(".")
    return Plan(key, int(number), wire, mode, on_incomplete, *_drawn(int(seed), int(number)))


@functools.lru_cache(maxsize=DOCUMENTS)
def _drawn(seed: int, number: int) -> tuple[str, Document, str, str, int, int, int]:
    rng = random.Random(f"{seed}.{number}")
    name = [*SCHEMAS][number % len(SCHEMAS)]
    fault = rng.choices([*FAULTS], [*FAULTS.values()])[0]
    wanted = (number + number // len(SCHEMAS)) % len(KEYWORDS)
    for tried in range(200):
        document = worded(SCHEMAS[name], rng)
        fault = "cut" if fault == "cut_early" and tried > 50 else fault  # some are too short for it
        low, high = (0.05, 0.22) if fault == "cut_early" else (0.45, 0.97)
        for keyword in (*KEYWORDS[wanted:], *KEYWORDS[:wanted]):
            if limits := _limits(document, keyword, low, high):
                break
        else:
            continue
        why = why_not(document.text, SCHEMAS[name])
        if why:
            raise ValueError(f"{name}: a document that its own schema refuses: {why}")
        limit = rng.choice(limits)
        ceiling = 0
        if fault.startswith("ceiling"):
            ceiling = max(limit, min(int(limit * rng.uniform(1, 1.4)), document.tokens - 2))
        allowed = document.tokens * 3 if fault == "drop" else limit
        return name, document, fault, keyword, allowed, limit * 4, ceiling
    raise ValueError(f"{name}: no place for a cut")


def _limits(document: Document, keyword: str, low: float, high: float) -> list[int]:
    """The output limits that cut inside of a value of the keyword."""
    size = len(document.text)
    return [
        limit
        for kind, start, end in document.places
        if kind == keyword
        for limit in range(start // 4 + 1, -(-end // 4))
        if start < limit * 4 < end
        and limit >= LEAST_LIMIT
        and low * size <= limit * 4 <= high * size
    ]
