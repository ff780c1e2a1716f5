"""The official SDK, wrapped, on Interactions, in front of a simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.asking.gemini_interactions import WrappedInteractions
from support.asking.wrapping import QUICK

import tenuto
from tenuto_sim import Simulator


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def wrapped(sim: Simulator) -> Iterator[Callable[..., WrappedInteractions]]:
    """Makes wrapped askers; keywords are settings of the policy."""
    made: list[WrappedInteractions] = []

    def make(**settings: Any) -> WrappedInteractions:
        made.append(WrappedInteractions(sim, tenuto.Policy(**(QUICK | settings))))
        return made[-1]

    yield make
    for asker in made:
        asker.close()
