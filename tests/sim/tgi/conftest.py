"""huggingface_hub, on the API of Text Generation Inference, with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.asking.tgi import TgiAsker

from tenuto.sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[TgiAsker]:
    made = TgiAsker(sim)
    yield made
    made.close()
