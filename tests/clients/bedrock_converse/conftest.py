"""boto3 and aiobotocore, wrapped, in front of a simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.asking.bedrock_converse import WrappedBedrock
from support.asking.wrapping import QUICK
from support.replay.openai_chat import Replay

import tenuto
from tenuto_sim import Simulator


@pytest.fixture
def wrapped(sim: Simulator) -> Iterator[Callable[..., WrappedBedrock]]:
    """Makes wrapped askers; keywords are settings of the policy."""
    made: list[WrappedBedrock] = []

    def make(**settings: Any) -> WrappedBedrock:
        made.append(WrappedBedrock(sim, tenuto.Policy(**(QUICK | settings))))
        return made[-1]

    yield make
    for asker in made:
        asker.close()


@pytest.fixture
def replay() -> Iterator[Replay]:
    with Replay() as running:
        yield running
