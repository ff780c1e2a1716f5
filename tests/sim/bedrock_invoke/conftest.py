"""boto3 with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.bedrock_invoke import InvokeAsker

from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[InvokeAsker]:
    made = InvokeAsker(sim)
    yield made
    made.close()
