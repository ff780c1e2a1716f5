"""boto3 with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.bedrock_converse import BedrockAsker

from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[BedrockAsker]:
    made = BedrockAsker(sim)
    yield made
    made.close()
