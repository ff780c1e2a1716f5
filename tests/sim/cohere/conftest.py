"""The official SDK, on Cohere's Chat, with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.cohere import CohereAsker

from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[CohereAsker]:
    made = CohereAsker(sim)
    yield made
    made.close()
