"""A provider that can be told to fail: OpenAI Chat Completions on loopback.

>>> from tenuto.sim import Simulator
>>> with Simulator() as sim:
...     sim.base_url.startswith("http://127.0.0.1:")
True
"""

from tenuto.sim.case import Bare, Case, Step
from tenuto.sim.cases import BLOCKED, CASES, FAULTS, HTTP_FAULTS, NORMAL, QUIRKS, STEPS
from tenuto.sim.exchange import Recorded
from tenuto.sim.simulator import Simulator, serve

__all__ = [
    "BLOCKED",
    "CASES",
    "FAULTS",
    "HTTP_FAULTS",
    "NORMAL",
    "QUIRKS",
    "STEPS",
    "Bare",
    "Case",
    "Recorded",
    "Simulator",
    "Step",
    "serve",
]
