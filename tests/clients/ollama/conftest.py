"""The official SDK of Ollama, wrapped, in front of a simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.asking.ollama import WrappedOllama
from support.asking.wrapping import QUICK

import tenuto
from tenuto_sim import Simulator


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as running:
        yield running


@pytest.fixture
def wrapped(sim: Simulator) -> Iterator[Callable[..., WrappedOllama]]:
    """Makes wrapped askers; keywords are settings of the policy."""
    made: list[WrappedOllama] = []

    def make(**settings: Any) -> WrappedOllama:
        made.append(WrappedOllama(sim, tenuto.Policy(**(QUICK | settings))))
        return made[-1]

    yield make
    for asker in made:
        asker.close()
