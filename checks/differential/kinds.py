"""What the kinds of pairs are about, in a few words, for the page and the slice."""

from __future__ import annotations

from typing import Final

from checks.differential.sdks import SDKS
from tenuto_sim import TABLES_ON

KINDS: Final[dict[str, str]] = {
    "guard": "Healthy answers",
    "A": "Pieces of arguments sent again, or cumulative",
    "B": "Frames that say nothing",
    "C": "Odd order of events (Anthropic)",
    "D": "Cut calls whose JSON the server closed",
    "D2": "Calls that lack a member, by the model's own mistake",
    "E": "Usage that is revised at the end",
    "F": "Filters, also those told as errors",
    "G": "Members that must be sent back beside a call",
    "H": "Two stops",
    "I": "Stops of relays",
    "J": "Calls that the server cannot parse",
    "K": "Histories that providers refuse",
    "L": "Calls written as text",
    "M": "Calls without tools",
    "N": "Answers that are none",
    "P": "A stop with text behind it",
    "Q": "Text that comes without deltas",
    "R": "Limits that nobody set",
    "S": "A fault's stop, then a clean end",
    "T": "Tokens to go on with",
    "3.1": "Outages of a host that nobody knows yet",
    "3.2": "Streams that end without any mark",
    "3.3": "Very large calls",
    "3.4": "A text cut beside a call that is owed",
    "3.5": "Continuations that are cut at once",
    "3.7": "Several cut calls, of which fewer come again",
    "3.8": "Streams asked for anew",
    "3.9": "Redirects of further requests",
    "3.10": "Repetitions at a seam",
    "3.11": "Text and errors together",
    "3.12": "Preambles, and breaks at the very end",
    "doc": "Documents with a schema",
    "report": "Other public reports",
    "normal": "Simulator: answers without a fault",
    "faults": "Simulator: faults on which the bare SDK is silent or does harm",
    "http_faults": "Simulator: faults on which the bare SDK raises",
    "quirks": "Simulator: oddities that a client must survive",
    "blocked": "Simulator: refusals and filters",
}
"""Titles by the first part of a kind, in the order of the page."""


def group(sdk: str, kind: str) -> str:
    """Return the key in `KINDS` of a pair's kind.

    >>> group("openai-chat", "sim/length_once"), group("gemini", "74/last"), group("gemini", "A/x")
    ('faults', 'report', 'A')
    """
    first, _, name = kind.partition("/")
    if first == "sim":
        return next(t for t, cases in TABLES_ON[SDKS[sdk].wire].items() if name in cases)
    return "report" if first.isdigit() else first
