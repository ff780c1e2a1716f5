"""The official SDK of Ollama with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.ollama import OllamaAsker, PromptAsker

from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[OllamaAsker]:
    made = OllamaAsker(sim)
    yield made
    made.close()


@pytest.fixture(scope="session")
def prompting(sim: Simulator) -> Iterator[PromptAsker]:
    made = PromptAsker(sim)
    yield made
    made.close()
