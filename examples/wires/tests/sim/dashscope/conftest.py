"""A bare asker, on DashScope's own API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.wires.tests.asking.dashscope import DashScopeAsker
from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[DashScopeAsker]:
    made = DashScopeAsker(sim)
    yield made
    made.close()
