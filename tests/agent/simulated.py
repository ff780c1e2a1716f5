"""Models of the simulator, and an agent with one tool."""

from __future__ import annotations

from typing import Any

from tenuto.core.settings.policy import Policy
from tenuto.wires.registry import wires
from tenuto_agent import Agent, Model
from tenuto_sim import Simulator

FROM_V1 = {"openai-chat", "openai-responses", "mistral"}
"""Wires whose base URL ends in /v1."""

WIRES = [wire.name for wire in wires().values() if wire.form and not wire.only_read]
WIRES.remove("bedrock-invoke")  # the simulator answers there as other models than Nova do
QUICK = Policy(empty_retries=3, backoff_s=0.001, retry_after_max_s=0.001)
"""Waits are not what these tests are about."""


def model(sim: Simulator, wire: str, case: str = "tool", **known: Any) -> Model:
    """A model that speaks a wire and plays a case."""
    base = sim.base_url if wire in FROM_V1 else sim.root_url
    given: dict[str, Any] = {"api_key": "k", "headers": {"x-sim-fault": case}} | known
    return Model(f"{wire}:m", base_url=base, **given)


def write_file(path: str = "", content: str = "") -> str:
    """Write a file."""
    return f"{len(content)} characters written to {path}"


def agent(*models: Any, **known: Any) -> Agent:
    """An agent with a tool, that waits for nothing."""
    given: dict[str, Any] = {"tools": [write_file], "policy": QUICK, "stream": False} | known
    return Agent(models, **given)
