"""The official SDK, on Interactions, with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.gemini_interactions import InteractionsAsker

from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[InteractionsAsker]:
    made = InteractionsAsker(sim)
    yield made
    made.close()
