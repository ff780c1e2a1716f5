"""The official SDK, wrapped, in front of a simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from wrapping import QUICK, Wrapped

import tenuto
from tenuto.sim import Simulator


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator() as running:
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
