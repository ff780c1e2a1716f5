"""The official SDK, on Cohere's chat of version 1, with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.wires.tests.asking.cohere_v1 import CohereV1Asker
from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[CohereV1Asker]:
    made = CohereV1Asker(sim)
    yield made
    made.close()
