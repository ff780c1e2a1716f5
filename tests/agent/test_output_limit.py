"""A model with file tools reads in the system prompt how much one of its messages can hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agent.simulated import QUICK, WIRES, model

from tenuto_agent import Agent, Model
from tenuto_agent.files import file_tools, guidance
from tenuto_sim import Simulator

pytestmark = pytest.mark.behaviour("T17")


def sent(sim: Simulator, *models: Any, **known: Any) -> list[str]:
    """What the simulator was sent."""
    before = len(sim.requests)
    with Agent(list(models), policy=QUICK, stream=False, **known) as agent:
        agent.run("Hello.")
    return [str(request.json) for request in sim.requests[before:]]


@pytest.mark.parametrize("wire", WIRES)
def test_the_limit_of_its_requests_is_told_on_every_wire(wire: str, tmp_path: Path) -> None:
    with Simulator() as sim:
        known = model(sim, wire, "normal", max_output_tokens=900)
        [body] = sent(sim, known, tools=file_tools(tmp_path), system="Be kind.")
        assert body.count("at most 900 tokens") == 1
        assert f"Be kind.\\n\\n{guidance(900)}" in body


def test_the_limit_that_is_known_of_the_model_is_told(tmp_path: Path) -> None:
    with Simulator() as sim:
        known = Model("openai-chat:claude-sonnet-4-5", base_url=sim.base_url)
        limit = known.output_limit_tokens
        assert limit is not None
        [body] = sent(sim, known, tools=file_tools(tmp_path))
        assert guidance(limit) in body


def test_each_candidate_is_told_its_own(tmp_path: Path) -> None:
    with Simulator() as sim:
        first = model(sim, "openai-chat", "http_503_always", max_output_tokens=900)
        second = model(sim, "openai-chat", "normal", max_output_tokens=1_200)
        one, *_, two = sent(sim, first, second, tools=file_tools(tmp_path))
        assert ("900 tokens" in one, "1,200 tokens" in one) == (True, False)
        assert ("900 tokens" in two, "1,200 tokens" in two) == (False, True)


@pytest.mark.parametrize(
    ("tools", "limit", "system", "times"),
    [
        ("all", None, "", 0),  # nobody knows it
        ("none", 900, "", 0),
        ("reading", 900, "", 0),
        ("all", 900, guidance(600), 1),  # the program tells it itself
        ("all", 900, "", 1),
    ],
)
def test_it_is_told_once_and_only_to_who_can_write_files(
    tools: str, limit: int | None, system: str, times: int, tmp_path: Path
) -> None:
    made = file_tools(tmp_path)
    offered = {"all": made, "none": (), "reading": [made[0], *made[4:]]}[tools]
    with Simulator() as sim:
        known = model(sim, "openai-chat", "normal", max_output_tokens=limit)
        [body] = sent(sim, known, tools=iter(offered), system=system)
        assert body.count("One message of yours") == times
