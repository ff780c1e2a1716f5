"""The fixtures that tenuto-sim gives to pytest. They import the simulator only when a test asks for
one of them, since pytest imports this module in each run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tenuto_sim import Simulator

__all__ = ["model_faults", "simulator"]


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    """A simulated provider that runs for one test. `simulator.base_url` is for OpenAI's SDK."""
    from tenuto_sim import Simulator

    with Simulator() as running:
        yield running


@pytest.fixture
def model_faults() -> dict[str, str]:
    """Each fault of a model on Chat Completions, with the model that plays it:
    `{"length_once": "sim/length_once", …}`."""
    from tenuto_sim import FAULTS

    return {name: f"sim/{name}" for name in FAULTS}
