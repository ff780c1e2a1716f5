"""The official SDK of Mistral, wrapped, in front of a simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.asking.mistral import WrappedMistral
from support.asking.wrapping import QUICK

import tenuto
from tenuto_sim import Simulator


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as running:
        yield running


@pytest.fixture
def wrapped(sim: Simulator) -> Iterator[Callable[..., WrappedMistral]]:
    """Makes wrapped askers; keywords are settings of the policy."""
    made: list[WrappedMistral] = []

    def make(max_retries: int = 0, **settings: Any) -> WrappedMistral:
        made.append(WrappedMistral(sim, tenuto.Policy(**(QUICK | settings)), max_retries))
        return made[-1]

    yield make
    for asker in made:
        asker.close()
