"""The official SDK of Gemini with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.gemini_generate import GeminiAsker

from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[GeminiAsker]:
    made = GeminiAsker(sim)
    yield made
    made.close()
