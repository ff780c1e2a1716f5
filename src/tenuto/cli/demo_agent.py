"""Plays the agent's demo: the same project with faults and without, and what came of both."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tenuto.agent import Agent, AgentEvent, Model, RunResult, Tool
from tenuto.agent.events import StepEnded
from tenuto.agent.files import file_tools
from tenuto.cli.demo_faults import Faults
from tenuto.cli.demo_script import ANSWERS, TURNS
from tenuto.cli.demo_view import View
from tenuto.config import load_policy
from tenuto.sim import Simulator
from tenuto.sim.plan import no_faults

WIRES: Final = (
    "anthropic-messages", "bedrock-converse", "cohere", "gemini-generate", "gemini-interactions",
    "mistral", "ollama", "openai-chat", "openai-responses",
)  # fmt: skip
_BELOW: Final = {"openai-chat": "/v1", "openai-responses": "/v1", "mistral": "/mistral/v1"}
"""Where a wire's requests go, below the root."""

_CEILING_TOKENS: Final = 32_768
"""So that no request asks for more than the model can say, which would be a fault more."""

_BACKOFF_S: Final = 0.05
"""A simulator need not be spared."""

Run = tuple[str, str, str]
"""Name, arguments and result of a tool that ran."""


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one run of the project.

    Attributes:
        results: how each turn ended.
        runs: the tools that ran.
        files: the bytes of each file, by its path.
        requests: how many requests the provider saw.
        refused: how many of them it refused.
    """

    results: tuple[RunResult, ...]
    runs: tuple[Run, ...]
    files: dict[str, bytes]
    requests: int
    refused: int

    @property
    def twice(self) -> list[str]:
        """Names of the tools that ran more often than they were called by right."""
        due = Counter((call.name, str(call.arguments)) for a in ANSWERS for call in a.calls)
        ran = Counter((name, arguments) for name, arguments, _ in self.runs)
        return sorted(name for name, _ in (ran - due).elements())

    def equals(self, other: Played) -> bool:
        """Whether both said the same, ran the same and left the same files, byte for byte."""
        said = [result.text for result in self.results] == [r.text for r in other.results]
        return said and sorted(self.runs) == sorted(other.runs) and self.files == other.files


def play(
    folder: Path, wire: str, *, faults: Faults | None = None, show: View | None = None
) -> Played:
    """Let an agent write the project into an empty folder.

    Args:
        folder: where to.
        wire: what the model speaks.
        faults: what befalls its answers; None: nothing.
        show: shows each thing as it happens; None: nothing is shown.
    """
    show = show or View(quiet=True)

    def told(event: AgentEvent) -> None:
        show.event(event)
        if faults is not None and isinstance(event, StepEnded):
            faults.step_ended(whole=event.status == "complete")

    runs: list[Run] = []
    results = []
    with Simulator(prefill="continue", max_output_tokens=_CEILING_TOKENS) as simulator:
        simulator.plan(ANSWERS, faults or no_faults)
        base = simulator.root_url + _BELOW.get(wire, "")
        agent = Agent(
            Model(f"{wire}:sim", base_url=base, api_key="none"),
            tools=[_counted(tool, runs) for tool in file_tools(folder)],
            policy=replace(load_policy(), empty_retries=3, backoff_s=_BACKOFF_S),
            on_event=told,
        )
        with agent:
            conversation = agent.conversation()
            for prompt, _ in TURNS:
                show.turn(prompt)
                results.append(conversation.run(prompt))
        seen = list(simulator.requests)
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    refused = sum(request.status >= 400 for request in seen)
    return Played(tuple(results), tuple(runs), files, len(seen), refused)


def _counted(tool: Tool, runs: list[Run]) -> Tool:
    """The tool, with each of its runs kept."""

    def function(**given: Any) -> object:
        value = tool.function(**given)
        runs.append((tool.name, json.dumps(given, ensure_ascii=False), str(value)))
        return value

    return replace(tool, function=function)
