"""How the agent's demo looks: each step, call, fault and recovery as it happens, then a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from tenuto.cli.demo_agent_faults import Faults
from tenuto.cli.printing import print_table
from tenuto.core.ladders import SENTENCES

if TYPE_CHECKING:
    from tenuto.agent import AgentEvent

_WIDTH = 100


class AgentView:
    """Shows a run of the agent.

    Args:
        faults: the faults that it meets.
        quiet: whether nothing is shown.
    """

    def __init__(self, faults: Faults, *, quiet: bool) -> None:
        self._console = Console(quiet=quiet, highlight=False)
        self._quiet = quiet
        self._faults = faults
        self._step = 0
        self._said = ""

    def say(self, text: str, style: str = "") -> None:
        """A line."""
        if not self._console.is_terminal:
            style = ""
        self._console.print(Text(text, style), soft_wrap=True)

    def turn(self, prompt: str) -> None:
        """What the user says."""
        self._step = 0
        self.say(f"\nUser: {prompt}", "bold")

    def event(self, event: AgentEvent) -> None:
        """One thing, as it happens."""
        from tenuto.agent.events import Called, Recovered, Returned, Said, StepEnded
        from tenuto.core.events import StopReasonObserved

        if event.step != self._step:
            self._step = event.step
            self.say(f"Step {event.step}", "bold")
        match event:
            case Said(text):
                self._said += text
            case Recovered(StopReasonObserved(outcome=outcome, rung=rung)) if rung:
                line = f"{outcome}: {SENTENCES[rung]}"
                self._tell_faults(1)
                self.say(f"  recovery   {line}", "green")
            case StepEnded(status=status, reason=reason):
                self._end(status, reason)
            case Called(call, synthetic=synthetic):
                note = " (not run)" if synthetic else ""
                self.say(_short(f"  call       {call.name}{note} {call.arguments}"), "cyan")
            case Returned(result=result):
                self.say(_short(f"  {'failed' if result.failed else 'result':<10} {result.text}"))

    def closing(self, outcome: Mapping[str, Any]) -> None:
        """The tables at the end, from what a program is told."""
        if self._quiet:
            return
        rows = [(r["fault"], str(r["met"]), str(r["recovered"])) for r in outcome["faults"]]
        rows.append(("all", str(outcome["faults_met"]), str(outcome["faults_recovered"])))
        print()
        print_table(("fault", "met", "recovered"), rows)
        print_table(("in all", ""), _facts(outcome))

    def _tell_faults(self, most: int | None = None) -> None:
        for kind in self._faults.news(most):
            self.say(f"  fault      {kind}", "red")

    def _end(self, status: str, reason: str) -> None:
        self._tell_faults()
        if self._said.strip():
            self.say(f"  text       {_one_line(self._said)}")
        self._said = ""
        if status != "complete":
            self.say(f"  {status:<10} {reason}", "red")


def _facts(outcome: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    identical = "yes" if outcome["identical"] else "no"
    without = outcome["requests_without_faults"]
    twice = ", ".join(outcome["ran_twice"]) or "none"
    return (
        ("requests", f"{outcome['requests']} (without faults: {without})"),
        ("tool runs", f"{outcome['tool_runs']} (twice: {twice})"),
        ("identical to the fault-free run", identical),
        ("folder", outcome["folder"]),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    line = text[:13] + _one_line(text[13:])
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"
