"""The official SDK of Anthropic with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.anthropic_messages import AnthropicAsker

from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[AnthropicAsker]:
    made = AnthropicAsker(sim)
    yield made
    made.close()
