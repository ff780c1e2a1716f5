"""The official SDK of Gemini, wrapped, in front of written-down answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import pytest
from support.asking.gemini_generate import GeminiAsker
from support.replay.gemini_generate import PlayedGemini, played
from support.replay.openai_chat import Replay


@pytest.fixture(scope="session")
def stage() -> Iterator[tuple[GeminiAsker, Replay]]:
    """One server and one client for all turns that are played."""
    with Replay() as replay:
        base = GeminiAsker(cast("Any", replay))
        yield base, replay
        base.close()


@pytest.fixture
def play(stage: tuple[GeminiAsker, Replay]) -> Callable[..., PlayedGemini]:
    """Lets a wrapped client meet written-down answers; keywords are settings of the policy."""
    return partial(played, *stage)
