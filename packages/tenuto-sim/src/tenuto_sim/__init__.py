"""A simulated provider on loopback that fails on command, to test clients and agents with.

>>> from tenuto.sim import Simulator
>>> with Simulator() as sim:
...     sim.base_url.startswith("http://127.0.0.1:")
True
"""

from tenuto_sim.case import Bare, Case, Step
from tenuto_sim.cases import (
    BLOCKED,
    CASES,
    CASES_ON,
    FAULTS,
    HTTP_FAULTS,
    NORMAL,
    QUIRKS,
    STEPS,
    TABLES_ON,
)
from tenuto_sim.exchange import Recorded
from tenuto_sim.plan import saying
from tenuto_sim.reply import Wanted
from tenuto_sim.simulator import Simulator, serve
from tenuto_sim.spent import Shared, Spent

__all__ = [
    "BLOCKED",
    "CASES",
    "CASES_ON",
    "FAULTS",
    "HTTP_FAULTS",
    "NORMAL",
    "QUIRKS",
    "STEPS",
    "TABLES_ON",
    "Bare",
    "Case",
    "Recorded",
    "Shared",
    "Simulator",
    "Spent",
    "Step",
    "Wanted",
    "saying",
    "serve",
]
