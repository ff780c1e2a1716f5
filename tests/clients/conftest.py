"""The official SDK, wrapped, in front of a simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, cast

import openai
import pytest
from support.asking.openai_chat import Asker
from support.asking.wrapping import QUICK, Wrapped
from support.replay.openai_chat import Answer, Played, Replay, played

import tenuto
from tenuto_sim import Simulator


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as running:
        yield running


@pytest.fixture
def wrapped(sim: Simulator) -> Iterator[Callable[..., Wrapped]]:
    """Makes wrapped askers; keywords are settings of the policy."""
    made: list[Wrapped] = []

    def make(**settings: Any) -> Wrapped:
        made.append(Wrapped(sim, tenuto.Policy(**(QUICK | settings))))
        return made[-1]

    yield make
    for asker in made:
        asker.close()


@pytest.fixture(scope="session")
def stage() -> Iterator[tuple[Asker, Replay]]:
    """One server and one pair of clients for all turns that are played."""
    with Replay() as replay:
        base = Asker(cast("Any", replay), max_retries=0)
        yield base, replay
        base.close()


@pytest.fixture
def play(stage: tuple[Asker, Replay]) -> Callable[..., Played]:
    """Lets a wrapped client meet written-down answers; keywords are settings of the policy."""
    return partial(played, *stage)


@pytest.fixture
def behind(stage: tuple[Asker, Replay]) -> Iterator[Callable[..., Played]]:
    """The same behind any base URL (http): the server plays that URL's proxy."""
    _, replay = stage
    made: list[Asker] = []

    def make(url: str, *answers: Answer, **settings: Any) -> Played:
        base = Asker(cast("Any", replay), max_retries=0)
        base.client.close()
        through = openai.DefaultHttpxClient(proxy=replay.root_url)
        base.client = openai.OpenAI(base_url=url, api_key="key", http_client=through)
        made.append(base)
        return played(base, replay, *answers, **settings)

    yield make
    for base in made:
        base.close()


@pytest.fixture
def asking_a_simulator() -> Iterator[Callable[..., tuple[Simulator, Wrapped]]]:
    """Makes a simulator of its own with these settings, and a wrapped asker in front of it."""
    with ExitStack() as stack:

        def make(settings: dict[str, Any], **policy: Any) -> tuple[Simulator, Wrapped]:
            sim = stack.enter_context(Simulator(**({"token_chars": 20} | settings)))
            asker = Wrapped(sim, tenuto.Policy(**(QUICK | policy)))
            stack.callback(asker.close)
            return sim, asker

        yield make
