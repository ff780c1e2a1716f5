"""A call that lacks a member under a clean stop is the model's own (T12b): the agent answers it as
failed, with what its tool says of the arguments, and goes on."""

from __future__ import annotations

import pytest
from support.agent_turns import POLICY

from tenuto_agent import Agent, Model
from tenuto_sim import Simulator, Step, Wanted, saying
from tenuto_sim.case import Arguments

ANSWERS = (
    saying("I write both.", ("write", {"path": "a", "content": "One."}),
           ("write", {"path": "b", "content": "Two, and more of it."})),
    saying("Both are written."),
)  # fmt: skip
LACKS = Step(arguments=Arguments.CUT, broken_call=-1, finish="tool_calls")


@pytest.mark.behaviour("T12b", "T1")
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
@pytest.mark.parametrize("wire", ["gemini-generate", "ollama"])
def test_a_call_that_lacks_a_member_is_answered_as_failed_and_comes_again(
    wire: str, stream: bool
) -> None:
    ran = []

    def write(path: str, content: str) -> str:
        """Write a text file."""
        ran.append((path, content))
        return "Written."

    def faults(number: int, due: Wanted) -> Step:
        return LACKS if number == 0 else Step()

    with Simulator() as sim:
        sim.plan(ANSWERS, faults)
        model = Model(f"{wire}:sim", base_url=sim.root_url, api_key="key")
        with Agent(model, tools=[write], policy=POLICY, stream=stream) as agent:
            result = agent.conversation().run("Write two files.")
    assert result.ok
    assert result.text == "Both are written."
    assert ran == [("a", "One."), ("b", "Two, and more of it.")]
    assert len(sim.requests) == 3
    assert b"'content' is a required property" in sim.requests[1].body
