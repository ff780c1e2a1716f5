"""The official SDK with nothing around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.asking.openai_chat import TOKEN_CHARS, TOOLS, Asker

from tenuto_sim import Simulator


@pytest.fixture(scope="session")
def sim() -> Iterator[Simulator]:
    with Simulator(token_chars=TOKEN_CHARS) as running:
        yield running


@pytest.fixture(scope="session")
def coarse() -> Iterator[Simulator]:
    """For tests that look at every event of every case: the forms of events don't depend on how
    many pieces a text has."""
    with Simulator(token_chars=3 * TOKEN_CHARS) as running:
        yield running


@pytest.fixture(scope="session")
def bare(sim: Simulator) -> Iterator[Asker]:
    made = Asker(sim)
    yield made
    made.close()


@pytest.fixture
def tools() -> list[Any]:
    return TOOLS
