"""The official SDK, wrapped, on OpenAI Responses, in front of a simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.asking.openai_responses import WrappedResponses
from support.asking.wrapping import QUICK

import tenuto
from tenuto_sim import Simulator


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def wrapped(sim: Simulator) -> Iterator[Callable[..., WrappedResponses]]:
    """Makes wrapped askers; keywords are settings of the policy."""
    made: list[WrappedResponses] = []

    def make(**settings: Any) -> WrappedResponses:
        made.append(WrappedResponses(sim, tenuto.Policy(**(QUICK | settings))))
        return made[-1]

    yield make
    for asker in made:
        asker.close()
