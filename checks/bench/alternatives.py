"""Counts what comes of the simulator's faults by retries, by a loop of one's own, and with Tenuto.

It prints the table, and writes it into docs/guide/what-you-use.md, whose loop it runs as it stands.
With --keep it leaves the page as it is.
"""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "guide" / "what-you-use.md"
BEGIN, END = "<!-- counted: begin -->", "<!-- counted: end -->"
TRIES = 4
"""As many as Tenuto makes by default: a first request and three more."""

sys.path[:0] = [str(PROJECT / "checks" / "frameworks")]

import httpx2  # noqa: E402
import openai  # noqa: E402
from drive_openai import Driver  # noqa: E402
from framework_judge import Given, Judge, Verdict  # noqa: E402

from tenuto_sim import Simulator  # noqa: E402


class Bare(Driver):
    """The SDK in a loop that runs tools: what the others stand upon."""

    ways = ("sync",)


class Retrying(Bare):
    """The SDK's own retries, and a decorator such as tenacity's around each request."""

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self.client = self.client.with_options(max_retries=2)

    def send(self) -> Any:
        for left in reversed(range(TRIES)):
            try:
                return super().send()
            except (openai.APIError, httpx2.TransportError):
                if not left:
                    raise
        raise AssertionError


def loop_of_the_page() -> Callable[..., Any]:
    """The function `finished` of the page."""
    (block,) = re.findall(
        r"^```python length\n(import json.*?)^client = ",
        PAGE.read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    names: dict[str, Any] = {}
    exec(compile(block, PAGE.name, "exec"), names)
    made: Callable[..., Any] = names["finished"]
    return made


class OwnLoop(Retrying):
    """The page's loop around the SDK with its retries."""

    loop = staticmethod(loop_of_the_page())

    def send(self) -> Any:
        return self.loop(self._ask, list(self.talk.messages))

    def _ask(self, messages: list[Any]) -> Any:
        kept, self.talk.messages = self.talk.messages, messages
        try:
            return super().send()
        except openai.LengthFinishReasonError as cut:  # what the SDK's helper for streams raises
            return cut.completion
        finally:
            self.talk.messages = kept


ROWS: tuple[tuple[str, type[Driver], str], ...] = (
    ("The SDK alone", Bare, "bare"),
    ("Retries", Retrying, "bare"),
    ("The loop below, with retries", OwnLoop, "bare"),
    ("Tenuto, default policy", Bare, "stop"),
    ('Tenuto, `on_incomplete="error"`', Bare, "error"),
)


def counted() -> Iterator[tuple[str, Counter[Verdict], float]]:
    """How the turns of each row came out, and how many requests a turn took."""
    for title, driver, column in ROWS:
        with Simulator(token_chars=20) as sim:
            results = list(Judge(driver, sim).results([column]))
            yield title, Counter(r.verdict for r in results), len(sim.requests) / len(results)


def text() -> str:
    """What stands between the marks of the page."""
    rows = [["", *Verdict, "requests"], ["---", *["---:"] * (len(Verdict) + 1)]]
    turns = 0
    for title, verdicts, requests in counted():
        turns = verdicts.total()
        rows.append([title, *(str(verdicts[verdict]) for verdict in Verdict), f"{requests:.1f}"])
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return f"Of {turns} turns:\n\n{table}"


def main(arguments: list[str]) -> int:
    """Count, print, write."""
    logging.disable()
    warnings.simplefilter("ignore")
    counts = text()
    print(counts)
    if "--keep" not in arguments:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{counts}\n\n{END}{rest.partition(END)[2]}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
