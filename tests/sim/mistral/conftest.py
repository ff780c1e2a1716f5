"""The official SDK, on Mistral's chat, with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.mistral import MistralAsker

from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[MistralAsker]:
    made = MistralAsker(sim)
    yield made
    made.close()
