"""The official SDK of Cohere, wrapped, in front of a simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.asking.cohere import WrappedCohere
from support.asking.wrapping import QUICK

import tenuto
from tenuto_sim import Simulator


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as running:
        yield running


@pytest.fixture
def wrapped(sim: Simulator) -> Iterator[Callable[..., WrappedCohere]]:
    """Makes wrapped askers; keywords are settings of the policy."""
    made: list[WrappedCohere] = []

    def make(**settings: Any) -> WrappedCohere:
        made.append(WrappedCohere(sim, tenuto.Policy(**(QUICK | settings))))
        return made[-1]

    yield make
    for asker in made:
        asker.close()
