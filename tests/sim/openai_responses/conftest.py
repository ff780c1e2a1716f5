"""The official SDK, on OpenAI Responses, with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.openai_responses import ResponsesAsker

from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[ResponsesAsker]:
    made = ResponsesAsker(sim)
    yield made
    made.close()
