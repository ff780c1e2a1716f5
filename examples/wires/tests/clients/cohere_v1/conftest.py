"""The official SDK of Cohere on the API of version 1, wrapped, in front of a simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.asking.wrapping import QUICK

import tenuto
from examples.wires.tests.asking.cohere_v1 import WrappedCohereV1
from tenuto_sim import Simulator


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=20) as running:
        yield running


@pytest.fixture
def wrapped(sim: Simulator) -> Iterator[Callable[..., WrappedCohereV1]]:
    """Makes wrapped askers; keywords are settings of the policy."""
    made: list[WrappedCohereV1] = []

    def make(**settings: Any) -> WrappedCohereV1:
        made.append(WrappedCohereV1(sim, tenuto.Policy(**(QUICK | settings))))
        return made[-1]

    yield make
    for asker in made:
        asker.close()
