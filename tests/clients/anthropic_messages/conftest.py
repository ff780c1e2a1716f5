"""The official SDK of Anthropic, wrapped, in front of written-down answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import pytest
from support.asking.anthropic_messages import AnthropicAsker
from support.replay.anthropic_messages import PlayedAnthropic, played
from support.replay.openai_chat import Replay


@pytest.fixture(scope="session")
def stage() -> Iterator[tuple[AnthropicAsker, Replay]]:
    """One server and one pair of clients for all turns that are played."""
    with Replay() as replay:
        base = AnthropicAsker(cast("Any", replay), max_retries=0)
        yield base, replay
        base.close()


@pytest.fixture
def play(stage: tuple[AnthropicAsker, Replay]) -> Callable[..., PlayedAnthropic]:
    """Lets a wrapped client meet written-down answers; keywords are settings of the policy."""
    return partial(played, *stage)
