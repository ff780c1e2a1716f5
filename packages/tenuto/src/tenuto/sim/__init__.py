"""A simulated provider on loopback that fails on command, to test clients and agents with.

These are the names of `tenuto_sim`, which the extra `sim` installs.

>>> from tenuto.sim import Simulator
>>> with Simulator() as sim:
...     sim.base_url.startswith("http://127.0.0.1:")
True
"""

from tenuto.members import why_missing

try:
    from tenuto_sim import (
        BLOCKED,
        CASES,
        CASES_ON,
        FAULTS,
        HTTP_FAULTS,
        NORMAL,
        QUIRKS,
        STEPS,
        TABLES_ON,
        Bare,
        Case,
        Recorded,
        Shared,
        Simulator,
        Spent,
        Step,
        Wanted,
        saying,
        serve,
    )
except ModuleNotFoundError as _error:
    raise why_missing("sim", _error) from None

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
