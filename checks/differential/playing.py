"""Plays a pair: the same far side three times, for the bare SDK and for both policies."""

from __future__ import annotations

import asyncio
import contextlib
import os
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import tenuto
from checks.differential.far import Place, Simulated, Written
from checks.differential.judging import Both, Row, judge
from checks.differential.sdks import SDKS, Question, Seen, async_answer, sync_answer
from checks.differential.truth import Truth
from tenuto_sim import CASES_ON

POLICY: dict[str, Any] = {"backoff_s": 0.005, "backoff_max_s": 0.01, "turn_timeout_s": 20.0}
WAYS: tuple[str, ...] = ("bare", "stop", "error")
"""The bare SDK, and the settings of `on_incomplete` with which it is wrapped."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One question to one SDK, and what answers it.

    `truth` is None where the simulator knows it.
    """

    key: str
    sdk: str
    stream: bool
    task: bool
    question: Question
    far: Callable[[], Simulated | Written]
    truth: Truth | None = None
    turns: int = 1
    """How many turns the same client asks; the last one is judged."""
    policy: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """What the pair is about, without SDK and way of calling."""
        return "/".join(self.key.split("/")[1:3])


@dataclass(slots=True)
class Played:
    """One way of a pair: what was seen, and what went over the wire."""

    seen: Seen
    requests: list[Any]
    sent: list[str]
    truth: Truth | None
    ended: str = ""


class Player:
    """Plays pairs one after another in this process."""

    def __init__(self) -> None:
        os.environ.update(OPENAI_API_KEY="none", ANTHROPIC_API_KEY="none", CO_API_KEY="none")
        self._place = Place()
        self._runner = asyncio.Runner()

    def play(self, pair: Pair) -> dict[str, Played]:
        """Play a pair by every way."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some SDKs warn of values that they don't know
            return {way: self._play(pair, way) for way in WAYS}

    def _play(self, pair: Pair, way: str) -> Played:
        sdk, far = SDKS[pair.sdk], pair.far()
        events: list[Any] = []
        with self._place.served(far) as url:
            before = sdk.client(url, task=pair.task)
            client = before
            if way != "bare":
                given: Any = {**POLICY, **pair.policy, "on_incomplete": way}
                client = tenuto.wrap(before, policy=tenuto.Policy(**given), on_event=events.append)
            asked = sdk.given(pair.question)
            for _ in range(pair.turns):
                at = len(far.noted.requests)
                if pair.task:
                    asks = async_answer(sdk, client, asked, stream=pair.stream)
                    seen = self._runner.run(asks)
                else:
                    seen = sync_answer(sdk, client, asked, stream=pair.stream)
            self._close(client)
        truth = pair.truth or getattr(far, "truth", None)
        ended = [f"{e.status}/{e.reason}" for e in events if type(e).__name__ == "TurnEnded"]
        noted = far.noted
        return Played(seen, noted.requests[at:], [*noted.sent()][at:], truth, "".join(ended[-1:]))

    def _close(self, client: Any) -> None:
        with contextlib.suppress(Exception):  # some SDKs cannot be closed
            closed = client.close()
            if hasattr(closed, "__await__"):
                self._runner.run(_awaited(closed))


async def _awaited(value: Any) -> None:
    await value


def judged(pair: Pair, played: dict[str, Played]) -> dict[str, Row]:
    """Return the row that judges each wrapped way."""
    truth = played["bare"].truth
    if truth is None:
        raise RuntimeError(f"{pair.key}: the simulator gave no answer: {played['bare'].sent}")
    made = {}
    for way in WAYS[1:]:
        requests = played["bare"].requests, played[way].requests
        both = Both(
            *(truth, played["bare"].seen, played[way].seen, SDKS[pair.sdk].complete, requests),
            raises=way == "error",
            hosts="host_closes" in CASES_ON[SDKS[pair.sdk].wire],
        )
        made[way] = judge(both)
    return made


def shown(seen: Seen) -> dict[str, Any]:
    """Return what a program saw in few words, for lists."""
    made = {k: v for k, v in asdict(seen).items() if v and k not in ("dump", "kinds")}
    if seen.final is not None:
        made["final"] = shown(seen.final)
    return made
