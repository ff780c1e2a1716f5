"""Runs the agent's demo: the same project with faults and without, and compares the results."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tenuto.cli.demo_faults import Faults
from tenuto.cli.demo_script import ANSWERS, TURNS
from tenuto.cli.demo_view import View
from tenuto.config import load_policy
from tenuto_agent import Agent, AgentEvent, Model, RunResult, Tool
from tenuto_agent.events import StepEnded
from tenuto_agent.files import file_tools
from tenuto_sim import Simulator
from tenuto_sim.plan import no_faults

WIRES: Final = (
    "anthropic-messages", "bedrock-converse", "cohere", "gemini-generate", "gemini-interactions",
    "mistral", "ollama", "openai-chat", "openai-responses",
)  # fmt: skip
_BELOW: Final = {"openai-chat": "/v1", "openai-responses": "/v1", "mistral": "/mistral/v1"}
"""The path of a wire's base URL, below the root."""

_CEILING_TOKENS: Final = 32_768
"""High enough for every request: asking for more than the model's limit would be another fault."""

_BACKOFF_S: Final = 0.05
"""Short, because a simulator doesn't need a rest between retries."""

Run = tuple[str, str, str]
"""The name, the arguments and the result of a tool call that ran."""


@dataclass(frozen=True, slots=True)
class Played:
    """The outcome of one run of the project.

    Attributes:
        results: how each turn ended.
        runs: the tool calls that ran.
        files: the bytes of each file, by path.
        requests: how many requests the provider got.
        refused: how many of them it refused.
    """

    results: tuple[RunResult, ...]
    runs: tuple[Run, ...]
    files: dict[str, bytes]
    requests: int
    refused: int

    @property
    def twice(self) -> list[str]:
        """The names of tools that ran more often than the project calls them."""
        due = Counter((call.name, str(call.arguments)) for a in ANSWERS for call in a.calls)
        ran = Counter((name, arguments) for name, arguments, _ in self.runs)
        return sorted(name for name, _ in (ran - due).elements())

    def equals(self, other: Played) -> bool:
        """Return whether both gave the same answers, ran the same calls and left the same files."""
        said = [result.text for result in self.results] == [r.text for r in other.results]
        return said and sorted(self.runs) == sorted(other.runs) and self.files == other.files


def play(
    folder: Path, wire: str, *, faults: Faults | None = None, show: View | None = None
) -> Played:
    """Let an agent write the project into an empty folder.

    Args:
        folder: the empty folder.
        wire: the name of the wire that the model speaks.
        faults: the faults in its answers; None: none.
        show: shows each event as it happens; None: nothing is shown.
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
    """Return the tool, with each of its runs added to `runs`."""

    def function(**given: Any) -> object:
        value = tool.function(**given)
        runs.append((tool.name, json.dumps(given, ensure_ascii=False), str(value)))
        return value

    return replace(tool, function=function)
